"""Signs members in on a socket, resumes sessions, and renews a sign-in before its token expires.

This module verifies the token and composes the first response. It does not use the socket.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from svc.chat.access.rate_limits import RateLimits
from svc.chat.access.tokens import AccessTokens, Session
from svc.chat.endpoints import Request, convert
from svc.chat.errors import ChatError
from svc.chat.live import frames
from svc.chat.live.hub import Hub

# Returns part of the state that a member receives at sign-in.
Welcome = Callable[[Session], Mapping[str, object]]

# The requests that a client may send first. All other requests are in `endpoint_permissions`.
FIRST_EVENTS = ("authenticate", "resume")


class TokenRequest(Request):
    access_token: Annotated[str, Meta(min_length=1, max_length=4096)]


class FirstRequest(TokenRequest):
    # Whether the client keeps showing the same online members when a relay sends a state without them.
    keeps_online: bool = False


class Resumption(FirstRequest, kw_only=True):
    seq: Annotated[int, Meta(ge=0, le=2**53)]


class ClientSignIn:
    """The rules for signing clients in. `welcomes` and `present` together return all state that a member can
    see.

    `present` returns the state that cannot be replayed, such as the online members, because its events are
    not stored.
    """

    def __init__(
        self,
        hub: Hub,
        tokens: AccessTokens,
        pace: RateLimits,
        welcomes: Sequence[Welcome],
        present: Sequence[Welcome],
    ) -> None:
        self._hub = hub
        self._tokens = tokens
        self._pace = pace
        self._welcomes = welcomes
        self._present = present
        # Raises ChatError if the member has left or signed out since presenting the token.
        self.require_standing = tokens.require_standing

    def first(self, request: frames.Request, now: float) -> tuple[Session, Sequence[bytes]]:
        """Process a client's first request. Return the session and the frames to send: the reply, then any
        missed events.

        Raises ChatError.
        """
        session = self.authenticate(request, now)
        missed = None
        if request.event == "resume":
            missed = self._hub.missed_frames(session.member_id, resumption_in(request))
        event, welcome = self.welcome(session, is_resumed=missed is not None)
        return session, [frames.reply(event, request.id, welcome), *(missed or ())]

    def authenticate(self, request: frames.Request, now: float) -> Session:
        """Return the session of the member who sent a first request. Raises ChatError."""
        if request.event not in FIRST_EVENTS or "access_token" not in request.data:
            raise ChatError("auth_required")
        session = self._tokens.verify(convert(request.data, FirstRequest).access_token, now)
        # Apply the rate limit, because the welcome is the most expensive response.
        self._pace.require(session.member_id, request.event)
        return session

    def welcome(self, session: Session, *, is_resumed: bool) -> tuple[str, Mapping[str, object]]:
        """Return the event name and the data of the reply to a client that has signed in. After a resumption,
        the missed events follow the reply.
        """
        if is_resumed:
            return "resumed", self._compose(session, self._present)
        return "authenticated", self._compose(session, [*self._welcomes, *self._present])

    def state(self, session: Session, *, with_present: bool) -> tuple[str, Mapping[str, object]]:
        """Return the event name and the data for a client that signed in earlier. `with_present` includes the
        state that cannot be replayed.
        """
        if with_present:
            return self.welcome(session, is_resumed=False)
        return "authenticated", self._compose(session, self._welcomes)

    def _compose(self, session: Session, parts: Sequence[Welcome]) -> Mapping[str, object]:
        welcome: dict[str, object] = {"seq": self._hub.seq, "token_expires_at_ms": expires_at_ms(session)}
        for part in parts:
            welcome |= part(session)
        return welcome

    def renew(self, before: Session, shown: TokenRequest, now: float) -> Session:
        """Verify a fresh token for the same member. Raises ChatError."""
        session = self._tokens.verify(shown.access_token, now)
        if session.member_id != before.member_id:
            raise ChatError("token_invalid")
        return session


def resumption_in(request: frames.Request) -> int:
    """Return the `seq` in a request to resume. Raises ChatError."""
    return convert(request.data, Resumption).seq


def expires_at_ms(session: Session) -> int:
    """Return the client's deadline for renewing its sign-in, in ms since 1970."""
    return int(session.expires_at * 1000)
