"""What bots say of themselves, for people and for programs."""

from svc.chat.bots.rules import MAX_BOTS
from svc.chat.described import BOOLEAN, ID, TIME_MS, Described, Endpoint, array, asked, nullable, obj, string
from svc.chat.members.described import MEMBER

_BOT = obj(
    {
        "member": MEMBER,
        "has_token": BOOLEAN,
        "token_made_by": nullable(ID),
        "token_made_at_ms": nullable(TIME_MS),
    }
)
_OF_RANK = ("forbidden", "rank_too_low", "unknown_member")

DESCRIBED = Described(
    endpoints=[
        Endpoint("GET /api/bots", "The server's bots", obj({"bots": array(_BOT, MAX_BOTS)})),
        Endpoint(
            "POST /api/bots",
            "Make a bot; its token is shown this once",
            obj({"member": MEMBER, "token": string()}),
            201,
            # Its own rules refuse what is longer than a name may be.
            body=asked({"nickname": string()}),
            refusals=["forbidden", "invalid_nickname", "profanity_refused", "server_full", "too_many"],
        ),
        Endpoint(
            "POST /api/bots/{member_id}/token",
            "Another token for a bot of lower rank; the one before is worthless at once",
            obj({"token": string()}),
            201,
            refusals=_OF_RANK,
        ),
        Endpoint("DELETE /api/bots/{member_id}", "Delete a bot of lower rank", refusals=_OF_RANK),
    ],
)
