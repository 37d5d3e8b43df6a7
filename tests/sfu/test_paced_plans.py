"""Tests the pacer, the allocation and the estimator together in virtual time: no queue fills up when encoders
return to their full bitrate.

After a link becomes narrow, encoders send less for a few seconds. The allocation therefore raises all videos.
Then their bitrates return to normal faster than the service measures them.
"""

from collections import deque

import pytest

from svc._rtp.pacer import Pace
from svc.sfu.allocation import Video, ladder
from tests._rtp.link_plans import FRAME_S, PACKET_BYTES, STEP_S, Phase
from tests.sfu.test_allocation_plans import CAMERA, AllocatedRun, Expected, K, Scenario

NARROW_AT_S = 10.0
SETTLED_S = NARROW_AT_S + 1
SCENARIO = Scenario(
    "8 M, 800 k, and rates that return",
    ((NARROW_AT_S, 8e6), (16, 8e5)),
    (Expected(), Expected()),
    audio_bps=80 * K,
    link={"delay_s": 0.005},
)
# The fractions of their usual bitrate at which encoders send while cautious and afterwards, and the time of
# the change.
CAREFUL, RETURNED, RETURN_AT_S = 0.4, 1.3, 6.5
RETURN_TAKES_S = 0.5
# The service measures bitrates every quarter of a second and smooths them (layer_rates).
MEASURED_EVERY_S, NEW_SHARE = 0.25, 0.3
FRAME_PACKETS = 3
LONG_QUEUE_S = 0.1


class ReturningRates(AllocatedRun):
    """A run in which encoders send less for a few seconds after the link has become narrow."""

    def __init__(self, seed: int, *, paced: bool) -> None:
        super().__init__(SCENARIO, seed)
        self.paced = paced
        self.pace = Pace()
        self.waiting: deque[tuple[float, int]] = deque()  # (waiting since, packets behind it in its frame)
        self.waits: list[float] = []
        self.frames = self.refused = 0
        self.measured = 1.0
        self.measured_at = 0.0

    def share(self, now: float) -> float:
        """Return the encoder bitrate as a fraction of the usual bitrate."""
        since = now - 1 - NARROW_AT_S
        if since < 0.3:
            return 1.0
        return CAREFUL + (RETURNED - CAREFUL) * min(max((since - RETURN_AT_S) / RETURN_TAKES_S, 0.0), 1.0)

    def send(self, size: int, now: float, phase: Phase) -> None:
        super().send(size, now, phase)
        self.pace.sent(size, now)

    def _videos(self) -> list[Video]:
        rates = [[self.measured * bps for bps in layers] for layers in CAMERA]
        return [Video(key, ladder(rates, -1, -1, screen=False)) for key in self.rates]

    def _frame(self, pending: deque[float], now: float, phase: Phase) -> None:
        if now - self.measured_at >= MEASURED_EVERY_S:
            self.measured_at = now
            self.measured += NEW_SHARE * (self.share(now) - self.measured)
        measured: deque[float] = deque()
        super()._frame(measured, now, phase)
        count = len(measured) * self.share(now) / self.measured
        packets = int(count) + (self.random.random() < count - int(count))
        if not self.paced or now - 1 < NARROW_AT_S:
            pending.extend(now + i * FRAME_S * 0.6 / max(packets, 1) for i in range(packets))
            return
        self.pace.set_rate(self.estimator.estimate(), self.estimator.state()["queue"])
        for first in range(0, packets, FRAME_PACKETS):
            self.frames += 1
            size = min(FRAME_PACKETS, packets - first)
            layer = self.random.choice((0, 2, 1, 2))
            if layer >= self.pace.withheld_from(len(self.waiting) * PACKET_BYTES, now):
                self.refused += 1
                continue
            self.waiting.extend((now, size - index - 1) for index in range(size))

    def _leave(self, pending: deque[float], now: float, phase: Phase) -> None:
        super()._leave(pending, now, phase)
        while self.waiting and self.pace.is_due(self.waiting[0][0], now):
            since, _ = self.waiting.popleft()
            self.waits.append(now - since)
            self.send(PACKET_BYTES, now, phase)

    def long_queues(self) -> float:
        """Return the fraction of time for which the link's queue was long although it should have drained."""
        settled = [sample.queue_s for sample in self.samples if sample.at >= SETTLED_S]
        return sum(queue >= LONG_QUEUE_S for queue in settled) / len(settled)


@pytest.mark.parametrize("seed", range(1, 6))
def test_returning_bitrates_fill_the_queue_only_without_pacing(seed: int) -> None:
    before, run = ReturningRates(seed, paced=False), ReturningRates(seed, paced=True)
    before.play()
    run.play()
    assert before.long_queues() > 0.05
    assert run.long_queues() < 0.01
    assert max(run.waits) <= 0.15 + 1.01 * STEP_S
    assert run.refused <= 0.12 * run.frames
    last = run.samples[-1].limits.values()
    assert not any(limit.paused for limit in last)
