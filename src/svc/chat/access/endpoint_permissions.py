"""Lists the permissions required for every HTTP endpoint and every request on the live socket.

The code that dispatches a request checks `ANYONE`, `MEMBER`, `OWNER` and server-wide permissions.
`in_channel` permissions depend on the request's channel, so the feature's rules check them with
`Directory.require`. Requests that are not listed are not served. See docs/http.md.
"""

import enum
from dataclasses import dataclass

from svc.chat.access.directory import Directory
from svc.chat.access.permissions import Permission as P
from svc.chat.errors import ChatError


class Audience(enum.Enum):
    ANYONE = enum.auto()  # Includes requests without an access token.
    MEMBER = enum.auto()
    OWNER = enum.auto()


@dataclass(frozen=True, slots=True)
class Requirement:
    who: Audience
    permission: P | None = None
    in_channel: bool = False
    # Excludes bots, which have no device.
    person: bool = False
    # Allows requests from pages of other sites, because browsers do not add the user's credentials.
    any_origin: bool = False


ANYONE = Requirement(Audience.ANYONE)
MEMBER = Requirement(Audience.MEMBER)
PERSON = Requirement(Audience.MEMBER, person=True)
OWNER = Requirement(Audience.OWNER)
# Open to anyone who has the URL, because a secret in the URL is the only credential.
URL_HOLDER = Requirement(Audience.ANYONE, any_origin=True)


def on_server(permission: P) -> Requirement:
    return Requirement(Audience.MEMBER, permission)


def in_channel(permission: P) -> Requirement:
    return Requirement(Audience.MEMBER, permission, in_channel=True)


# Keyed by method and router path, which includes variable names. Features add their endpoints with `declare`.
ENDPOINTS: dict[str, Requirement] = {
    # The web client's files, and the live socket, over which clients authenticate.
    "GET /": ANYONE,
    "GET /web/{path}": ANYONE,
    "GET /sw.js": ANYONE,
    "GET /manifest.webmanifest": ANYONE,
    "GET /counts-frame": ANYONE,
    "GET /live": ANYONE,
    # Relays of a cluster connect here and authenticate with a separate key. Other servers have no such route.
    "GET /cluster/relay": ANYONE,
    # The health check for load balancers in front of a cluster's nodes.
    "GET /cluster/ready": ANYONE,
}

# Requests on the live socket, except `authenticate` and `resume`, which precede all others.
EVENTS: dict[str, Requirement] = {}

# The cost of a request, deducted from the member's allowance. A write costs 1 and a read costs 0.5.
_COSTS: dict[str, float] = {}
READING_COST = 0.5


def declare(needs: Requirement, *, endpoint: str = "", event: str = "", cost: float | None = None) -> None:
    """Declare a request that a feature serves as an HTTP endpoint, as an event on the live socket, or both.

    If `cost` is None, a GET endpoint and its event cost as much as a read.
    """
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
    """Return the cost of an event. An unknown event costs as much as a write."""
    return _COSTS.get(event, 1.0)


def check(needs: Requirement, directory: Directory, member_id: str) -> None:
    """Raise ChatError if the member is not allowed to make this request."""
    if not directory.is_current():
        raise ChatError("server_stopping", "Another node may own the community now; try again in a moment")
    if needs.person and directory.member(member_id).bot:
        raise ChatError("forbidden", "Bots cannot do this")
    if needs.who is Audience.OWNER and not directory.is_owner(member_id):
        raise ChatError("forbidden")
    if needs.permission is not None and not needs.in_channel:
        directory.require(member_id, needs.permission)
