"""Decides when to renew consent for the selected path and when to stop sending (RFC 7675 section 5.1).

Only authenticated responses to our requests renew consent. A peer that merely sends packets does not prove
that it receives our media. Does not build messages.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from svc.sfu.checklist import CandidatePair

INTERVAL_S = 5.0
# "...randomized between 0.8 and 1.2 times the basic period", which is 4 to 6 s. The timer may be up to a
# second late.
SPREAD = (0.8, 1.0)
EXPIRY_S = 30.0


@dataclass(slots=True, eq=False)
class Consent:
    """Permission to send over the selected pair, extended by 30 s with each response.

    Stores the credentials that were used when the pair was selected, because a restart changes them.
    """

    pair: CandidatePair
    generation: int
    username: str
    key: bytes = field(repr=False)
    random: Callable[[], float] = field(repr=False)
    due: float = 0.0
    expires_at: float = 0.0

    def granted(self, now: float) -> None:
        """Extend the permission, because the peer has responded."""
        self.expires_at = now + EXPIRY_S

    def request_sent(self, now: float) -> None:
        """Schedule the next request. A request is never retransmitted. Instead, a new request is sent."""
        low, high = SPREAD
        self.due = now + INTERVAL_S * (low + (high - low) * self.random())
