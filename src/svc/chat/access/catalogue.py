"""The one table of who may ask what: every HTTP endpoint, every request of the live socket.

Whoever serves a request checks `ANYONE`, `MEMBER`, `OWNER` and the server-wide permissions
here before the feature hears of it. `in_channel` permissions depend on the channel that
the request is about: the feature's rules check those with `Directory.require`. What is not
in the table is not served. docs/http.md.
"""

import enum
from dataclasses import dataclass

from svc.chat.access.directory import Directory
from svc.chat.access.permissions import Permission as P
from svc.chat.errors import ChatError


class Who(enum.Enum):
    ANYONE = enum.auto()  # Also without an access token.
    MEMBER = enum.auto()
    OWNER = enum.auto()


@dataclass(frozen=True, slots=True)
class Needs:
    who: Who
    permission: P | None = None
    in_channel: bool = False
    # Nothing for a bot: it has no device and no person behind it.
    person: bool = False
    # Pages of foreign sites may ask too: a browser adds nothing of its user's to the request.
    any_origin: bool = False


ANYONE = Needs(Who.ANYONE)
MEMBER = Needs(Who.MEMBER)
PERSON = Needs(Who.MEMBER, person=True)
OWNER = Needs(Who.OWNER)
# Whoever has the URL: a secret is in it, and nothing else is asked for.
URL_HOLDER = Needs(Who.ANYONE, any_origin=True)


def on_server(permission: P) -> Needs:
    return Needs(Who.MEMBER, permission)


def in_channel(permission: P) -> Needs:
    return Needs(Who.MEMBER, permission, in_channel=True)


# A path as it is given to the router, with the names of its variable parts. Features `declare` theirs.
ENDPOINTS: dict[str, Needs] = {
    # The page, and sockets that check for themselves.
    "GET /": ANYONE,
    "GET /web/{path}": ANYONE,
    "GET /sw.js": ANYONE,
    "GET /manifest.webmanifest": ANYONE,
    "GET /live": ANYONE,
}

# Requests of the live socket; `authenticate` and `resume`, which come before all of them, are not here.
EVENTS: dict[str, Needs] = {}

# What a request takes of its member's allowance. One that changes something takes 1, one that
# reads half of that.
_COSTS: dict[str, float] = {}
READING_COST = 0.5


def declare(needs: Needs, *, endpoint: str = "", event: str = "", cost: float | None = None) -> None:
    """What a feature declares itself: see `requests`. An event that only reads has such an endpoint too."""
    if cost is None and endpoint.startswith("GET "):
        cost = READING_COST
    if cost is not None:
        _COSTS.update({name: cost for name in (endpoint, event) if name})
    if endpoint:
        ENDPOINTS[endpoint] = needs
    if event:
        EVENTS[event] = needs


def cost_of_endpoint(endpoint: str) -> float:
    return _COSTS.get(endpoint, READING_COST if endpoint.startswith("GET ") else 1.0)


def cost_of_event(event: str) -> float:
    """Also of what is no event."""
    return _COSTS.get(event, 1.0)


def check(needs: Needs, directory: Directory, member_id: str) -> None:
    """Refuse a member who may not ask this at all. Raises ChatError."""
    if needs.person and directory.member(member_id).bot:
        raise ChatError("forbidden", "This is not for bots")
    if needs.who is Who.OWNER and not directory.is_owner(member_id):
        raise ChatError("forbidden")
    if needs.permission is not None and not needs.in_channel:
        directory.require(member_id, needs.permission)
