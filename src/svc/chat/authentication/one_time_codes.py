"""One-time secrets: nonces of sign-ins, and codes that add a sign-in to a member.

A nonce is valid for a few minutes and known only to the client that requested it. Nonces are in memory only:
a restart invalidates them, and clients request new ones. Anybody may request nonces without a limit, so their
number is bounded, and the address with the most nonces loses its oldest. A code belongs to a member for
another device, or comes from the owner for somebody who lost all devices. This module defines a code's format
and lifetime. Stores no codes, reads no clock, and generates no randomness for nonces.
"""

import enum
import hashlib
from collections.abc import Callable

from svc.base.connections import WaitingQueue

# A person may have to sign in at their account's issuer before using the nonce.
LIFETIME_S = 5 * 60
# The maximum number of outstanding nonces, which take 3 MB. A client needs its nonce for a second or two, and
# requests another if it was dropped.
MOST = 10_000


class Challenges:
    """The outstanding nonces. `new_nonce` returns an unguessable one."""

    def __init__(self, new_nonce: Callable[[], str]) -> None:
        self._new_nonce = new_nonce
        # Expiries, in ascending order.
        self._ends: dict[str, float] = {}
        self._pending: WaitingQueue[str] = WaitingQueue()

    def issue(self, address: str, now: float) -> tuple[str, float]:
        """Return a new nonce and its expiry."""
        self._forget_old(now)
        if (lost := self._pending.pushed_out(MOST)) is not None:
            del self._ends[lost]
        nonce, ends = self._new_nonce(), now + LIFETIME_S
        self._ends[nonce] = ends
        self._pending.add(nonce, address)
        return nonce, ends

    def take(self, nonce: str, now: float) -> bool:
        """Use up a nonce. Return whether it was valid."""
        self._pending.discard(nonce)
        return _good(self._ends.pop(nonce, 0.0), now)

    def _forget_old(self, now: float) -> None:
        while self._ends:
            oldest = next(iter(self._ends))
            if _good(self._ends[oldest], now):
                return
            self.take(oldest, now)


def _good(ends: float, now: float) -> bool:
    """Return whether an expiry is valid. An expiry too far ahead was issued before the clock was set back."""
    return 0 < ends - now <= LIFETIME_S


# 16 letters from an alphabet of 31 give 79 bits, too many to guess. No two letters look alike.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
LENGTH = 16


class Kind(enum.Enum):
    """The kinds of codes, with their names in the database."""

    LINK = "link"
    RECOVERY = "recovery"

    @property
    def lifetime_ms(self) -> int:
        # A link code is used while both devices are at hand. A recovery code has to reach a person who has
        # lost all devices.
        return 10 * 60_000 if self is Kind.LINK else 24 * 3_600_000


def new_code(choice: Callable[[str], str]) -> str:
    """Return a new code. `choice` picks a random letter."""
    return "".join(choice(ALPHABET) for _ in range(LENGTH))


def hash_code(code: str) -> bytes:
    """Hash a code for storage. With 79 bits of entropy, a slow hash is not needed."""
    return hashlib.sha256(code.strip().lower().encode("utf-8", "surrogatepass")).digest()
