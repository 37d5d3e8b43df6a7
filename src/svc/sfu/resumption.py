"""Maps credentials to the sessions that they resume, and remembers why some sessions have ended.

A credential is a secret that belongs to one session. A new credential is generated for each connection and
sent only over that connection. The previous credential stays valid until the client has answered an offer
over its new connection, because the new credential might have been lost. Only hashes are stored. Makes no
decisions about seats or rooms. See docs/signalling.md, "Session resumption".
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from svc.sfu.client_events import Resumable
from svc.sfu.close_codes import CloseCode
from svc.sfu.session import RESUME_WITHIN_S, Session

CREDENTIAL_BYTES = 32
# If a session ends for one of these reasons, its client must not rejoin. The client must learn the reason
# even if it was disconnected at the time.
_FINAL = (CloseCode.REPLACED, CloseCode.DISCONNECTED)
# The maximum number of remembered reasons. The oldest are dropped first. Only clients with a grant can end
# sessions, and each client only a few per 30 s.
MAX_ENDED = 10_000


class ResumeRefused(Exception):
    """The session cannot be resumed. The code and the reason may be sent to the client."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(slots=True, eq=False)
class Ticket:
    """One session that may be resumed."""

    session: Session
    owner: str
    hashes: list[bytes] = field(default_factory=list, repr=False)  # At most two hashes, newest last.
    ended: tuple[CloseCode, str] | None = None
    forget_at: float = 0.0


class Resumptions:
    """The tickets of one service. `random_bytes` must be unpredictable."""

    def __init__(self, random_bytes: Callable[[int], bytes], clock: Callable[[], float]) -> None:
        self._random_bytes = random_bytes
        self._clock = clock
        self._tickets: dict[bytes, Ticket] = {}
        self._ended: dict[Ticket, None] = {}  # The tickets of ended sessions, oldest first.

    def renew(self, ticket: Ticket) -> Resumable:
        """Generate a credential. Return the event that sends it to the client."""
        credential = self._random_bytes(CREDENTIAL_BYTES).hex()
        digest = _digest(credential)
        ticket.hashes.append(digest)
        self._tickets[digest] = ticket
        return Resumable(credential, RESUME_WITHIN_S)

    def confirm(self, ticket: Ticket) -> None:
        """Invalidate all credentials but the newest, which the client is known to have received."""
        self._keep(ticket, ticket.hashes[-1:])

    def find(self, credential: str) -> Ticket:
        """Return the ticket of the session that a credential resumes, and invalidate its other credentials.
        Raises ResumeRefused.
        """
        self._forget_old()
        digest = _digest(credential)
        ticket = self._tickets.get(digest)
        if ticket is None:
            raise ResumeRefused(CloseCode.REFUSED, "The session no longer exists")
        if ticket.ended:
            raise ResumeRefused(*ticket.ended)
        self._keep(ticket, [digest])
        return ticket

    def _keep(self, ticket: Ticket, hashes: list[bytes]) -> None:
        for digest in ticket.hashes:
            if digest not in hashes:
                del self._tickets[digest]
        ticket.hashes = hashes

    def end(self, ticket: Ticket, code: CloseCode, reason: str) -> None:
        """Forget a session that has ended. Keep the reason for a client that must not rejoin."""
        if ticket.ended:
            return
        ticket.ended = code, reason
        ticket.forget_at = self._clock() + RESUME_WITHIN_S
        self._ended[ticket] = None
        if code not in _FINAL or len(self._ended) > MAX_ENDED:
            self._forget(ticket if code not in _FINAL else next(iter(self._ended)))
        self._forget_old()

    def _forget_old(self) -> None:
        while self._ended and (ticket := next(iter(self._ended))).forget_at <= self._clock():
            self._forget(ticket)

    def _forget(self, ticket: Ticket) -> None:
        self._ended.pop(ticket, None)
        self._keep(ticket, [])


def _digest(credential: str) -> bytes:
    # The table is keyed by the hash, so lookup times reveal nothing about a credential.
    return sha256(credential.encode(errors="replace")).digest()
