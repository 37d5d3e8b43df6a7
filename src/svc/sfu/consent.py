"""Consent freshness of the selected path: when to ask again, and when to fall silent.

RFC 7675 section 5.1. Only authenticated answers to our own requests count: a peer that
merely sends shows that it is there, not that our media arrives. Builds no messages.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from svc.sfu.checklist import CandidatePair

INTERVAL_S = 5.0
# "...randomized between 0.8 and 1.2 times the basic period", so 4 to 6 s; who keeps our
# time may be a second late with it.
SPREAD = (0.8, 1.0)
EXPIRY_S = 30.0


@dataclass(slots=True, eq=False)
class Consent:
    """Permission to send over the selected pair, lent for 30 s by each answer.

    Holds the credentials that the pair was selected with: during a restart the old path
    is still asked in the old generation's name.
    """

    pair: CandidatePair
    generation: int
    username: str
    key: bytes = field(repr=False)
    random: Callable[[], float] = field(repr=False)
    due: float = 0.0
    expires_at: float = 0.0

    def granted(self, now: float) -> None:
        """The peer has answered."""
        self.expires_at = now + EXPIRY_S

    def asked(self, now: float) -> None:
        """A request has gone out; it is never repeated, the next one is a new one."""
        low, high = SPREAD
        self.due = now + INTERVAL_S * (low + (high - low) * self.random())
