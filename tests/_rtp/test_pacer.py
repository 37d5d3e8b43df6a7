"""Simulates the pacer in virtual time: no packet is held for too long, and packets are not sent too fast.

Each plan is generated from its seed: a changing estimate, several tracks with keyframes and layers, and
retransmissions and audio in between. The model in this module queues and releases packets as the core does,
with a clock whose ticks may be late.
"""

import random
from collections import deque
from dataclasses import dataclass, field

import pytest

from svc._rtp.pacer import Pace

MTU = 1200
TICK_S = 0.005
ALL = 255


@dataclass
class Queue:
    """One receiver's paced queue."""

    pace: Pace = field(default_factory=Pace)
    waiting: deque[tuple[float, int]] = field(default_factory=deque)  # (waiting since, size)
    longest_wait_s: float = 0.0
    sent: list[tuple[float, int]] = field(default_factory=list)
    refused: dict[int, int] = field(default_factory=lambda: {0: 0, 1: 0, 2: 0})
    admitted: int = 0

    @property
    def bytes(self) -> int:
        return sum(size for _, size in self.waiting)

    def offer(self, size: int, layer: int, now: float, *, keyframe: bool = False) -> bool:
        if layer >= self.pace.withheld_from(self.bytes, now, keyframe):
            self.refused[layer] += 1
            return False
        self.admitted += 1
        while size > 0:
            if keyframe:
                self.pace.keyframe_queued(self.bytes, now)
            self.waiting.append((now, min(size, MTU)))
            size -= MTU
        return True

    def release(self, now: float) -> None:
        while self.waiting and self.pace.is_due(self.waiting[0][0], now):
            since, size = self.waiting.popleft()
            self.longest_wait_s = max(self.longest_wait_s, now - since)
            self.pace.sent(size, now)
            self.sent.append((now, size))


@pytest.mark.parametrize("seed", range(20))
def test_every_plan_stays_within_the_bounds_on_delay_and_rate(seed: int) -> None:
    chance = random.Random(seed)
    queue = Queue()
    estimate = 10 ** chance.uniform(4.7, 7)
    tracks = chance.randint(1, 8)
    queue.pace.set_rate(estimate)
    for step in range(2000):
        now = 1 + step * TICK_S
        if chance.random() < 0.005:
            estimate = 10 ** chance.uniform(4.7, 7)
            queue.pace.set_rate(estimate)
        for _ in range(tracks):
            if chance.random() < TICK_S * 25:
                keyframe = chance.random() < 0.02
                size = int(estimate / 8 / 25 / tracks * chance.uniform(0.2, 3) * (8 if keyframe else 1)) + 50
                queue.offer(size, 0 if keyframe else chance.choice((0, 2, 1, 2)), now, keyframe=keyframe)
        if chance.random() < 0.25:
            queue.pace.sent(chance.choice((120, 1100)), now)
        # On a busy machine, the thread wakes up late.
        if chance.random() < 0.9:
            queue.release(now)
            assert all(now - since <= queue.pace.longest_wait(now) for since, _ in queue.waiting)
    assert queue.longest_wait_s <= 0.6 + 10 * TICK_S
    assert queue.admitted > 0 and queue.bytes < 600_000


def test_a_frame_is_sent_somewhat_faster_than_the_estimate() -> None:
    queue = Queue()
    queue.pace.set_rate(1_000_000)
    assert queue.offer(18_000, 0, 1.0, keyframe=True)
    for step in range(40):
        queue.release(1 + step * TICK_S)
    # 18,000 bytes take 115 ms at 1.25 Mbit/s, of which the credit covers 10 ms.
    assert queue.sent[-1][0] == pytest.approx(1.105, abs=0.011)
    assert sum(size for _, size in queue.sent) == 18_000


def test_packets_are_sent_more_slowly_than_the_estimate_while_the_link_has_a_queue() -> None:
    sent_s = []
    for queue_s in (0.0, 0.02, 0.04, 0.06, 1.0):
        queue = Queue()
        queue.pace.set_rate(1_000_000, queue_s)
        queue.pace.sent(6250, 1.0)
        sent_s.append(next(ms for ms in range(100) if queue.pace.is_due(1.0, 1 + ms / 1000)) / 1000)
    # 6,250 bytes at 1.25, 1.075 and 0.9 Mbit/s, minus 10 ms of credit.
    assert sent_s == pytest.approx([0.030, 0.030, 0.0365, 0.0456, 0.0456], abs=0.0011)


def test_upper_layers_are_dropped_first_and_keyframes_last() -> None:
    queue = Queue()
    queue.pace.set_rate(1_000_000)
    ceilings = []
    for kilobytes in range(0, 130, 3):
        waiting = 1000 * kilobytes
        ceilings.append(
            (queue.pace.withheld_from(waiting, 1.0), queue.pace.withheld_from(waiting, 1.0, True))
        )
    deltas = list(dict.fromkeys(delta for delta, _ in ceilings))
    assert deltas == [ALL, 2, 1, 0]
    assert next(key for delta, key in ceilings if delta == 0) == ALL
    assert ceilings[-1] == (0, 0)


def test_without_an_estimate_no_packet_is_held_back() -> None:
    queue = Queue()
    queue.pace.set_rate(0)
    assert queue.offer(10_000_000, 2, 1.0)
    queue.release(1.0)
    assert not queue.waiting


def test_audio_and_resends_use_part_of_the_video_share_but_never_starve_video() -> None:
    queue = Queue()
    queue.pace.set_rate(300_000)
    for step in range(400):
        now = 1 + step * TICK_S
        queue.pace.sent(1200, now)
        if step % 8 == 0:
            queue.offer(900, 0, now)
        queue.release(now)
        assert all(now - since <= 0.15 for since, _ in queue.waiting)
    assert len(queue.sent) >= 10
