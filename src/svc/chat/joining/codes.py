"""What is handed out to be brought back once: nonces of sign-ins, and codes that add a sign-in to a member.

A nonce is good for a few minutes and known to nobody but who asked. Nonces are in memory only: a restart
makes those that were handed out void, and clients ask again. Anyone may ask, as often as they like: the
number that is remembered is bounded, and the address that has asked most loses its oldest. A code is a
member's own for another device, or an owner's for who lost all; here is what it is like and for how long it
is good. Keeps no codes, reads no clock and makes no randomness for nonces.
"""

import enum
import hashlib
from collections.abc import Callable

from svc.base.connections import Crowd

# A person may have to sign in at their account's issuer in between.
LIFETIME_S = 5 * 60
# 3 MB. A client needs its nonce for a second or two; when it has lost it, it asks for another.
MOST = 10_000


class Challenges:
    """`new_nonce` makes what nobody guesses."""

    def __init__(self, new_nonce: Callable[[], str]) -> None:
        self._new_nonce = new_nonce
        # When each ends, in the order of that.
        self._ends: dict[str, float] = {}
        self._asked: Crowd[str] = Crowd()

    def issue(self, address: str, now: float) -> tuple[str, float]:
        """A new nonce, and when it ends."""
        self._forget_old(now)
        if (lost := self._asked.pushed_out(MOST)) is not None:
            del self._ends[lost]
        nonce, ends = self._new_nonce(), now + LIFETIME_S
        self._ends[nonce] = ends
        self._asked.add(nonce, address)
        return nonce, ends

    def take(self, nonce: str, now: float) -> bool:
        """Is it one of ours that nobody has used? It has been used from now on."""
        self._asked.discard(nonce)
        return _good(self._ends.pop(nonce, 0.0), now)

    def _forget_old(self, now: float) -> None:
        while self._ends:
            oldest = next(iter(self._ends))
            if _good(self._ends[oldest], now):
                return
            self.take(oldest, now)


def _good(ends: float, now: float) -> bool:
    """One that ends too late was made before the clock was set back."""
    return 0 < ends - now <= LIFETIME_S


# 16 letters of 31: 79 bits, which nobody tries out, and none that look alike.
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
LENGTH = 16


class Kind(enum.Enum):
    """The values are how the database calls them."""

    LINK = "link"
    RECOVERY = "recovery"

    @property
    def lifetime_ms(self) -> int:
        # A device lies beside the other; somebody who lost theirs is told by other means.
        return 10 * 60_000 if self is Kind.LINK else 24 * 3_600_000


def new_code(choice: Callable[[str], str]) -> str:
    """`choice` picks one of the letters, by chance."""
    return "".join(choice(ALPHABET) for _ in range(LENGTH))


def hashed(code: str) -> bytes:
    """As it is kept. Nobody tries out 79 bits, so nothing slow is needed."""
    return hashlib.sha256(code.strip().lower().encode("utf-8", "surrogatepass")).digest()
