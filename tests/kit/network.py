"""Simulates a network in memory, with its own clock and with seeded loss, delay and reordering.

It uses no sockets. Participants are sans-I/O: they are given the time, return their next deadline, and send
by calling `send`. The network is deterministic and runs faster than real time.
"""

import heapq
import random
from collections.abc import Callable
from itertools import count
from typing import Protocol

from svc.sfu.network_path import Address, Path

Receiver = Callable[[bytes, Path], None]


class Party(Protocol):
    """An endpoint that the network drives."""

    def next_deadline(self) -> float | None: ...

    def advance(self, now: float) -> None: ...


class Network:
    """A network that carries datagrams between attached addresses."""

    def __init__(
        self, *, seed: int = 1, loss: float = 0.0, delay_s: tuple[float, float] = (0.01, 0.01)
    ) -> None:
        self.now = 1000.0
        self.loss = loss
        self.sent: list[tuple[Address, Address, bytes]] = []
        self.silent: set[Address] = set()  # Packets from or to these addresses are lost.
        self._random = random.Random(seed)
        self._delay_s = delay_s
        self._receivers: dict[Address, Receiver] = {}
        self._parties: list[Party] = []
        self._on_the_way: list[tuple[float, int, Address, Address, bytes]] = []
        self._order = count()

    def attach(self, address: Address, receive: Receiver) -> None:
        self._receivers[address] = receive

    def join(self, party: Party) -> None:
        self._parties.append(party)

    def send(self, data: bytes, source: Address, to: Address) -> None:
        self.sent.append((source, to, data))
        if self._random.random() < self.loss:
            return
        arrives = self.now + self._random.uniform(*self._delay_s)
        heapq.heappush(self._on_the_way, (arrives, next(self._order), source, to, data))

    def run_until(self, condition: Callable[[], bool], *, within_s: float) -> bool:
        """Advance the clock until the condition holds. Return False if it never does."""
        end = self.now + within_s
        while not condition():
            upcoming = self._next_event()
            if upcoming is None or upcoming > end:
                self.now = end
                return condition()
            self.now = max(self.now, upcoming)
            self._deliver()
            for party in self._parties:
                party.advance(self.now)
        return True

    def run_for(self, duration_s: float) -> None:
        self.run_until(lambda: False, within_s=duration_s)

    def _next_event(self) -> float | None:
        deadlines = [deadline for party in self._parties if (deadline := party.next_deadline()) is not None]
        if self._on_the_way:
            deadlines.append(self._on_the_way[0][0])
        return min(deadlines, default=None)

    def _deliver(self) -> None:
        while self._on_the_way and self._on_the_way[0][0] <= self.now:
            _, _, source, to, data = heapq.heappop(self._on_the_way)
            receive = self._receivers.get(to)
            if receive and not self.silent & {source, to}:
                receive(data, Path(source, to[0]))
