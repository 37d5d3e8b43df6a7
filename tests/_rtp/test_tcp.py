"""Calls also work over TCP connections to the media port (RFC 6544), and these connections are limited."""

import select
import socket
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import pytest

from svc._rtp.header import parse_header
from svc._rtp.udploop import UdpLoop
from tests.kit import packets
from tests.kit.participant import (
    AUDIO,
    MID,
    TWCC,
    VIDEO,
    VIDEO_RTX,
    VP8_DELTA,
    VP8_KEYFRAME,
    binding_request,
    negotiate,
    srtp_session,
    video,
)
from tests.kit.tcp_peer import TcpPeer

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux supports media over TCP")

PROFILE = "AEAD_AES_128_GCM"
PWD = "password" * 3
WITHIN_S = 30.0
SERVER = "127.0.0.1"
MAX_UNPROVEN_OF_ADDRESS = 32
PACKETS_OF_FRAME = 20
ROUND_S = 0.04
DONE = b"\0done"


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


class UdpPeer:
    def __init__(self, server: tuple[str, int]) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(WITHIN_S)
        self.socket.connect(server)
        self.address: tuple[str, int] = self.socket.getsockname()

    def send(self, data: bytes) -> None:
        self.socket.send(data)

    def recv(self) -> bytes:
        return self.socket.recv(2048)

    def close(self) -> None:
        self.socket.close()


Way = TcpPeer | UdpPeer
KINDS: dict[str, type[Way]] = {"udp": UdpPeer, "tcp": TcpPeer}


class Person:
    """A participant that has keys and its own connections and sockets."""

    def __init__(self, loop: UdpLoop, number: int) -> None:
        self.loop, self.number = loop, number
        self.transport = loop.open_transport(number)
        loop.set_credentials(self.transport, f"ufrag{number}", PWD)
        ours, theirs = bytes([number]) * 28, bytes([number + 100]) * 28
        self.outbound = srtp_session(PROFILE, theirs, outbound=True)
        self.inbound = srtp_session(PROFILE, ours, outbound=False)
        loop.set_keys(self.transport, PROFILE, ours, theirs)
        self.ways: list[Way] = []
        self.path: tuple[str, int] | tuple[str, int, int] = ("", 0)
        self.sent: Counter[str] = Counter()

    def switch_to(self, way: Way) -> Way:
        """Send a check over `way` and receive media over that connection from now on."""
        self.ways.append(way)
        way.send(binding_request(f"ufrag{self.number}", PWD))
        self.path = path_event(self.loop, self.transport)
        self.loop.select(self.transport, self.path, SERVER)
        self.settle()
        return way

    def settle(self) -> None:
        """Wait until the loop has run all commands posted so far. Drop the data received until then."""
        self.loop.send_stun(DONE, self.path, SERVER)
        while self.ways[-1].recv() != DONE:
            pass

    def publish(self, mid: str, kind: str) -> int:
        payload_type = VIDEO if kind == "video" else AUDIO
        return self.loop.open_section(self.transport, 0, mid, kind, [payload_type], [])

    def watch(self, forwarder: int, ssrc: int, payload_type: int = VIDEO) -> None:
        self.loop.open_down_track(
            forwarder,
            self.transport,
            mid=str(ssrc),
            mid_id=0,
            ssrc=ssrc,
            rtx_ssrc=0,
            payload_types=[payload_type],
            extension_ids=[],
            mixed=True,
            cname="ada",
        )
        self.settle()

    def show(self, count: int, frame: int, size: int = 900) -> list[bytes]:
        """Send a video frame of `count` packets. Return the packet contents."""
        bodies = []
        for n in range(count):
            number = self.sent["video"]
            start = VP8_DELTA if number else VP8_KEYFRAME
            bodies.append(start + number.to_bytes(4, "big") + bytes(size))
            packet = video(number, timestamp=frame * 3000, marker=n == count - 1, payload=bodies[-1])
            self.ways[-1].send(self.outbound.protect(packet))
            self.sent["video"] += 1
        return bodies

    def speak(self) -> bytes:
        """Send an audio packet. Return its contents."""
        number = self.sent["audio"]
        body = number.to_bytes(4, "big")
        packet = packets.rtp(
            ssrc=2000,
            sequence=number,
            timestamp=number * 960,
            payload_type=AUDIO,
            payload=body,
            extensions=packets.one_byte_extensions([(MID, b"0")]),
        )
        self.ways[-1].send(self.outbound.protect(packet))
        self.sent["audio"] += 1
        return body

    def packets(self) -> Iterator[packets.Rtp]:
        """Yield the incoming media, decrypted."""
        while True:
            data = self.ways[-1].recv()
            if data[0] >= 128 and not packets.is_rtcp(data):
                yield packets.read_rtp(self.inbound.unprotect(data))

    def close(self) -> None:
        for way in self.ways:
            way.close()


def path_event(loop: UdpLoop, transport: int) -> tuple[str, int] | tuple[str, int, int]:
    """Return the path on which the core has received a check from this participant."""
    while True:
        readable, _, _ = select.select([loop], [], [], WITHIN_S)
        assert readable, "no check was reported"
        for kind, event_transport, _, remote, local, *_ in loop.take_events():
            if kind == "check" and event_transport == transport:
                assert local == SERVER
                return remote


@pytest.fixture(params=[1, 3], ids=["one thread", "three threads"])
def loop(request: pytest.FixtureRequest) -> Iterator[UdpLoop]:
    made = UdpLoop(seed=1 << 32, addresses=["0.0.0.0"], port=0, workers=request.param)
    assert not made.tcp_refused
    negotiate(made)
    made.start()
    yield made
    made.stop()


def test_a_check_over_tcp_is_answered_and_its_path_identifies_the_connection(loop: UdpLoop) -> None:
    transport = loop.open_transport(1)
    loop.set_credentials(transport, "ours", PWD)
    peers = [TcpPeer((SERVER, loop.port)) for _ in range(2)]
    paths = []
    for peer in peers:
        peer.send(binding_request("ours", PWD))
        assert peer.recv()[:2] == b"\x01\x01"
        path = path_event(loop, transport)
        assert path[:2] == peer.address
        paths.append(path)
    assert paths[0][2:] != paths[1][2:]
    # Data for a path is sent over its connection, in a frame.
    loop.send_stun(b"\x01first", paths[0], SERVER)
    loop.send_stun(b"\x01second", paths[1], SERVER)
    assert [peer.recv() for peer in peers] == [b"\x01first", b"\x01second"]
    for peer in peers:
        peer.close()


def test_a_check_is_parsed_no_matter_how_it_is_split(loop: UdpLoop) -> None:
    transport = loop.open_transport(1)
    loop.set_credentials(transport, "ours", PWD)
    peer = TcpPeer((SERVER, loop.port))
    check = binding_request("ours", PWD)
    for byte in len(check).to_bytes(2, "big") + check:
        peer.send_raw(bytes([byte]))
    assert peer.recv()[:2] == b"\x01\x01"
    peer.close()


@pytest.mark.parametrize("ways", ["udp tcp", "tcp udp", "tcp tcp"])
def test_media_flows_between_udp_and_tcp(loop: UdpLoop, ways: str) -> None:
    first, second = (KINDS[way] for way in ways.split())
    ada, bob = Person(loop, 1), Person(loop, 2)
    ada.switch_to(first((SERVER, loop.port)))
    bob.switch_to(second((SERVER, loop.port)))
    bob.watch(ada.publish("1", "video"), 5000)
    coming = bob.packets()
    for frame in range(30):
        shown = ada.show(10, frame)
        assert [next(coming).payload for _ in shown] == shown
    ada.close()
    bob.close()


def test_a_receiver_moves_from_udp_to_tcp_and_back_without_loss(loop: UdpLoop) -> None:
    ada, bob = Person(loop, 1), Person(loop, 2)
    ada.switch_to(UdpPeer((SERVER, loop.port)))
    bob.switch_to(UdpPeer((SERVER, loop.port)))
    bob.watch(ada.publish("0", "audio"), 5000, AUDIO)
    for way in ("tcp", "udp", "tcp", "tcp", "udp"):
        spoken = [ada.speak() for _ in range(5)]
        coming = bob.packets()
        assert [next(coming).payload for _ in spoken] == spoken
        bob.switch_to(KINDS[way]((SERVER, loop.port)))
    ada.close()
    bob.close()


def test_a_receiver_that_reads_nothing_loses_whole_frames_and_does_not_delay_others(loop: UdpLoop) -> None:
    ada, bob, eve = (Person(loop, n) for n in (1, 2, 3))
    ada.switch_to(UdpPeer((SERVER, loop.port)))
    bob.switch_to(TcpPeer((SERVER, loop.port)))
    eve.switch_to(TcpPeer((SERVER, loop.port), receive_buffer=4096))
    camera, microphone = ada.publish("1", "video"), ada.publish("0", "audio")
    for person in (bob, eve):
        person.watch(camera, 5000)
        person.watch(microphone, 6000, AUDIO)
    coming, frame = bob.packets(), 0
    while loop.counters()["dropped_slow_video"] < 10 * PACKETS_OF_FRAME or frame < 60:
        # Bob reads and gets each frame before the next one is sent.
        sent = [*ada.show(PACKETS_OF_FRAME, frame), ada.speak()]
        assert sorted(next(coming).payload for _ in sent) == sorted(sent)
        frame += 1
        time.sleep(0.01)
    assert loop.counters()["dropped_slow_audio"] == 0
    dropped = loop.counters()["dropped_slow_video"]
    # Eve reads again. She gets all audio, and all of every frame that was already being sent.
    frames: defaultdict[int, int] = defaultdict(int)
    received = 0
    coming = eve.packets()
    while received < ada.sent["audio"] or sum(frames.values()) < ada.sent["video"] - dropped:
        packet = next(coming)
        if packet.ssrc == 6000:
            assert packet.payload == received.to_bytes(4, "big")
            received += 1
        else:
            frames[packet.timestamp] += 1
    assert set(frames.values()) == {PACKETS_OF_FRAME}
    assert loop.counters()["dropped_slow_video"] == dropped
    for person in (ada, bob, eve):
        person.close()


class EstimatedPerson(Person):
    """A receiver over TCP that reports arrivals as a browser does. The test chooses the link's bitrate."""

    rate_bps = 50e6
    now = free_at = 1.0
    reports = 0
    estimate = 0

    def watch_with_estimate(self, forwarder: int) -> None:
        self.loop.open_down_track(
            forwarder,
            self.transport,
            mid="4",
            mid_id=0,
            ssrc=5000,
            rtx_ssrc=5001,
            payload_types=[VIDEO, VIDEO_RTX],
            extension_ids=[TWCC],
            mixed=True,
            cname="ada",
        )
        self.loop.want_bandwidth(self.transport, 1e7)
        self.settle()

    def take_in(self, media: int) -> None:
        """Receive packets until this many of them are media rather than probes. Report them all."""
        arrivals: list[tuple[int, float]] = []
        # Arrival times are simulated, so a busy machine never looks like a slow link.
        self.now += ROUND_S
        self.free_at = max(self.free_at, self.now)
        while media:
            data = self.ways[-1].recv()
            if packets.is_rtcp(data):
                continue
            self.free_at += 8 * len(data) / self.rate_bps
            header = parse_header(self.inbound.unprotect(data))
            assert header
            arrivals.append((int.from_bytes(dict(header["extensions"])[TWCC], "big"), self.free_at))
            media -= header["ssrc"] == 5000
        self.reports += 1
        report = packets.transport_feedback(arrivals, self.reports)
        self.ways[-1].send(self.outbound.protect_rtcp(report))
        for kind, transport, _, _, _, estimate, *_ in self.loop.take_events():
            if (kind, transport) == ("bandwidth", self.transport):
                self.estimate = estimate


def test_a_receiver_over_tcp_is_probed_and_its_estimate_follows_the_link(loop: UdpLoop) -> None:
    ada, bob = Person(loop, 1), EstimatedPerson(loop, 2)
    ada.switch_to(UdpPeer((SERVER, loop.port)))
    bob.switch_to(TcpPeer((SERVER, loop.port)))
    bob.watch_with_estimate(ada.publish("1", "video"))
    deadline = time.monotonic() + WITHIN_S

    def send_until(condition: Callable[[], bool]) -> None:
        while not condition():
            assert time.monotonic() < deadline
            ada.show(4, ada.sent["video"])
            bob.take_in(4)
            time.sleep(ROUND_S)

    # The video has at most 0.8 Mbit/s, so only probes can show that the link is faster.
    send_until(lambda: bob.estimate > 2e6)
    assert loop.counters()["probes_sent"] > 0
    bob.rate_bps = 100_000
    send_until(lambda: bob.estimate < 500_000)
    assert loop.counters()["bandwidth_reports_ignored"] == 0
    ada.close()
    bob.close()


def test_a_closed_media_connection_is_reported_immediately(loop: UdpLoop) -> None:
    ada = Person(loop, 1)
    ada.switch_to(TcpPeer((SERVER, loop.port)))
    loop.take_events()
    ada.close()
    kinds: list[str] = []
    while "silent" not in kinds:
        assert select.select([loop], [], [], WITHIN_S)[0]
        kinds += [event[0] for event in loop.take_events()]
    # The path refers to a closed connection, so data sent there is dropped.
    loop.send_stun(b"\x01nobody", ada.path, SERVER)
    wait_for(lambda: loop.counters()["dropped_send_failed"] == 1)


LIES = {
    "no frames": b"GET / HTTP/1.1\r\n",
    "a frame longer than any datagram": b"\x05\xdd",
    "an empty frame": b"\x00\x00",
    "a frame that is no check": b"\x00\x04\x16\xfe\xfd\x00",
    "an unsolicited answer": b"\x00\x14\x01\x01\x00\x00\x21\x12\xa4\x42" + bytes(12),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_a_stream_that_does_not_start_with_a_check_is_closed(loop: UdpLoop, lie: bytes) -> None:
    peer = TcpPeer((SERVER, loop.port))
    peer.send_raw(lie)
    assert peer.is_closed()
    wait_for(lambda: loop.counters()["tcp_refused"] == 1)
    peer.close()


def test_a_client_without_a_password_gets_few_attempts_and_no_response(loop: UdpLoop) -> None:
    transport = loop.open_transport(1)
    loop.set_credentials(transport, "ours", PWD)
    peer = TcpPeer((SERVER, loop.port))
    for _ in range(17):
        peer.send(binding_request("ours", "wrong" * 5))
    with pytest.raises(ConnectionError):
        peer.recv()
    assert loop.counters()["dropped_stun"] == 16
    peer.close()


def test_an_invalid_length_closes_a_connection_but_an_invalid_packet_does_not(loop: UdpLoop) -> None:
    ada = Person(loop, 1)
    peer = ada.switch_to(TcpPeer((SERVER, loop.port)))
    assert isinstance(peer, TcpPeer)
    peer.send(b"")
    peer.send(bytes([200]) * 40)
    peer.send(binding_request("ufrag1", PWD))
    assert peer.recv()[:2] == b"\x01\x01"
    peer.send_raw(b"\xff\xff")
    assert peer.is_closed()
    peer.close()


def test_a_new_connection_replaces_the_oldest_idle_one_when_there_are_too_many(loop: UdpLoop) -> None:
    ada = Person(loop, 1)
    ada.switch_to(TcpPeer((SERVER, loop.port)))
    idle = [TcpPeer((SERVER, loop.port)) for _ in range(MAX_UNPROVEN_OF_ADDRESS)]
    wait_for(lambda: loop.counters()["tcp_accepted"] == 1 + len(idle))
    elsewhere = TcpPeer((SERVER, loop.port), source="127.0.0.2")
    wait_for(lambda: loop.counters()["tcp_accepted"] == 2 + len(idle))
    assert loop.counters()["tcp_refused"] == 0
    bob = Person(loop, 2)
    bob.switch_to(TcpPeer((SERVER, loop.port)))
    assert idle[0].is_closed()
    assert loop.counters()["tcp_refused"] == 1
    # Authenticated participants stay, and so do connections from other addresses.
    ada.settle()
    elsewhere.send(binding_request("ufrag1", PWD))
    assert elsewhere.recv()[:2] == b"\x01\x01"
    for peer in (*idle, elsewhere):
        peer.close()
    ada.close()
    bob.close()


def test_a_flood_of_silent_connections_is_closed_and_calls_continue() -> None:
    loop = UdpLoop(seed=1 << 32, addresses=["0.0.0.0"], port=0)
    negotiate(loop)
    loop.start()
    ada, bob = Person(loop, 1), Person(loop, 2)
    ada.switch_to(TcpPeer((SERVER, loop.port)))
    bob.switch_to(TcpPeer((SERVER, loop.port)))
    bob.watch(ada.publish("0", "audio"), 5000, AUDIO)
    coming = bob.packets()
    idle = []
    for n in range(300):
        # Each connection sends half a check. The connections come from many addresses, to stay below the
        # limit for each address.
        idle.append(TcpPeer((SERVER, loop.port), source=f"127.0.1.{1 + n % 200}"))
        idle[-1].send_raw(b"\x00\x64\x00\x01")
        assert ada.speak() == next(coming).payload
    # The connections stay silent, and each of them is closed within ten seconds.
    assert all(peer.is_closed() for peer in idle)
    wait_for(lambda: loop.counters()["tcp_refused"] == len(idle))
    assert ada.speak() == next(coming).payload
    for peer in idle:
        peer.close()
    ada.close()
    bob.close()
    loop.stop()


def test_if_the_tcp_port_is_in_use_only_udp_is_served() -> None:
    for _ in range(20):
        taken = socket.create_server((SERVER, 0))
        try:
            loop = UdpLoop(seed=1, addresses=[SERVER], port=taken.getsockname()[1])
        except OSError:
            taken.close()
            continue
        break
    assert loop.tcp_refused == f"TCP port {loop.port} on {SERVER}: Address already in use"
    loop.start()
    transport = loop.open_transport(1)
    loop.set_credentials(transport, "ours", PWD)
    peer = UdpPeer((SERVER, loop.port))
    peer.send(binding_request("ours", PWD))
    assert peer.recv()[:2] == b"\x01\x01"
    peer.close()
    loop.stop()
    taken.close()


def test_listening_tcp_sockets_are_handed_over_with_the_udp_sockets() -> None:
    first = UdpLoop(seed=1, addresses=[SERVER], port=0)
    udp, listening = first.descriptors()
    second = UdpLoop(seed=1, addresses=[SERVER], port=0, sockets=[udp], listeners=[listening])
    # No process accepts connections during the handover, so the kernel queues new ones.
    peer = TcpPeer((SERVER, first.port))
    first.stop()
    second.start()
    transport = second.open_transport(1)
    second.set_credentials(transport, "ours", PWD)
    peer.send(binding_request("ours", PWD))
    assert peer.recv()[:2] == b"\x01\x01"
    peer.close()
    second.stop()
