"""Divides one receiver's downlink among the videos that it receives.

Theory of operation. Each video has a ladder of levels, from paused to the highest level that the client
requested. The need is the rate currently forwarded: audio, retransmissions, the videos that must not be
lowered, and all other videos at their current levels.

- Lower: once the estimate is below 0.9 of the need, every video goes down to its level in a new plan.
- Raise: while the estimate exceeds the need by a margin, one video at a time rises to its planned level.
- Exchange: a video that has become more important gets the share of less important videos.

A plan divides a budget from scratch: first for a sharp screen, then for the lowest level of every video, then
for higher levels by priority. If videos must be lowered soon after a raise, the need after the raise exceeded
the downlink's capacity. For a while, later raises stay below that need, unless the downlink becomes much
better. Otherwise a video would keep switching between two levels.

Sans-I/O: the inputs are the estimate, the rates and the time, and the outputs are the limits and the next
deadline. See docs/bandwidth.md, "Allocation".
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import inf

ALL_LAYERS = -1

# Videos are lowered once the estimate is below this share of the need.
_LOWERED_BELOW = 0.9
# The estimate must exceed the need after a raise by this factor. Encoders' bit rates vary by about this much.
_RAISE_MARGIN = 1.1
# If only the rate of screens has grown, videos are lowered after this time. The first keyframe of a resumed
# screen looks like a higher rate for two seconds.
_SURGE_S = 2.5
# A paused video resumes only with ample spare bandwidth, because a video that comes and goes is worse than
# none.
_RESUME_MARGIN = 1.5
# Spare rate (bit/s) for the keyframe that is sent when a video resumes or switches to a larger encoding. On a
# narrow downlink, the keyframe would otherwise delay audio.
_KEYFRAME_MARGIN_BPS = 50_000
# The minimum time between two raises, and from a lowering to the next raise, because the estimate must settle
# first.
_RAISE_INTERVAL_S = 0.2
# After a video has resumed with an estimate of less than this many times the need, wait for its keyframe,
# which shows how much the downlink carries.
_AMPLE = 2.0
_KEYFRAME_S = 1.2
_SETTLE_S = 0.6
# If videos are lowered within this time after a raise, the raise counts as failed.
_PROVEN_AFTER_S = 8.0
# After a failed raise, the need stays below this share of the failed need for a period that doubles with each
# failure. The period ends early if the estimate far exceeds the estimate that led to the raise.
_FIRST_PAUSE_S, _MAX_PAUSE_S = 8.0, 60.0
_BELOW_FAILED = 0.9
_MUCH_BETTER = 1.25
_EXCHANGE_INTERVAL_S = 1.0
# A level is omitted if the rate of the next level is less than this many times higher.
_MIN_STEP = 1.1
# The downlink is probed up to this multiple of the rate that would satisfy every request.
_PROBED_MARGIN = 1.5
# The estimate cannot be expected to rise above this share of the highest probed rate.
_TOP = 0.9


@dataclass(frozen=True, slots=True)
class Limit:
    """The highest layers of a track that the downlink permits."""

    spatial: int = ALL_LAYERS
    temporal: int = ALL_LAYERS
    paused: bool = False

    @property
    def rank(self) -> tuple[float, float]:
        """A key that sorts limits from the lowest to the highest."""
        if self.paused:
            return (-1, -1)
        return (
            inf if self.spatial == ALL_LAYERS else self.spatial,
            inf if self.temporal == ALL_LAYERS else self.temporal,
        )


UNLIMITED = Limit()
PAUSED = Limit(paused=True)


@dataclass(frozen=True, slots=True)
class Level:
    """One rung of a video's ladder of levels."""

    limit: Limit
    bps: float
    encoding: int = 0


@dataclass(frozen=True, slots=True)
class Video:
    """A video track whose level may be lowered."""

    key: str
    levels: tuple[Level, ...]  # from paused to the highest level that the client requested
    priority: int = 50
    width: int = 0  # width of its tile, or 0 if unknown
    screen: bool = False

    @property
    def importance(self) -> tuple[int, bool, float, str]:
        """A key that sorts the most important video first."""
        return (-self.priority, not self.screen, -(self.width or inf), self.key)

    @property
    def sharp(self) -> int:
        """The lowest level that shows a shared screen's text at full size."""
        best = self.levels[-1].encoding
        return next(n for n, level in enumerate(self.levels) if n and level.encoding == best)

    def index(self, limit: Limit) -> int:
        """Return the index of the highest level within the given limit."""
        if limit == UNLIMITED:
            return len(self.levels) - 1
        ranks = [level.limit.rank for level in self.levels[:-1]]
        return max((n for n, rank in enumerate(ranks) if rank <= limit.rank), default=0)


def ladder(
    encodings: Sequence[Sequence[float]], max_spatial: int, max_temporal: int, *, screen: bool
) -> tuple[Level, ...]:
    """Return a track's levels. `encodings` has the rates of each encoding, cumulative over temporal layers.

    Higher levels of a camera first raise the frame rate and then the size. For a screen, the order is
    reversed. A limit of -1 means no limit.
    """
    sent = [(layer, rates) for layer, rates in enumerate(encodings) if rates]
    usable = [(layer, rates) for layer, rates in sent if max_spatial == ALL_LAYERS or layer <= max_spatial]
    steps: list[Level] = []
    for layer, rates in usable or sent[:1]:
        within = list(rates if max_temporal == ALL_LAYERS else rates[: max_temporal + 1])
        largest, smallest = layer == (usable or sent)[-1][0], layer == (usable or sent)[0][0]
        first, last = (0 if smallest or screen else min(1, len(within) - 1)), len(within) - 1
        if screen and not largest:
            last = 0
        spatial = layer if len(encodings) > 1 else ALL_LAYERS
        for temporal in range(first, last + 1):
            every = temporal == len(rates) - 1
            step = Level(Limit(spatial, ALL_LAYERS if every else temporal), within[temporal], layer)
            while steps and steps[-1].bps * _MIN_STEP >= step.bps:
                steps.pop()
            steps.append(step)
    top = replace(steps[-1], limit=UNLIMITED) if steps else Level(UNLIMITED, 0.0)
    return (Level(PAUSED, 0.0), *steps[:-1], top)


def plan(videos: Iterable[Video], budget_bps: float) -> dict[str, int]:
    """Divide a budget among videos. Return the level of each video."""
    ordered = sorted(videos, key=lambda video: video.importance)
    levels = dict.fromkeys((video.key for video in ordered), 0)
    left = budget_bps

    def raise_to(video: Video, level: int) -> bool:
        nonlocal left
        cost = video.levels[level].bps - video.levels[levels[video.key]].bps
        if cost > left:
            return False
        left -= cost
        levels[video.key] = level
        return True

    for video in ordered:
        if video.screen:
            any(raise_to(video, level) for level in range(video.sharp, 0, -1))
    for video in ordered:
        if not levels[video.key]:
            raise_to(video, 1)
    for _, equals in groupby(ordered, key=lambda video: video.priority):
        rising = [video for video in equals if levels[video.key]]
        while rising:
            rising = [
                video
                for video in rising
                if levels[video.key] + 1 < len(video.levels) and raise_to(video, levels[video.key] + 1)
            ]
    return levels


class Allocator:
    """The limits for one receiver's videos. Times are in seconds."""

    def __init__(self) -> None:
        self.limits: dict[str, Limit] = {}
        self.next_review = inf
        # The screens' last rate that fitted, or their first rate under the current limits.
        self._fitting_bps = 0.0
        self._previous_limits: dict[str, Limit] = {}  # the limits at the previous review
        self._exceeded_at = inf  # when the need began to exceed the estimate
        self._raise_after = -inf
        self._raised_at = -inf
        self._unproven = False  # Whether the last raise may still turn out to be too much.
        self._exchange_after = -inf
        self._pause_s = 0.0
        self._paused_until = -inf
        self._failed_bps = inf  # the need that exceeded the downlink's capacity
        self._unproven_bps = 0.0  # the highest estimate since the first unproven raise
        self._misled_bps = 0.0  # the highest such estimate among failed raises
        self._priorities: dict[str, int] = {}
        self._reordered = False

    def review(
        self, videos: Sequence[Video], estimate_bps: float | None, reserved_bps: float, now: float
    ) -> Mapping[str, Limit]:
        """Recalculate and return the limit for each video.

        `estimate_bps` is None until the downlink has been measured. `reserved_bps` is the rate of audio,
        resends, and videos that must not be lowered.
        """
        priorities = {video.key: video.priority for video in videos}
        self._reordered |= priorities != self._priorities
        self._priorities = priorities
        present = self._present(videos, estimate_bps, reserved_bps)
        need = reserved_bps + _rate(videos, present)
        if self._unproven and now - self._raised_at >= _PROVEN_AFTER_S:
            self._unproven = False
            if need > _BELOW_FAILED * self._failed_bps:
                self._pause_s, self._failed_bps = 0.0, inf
        if estimate_bps is not None:
            screens_bps = _rate((video for video in videos if video.screen), present)
            if self._exceeds(need - screens_bps, screens_bps, estimate_bps, now):
                self._lower(videos, present, need, estimate_bps - reserved_bps, now)
            elif now >= self._raise_after:
                usable = self._usable(estimate_bps, _TOP * wanted_bps(videos, reserved_bps), now)
                self._raise(videos, present, usable, reserved_bps, now)
        self._previous_limits = self.limits
        self.limits = {video.key: video.levels[present[video.key]].limit for video in videos}
        waiting = any(limit != UNLIMITED for limit in self.limits.values())
        self.next_review = now + _RAISE_INTERVAL_S if waiting or self._exceeded_at < inf else inf
        return self.limits

    def _exceeds(self, others_bps: float, screens_bps: float, estimate: float, now: float) -> bool:
        """Return whether the needed bandwidth exceeds the estimate. An excess that only the screens cause
        counts only after it has lasted for a while.
        """
        fits = estimate >= _LOWERED_BELOW * (others_bps + screens_bps)
        if fits or self.limits != self._previous_limits:
            self._fitting_bps = screens_bps
        self._exceeded_at = inf if fits else min(self._exceeded_at, now)
        at_once = estimate < _LOWERED_BELOW * (others_bps + self._fitting_bps)
        return not fits and (at_once or now >= self._exceeded_at + _SURGE_S)

    def _present(
        self, videos: Sequence[Video], estimate_bps: float | None, reserved_bps: float
    ) -> dict[str, int]:
        """Return the current level of each video. A new video starts at the level in a new plan."""
        known = {
            video.key: video.index(self.limits[video.key]) for video in videos if video.key in self.limits
        }
        if len(known) == len(videos):
            return known
        if estimate_bps is None:
            return {video.key: known.get(video.key, 1) for video in videos}
        planned = plan(videos, (estimate_bps - reserved_bps) / _RAISE_MARGIN)
        return {video.key: known.get(video.key, planned[video.key]) for video in videos}

    def _lower(
        self, videos: Sequence[Video], present: dict[str, int], need: float, budget: float, now: float
    ) -> None:
        planned = plan(videos, budget)
        lowered = [video.key for video in videos if planned[video.key] < present[video.key]]
        if not lowered:
            return
        present.update({key: planned[key] for key in lowered})
        self._raise_after = now + _SETTLE_S
        if self._unproven:
            self._unproven = False
            self._pause_s = min(max(2 * self._pause_s, _FIRST_PAUSE_S), _MAX_PAUSE_S)
            self._paused_until = now + self._pause_s
            if need < _BELOW_FAILED * self._failed_bps:
                # The downlink has become narrower, so the earlier estimates no longer apply.
                self._misled_bps = 0.0
            self._failed_bps, self._misled_bps = need, max(self._misled_bps, self._unproven_bps)

    def _usable(self, estimate: float, top: float, now: float) -> float:
        """Return the rate up to which videos may be raised: the estimate, or less than the failed need after
        a failed raise.

        A downlink is not probed above `top`.
        """
        if now < self._paused_until and estimate >= min(_MUCH_BETTER * self._misled_bps, top):
            self._paused_until = -inf
        if now >= self._paused_until:
            return estimate
        return min(estimate, _RAISE_MARGIN * _BELOW_FAILED * self._failed_bps)

    def _raise(
        self, videos: Sequence[Video], present: dict[str, int], estimate: float, reserved: float, now: float
    ) -> None:
        """Raise one video, or lower others so that a video can rise later."""
        need = reserved + _rate(videos, present)
        if all(present[video.key] == len(video.levels) - 1 for video in videos):
            return
        if estimate < _RAISE_MARGIN * need and not self._reordered:
            return
        planned = plan(videos, estimate / _RAISE_MARGIN - reserved)
        ordered = sorted(videos, key=lambda video: video.importance)
        waiting = [video for video in ordered if planned[video.key] > present[video.key]]
        # Resume paused videos before improving any video of the same or lower priority.
        paused = [video for video in waiting if not present[video.key]]
        if resumed := self._resume(paused, present, estimate, need):
            self._raised(resumed, present, estimate, now)
            if estimate < _AMPLE * (reserved + _rate(videos, present)):
                self._raise_after = now + _KEYFRAME_S
            return
        highest = max((video.priority for video in paused), default=-inf)
        for video in waiting:
            level = present[video.key]
            if not level or video.priority <= highest:
                continue
            fits = (
                higher
                for higher in range(planned[video.key], level, -1)
                if _fits(video, level, higher, estimate, need)
            )
            if higher := next(fits, 0):
                self._raised({video.key: higher}, present, estimate, now)
                return
        if not waiting:
            self._reordered = False
        elif now >= self._exchange_after and (self._reordered or now >= self._paused_until):
            self._reordered = False
            self._exchange(waiting, ordered, planned, present, estimate, reserved, now)

    def _resume(
        self, paused: Sequence[Video], present: Mapping[str, int], estimate: float, need: float
    ) -> dict[str, int]:
        """Return the paused videos that can resume at their lowest level, given that the downlink must also
        carry their keyframes.

        The remembered rates of a paused video may be out of date, so it resumes no higher than its lowest
        level.
        """
        resumed: dict[str, int] = {}
        for video in paused:
            if _fits(video, 0, 1, estimate, need):
                need += video.levels[1].bps + _KEYFRAME_MARGIN_BPS / _RESUME_MARGIN
                resumed[video.key] = 1
        return resumed

    def _raised(
        self, levels: Mapping[str, int], present: dict[str, int], estimate: float, now: float
    ) -> None:
        """Apply raised levels, and note the estimate that allowed them."""
        present.update(levels)
        self._unproven_bps = max(estimate, self._unproven_bps if self._unproven else 0.0)
        self._raised_at, self._raise_after, self._unproven = now, now + _RAISE_INTERVAL_S, True

    def _exchange(
        self,
        waiting: Sequence[Video],
        ordered: Sequence[Video],
        planned: Mapping[str, int],
        present: dict[str, int],
        estimate: float,
        reserved: float,
        now: float,
    ) -> None:
        """Lower videos that are above their planned level, if a more important or paused video can then
        rise.
        """
        first = min(waiting, key=lambda video: present[video.key] > 0)
        lowered = [
            video.key
            for video in ordered
            if planned[video.key] < present[video.key]
            and (video.priority < first.priority or (not present[first.key] and planned[video.key]))
        ]
        after = present | {key: planned[key] for key in lowered}
        need = reserved + _rate(ordered, after)
        level = present[first.key]
        if lowered and _fits(first, level, level + 1, estimate, need):
            self._raised({**after, first.key: level + 1}, present, estimate, now)
            self._exchange_after = now + _EXCHANGE_INTERVAL_S


def _fits(video: Video, level: int, higher: int, estimate: float, need: float) -> bool:
    """Return whether the downlink can carry a video at a higher level, with its keyframe if it needs one."""
    before, after = video.levels[level], video.levels[higher]
    keyframe = _KEYFRAME_MARGIN_BPS if not level or after.encoding != before.encoding else 0
    # Text often has a single level, and the downlink is probed only up to a multiple of that level.
    margin = _RAISE_MARGIN if level or video.screen else _RESUME_MARGIN
    return margin * (need + after.bps - before.bps) + keyframe <= estimate


def wanted_bps(videos: Iterable[Video], reserved_bps: float) -> float:
    """Return the rate up to which the downlink should be probed."""
    return _PROBED_MARGIN * (reserved_bps + sum(video.levels[-1].bps for video in videos))


def _rate(videos: Iterable[Video], levels: Mapping[str, int]) -> float:
    return sum(video.levels[levels[video.key]].bps for video in videos)
