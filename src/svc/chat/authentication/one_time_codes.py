"""Issues nonces for sign-ins, and creates one-time codes for signing in on another device.

A nonce is valid for a few minutes and known only to the client that requested it. Nonces are kept only in
memory, so a restart invalidates them and clients request new ones. Anybody may request any number of nonces,
so the total is limited. Above the limit, the IP address with the most nonces loses its oldest one. A member
creates a code to add a device, and the owner creates one for a member who has lost all devices. This module
defines the format and lifetime of codes. It stores no codes, reads no clock, and generates no random values.
"""

import enum
import hashlib
from collections.abc import Callable

from svc.base.connections import WaitingQueue

# Long enough for a person to sign in with their account's issuer before the nonce is used.
LIFETIME_S = 5 * 60
# The maximum number of outstanding nonces, which use up to 3 MB. A client needs its nonce for a second or
# two, and requests another if it was dropped.
MAX_PENDING = 10_000


class Challenges:
    """The outstanding nonces. `new_nonce` returns an unguessable string."""

    def __init__(self, new_nonce: Callable[[], str]) -> None:
        self._new_nonce = new_nonce
        # The expiry of each nonce, in ascending order.
        self._ends: dict[str, float] = {}
        self._pending: WaitingQueue[str] = WaitingQueue()

    def issue(self, address: str, now: float) -> tuple[str, float]:
        """Return a new nonce and its expiry."""
        self._forget_old(now)
        if (lost := self._pending.evict(MAX_PENDING)) is not None:
            del self._ends[lost]
        nonce, ends = self._new_nonce(), now + LIFETIME_S
        self._ends[nonce] = ends
        self._pending.add(nonce, address)
        return nonce, ends

    def take(self, nonce: str, now: float) -> bool:
        """Consume a nonce. Return whether it was valid."""
        self._pending.discard(nonce)
        return _good(self._ends.pop(nonce, 0.0), now)

    def _forget_old(self, now: float) -> None:
        while self._ends:
            oldest = next(iter(self._ends))
            if _good(self._ends[oldest], now):
                return
            self.take(oldest, now)


def _good(ends: float, now: float) -> bool:
    """Return whether an expiry is valid. If it is too far in the future, the clock has been set back
    since.
    """
    return 0 < ends - now <= LIFETIME_S


# 16 characters from an alphabet of 31 give 79 bits of entropy, too many to guess. No two characters look
# alike.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
LENGTH = 16


class Kind(enum.Enum):
    """The kinds of codes. The values are the names in the database."""

    LINK = "link"
    RECOVERY = "recovery"

    @property
    def lifetime_ms(self) -> int:
        # A link code is used with both devices at hand. A recovery code must first reach a person who has
        # lost all devices.
        return 10 * 60_000 if self is Kind.LINK else 24 * 3_600_000


def new_code(choice: Callable[[str], str]) -> str:
    """Return a new code. `choice` picks a random character."""
    return "".join(choice(ALPHABET) for _ in range(LENGTH))


def hash_code(code: str) -> bytes:
    """Hash a code for storage. With 79 bits of entropy, a slow hash is not needed."""
    return hashlib.sha256(code.strip().lower().encode("utf-8", "surrogatepass")).digest()
