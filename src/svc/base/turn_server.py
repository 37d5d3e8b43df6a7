"""Issues credentials for the operator's TURN server, for members whose network allows only HTTPS.

The TURN server is a separate program, such as coturn, which the media service does not use. Members get
credentials that expire: the user name contains the expiry, and the password is an HMAC of the user name with
a secret that the chat server and the TURN server share (draft-uberti-behave-turn-rest-00, coturn's
`use-auth-secret`). Reads no clock.
"""

import base64
import hmac
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NotRequired, TypedDict

from svc.base.config_parsing import ConfigError, items, text

# The lifetime of credentials. It is longer than any call, because a browser requests a new relay with the
# same credentials when its network changes.
LIFETIME_S = 24 * 3600
# A member's user name stays the same for this long, so that the TURN server's limits per user apply to the
# member.
STEP_S = 3600
MIN_SECRET_CHARACTERS = 16
# A TURN URI (RFC 7065), without percent signs.
_URL = re.compile(r"turns?:([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(\?transport=(udp|tcp))?")


class IceServer(TypedDict):
    """An RTCIceServer, in the form that browsers accept."""

    urls: list[str]
    username: NotRequired[str]
    credential: NotRequired[str]


@dataclass(frozen=True, slots=True)
class TurnServer:
    """A TURN server with all of its addresses."""

    urls: Sequence[str]
    secret: str = field(repr=False)

    def ice_server(self, member_id: str, now: float) -> IceServer:
        """Return the server with credentials for this member. `now` is in seconds since 1970."""
        until = math.ceil((now + LIFETIME_S) / STEP_S) * STEP_S
        name = f"{until}:{member_id}"
        password = hmac.digest(self.secret.encode(), name.encode(), "sha1")
        credential = base64.b64encode(password).decode()
        return IceServer(urls=list(self.urls), username=name, credential=credential)


def read(variables: Mapping[str, str]) -> TurnServer | None:
    """Read TURN_URLS and TURN_SECRET. Return None if neither is set. Raises ConfigError."""
    urls, secret = items(variables, "TURN_URLS"), text(variables, "TURN_SECRET")
    if not urls and not secret:
        return None
    for url in urls:
        if not _URL.fullmatch(url):
            raise ConfigError(
                f"TURN_URLS must list addresses such as turn:turn.example.org:3478, not {url!r}"
            )
    if not urls:
        raise ConfigError("TURN_SECRET needs TURN_URLS, which lists the servers")
    if len(secret) < MIN_SECRET_CHARACTERS:
        raise ConfigError(
            f"TURN_URLS needs TURN_SECRET, {MIN_SECRET_CHARACTERS} characters or more, as on that server"
        )
    return TurnServer(urls, secret)
