"""With several sending threads, each receiver gets the same packets in the same order as with one thread."""

import asyncio
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Sequence

import pytest

from svc._rtp.engine import DELAY_BUCKETS
from svc._rtp.udploop import UdpLoop
from tests.kit import packets
from tests.kit.call import header, payload
from tests.kit.namespace import in_namespace
from tests.kit.participant import (
    MID,
    VIDEO,
    VP8_DELTA,
    VP8_KEYFRAME,
    Participant,
    binding_request,
    deliver,
    negotiate,
    new_engine,
    srtp_session,
    video,
)
from tests.kit.slow_link import NEAR, sockets_beyond
from tests.kit.udploop_sync import settle

PROFILE = "AEAD_AES_128_GCM"
WITHIN_S = 30.0
RECEIVERS = 9
# More packets than one thread hands over at a time, but few enough for a receiver's socket buffer.
BURST, BURSTS = 60, 12
# The number of packets that each receiver must get over an overloaded link.
ENOUGH = 150
WORKERS = [1, 2, 3, 5, 16]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


class Person:
    """A participant with its own socket, and with keys and credentials agreed in advance."""

    def __init__(self, loop: UdpLoop, number: int, udp: socket.socket, server: str = "127.0.0.1") -> None:
        self.loop = loop
        self.socket = udp
        self.server = server
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.socket.settimeout(WITHIN_S)
        self.socket.connect((server, loop.port))
        self.transport = loop.open_transport(number)
        loop.set_credentials(self.transport, f"ufrag{number}", "password" * 3)
        ours, theirs = secrets.token_bytes(28), secrets.token_bytes(28)
        self.outbound = srtp_session(PROFILE, theirs, outbound=True)
        self.inbound = srtp_session(PROFILE, ours, outbound=False)
        loop.set_keys(self.transport, PROFILE, ours, theirs)
        settle(loop, udp, server)
        self.socket.send(binding_request(f"ufrag{number}", "password" * 3))
        assert self.socket.recv(2048)[:2] == b"\x01\x01"
        loop.select(self.transport, self.socket.getsockname(), server)

    def watch(self, forwarder: int) -> None:
        self.loop.open_down_track(
            forwarder,
            self.transport,
            mid="4",
            mid_id=MID,
            ssrc=5000,
            rtx_ssrc=0,
            payload_types=[VIDEO],
            extension_ids=[MID],
            mixed=True,
            cname="ada",
        )

    def show(self, packet: bytes) -> None:
        self.socket.send(self.outbound.protect(packet))

    def receive(self, count: int) -> list[bytes]:
        """Return `count` decrypted video packets."""
        payloads: list[bytes] = []
        while len(payloads) < count:
            data = self.socket.recv(2048)
            if not packets.is_rtcp(data):
                payloads.append(self.inbound.unprotect(data))
        return payloads

    def waiting(self) -> list[bytes]:
        """Return the video packets received so far and make the socket non-blocking."""
        payloads: list[bytes] = []
        self.socket.setblocking(False)
        while True:
            try:
                data = self.socket.recv(2048)
            except BlockingIOError:
                return payloads
            if not packets.is_rtcp(data):
                payloads.append(data)


def local_socket() -> socket.socket:
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.bind(("127.0.0.1", 0))
    return opened


class Room:
    """A room in which others receive Ada's camera, through a loop with `workers` threads.

    The receivers' sockets are in this network namespace, or in `beyond`.
    """

    def __init__(self, workers: int, beyond: Sequence[socket.socket] = ()) -> None:
        self.loop = UdpLoop(seed=1, addresses=["0.0.0.0"], port=0, workers=workers)
        negotiate(self.loop)
        self.loop.start()
        self.ada = Person(self.loop, 1000, local_socket())
        camera = self.loop.open_section(self.ada.transport, 0, "1", "video", [VIDEO], [])
        server = NEAR if beyond else "127.0.0.1"
        sockets = beyond or [local_socket() for _ in range(RECEIVERS)]
        self.viewers = [Person(self.loop, 1001 + n, udp, server) for n, udp in enumerate(sockets)]
        for viewer in self.viewers:
            viewer.watch(camera)
        settle(self.loop, self.ada.socket, "127.0.0.1")
        self.number = self.frame = self.sent = 0

    def show(self, count: int) -> None:
        """Send a frame of `count` packets."""
        self.frame += 1
        for _ in range(count):
            self.number += 1
            start = VP8_DELTA if self.number > 1 else VP8_KEYFRAME
            body = start + self.number.to_bytes(4, "big") + bytes(600 + self.number % 3)
            self.ada.show(video(self.number, timestamp=self.frame * 3000, payload=body))

    def all_sent(self) -> bool:
        """Return whether every packet has been sent to every viewer, except for counted drops on an
        overloaded machine.
        """
        counters = self.loop.counters()
        self.sent = counters["packets_sent"]
        return self.sent + counters["dropped_overload_video"] == len(self.viewers) * self.number

    def end(self) -> None:
        self.loop.stop()
        for person in (self.ada, *self.viewers):
            person.socket.close()


@pytest.mark.parametrize("workers", WORKERS)
def test_everybody_gets_each_packet_once_and_in_order(workers: int) -> None:
    room = Room(workers)
    got: list[list[bytes]] = [[] for _ in room.viewers]

    def all_came() -> bool:
        for viewer, came in zip(room.viewers, got, strict=True):
            came += map(viewer.inbound.unprotect, viewer.waiting())
        return sum(map(len, got)) == room.sent

    for burst in range(BURSTS):
        # A small batch arrives right after a large one. The large batch is handed over to a worker. On its
        # own, the small one would be sent immediately.
        room.show(BURST)
        room.show(burst % 4)
        wait_for(room.all_sent)
        wait_for(all_came)
    room.end()
    for came in got:
        numbers = [header(packet)["sequence"] for packet in came]
        stamps = [int.from_bytes(payload(packet)[2:6], "big") for packet in came]
        assert stamps == sorted(set(stamps))
        assert numbers == [(numbers[0] + stamp - stamps[0]) & 0xFFFF for stamp in stamps]


@pytest.mark.parametrize("workers", WORKERS)
def test_the_delay_of_each_packet_is_counted_once_regardless_of_the_sending_thread(workers: int) -> None:
    room = Room(workers)
    room.show(BURST)
    for viewer in room.viewers:
        viewer.receive(BURST)
    wait_for(lambda: sum(room.loop.forwarding_delay()[0]) == BURST)
    counts, total_s = room.loop.forwarding_delay()
    assert len(counts) == len(DELAY_BUCKETS) + 1
    assert 0 < total_s < BURST * WITHIN_S
    room.end()


@pytest.mark.parametrize("workers", WORKERS)
def test_packets_that_no_thread_can_send_are_counted_and_do_not_affect_other_receivers(workers: int) -> None:
    room = Room(workers)
    room.show(1)
    for viewer in room.viewers:
        viewer.receive(1)
    unreachable = room.viewers[::2]
    for viewer in unreachable:
        # The kernel rejects port 0.
        room.loop.select(viewer.transport, ("127.0.0.1", 0), "127.0.0.1")
    settle(room.loop, room.ada.socket, "127.0.0.1")
    room.show(BURST)
    for viewer in room.viewers[1::2]:
        viewer.receive(BURST)
    expected = BURST * len(unreachable)
    wait_for(lambda: room.loop.counters()["dropped_send_failed"] >= expected)
    room.end()


@pytest.mark.parametrize("workers", WORKERS)
def test_all_threads_stop_even_while_sending(workers: int) -> None:
    threads = threading.active_count()
    room = Room(workers)
    assert threading.active_count() == threads + workers
    room.show(BURST)
    room.end()
    assert threading.active_count() == threads


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_a_slow_link_keeps_the_order_and_delays_no_receiver_for_long(workers: int) -> None:
    async def body() -> None:
        # The kernel may reorder packets that several processors send through one socket.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        room = Room(workers, sockets_beyond(RECEIVERS, rate="20mbit"))
        shrink_send_buffers(room.loop)
        got = [0] * RECEIVERS
        last: list[int | None] = [None] * RECEIVERS
        try:
            # Overload the link until packets have been dropped and each receiver has still received enough.
            while min(got) < ENOUGH or room.loop.counters()["dropped_overload_video"] == 0:
                room.show(20)
                for at, viewer in enumerate(room.viewers):
                    for packet in viewer.waiting():
                        number = header(packet)["sequence"]
                        before = last[at]
                        assert before is None or 0 < (number - before) & 0xFFFF < 0x8000
                        last[at], got[at] = number, got[at] + 1
                # Send at most twice what the link can carry, because 16-bit numbers must not wrap in the
                # meantime.
                await asyncio.sleep(0.01)
        finally:
            # The loop must stop although its thread is busy and the socket is full.
            room.end()

    in_namespace(body, [], {}, within_s=30)


def shrink_send_buffers(loop: UdpLoop) -> None:
    """Shrink the buffers so that the link empties them quickly."""
    for descriptor in loop.descriptors():
        with socket.socket(fileno=os.dup(descriptor)) as shared:
            shared.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)


def test_running_threads_are_stopped_if_the_system_refuses_to_start_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = threading.active_count()
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "svc-send-1":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    loop = UdpLoop(seed=1, addresses=["127.0.0.1"], port=0, workers=4)
    with pytest.raises(RuntimeError, match="new thread"):
        loop.start()
    loop.stop()
    assert threading.active_count() == threads
    assert loop.descriptors() == []


@pytest.mark.parametrize("workers", [0, 17])
def test_an_invalid_number_of_workers_is_rejected(workers: int) -> None:
    with pytest.raises(ValueError, match="1 to 16 workers"):
        UdpLoop(seed=1, addresses=["127.0.0.1"], port=0, workers=workers)


def test_several_workers_send_every_receiver_the_same_packets_as_one_worker() -> None:
    sent = []
    for shards in (1, 4):
        engine = new_engine(shards=shards)
        ada = Participant(engine, 1001)
        camera = ada.publish("1", "video")
        viewers = [Participant(engine, 2001 + n) for n in range(RECEIVERS)]
        for viewer in viewers:
            viewer.subscribe(camera, 5000, rtx_ssrc=5001)
        engine.take_datagrams()
        engine.limit(100)
        for number in range(1, 200):
            start = VP8_DELTA if number > 1 else VP8_KEYFRAME
            ada.send(video(number, payload=start + number.to_bytes(4, "big")), 1 + number / 10_000)
        # No packet has waited long enough to be dropped.
        engine.limit(None)
        engine.advance(1.03)
        deliver(engine, ada, *viewers)
        sent.append([viewer.media for viewer in viewers])
    assert sent[0] == sent[1]
    assert all(len(media) == 199 for media in sent[0])
