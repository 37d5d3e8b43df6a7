"""What own affairs say of themselves, for people and for programs."""

from svc.chat.described import ANYTHING, ID, TIME_MS, Described, Endpoint, Pushed, array, obj
from svc.chat.own.blocks import MAX_BLOCKS

_BLOCKED = array(ID, MAX_BLOCKS)
_ONE = obj({"member_id": ID})
_LIST = array(ANYTHING)

DESCRIBED = Described(
    endpoints=[
        Endpoint("POST /api/me/leave", "Stop being a member", refusals=["owner_must_stay"]),
        Endpoint(
            "GET /api/me/export",
            "Everything that is kept of oneself, streamed",
            obj(
                {
                    "exported_at_ms": TIME_MS,
                    "member": _LIST,
                    "devices": _LIST,
                    "blocked": _LIST,
                    "uploads": _LIST,
                    "messages": _LIST,
                    "reactions": _LIST,
                }
            ),
            refusals=["export_running"],
        ),
        Endpoint(
            "DELETE /api/me",
            "Leave, and have name, devices and all messages deleted; the messages follow bit by bit",
            refusals=["owner_must_stay"],
        ),
        Endpoint("GET /api/me/blocks", "Whom one has blocked", obj({"blocked": _BLOCKED})),
        Endpoint(
            "PUT /api/me/blocks/{member_id}", "Block a member", refusals=["unknown_member", "too_many_blocks"]
        ),
        Endpoint("DELETE /api/me/blocks/{member_id}", "Block somebody no more"),
    ],
    pushes=[
        Pushed("member_blocked", "A block, on another page of one's own", _ONE, to="who has blocked"),
        Pushed("member_unblocked", "A block has ended", _ONE, to="who had blocked"),
    ],
    welcome={"blocked": _BLOCKED},
)
