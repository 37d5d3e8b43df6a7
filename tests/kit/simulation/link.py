"""Simulates one direction of a network path, with seeded faults.

It calculates the arrival time of each datagram that is not lost. It carries no bytes and has no clock. Jitter
preserves the order, as a router's queue does. Only packets that are chosen for reordering are overtaken.
"""

from dataclasses import dataclass
from random import Random

# How long each jitter value lasts. Real queues fill and drain gradually, not from one packet to the next.
JITTER_PERIOD_S = 0.02


@dataclass(frozen=True, slots=True)
class Conditions:
    """The faults on a path."""

    delay_s: float = 0.02
    jitter_s: float = 0.0  # the maximum amount added to the delay
    loss: float = 0.0  # fraction of lost datagrams
    burst: float = 1.0  # mean number of datagrams lost together
    reorder: float = 0.0  # fraction of datagrams that are overtaken
    reorder_s: float = 0.012  # maximum extra delay of the overtaken datagrams
    duplicate: float = 0.0  # fraction of duplicated datagrams
    rate_bps: float = 0.0  # 0 if unlimited
    queue_s: float = 0.1  # the longest queue, if rate_bps is set; anything beyond it is lost


class Link:
    """A link that decides the fate of each datagram. `send` must be called in chronological order."""

    def __init__(self, conditions: Conditions, random: Random) -> None:
        self.conditions = conditions
        self._random = random
        self._losing = False
        self._jitter = 0.0
        self._jitter_until = 0.0
        self._last_arrival = 0.0
        self._free_at = 0.0

    def send(self, size: int, now: float) -> list[float]:
        """Return the arrival times of a datagram of `size` bytes: one, two or none."""
        conditions = self.conditions
        leaves = now
        if conditions.rate_bps:
            leaves = max(now, self._free_at)
            if leaves - now > conditions.queue_s:
                return []
            leaves += size * 8 / conditions.rate_bps
            self._free_at = leaves
        if conditions.loss and self._lost():
            return []
        arrival = leaves + conditions.delay_s + self._jitter_at(now)
        if conditions.reorder and self._random.random() < conditions.reorder:
            arrival += conditions.reorder_s * (1 - self._random.random() / 2)
        else:
            arrival = self._last_arrival = max(arrival, self._last_arrival)
        if conditions.duplicate and self._random.random() < conditions.duplicate:
            return [arrival, arrival + 0.001]
        return [arrival]

    def _lost(self) -> bool:
        """Decide whether a packet is lost: independently of the others, or in bursts according to Gilbert's
        two-state model.
        """
        conditions = self.conditions
        if conditions.burst <= 1:
            return self._random.random() < conditions.loss
        stay = 1 - 1 / conditions.burst
        begin = conditions.loss / (conditions.burst * (1 - conditions.loss))
        self._losing = self._random.random() < (stay if self._losing else begin)
        return self._losing

    def _jitter_at(self, now: float) -> float:
        if self.conditions.jitter_s and now >= self._jitter_until:
            self._jitter_until = now + JITTER_PERIOD_S
            self._jitter = self._random.random() * self.conditions.jitter_s
        return self._jitter
