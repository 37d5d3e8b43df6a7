"""Connects an engine to its participants over simulated links, with a simulated clock.

It runs as fast as the machine can, because events wait in a heap and the clock jumps from one event to the
next. Senders and receivers register on an Endpoint.
"""

import heapq
from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

from tests.kit.packets import is_rtcp, split_compound
from tests.kit.participant import SERVER, Participant, new_engine
from tests.kit.simulation.invariant import EncryptionInvariant
from tests.kit.simulation.link import Conditions, Link

Address = tuple[str, int]

Action = Callable[[Any], None]


class World:
    """All events, in chronological order."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.engine = new_engine(seed << 32 | 7)
        # The clock does not start at 0, because 0 means "never" in the core.
        self.now = 1.0
        self._events: list[tuple[float, int, Action, Any]] = []
        self._order = count()
        self._endpoints: dict[Address, Endpoint] = {}
        self._deadline = 0.0
        self._turn()

    def at(self, when: float, action: Action, argument: Any = None) -> None:
        heapq.heappush(self._events, (when, next(self._order), action, argument))

    def every(self, period: float, action: Callable[[], None]) -> None:
        """Call `action` periodically, starting at a random time within the first period."""

        def again(_: None) -> None:
            action()
            self.at(self.now + period, again)

        self.at(self.now + period * self.random.random(), again)

    def run(self, until: float) -> None:
        events = self._events
        while events and events[0][0] <= until:
            self.now, _, action, argument = heapq.heappop(events)
            action(argument)
        self.now = until

    def join(self, up: Conditions, down: Conditions) -> "Endpoint":
        endpoint = Endpoint(self, 1001 + len(self._endpoints), up, down)
        self._endpoints[endpoint.participant.address] = endpoint
        return endpoint

    def into_engine(self, arrived: tuple[bytes, Address]) -> None:
        self.engine.receive(arrived[0], arrived[1], SERVER, self.now)
        self._turn()

    def _turn(self) -> None:
        """Finish an iteration of udploop, up to the point where it would sleep."""
        self.engine.advance(self.now)
        for data, remote, _local in self.engine.take_datagrams():
            if data[0] >= 128:
                self._endpoints[remote[:2]].sent_to(data)
        self._sleep()

    def _sleep(self) -> None:
        deadline = self.engine.next_deadline()
        if deadline != self._deadline:
            self._deadline = deadline
            self.at(deadline, self._wake, deadline)

    def _wake(self, deadline: float) -> None:
        # Another packet may have arrived in the meantime.
        if deadline == self._deadline:
            self._turn()


class Endpoint:
    """A participant with its incoming and outgoing links."""

    def __init__(self, world: World, port: int, up: Conditions, down: Conditions) -> None:
        self.world = world
        self.participant = Participant(world.engine, port, now=world.now)
        self.up = Link(up, Random(world.random.random()))
        self.down = Link(down, Random(world.random.random()))
        self.invariant = EncryptionInvariant()
        self.on_rtp: Action = lambda data: None  # called with each encrypted packet
        self.on_rtcp: Callable[[int, int, bytes], None] = lambda kind, count, body: None

    def transmit(self, data: bytes) -> bool:
        """Send an encrypted datagram to the engine. Return whether it will arrive."""
        arrivals = self.up.send(len(data), self.world.now)
        for arrival in arrivals:
            self.world.at(arrival, self.world.into_engine, (data, self.participant.address))
        return bool(arrivals)

    def send_rtcp(self, packet: bytes) -> None:
        self.transmit(self.participant.outbound.protect_rtcp(packet))

    def sent_to(self, data: bytes) -> None:
        """Receive a datagram that the engine has sent to the participant."""
        self.invariant.check(data)
        for arrival in self.down.send(len(data), self.world.now):
            self.world.at(arrival, self._take_in, data)

    def _take_in(self, data: bytes) -> None:
        if not is_rtcp(data):
            self.on_rtp(data)
            return
        try:
            compound = self.participant.inbound.unprotect_rtcp(data)
        except Exception as error:
            assert self.down.conditions.duplicate and "replay" in str(error), error
            return
        for kind, number, body in split_compound(compound):
            self.on_rtcp(kind, number, body)
