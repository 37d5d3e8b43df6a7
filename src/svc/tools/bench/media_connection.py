"""Establishes a client's media connection: first ICE, then DTLS.

Each client has a socket, which is read on the running event loop until the keys are negotiated. Traffic then
takes over the socket and the keys. This module answers the peer's checks itself. In the SFU, the RTP core
does that. See RFC 8445, RFC 5764.
"""

import asyncio
import random
import secrets
import socket
import sys
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address

from svc._rtp import srtp
from svc._rtp.stun import answer_request
from svc.sfu.candidates import Candidate, CandidateError, priority, version
from svc.sfu.dtls import Certificate, Connected, DtlsTransport, Role, SrtpKeys
from svc.sfu.ice import IceAgent, IceCredentials
from svc.sfu.network_path import Address, BindingCheck, Path, Selected
from svc.sfu.sdp import SessionDescription
from svc.sfu.stun import read_message
from svc.tools.bench.errors import BenchError
from svc.tools.bench.sdp_answer import Terms
from svc.tools.bench.traffic import Traffic

# The kernel may grant less: /proc/sys/net/core/rmem_max.
SOCKET_BUFFER_BYTES = 4 << 20
# Linux's number for the option that makes the kernel report when a datagram arrived. The standard library
# lacks it.
SO_TIMESTAMPNS = 35
_MAX_DATAGRAM_BYTES = 2048


@dataclass(frozen=True, slots=True)
class Secured:
    """The media's remote address and keys."""

    remote: Address
    keys: SrtpKeys


class Connecting:
    """One client's socket, until the keys are negotiated. The offering side is `controlling`."""

    def __init__(self, certificate: Certificate, *, controlling: bool = False) -> None:
        self.local = IceCredentials.generate(secrets.token_bytes)
        self.socket: socket.socket | None = None  # set once there is an address to send to
        self._loop = asyncio.get_running_loop()
        self._secured: asyncio.Future[Secured] = self._loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._remote: Address | None = None
        self._ice: IceAgent | None = None
        self._controlling = controlling
        self._certificate = certificate
        # Set from the peer's description.
        self._dtls: DtlsTransport
        self._remote_credentials: tuple[str, str]
        self._candidates: list[Candidate] = []
        self._some_known = asyncio.Event()

    def set_remote(self, description: SessionDescription) -> None:
        """Set the peer's offer or answer."""
        role: Role = "server" if "active" in _of_transport("setup", description) else "client"
        self._dtls = DtlsTransport(self._certificate, role)
        words = (value.partition(" ") for value in _of_transport("fingerprint", description))
        self._dtls.set_remote_fingerprints([(algorithm.lower(), value) for algorithm, _, value in words])
        (ufrag, *_), (pwd, *_) = (_of_transport(name, description) for name in ("ice-ufrag", "ice-pwd"))
        self._remote_credentials = ufrag, pwd
        for media in description.media:
            for text in media.values("candidate"):
                self.add_candidate(text)

    def add_candidate(self, text: str) -> None:
        """Add an address to try, from the peer's description or sent later."""
        try:
            candidate = Candidate.parse(text)
        except CandidateError:
            return
        if candidate is None:
            return
        self._candidates.append(candidate)
        self._some_known.set()
        if self._ice:
            self._ice.add_remote_candidate(candidate, self._loop.time())
            self._carry(self._ice)

    async def enter(
        self, traffic: Traffic, terms: Terms, *, streams: int, mid: str = "", ssrc: int = 0
    ) -> int:
        """Connect, and hand the connection over to Traffic. Return the client's number in Traffic. The caller
        must set a timeout.
        """
        secured = await self._secure()
        assert self.socket is not None, "there are keys only where there is a socket"
        self.socket.connect(secured.remote)
        return traffic.add(
            self.socket.fileno(),
            srtp.SrtpKeys(secured.keys.profile, secured.keys.local, secured.keys.remote),
            self.local.pwd,
            secured.remote,
            payload_type=terms.payload_type,
            streams=streams,
            mid=mid,
            ssrc=ssrc,
            mid_id=terms.mid_id,
            twcc_id=terms.twcc_id,
            level_id=terms.level_id,
        )

    async def _secure(self) -> Secured:
        """Find a path and agree on keys. Afterwards this class no longer reads the socket."""
        await self._some_known.wait()
        # Prefer IPv4, which works everywhere. A client has only one socket, so it uses only one IP version.
        towards = min(self._candidates, key=lambda candidate: version(candidate.address[0]))
        self.socket = _socket_towards(towards.address)
        self._ice = IceAgent(
            local=self.local,
            local_candidates=[Candidate("1", priority("host"), self.socket.getsockname()[:2], "host")],
            transaction_id=lambda: secrets.token_bytes(12),
            tie_breaker=secrets.randbits(64),
            random=random.random,
            controlling=self._controlling,
        )
        self._loop.add_reader(self.socket, self._readable, self.socket, self._ice)
        try:
            self._ice.set_remote(*self._remote_credentials, self._loop.time())
            for candidate in self._candidates:
                self._ice.add_remote_candidate(candidate, self._loop.time())
            self._carry(self._ice)
            return await self._secured
        finally:
            self._loop.remove_reader(self.socket)
            if self._timer:
                self._timer.cancel()

    def _readable(self, media: socket.socket, ice: IceAgent) -> None:
        # Read one datagram at a time, because the datagram that completes the keys must be the last datagram
        # read here.
        try:
            data, (ip, port, *_) = media.recvfrom(_MAX_DATAGRAM_BYTES)
        except OSError:
            return
        now = self._loop.time()
        if data[:1] < b"\x04":
            self._stun_received(ice, data, Path((ip, port)), now)
        elif b"\x14" <= data[:1] < b"\x40":
            self._dtls.receive(data, now)
        self._carry(ice)

    def _stun_received(self, ice: IceAgent, data: bytes, path: Path, now: float) -> None:
        message = read_message(data)
        answered = answer_request(data, self.local.pwd.encode(), _to_ipv6_mapped(path.address))
        if message is None or answered is None:
            ice.stun_received(data, path, now)
            return
        self._send(answered[1], path.address)
        attributes = message.attributes
        check = BindingCheck(path, attributes.get("PRIORITY", 0), "USE-CANDIDATE" in attributes)
        ice.check_received(check, now)

    def _carry(self, ice: IceAgent) -> None:
        """Send pending datagrams, process events, and schedule the next step."""
        for data, path in ice.transmits:
            self._send(data, path.address)
        ice.transmits.clear()
        for event in ice.events:
            if isinstance(event, Selected):
                self._remote = event.path.address
                self._dtls.start(self._loop.time())
        ice.events.clear()
        for data in self._dtls.transmits:
            if self._remote:
                self._send(data, self._remote)
        self._dtls.transmits.clear()
        for outcome in self._dtls.events:
            self._end(outcome)
        self._dtls.events.clear()
        if self._timer:
            self._timer.cancel()
        due = [
            deadline for deadline in (ice.next_deadline(), self._dtls.next_deadline()) if deadline is not None
        ]
        self._timer = self._loop.call_at(min(due), self._advance, ice) if due else None

    def _advance(self, ice: IceAgent) -> None:
        ice.advance(self._loop.time())
        self._dtls.advance(self._loop.time())
        self._carry(ice)

    def _end(self, outcome: object) -> None:
        if self._secured.done():
            return
        if isinstance(outcome, Connected) and self._remote:
            assert self.socket is not None
            self._loop.remove_reader(self.socket)
            self._secured.set_result(Secured(self._remote, outcome.keys))
        else:
            self._secured.set_exception(BenchError(f"the DTLS handshake failed: {outcome}"))

    def _send(self, data: bytes, to: Address) -> None:
        # A datagram that could not be sent is retransmitted, as if the network had lost it.
        assert self.socket is not None, "there is an agent only where there is a socket"
        with suppress(OSError):
            self.socket.sendto(data, to)


def _of_transport(name: str, description: SessionDescription) -> list[str]:
    """Return an attribute of the bundled transport, from the first media section or else from the session
    level.
    """
    values = description.media[0].values(name) or description.values(name)
    if not values:
        raise BenchError(f"the service's description has no a={name}")
    return values


def _socket_towards(address: Address) -> socket.socket:
    """Return a socket with a large receive buffer, bound to the local address from which the peer is
    reached.
    """
    family = socket.AF_INET if version(address[0]) == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(address)
        local = probe.getsockname()[0]
    chosen = socket.socket(family, socket.SOCK_DGRAM)
    chosen.setblocking(False)
    chosen.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SOCKET_BUFFER_BYTES)
    if sys.platform == "linux":
        chosen.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    chosen.bind((local, 0))
    return chosen


def _to_ipv6_mapped(address: Address) -> tuple[bytes, int]:
    """Return the address in the RTP core's format: 16 bytes, with IPv4 mapped to IPv6."""
    ip = ip_address(address[0])
    return (ip.packed if ip.version == 6 else bytes(10) + b"\xff\xff" + ip.packed), address[1]
