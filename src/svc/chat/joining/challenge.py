"""Nonces of sign-ins: each is good once, for a few minutes, and known to nobody but who asked.

In memory only: a restart makes those that were handed out void, and clients ask again. The
number that is remembered is bounded. Reads no clock and makes no randomness.
"""

from collections.abc import Callable

# A person may have to sign in at their account's issuer in between.
LIFETIME_S = 5 * 60
# 1 MB; the oldest makes room, and a client that lost its nonce asks for another.
MOST = 10_000


class Challenges:
    """`new_nonce` makes what nobody guesses."""

    def __init__(self, new_nonce: Callable[[], str]) -> None:
        self._new_nonce = new_nonce
        # When each ends, in the order of that.
        self._ends: dict[str, float] = {}

    def issue(self, now: float) -> tuple[str, float]:
        """A new nonce, and when it ends."""
        self._forget_old(now)
        if len(self._ends) >= MOST:
            del self._ends[next(iter(self._ends))]
        nonce, ends = self._new_nonce(), now + LIFETIME_S
        self._ends[nonce] = ends
        return nonce, ends

    def take(self, nonce: str, now: float) -> bool:
        """Is it one of ours that nobody has used? It has been used from now on."""
        return now < self._ends.pop(nonce, 0.0)

    def _forget_old(self, now: float) -> None:
        while self._ends:
            oldest = next(iter(self._ends))
            if now < self._ends[oldest]:
                return
            del self._ends[oldest]
