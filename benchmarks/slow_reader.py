"""Measures how much a receiver that reads nothing delays the others.

    python -m benchmarks.slow_reader [RECEIVERS] [SECONDS]

One camera sends to RECEIVERS receivers over UDP and to one receiver over TCP. In every other round, the TCP
receiver reads nothing. Latency is the time from sending a frame to the kernel's timestamp at each UDP
receiver. The two kinds of rounds alternate, and the best of each kind counts, because other programs only add
latency.
"""

import select
import socket
import statistics
import struct
import sys
import time

from benchmarks.tcp import PROFILE, SERVER, Receivers, camera
from svc._rtp.udploop import UdpLoop
from tests.kit import packets
from tests.kit.participant import MID, VIDEO, VP8_DELTA, VP8_KEYFRAME, negotiate, srtp_session

FRAME, FRAMES_PER_S, ROUNDS = 10, 30, 12
SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@qq")


class TimedReceivers(Receivers):
    """UDP receivers that record the arrival of each packet."""

    def __init__(self, loop: UdpLoop, count: int) -> None:
        self.came: list[tuple[int, int]] = []  # RTP timestamp, ns since 1970
        super().__init__(loop, count, tcp=False)

    def _read(self) -> None:
        poller, by_descriptor = select.epoll(), {sock.fileno(): sock for sock in self.sockets}
        for descriptor, sock in by_descriptor.items():
            sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            poller.register(descriptor, select.EPOLLIN)
        while not self._stopping.is_set():
            for descriptor, _ in poller.poll(0.1):
                data, notes, _, _ = by_descriptor[descriptor].recvmsg(2048, 64)
                if len(data) > 1000:  # A packet with part of a video frame. All other packets are smaller.
                    seconds, ns = _TIMESPEC.unpack(notes[0][2][:16])
                    self.came.append((int.from_bytes(data[4:8], "big"), seconds * 10**9 + ns))


class Stuck(Receivers):
    """A TCP receiver that reads nothing."""

    receive_buffer = 4096

    def _read(self) -> None:
        self._stopping.wait()


def percentiles(count: int, seconds: int, *, stuck: bool) -> tuple[float, float, int]:
    """Return the p50 and p99 of the UDP receivers' delays, and the number of packets not sent to the slow
    receiver.
    """
    loop = UdpLoop(seed=1 << 32, addresses=[SERVER], port=0)
    negotiate(loop)
    loop.start()
    timed, other = TimedReceivers(loop, count), (Stuck if stuck else Receivers)(loop, 1, tcp=True)
    sent: dict[int, int] = {}
    with camera(loop) as (sender, forwarder):
        for ssrc, transport in enumerate([*timed.transports, *other.transports], start=5000):
            loop.open_down_track(
                forwarder, transport, mid="4", mid_id=0, ssrc=ssrc, rtx_ssrc=0, payload_types=[VIDEO],
                extension_ids=[], mixed=True, cname="ada",
            )  # fmt: skip
        outbound = srtp_session(PROFILE, bytes([2]) * 28, outbound=True)
        begin, number = time.monotonic(), 0
        for frame in range(seconds * FRAMES_PER_S):
            time.sleep(max(0.0, begin + frame / FRAMES_PER_S - time.monotonic()))
            sealed = []
            for at in range(FRAME):
                packet = packets.rtp(
                    ssrc=1000, sequence=number, timestamp=frame * 3000, payload_type=VIDEO,
                    marker=at == FRAME - 1, payload=(VP8_DELTA if number else VP8_KEYFRAME) + bytes(1048),
                    extensions=packets.one_byte_extensions([(MID, b"1")]),
                )  # fmt: skip
                sealed.append(outbound.protect(packet))
                number += 1
            sent[frame * 3000] = time.time_ns()
            for sealed_packet in sealed:
                sender.send(sealed_packet)
        time.sleep(0.2)
        spared = loop.counters()["dropped_slow_video"]
    timed.close()
    other.close()
    loop.stop()
    late = sorted((at - sent[stamp]) / 1000 for stamp, at in timed.came)
    # Missing packets are a fault in the benchmark: its own reader was not scheduled for a long time.
    if len(late) < number * count:
        print(f"{number * count - len(late)} packets did not reach the other receivers", file=sys.stderr)
    return late[len(late) // 2], late[len(late) * 99 // 100], spared


def main(count: int = 30, seconds: int = 4) -> None:
    results: dict[bool, list[tuple[float, float, int]]] = {False: [], True: []}
    for _ in range(ROUNDS):
        for stuck in results:
            results[stuck].append(percentiles(count, seconds, stuck=stuck))
    print("| the one over TCP | p50 us | p99 us | packets it was spared |\n|---|---|---|---|")
    for stuck, rounds in results.items():
        p50s, p99s, spared_each = zip(*rounds, strict=True)
        p50, p99, spared = min(p50s), min(p99s), statistics.median(spared_each)
        print(f"| {'reads nothing' if stuck else 'reads'} | {p50:.0f} | {p99:.0f} | {spared:,.0f} |")


if __name__ == "__main__":
    _, *arguments = sys.argv
    main(*(int(argument) for argument in arguments))
