"""What media says of itself, for people and for programs."""

from svc.chat.described import Described, Endpoint, string

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
    ],
)
