"""Attaches an IceAgent to the in-memory network, with a stand-in for the native core.

The stand-in handles checks as the core does. It drops checks with unknown ufrags or wrong passwords, responds
to all other checks and reports them, and leaves role conflicts to the agent.
"""

import random
from itertools import count

from aioice.stun import Class, Message

from svc.sfu.candidates import host_candidates
from svc.sfu.ice import IceAgent, IceCredentials
from svc.sfu.network_path import BindingCheck, IceEvent, Path, RoleChanged, Selected
from svc.sfu.stun import read_message, success_response
from tests.kit.network import Network

PORT = 3478


class IcePeer:
    """One end of a call. `ip` is its first address. Any other addresses belong to the same machine."""

    def __init__(
        self, network: Network, *ips: str, seed: int, controlling: bool = True, tie_breaker: int | None = None
    ) -> None:
        self.network = network
        self.ips = ips
        self.events: list[IceEvent] = []
        self._random = random.Random(seed)
        prefix, order = self._random.randbytes(8), count()
        self.candidates = host_candidates(port=PORT, interfaces=ips, bound=ips)
        self.agent = IceAgent(
            local=self.new_credentials(),
            local_candidates=self.candidates,
            transaction_id=lambda: prefix + next(order).to_bytes(4, "big"),
            tie_breaker=self._random.getrandbits(64) if tie_breaker is None else tie_breaker,
            random=self._random.random,
            controlling=controlling,
        )
        self._credentials = [self.agent.local]
        self._generation = 1
        self._controlling = controlling
        self._tie_breaker = self.agent.tie_breaker
        for ip in ips:
            network.attach((ip, PORT), self.receive)
        network.join(self)

    @property
    def selected(self) -> Path | None:
        """The path that the agent has most recently selected."""
        paths = [event.path for event in self.events if isinstance(event, Selected)]
        return paths[-1] if paths else None

    def count(self, kind: type[IceEvent]) -> int:
        return sum(isinstance(event, kind) for event in self.events)

    def new_credentials(self) -> IceCredentials:
        return IceCredentials.generate(self._random.randbytes)

    def connect(self, other: "IcePeer") -> None:
        """Apply the other peer's credentials and candidates, as if from an offer or answer."""
        self.agent.set_remote(other.agent.local.ufrag, other.agent.local.pwd, self.network.now)
        for candidate in other.candidates:
            self.agent.add_remote_candidate(candidate, self.network.now)
        self.drain()

    def restart(self) -> None:
        self.agent.restart(self.new_credentials(), self.network.now)
        self._credentials = [*self._credentials[-1:], self.agent.local]
        self._generation += 1
        self.drain()

    def next_deadline(self) -> float | None:
        return self.agent.next_deadline()

    def advance(self, now: float) -> None:
        self.agent.advance(now)
        self.drain()

    def drain(self) -> None:
        for data, path in self.agent.transmits:
            self.network.send(data, (path.local or self.ips[0], PORT), path.address)
        self.agent.transmits.clear()
        for event in self.agent.events:
            if isinstance(event, RoleChanged):
                self._controlling, self._tie_breaker = event.controlling, event.tie_breaker
        self.events += self.agent.events
        self.agent.events.clear()

    def receive(self, data: bytes, path: Path) -> None:
        message = read_message(data)
        if message is not None and message.message_class is Class.REQUEST:
            self._check_received(message, data, path)
        else:
            self.agent.stun_received(data, path, self.network.now)
        self.drain()

    def _check_received(self, request: Message, data: bytes, path: Path) -> None:
        ufrag = request.attributes["USERNAME"].partition(":")[0]
        own = next((known for known in self._credentials if known.ufrag == ufrag), None)
        if own is None or not request.check_message_integrity(own.pwd.encode()):
            return
        conflict = "ICE-CONTROLLING" if self._controlling else "ICE-CONTROLLED"
        if conflict in request.attributes:
            self.agent.stun_received(data, path, self.network.now)
            return
        self.network.send(success_response(request, path, own.pwd), (path.local, PORT), path.address)
        use_candidate = "USE-CANDIDATE" in request.attributes
        generation = self._generation - (own is not self._credentials[-1])
        check = BindingCheck(path, request.attributes["PRIORITY"], use_candidate, generation)
        self.agent.check_received(check, self.network.now)
