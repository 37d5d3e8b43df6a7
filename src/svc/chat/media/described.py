"""What media says of itself, for people and for programs."""

from svc.chat.described import ID, Described, Endpoint, array, integer, obj, string
from svc.chat.media.usage import MAX_LISTED

DESCRIBED = Described(
    endpoints=[
        Endpoint(
            "GET /media/{name}",
            "Stored media, whole or in parts, by an address that was shown to a member and ends",
            string(),
            query={"ends": string(12), "signature": string(64)},
            media_type="*/*",
            refusals=[
                *("media_address_invalid", "media_address_over", "not_found", "range_not_satisfiable"),
                *("too_many_connections", "storage_unavailable", "uploads_disabled"),
            ],
        ),
        Endpoint(
            "GET /icon",
            "The server's icon",
            string(),
            media_type="image/*",
            refusals=["not_found", "too_many_connections", "storage_unavailable", "uploads_disabled"],
        ),
        Endpoint(
            "GET /api/storage",
            "What stored files take, by what they are for and by member; and the database",
            obj(
                {
                    **dict.fromkeys(
                        ("bytes", "limit_bytes", "limit_of_one_bytes", "others_bytes"), integer(0)
                    ),
                    "by_kind": array(obj({"kind": string(), "objects": integer(0), "bytes": integer(0)})),
                    "by_member": array(
                        obj({"member_id": ID, "nickname": string(), "bytes": integer(0)}), MAX_LISTED
                    ),
                    **dict.fromkeys(("database_bytes", "disk_free_bytes"), integer(0)),
                }
            ),
            query={"limit": integer(1, MAX_LISTED)},
        ),
    ],
)
