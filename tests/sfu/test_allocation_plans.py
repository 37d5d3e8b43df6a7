"""Tests on seeded links, in virtual time, that the allocation with the real estimator stays within the bounds
of each plan.
"""

from collections import deque
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf

import pytest

from svc.sfu.allocation import UNLIMITED, Allocator, Limit, Video, ladder, wanted_bps
from tests._rtp.link_plans import FRAME_S, PACKET_BYTES, Phase, Plan, Run

K = 1_000.0
MORE_SEEDS = pytest.mark.nightly("two seeds of each plan run daily")
SEEDS = [1, 2, *(pytest.param(seed, marks=MORE_SEEDS) for seed in (3, 4, 5))]
AUDIO_BPS = 80 * K
CAMERA = ((60 * K, 90 * K, 150 * K), (180 * K, 270 * K, 450 * K), (500 * K, 750 * K, 1_200 * K))
# A 480 x 270 camera at 12 frames/s in two encodings, as Chromium sends it.
SMALL_CAMERA = ((17 * K, 31 * K, 53 * K), (35 * K, 61 * K, 100 * K))
# A camera of the same size, whose frames are expensive to encode.
RICH_CAMERA = ((35 * K, 70 * K, 150 * K), (100 * K, 220 * K, 450 * K))
SCREEN = ((80 * K,), (250 * K,), (700 * K, 1_000 * K))
# A keyframe is this many times larger than an average frame.
KEYFRAME = 6


@dataclass(frozen=True, slots=True)
class Expected:
    """The bounds for one phase. Times are in seconds from the start of the phase."""

    # the number of videos that are not paused at the end of the phase: (minimum, maximum)
    shown: tuple[int, int] | None = None
    first_raise: float | None = None  # the deadline for raising a video
    pictures_back: float | None = None  # the deadline for resuming all videos
    all_back: float | None = None  # the deadline for raising all videos to the requested levels
    sent_share: float | None = None  # the maximum fraction of the capacity after the first 1.5 s
    used_share: float | None = None  # the minimum fraction of the capacity at the end
    mean_share: tuple[float, float] | None = None  # fraction of the capacity in the second half
    queue_s: float | None = None  # the 95th percentile of the queue after the first 1.5 s
    # (queue in s, time in s): the bound for the queue's 90th percentile after that time
    drained: tuple[float, float] | None = None
    changes: int | None = None  # the maximum number of limit changes in the second half
    lowered: int | None = None  # the maximum number of lowered limits
    screen_sharp: bool = False  # whether the screen has its full size at the end


@dataclass(frozen=True, slots=True)
class Scenario:
    """One receiver's link and videos."""

    name: str
    phases: tuple[tuple[float, float], ...]  # (seconds, capacity in bit/s)
    expected: tuple[Expected, ...]
    cameras: int = 4
    camera: tuple[tuple[float, ...], ...] = CAMERA
    audio_bps: float = AUDIO_BPS
    screen: bool = False
    loss: float = 0.0
    link: dict[str, float | bool] = field(default_factory=dict)


@dataclass(slots=True)
class Sample:
    at: float
    limits: dict[str, Limit]
    bps: float
    queue_s: float


class AllocatedRun(Run):
    """A Run whose sender forwards the levels that the allocation allows."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        starts = [sum(seconds for seconds, _ in scenario.phases[:n]) for n in range(len(scenario.phases))]
        phases = tuple(
            Phase(start, capacity, loss=scenario.loss)
            for start, (_, capacity) in zip(starts, scenario.phases, strict=True)
        )
        seconds = sum(seconds for seconds, _ in scenario.phases)
        link = Plan(scenario.name, phases, (), seconds)
        super().__init__(replace(link, **scenario.link), seed)  # type: ignore[arg-type]
        self.allocator = Allocator()
        self.audio_bps = scenario.audio_bps
        self.samples: list[Sample] = []
        self.rates = {f"camera {n}": scenario.camera for n in range(scenario.cameras)}
        self.screens = {"screen": SCREEN} if scenario.screen else {}
        self.keyframes: dict[str, int] = {}
        self.reviewed = (0.0, 0.0)

    def _frame(self, pending: deque[float], now: float, phase: Phase) -> None:
        videos = self._videos()
        estimate = self.estimator.estimate() if now > 1.3 else None
        last_estimate, at = self.reviewed
        changed = estimate is not None and not 0.97 * last_estimate < estimate < 1.05 * last_estimate
        before = dict(self.allocator.limits)
        if changed or now >= min(self.allocator.next_review, at + 1):
            self.reviewed = (estimate or 0.0, now)
            limits = self.allocator.review(videos, estimate, self.audio_bps, now)
            self.estimator.want(wanted_bps(videos, self.audio_bps))
            for video in videos:
                earlier = before.get(video.key)
                if earlier is not None and limits[video.key].spatial != earlier.spatial:
                    self.keyframes[video.key] = KEYFRAME
        rates = {v.key: v.levels[v.index(self.allocator.limits[v.key])].bps for v in videos}
        self.send(round(self.audio_bps * FRAME_S / 8), now, phase)
        bits = 0.0
        for key, bps in rates.items():
            bits += bps * FRAME_S * self.keyframes.pop(key, 1)
        count = bits / 8 / PACKET_BYTES
        whole = int(count) + (self.random.random() < count - int(count))
        pending.extend(now + i * FRAME_S * 0.6 / max(whole, 1) for i in range(whole))
        queue = max(0.0, self.link.free_at - now)
        sample = Sample(now - 1, dict(self.allocator.limits), self.audio_bps + sum(rates.values()), queue)
        self.samples.append(sample)

    def _videos(self) -> list[Video]:
        """Return the videos with their measured bitrates, which vary by up to 10 %."""
        varied = 0.9 + 0.2 * self.random.random()
        return [
            Video(
                key,
                ladder([[varied * bps for bps in layers] for layers in rates], -1, -1, screen=screen),
                90 if screen else 50,
                screen=screen,
            )
            for tracks, screen in ((self.rates, False), (self.screens, True))
            for key, rates in tracks.items()
        ]


def upper(bound: float | None) -> tuple[float, float]:
    return 0, inf if bound is None else bound


def violations(scenario: Scenario, run: AllocatedRun) -> list[str]:
    """Return a description of each violated bound."""
    faults: list[str] = []
    start = 0.0
    for (seconds, capacity), expected in zip(scenario.phases, scenario.expected, strict=True):
        samples = [sample for sample in run.samples if start <= sample.at < start + seconds]
        settled = [sample for sample in samples if sample.at >= start + 1.5]
        half = [sample for sample in samples if sample.at >= start + seconds / 2]
        back_at = max((s.at - start for s in samples if set(s.limits.values()) != {UNLIMITED}), default=0.0)
        pictures_at = max(
            (s.at - start for s in samples if any(limit.paused for limit in s.limits.values())), default=0.0
        )
        raised_at = next(
            (
                after.at - start
                for before, after in pairwise(samples)
                if any(limit.rank > before.limits[key].rank for key, limit in after.limits.items())
            ),
            seconds,
        )
        lowered = sum(
            limit.rank < before.limits.get(key, limit).rank
            for before, after in pairwise(samples)
            for key, limit in after.limits.items()
        )
        drained = sorted(
            s.queue_s for s in samples if expected.drained and s.at >= start + expected.drained[1]
        )
        shown = sum(not limit.paused for limit in samples[-1].limits.values())
        sent = sorted(sample.bps for sample in settled)[int(0.95 * len(settled))]
        queue = sorted(sample.queue_s for sample in settled)[int(0.95 * len(settled))]
        changes = sum(one.limits != other.limits for one, other in pairwise(half))
        last = samples[-1].bps / capacity
        mean = sum(sample.bps for sample in half) / len(half) / capacity
        screen = samples[-1].limits.get("screen", UNLIMITED)
        checks = [
            ("shown", shown, expected.shown or (0, shown)),
            ("first raise after", raised_at, upper(expected.first_raise)),
            ("pictures back after", pictures_at, upper(expected.pictures_back)),
            ("all back after", back_at, upper(expected.all_back)),
            ("sent share", sent / capacity, upper(expected.sent_share)),
            ("used share", last, (expected.used_share or 0, inf)),
            ("mean share", mean, expected.mean_share or (0, inf)),
            ("queue", queue, upper(expected.queue_s)),
            ("changes", changes, upper(expected.changes)),
            ("lowered", lowered, upper(expected.lowered)),
            ("screen", screen.rank, ((2, 0) if expected.screen_sharp else screen.rank, UNLIMITED.rank)),
        ]
        if expected.drained:
            checks.append(("drained queue", drained[int(0.9 * len(drained))], upper(expected.drained[0])))
        faults += [
            f"from {start:.0f} s: {name} is {value}"
            for name, value, (minimum, maximum) in checks
            if not minimum <= value <= maximum  # type: ignore[operator]
        ]
        start += seconds
    return faults


WIDE = Expected(all_back=6)
SCENARIOS = [
    Scenario(
        "2 M, 300 k, 4 M",
        ((10, 2e6), (10, 3e5), (12, 4e6)),
        (
            Expected(shown=(4, 4), sent_share=1.05, used_share=0.5, queue_s=0.15),
            Expected(shown=(0, 3), sent_share=1.05),
            Expected(pictures_back=5, used_share=0.6),
        ),
    ),
    Scenario("8 M at once", ((12, 8e6),), (WIDE,)),
    Scenario(
        "8 M, 800 k, 8 M, with a screen",
        ((10, 8e6), (10, 8e5), (12, 8e6)),
        (WIDE, Expected(sent_share=1.06, queue_s=0.2), WIDE),
        screen=True,
    ),
    Scenario(
        "1.5 M with a screen",
        ((15, 1.5e6),),
        (Expected(sent_share=1.05, queue_s=0.15, screen_sharp=True, changes=10),),
        screen=True,
    ),
    Scenario(
        "everything is paused, then the link grows",
        ((8, 1e5), (8, 4e6)),
        (Expected(shown=(0, 1)), Expected(pictures_back=5, used_share=0.5)),
    ),
    Scenario(
        "2 M with 10 % of loss", ((20, 2e6),), (Expected(shown=(4, 4), used_share=0.5, changes=12),), loss=0.1
    ),
    *(
        Scenario(
            f"8 M with {100 * loss:.0f} % of loss",
            ((20, 8e6),),
            (Expected(all_back=6, lowered=0),),
            loss=loss,
        )
        for loss in (0.05, 0.1)
    ),
    Scenario(
        "2 M, 150 ms away",
        ((20, 2e6),),
        (Expected(shown=(4, 4), used_share=0.5, queue_s=0.2),),
        link={"delay_s": 0.15},
    ),
    Scenario(
        "2 M with jitter",
        ((20, 2e6),),
        (Expected(shown=(4, 4), used_share=0.4, queue_s=0.2),),
        link={"jitter_s": 0.03},
    ),
    Scenario(
        "300 k, 8 M",
        ((20, 3e5), (12, 8e6)),
        (Expected(sent_share=1.05), Expected(first_raise=2, pictures_back=5, all_back=6)),
    ),
    Scenario(
        "six cameras and a screen, 8 M, 800 k",
        ((10, 8e6), (12, 8e5)),
        (Expected(), Expected(sent_share=1.05, drained=(0.1, 1.0))),
        cameras=6,
        screen=True,
    ),
    *(
        Scenario(
            f"small cameras, 8 M, 300 k, 4 M, {bucket // 1000} kB at once",
            ((8, 8e6), (60, 3e5), (14, 4e6)),
            (
                Expected(all_back=6),
                Expected(sent_share=1.0, changes=15, queue_s=0.1),
                Expected(first_raise=3, pictures_back=4, all_back=5),
            ),
            camera=SMALL_CAMERA,
            audio_bps=174 * K,
            link={"bucket": bucket, "queue_s": 0.3, "delay_s": 0.005},
        )
        for bucket in (0, 10_000)
    ),
    *(
        Scenario(
            f"4 M next to a download, {1000 * busy_s:.0f} ms without a processor",
            ((60, 4e6),),
            (Expected(pictures_back=8, mean_share=(0.35, 0.65)),),
            link={"cubic": True, "queue_s": 0.3, "delay_s": 0.005, "busy_s": busy_s},
        )
        for busy_s in (0, 0.05)
    ),
    *(
        Scenario(
            f"a single camera next to a download, {1000 * busy_s:.0f} ms without a processor",
            ((60, 4e6),),
            (Expected(shown=(1, 1), changes=0),),
            cameras=1,
            camera=RICH_CAMERA,
            link={"cubic": True, "queue_s": 0.3, "delay_s": 0.005, "busy_s": busy_s},
        )
        for busy_s in (0, 0.05)
    ),
    Scenario("25 cameras on 8 M", ((15, 8e6),), (Expected(shown=(25, 25), used_share=0.6),), cameras=25),
    Scenario("800 k", ((20, 8e5),), (Expected(shown=(3, 4), sent_share=1.0, queue_s=0.15, changes=12),)),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_receivers_get_as_much_video_as_their_downlinks_can_carry(scenario: Scenario, seed: int) -> None:
    run = AllocatedRun(scenario, seed)
    run.play()
    assert violations(scenario, run) == []
