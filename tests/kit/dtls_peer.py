"""Attaches a DtlsTransport to the in-memory network."""

from svc.sfu.dtls import Connected, DtlsEvent, DtlsTransport, SrtpKeys
from svc.sfu.network_path import Address, Path
from tests.kit.network import Network


class DtlsPeer:
    """One end of a handshake."""

    def __init__(self, network: Network, transport: DtlsTransport, own: Address, other: Address) -> None:
        self.transport = transport
        self.events: list[DtlsEvent] = []
        self._network = network
        self._own, self._other = own, other
        network.attach(own, self.receive)
        network.join(self)

    @property
    def keys(self) -> SrtpKeys | None:
        return next((event.keys for event in self.events if isinstance(event, Connected)), None)

    def start(self) -> None:
        self.transport.start(self._network.now)
        self.drain()

    def receive(self, data: bytes, _: Path) -> None:
        self.transport.receive(data, self._network.now)
        self.drain()

    def next_deadline(self) -> float | None:
        return self.transport.next_deadline()

    def advance(self, now: float) -> None:
        self.transport.advance(now)
        self.drain()

    def drain(self) -> None:
        for data in self.transport.transmits:
            self._network.send(data, self._own, self._other)
        self.transport.transmits.clear()
        self.events += self.transport.events
        self.transport.events.clear()
