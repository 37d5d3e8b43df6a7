"""Measures the CPU time, including kernel time, that the RTP core needs to forward a packet over TCP and over
UDP.

    python -m benchmarks.tcp [RECEIVERS] [SECONDS]

One camera sends over UDP to RECEIVERS receivers on loopback, which read everything immediately. Frames have
1, 4 and 16 packets of 1,150 bytes. The packets sent to a receiver at the same time are passed to the kernel
in one message, both for UDP (segmentation offload) and for TCP. Rounds alternate between UDP and TCP, and the
best round of each counts.
"""

import select
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from svc._rtp.udploop import UdpLoop
from tests.kit import packets
from tests.kit.participant import (
    MID,
    VIDEO,
    VP8_DELTA,
    VP8_KEYFRAME,
    binding_request,
    negotiate,
    srtp_session,
)

SERVER, PROFILE, PWD = "127.0.0.1", "AEAD_AES_128_GCM", "password" * 3
FRAMES = (1, 4, 16)
ROUNDS = 3


class Receivers:
    """Receivers that are connected to the core's loop over TCP or UDP. A separate thread reads from them."""

    receive_buffer = 1 << 22

    def __init__(self, loop: UdpLoop, count: int, *, tcp: bool) -> None:
        kind = socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM
        self.sockets = [socket.socket(socket.AF_INET, kind) for _ in range(count)]
        self.transports = []
        for number, sock in enumerate(self.sockets, start=2):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_buffer)
            sock.connect((SERVER, loop.port))
            self.transports.append(participant(loop, number, sock, tcp=tcp))
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        poller, buffer = select.epoll(), bytearray(1 << 20)
        by_descriptor = {sock.fileno(): sock for sock in self.sockets}
        for descriptor in by_descriptor:
            poller.register(descriptor, select.EPOLLIN)
        while not self._stopping.is_set():
            for descriptor, _ in poller.poll(0.1):
                by_descriptor[descriptor].recv_into(buffer)

    def close(self) -> None:
        self._stopping.set()
        self._thread.join()
        for sock in self.sockets:
            sock.close()


def participant(loop: UdpLoop, number: int, peer: socket.socket, *, tcp: bool) -> int:
    """Return the transport of a participant that has keys and a verified, selected path."""
    transport = loop.open_transport(number)
    loop.set_credentials(transport, f"ufrag{number}", PWD)
    loop.set_keys(transport, PROFILE, bytes([number]) * 28, bytes([number + 1]) * 28)
    check = binding_request(f"ufrag{number}", PWD)
    peer.send((len(check).to_bytes(2, "big") if tcp else b"") + check)
    while True:
        select.select([loop], [], [])
        for kind, event_transport, _, remote, local, *_ in loop.take_events():
            if (kind, event_transport) == ("check", transport):
                loop.select(transport, remote, local)
                return transport


@contextmanager
def camera(loop: UdpLoop) -> Iterator[tuple[socket.socket, int]]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect((SERVER, loop.port))
        transport = participant(loop, 1, sender, tcp=False)
        yield sender, loop.open_section(transport, 0, "1", "video", [VIDEO], [])


def busy_ns() -> int:
    """Return the CPU time of the core's thread, in ns."""
    (thread,) = [thread for thread in threading.enumerate() if thread.name == "svc-udp"]
    return int(Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text().split()[0])


def measure(count: int, seconds: float, size: int, *, tcp: bool) -> float:
    """Return the CPU time per sent packet, in µs."""
    loop = UdpLoop(seed=1 << 32, addresses=[SERVER], port=0)
    negotiate(loop)
    loop.start()
    receivers = Receivers(loop, count, tcp=tcp)
    with camera(loop) as (sender, forwarder):
        for ssrc, transport in enumerate(receivers.transports, start=5000):
            loop.open_down_track(
                forwarder, transport, mid="4", mid_id=0, ssrc=ssrc, rtx_ssrc=0, payload_types=[VIDEO],
                extension_ids=[], mixed=True, cname="ada",
            )  # fmt: skip
        outbound = srtp_session(PROFILE, bytes([2]) * 28, outbound=True)
        number = 0

        def show(until: float) -> None:
            nonlocal number
            while time.monotonic() < until:
                due = loop.counters()["packets_sent"] + count * size
                for n in range(size):
                    packet = packets.rtp(
                        ssrc=1000, sequence=number, timestamp=number // size * 3000, payload_type=VIDEO,
                        marker=n == size - 1, payload=(VP8_DELTA if number else VP8_KEYFRAME) + bytes(1148),
                        extensions=packets.one_byte_extensions([(MID, b"1")]),
                    )  # fmt: skip
                    sender.send(outbound.protect(packet))
                    number += 1
                while loop.counters()["packets_sent"] < due and time.monotonic() < until:
                    time.sleep(0.0005)
                time.sleep(0.002)

        show(time.monotonic() + 0.5)
        before, sent = busy_ns(), loop.counters()["packets_sent"]
        show(time.monotonic() + seconds)
        spent, counted = busy_ns() - before, loop.counters()
    receivers.close()
    loop.stop()
    lost = counted["dropped_slow_video"] + counted["dropped_send_failed"]
    assert not lost, f"{lost} packets were not sent"
    return spent / 1000 / (counted["packets_sent"] - sent)


def main(count: int = 50, seconds: float = 2.0) -> None:
    print("packets of a frame | UDP, us | TCP, us | TCP / UDP")
    for size in FRAMES:
        rates: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(ROUNDS):
            for tcp in rates:
                rates[tcp].append(measure(count, seconds, size, tcp=tcp))
        udp, tcp_ = min(rates[False]), min(rates[True])
        print(f"{size:18} | {udp:7.2f} | {tcp_:7.2f} | {tcp_ / udp:.2f}", flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
