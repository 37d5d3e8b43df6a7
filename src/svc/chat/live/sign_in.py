"""How a page signs in on its socket: anew, after a lost connection, and again before its token ends.

Decides who it is and what they are told first; reads and writes no socket.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from svc.chat.access.pace import Pace
from svc.chat.access.tokens import AccessTokens, Asker
from svc.chat.errors import ChatError
from svc.chat.live import frames
from svc.chat.live.hub import Hub
from svc.chat.requests import Asked, converted

# Part of what a member is told on signing in.
Welcome = Callable[[Asker], Mapping[str, object]]

# What may come first on a socket; everything else is in the catalogue.
FIRST_EVENTS = ("authenticate", "resume")


class ShownToken(Asked):
    access_token: Annotated[str, Meta(min_length=1, max_length=4096)]


class Resumption(ShownToken):
    seq: Annotated[int, Meta(ge=0, le=2**53)]


class SigningIn:
    """`welcomes` together are the whole state as a member sees it; `present` is the part that no
    push that is kept tells of, such as who is online."""

    def __init__(
        self,
        hub: Hub,
        tokens: AccessTokens,
        pace: Pace,
        welcomes: Sequence[Welcome],
        present: Sequence[Welcome],
    ) -> None:
        self._hub = hub
        self._tokens = tokens
        self._pace = pace
        self._welcomes = welcomes
        self._present = present
        # Raises ChatError where the member has gone, or was signed out, since.
        self.require_standing = tokens.require_standing

    def first(self, request: frames.Request, now: float) -> tuple[Asker, Sequence[bytes]]:
        """Take the first request of a socket: the reply, and after it what was missed. Raises ChatError."""
        if request.event not in FIRST_EVENTS or "access_token" not in request.data:
            raise ChatError("auth_required")
        asker = self._tokens.verify(converted(request.data, ShownToken).access_token, now)
        # The welcome is the dearest of all answers.
        self._pace.require(asker.member_id, request.event)
        missed = None
        if request.event == "resume":
            missed = self._hub.missed(asker.member_id, converted(request.data, Resumption).seq)
        event, parts = ("authenticated", self._welcomes) if missed is None else ("resumed", self._present)
        told: dict[str, object] = {"seq": self._hub.seq, "token_expires_at_ms": expires_at_ms(asker)}
        for part in parts:
            told |= part(asker)
        return asker, [frames.reply(event, request.id, told), *(missed or ())]

    def again(self, before: Asker, shown: ShownToken, now: float) -> Asker:
        """The same member with a fresh token. Raises ChatError."""
        asker = self._tokens.verify(shown.access_token, now)
        if asker.member_id != before.member_id:
            raise ChatError("token_invalid")
        return asker


def expires_at_ms(asker: Asker) -> int:
    """When the page has to have signed in again."""
    return int(asker.expires_at * 1000)
