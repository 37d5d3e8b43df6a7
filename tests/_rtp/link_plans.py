"""Simulates a link with limited capacity, a queue and losses, and a sender that follows an Estimator, in
virtual time.

A plan is data: the link's state over time, the sender's demand, and the required bounds. A Run executes a
plan and returns the outcome. Runs do not use RTP: a packet is only a number and a size.
"""

import heapq
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field
from random import Random

from svc._rtp.bandwidth import Estimator

PACKET_BYTES = 1200
PADDING_BYTES = 280
FRAME_S = 0.033
STEP_S = 0.005
# A link without any capacity would never empty its queue.
MIN_BPS = 1_000.0


@dataclass(frozen=True, slots=True)
class Phase:
    """The link's state and the sender's demand from the given time on."""

    at: float
    capacity: float  # bit/s
    wanted: float = 1e9  # the maximum that the application wants to send, in bit/s
    loss: float = 0.0
    burst: float = 1.0  # mean number of packets lost in a row
    longer_s: float = 0.0  # added to the plan's one-way delay


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds that a run must stay within.

    None means that a bound is not checked. Times are relative to the start of the phase.
    """

    phase: int = -1
    # the fraction of the deliverable data that was delivered, in the second half of the phase
    utilisation: float | None = None
    # (fraction of the capacity, time in seconds within which it must be reached)
    reach: tuple[float, float] | None = None
    # the highest estimate in the second half of the phase, as a fraction of the capacity
    highest_ratio: float | None = None
    # the 95th percentile of the packet delay in the queue, in the second half of the phase
    queue_s: float | None = None
    # (queue in s, time in seconds within which the queue falls below it)
    drained: tuple[float, float] | None = None
    lost: float | None = None  # the maximum fraction of lost packets in the second half of the phase
    # fraction of the capacity in the second half of the phase: (minimum, maximum)
    share: tuple[float, float] | None = None
    estimate: tuple[float, float] | None = None  # the last estimate in bit/s: (minimum, maximum)


@dataclass(frozen=True, slots=True)
class Plan:
    name: str
    phases: tuple[Phase, ...]
    bounds: tuple[Bounds, ...]
    seconds: float
    delay_s: float = 0.025  # one-way delay
    queue_s: float = 0.25  # packets that would have to wait longer are dropped
    jitter_s: float = 0.0
    reorder: float = 0.0
    bucket: int = 0  # the burst size of a shaper, in bytes
    policer: bool = False  # drop traffic above the capacity instead of queuing it
    feedback_s: float = 0.1
    feedback_loss: float = 0.0
    cross: float = 0.0  # other traffic, in bit/s, that does not react to congestion
    cubic: bool = False  # whether a TCP flow shares the link
    fixed: float = 0.0  # the rate, in bit/s, sent regardless of the estimate, or 0 to follow it
    wanted: float = 1e7  # the rate, in bit/s, up to which the estimator probes
    busy_s: float = 0.0  # the longest time for which the sender and the receiver each wait for a processor


@dataclass(slots=True)
class Outcome:
    """The record of one run: a sample every 20 ms, and the fate of every packet."""

    plan: Plan
    times: list[float] = field(default_factory=list)
    estimates: list[float] = field(default_factory=list)
    queues: list[float] = field(default_factory=list)
    delivered: list[tuple[float, int]] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)
    sent: list[float] = field(default_factory=list)
    probes: int = 0


class Cubic:
    """A TCP flow that always has data to send (RFC 9438, without the details of slow start and SACK)."""

    def __init__(self) -> None:
        self.window = 10.0  # packets
        self.threshold = 1e9
        self.maximum = 0.0
        self.lost_at = 0.0
        self.in_flight = 0

    def acknowledged(self, now: float) -> None:
        self.in_flight -= 1
        if self.window < self.threshold:
            self.window += 1
            return
        k = (self.maximum * 0.3 / 0.4) ** (1 / 3)
        target = 0.4 * (now - self.lost_at - k) ** 3 + self.maximum
        self.window += max(0.01, min(target - self.window, self.window / 2)) / self.window

    def lost(self, sent: float, now: float) -> None:
        self.in_flight -= 1
        if sent <= self.lost_at:
            return
        # RFC 9438, section 4.7 (fast convergence): a flow whose share has shrunk makes room for other flows.
        self.maximum = self.window * (0.85 if self.window < self.maximum else 1)
        self.lost_at = now
        self.window = self.threshold = max(2.0, 0.7 * self.window)


class Schedule:
    """The times at which a process cannot run because other processes use the processors."""

    def __init__(self, random: Random, seconds: float, longest_s: float) -> None:
        self.begins: list[float] = []
        self.ends: list[float] = []
        now = 1.0
        while longest_s and now < 1.0 + seconds:
            now += random.expovariate(1 / (2 * longest_s))
            self.begins.append(now)
            now += longest_s * random.random()
            self.ends.append(now)

    def runs_at(self, now: float) -> float:
        """Return the next time at which the process runs."""
        index = bisect_right(self.begins, now) - 1
        return max(now, self.ends[index]) if index >= 0 else now


class Link:
    """The bottleneck link. Computes when each packet arrives, or returns None if the packet is dropped."""

    def __init__(self, plan: Plan, random: Random) -> None:
        self.plan = plan
        self.random = random
        self.free_at = 0.0
        self.losing = False
        self.tokens_at = 0.0

    def send(self, size: int, now: float, phase: Phase) -> float | None:
        plan = self.plan
        capacity = max(phase.capacity - plan.cross, MIN_BPS)
        if plan.policer:
            # A token bucket of 50 ms.
            self.tokens_at = max(self.tokens_at, now - 0.05)
            if self.tokens_at > now:
                return None
            self.tokens_at += size * 8 / capacity
            leaves = now
        else:
            bucket_s = plan.bucket * 8 / capacity
            if self.free_at - now > plan.queue_s:
                return None
            self.free_at = max(now - bucket_s, self.free_at) + size * 8 / capacity
            leaves = max(now, self.free_at)
        if phase.loss and self._lost(phase):
            return None
        arrival = leaves + plan.delay_s + phase.longer_s
        if plan.jitter_s:
            arrival += plan.jitter_s * self.random.random() ** 2
        if plan.reorder and self.random.random() < plan.reorder:
            arrival += 0.012
        return arrival

    def _lost(self, phase: Phase) -> bool:
        if phase.burst <= 1:
            return self.random.random() < phase.loss
        stay = 1 - 1 / phase.burst
        start = phase.loss / (phase.burst * (1 - phase.loss))
        self.losing = self.random.random() < (stay if self.losing else start)
        return self.losing


class Run:
    """The execution of one plan."""

    def __init__(self, plan: Plan, seed: int) -> None:
        self.plan = plan
        self.random = Random(seed)
        self.link = Link(plan, self.random)
        self.estimator = Estimator(plan.wanted, seed * 7919 & 0xFFFF)
        self.outcome = Outcome(plan)
        # a heap of the packets that are on the way to the receiver
        self.arrivals: list[tuple[float, int]] = []
        self.reports: deque[tuple[float, list[tuple[int, float | None]], int]] = deque()
        self.base = 0  # the first sequence number that has not been reported
        self.highest = -1
        self.numbers = 0
        self.first = self.estimator.sent(100, 1.0)
        self._under_way(0, 100, 1.0, plan.phases[0])
        self.cubic = Cubic() if plan.cubic else None
        self.cubic_events: list[tuple[float, float, bool]] = []
        # The delays have their own random generator, so that all other random choices in a plan stay the
        # same.
        busy = Random(seed)
        self.sender = Schedule(busy, plan.seconds, plan.busy_s)
        self.receiver = Schedule(busy, plan.seconds, plan.busy_s)

    def _under_way(self, index: int, size: int, now: float, phase: Phase) -> None:
        arrival = self.link.send(size, now, phase)
        self.numbers = index + 1
        self.outcome.sent.append(now)
        if arrival is None:
            self.outcome.lost.append(now)
        else:
            heapq.heappush(self.arrivals, (arrival, index))
            self.outcome.delivered.append((arrival, size))

    def send(self, size: int, now: float, phase: Phase) -> None:
        index = self.numbers
        number = self.estimator.sent(size, now)
        assert number == (self.first + index) & 0xFFFF
        self._under_way(index, size, now, phase)

    def play(self) -> Outcome:
        plan, estimator, outcome = self.plan, self.estimator, self.outcome
        now, step = 1.0, STEP_S
        next_frame = 1.0
        next_feedback = 1.0 + plan.feedback_s
        phases = deque(plan.phases)
        phase = phases.popleft()
        pending: deque[float] = deque()  # the departure times of the last frame's paced packets
        steps = int(plan.seconds / step)
        for index in range(steps):
            now = 1.0 + index * step
            while phases and now - 1.0 >= phases[0].at:
                phase = phases.popleft()
            if self.cubic:
                self._cubic(now, phase)
            if now >= next_feedback and self.receiver.runs_at(now) == now:
                next_feedback += plan.feedback_s
                self._report(now)
            if self.sender.runs_at(now) == now:
                if now >= next_frame:
                    next_frame += FRAME_S
                    self._frame(pending, now, phase)
                self._leave(pending, now, phase)
                self._probe(now, phase)
                while self.reports and self.reports[0][0] <= now:
                    _, statuses, reference = self.reports.popleft()
                    estimator.feedback(statuses, reference, now)
                estimator.advance(now)
            if index % 4 == 0:
                outcome.times.append(now)
                outcome.estimates.append(estimator.estimate())
                outcome.queues.append(max(0.0, self.link.free_at - now))
        return outcome

    def _probe(self, now: float, phase: Phase) -> None:
        due = self.estimator.bytes_due(now)
        self.outcome.probes += due > 0
        while due > 0:
            size = PACKET_BYTES if due >= 2 * PACKET_BYTES else max(60, min(due, PADDING_BYTES))
            self.send(size, now, phase)
            due -= size

    def _frame(self, pending: "deque[float]", now: float, phase: Phase) -> None:
        rate = self.plan.fixed or min(self.estimator.estimate(), phase.wanted)
        count = rate * FRAME_S / 8 / PACKET_BYTES
        whole = int(count) + (self.random.random() < count - int(count))
        if len(pending) < 2000:
            pending.extend(now + i * FRAME_S * 0.6 / max(whole, 1) for i in range(whole))

    def _leave(self, pending: "deque[float]", now: float, phase: Phase) -> None:
        """Send the packets that are due."""
        while pending and pending[0] <= now:
            pending.popleft()
            self.send(PACKET_BYTES, now, phase)

    def _cubic(self, now: float, phase: Phase) -> None:
        """Process the arrival or loss of each TCP packet at its own time rather than the time of the step."""
        cubic, events = self.cubic, self.cubic_events
        assert cubic
        at = now - STEP_S
        while True:
            while cubic.in_flight < cubic.window:
                cubic.in_flight += 1
                arrival = self.link.send(1500, at, phase)
                back = (
                    arrival + self.plan.delay_s if arrival else at + 2 * self.plan.delay_s + self.plan.queue_s
                )
                heapq.heappush(events, (back, at, arrival is not None))
            if events[0][0] > now:
                return
            at, sent, arrived = heapq.heappop(events)
            if arrived:
                cubic.acknowledged(at)
            else:
                cubic.lost(sent, at)

    def _report(self, now: float) -> None:
        """Report all arrivals since the last report, as a browser does."""
        arrivals: dict[int, float] = {}
        while self.arrivals and self.arrivals[0][0] <= now:
            arrival, index = heapq.heappop(self.arrivals)
            arrivals[index] = self.receiver.runs_at(arrival)
        if not arrivals:
            return
        first, last = min(arrivals), max(arrivals)
        first = min(first, self.base) if first > self.base else first
        self.base = max(self.base, last + 1)
        if self.plan.feedback_loss and self.random.random() < self.plan.feedback_loss:
            return
        reference = int(arrivals[min(arrivals)] / 0.064)
        statuses: list[tuple[int, float | None]] = [
            (
                (self.first + index) & 0xFFFF,
                # In units of 250 us, as in feedback.
                None if index not in arrivals else round(arrivals[index] * 4000) / 4000,
            )
            for index in range(first, last + 1)
        ]
        self.reports.append((now + self.plan.delay_s, statuses, reference))


def violations(outcome: Outcome) -> list[str]:
    """Return a description of each violated bound."""
    return [text for bounds in outcome.plan.bounds for text in _check(outcome, bounds)]


def _check(outcome: Outcome, bounds: Bounds) -> list[str]:
    plan = outcome.plan
    at = bounds.phase % len(plan.phases)
    phase = plan.phases[at]
    begin = 1.0 + phase.at
    end = 1.0 + (plan.phases[at + 1].at if at + 1 < len(plan.phases) else plan.seconds)
    half = (begin + end) / 2
    capacity = phase.capacity - plan.cross
    faults: list[str] = []

    def require(held: bool, what: str, value: object) -> None:
        if not held:
            faults.append(f"phase {at}: {what} is {value}")

    late = [i for i, time in enumerate(outcome.times) if half <= time < end]
    if bounds.utilisation is not None:
        bits = sum(size * 8 for arrival, size in outcome.delivered if half <= arrival < end)
        possible = min(capacity * (1 - phase.loss), phase.wanted) * (end - half)
        require(bits >= bounds.utilisation * possible, "utilisation", round(bits / possible, 3))
    if bounds.share is not None:
        bits = sum(size * 8 for arrival, size in outcome.delivered if half <= arrival < end)
        share = bits / capacity / (end - half)
        require(bounds.share[0] <= share <= bounds.share[1], "share", round(share, 3))
    if bounds.reach is not None:
        share, within = bounds.reach
        highest = max(
            e for t, e in zip(outcome.times, outcome.estimates, strict=True) if begin <= t <= begin + within
        )
        require(highest >= share * capacity, f"estimate after {within} s", round(highest / capacity, 3))
    if bounds.highest_ratio is not None:
        highest = max(outcome.estimates[i] for i in late)
        require(highest <= bounds.highest_ratio * capacity, "highest estimate", round(highest / capacity, 3))
    if bounds.queue_s is not None:
        waits = sorted(outcome.queues[i] for i in late)
        require(
            waits[int(0.95 * len(waits))] <= bounds.queue_s, "queue", round(waits[int(0.95 * len(waits))], 3)
        )
    if bounds.drained is not None:
        queue, within = bounds.drained
        waits = [
            q
            for t, q in zip(outcome.times, outcome.queues, strict=True)
            if begin + within <= t < begin + within + 0.5
        ]
        require(min(waits) <= queue, f"queue after {within} s", round(min(waits), 3))
    if bounds.lost is not None:
        lost = sum(half <= t < end for t in outcome.lost) / max(1, sum(half <= t < end for t in outcome.sent))
        require(lost <= bounds.lost, "share lost", round(lost, 3))
    if bounds.estimate is not None:
        low, high = bounds.estimate
        require(low <= outcome.estimates[-1] <= high, "last estimate", round(outcome.estimates[-1]))
    return faults
