"""Keeps the videos that one client receives within its downlink's capacity, and reports which layers of each
video the client gets.

This module connects the estimate of the downlink (`media`), the allocation, and the client's media sections
(`subscriptions`). The allocation is active only for a client that joined with `bandwidth: true`, and it
affects only tracks for which the client has sent `adaptive: true`.

Has no I/O and no clock. See docs/bandwidth.md; docs/signalling.md, "To participants".
"""

from collections.abc import Callable, Mapping
from math import exp, inf

from svc.base.signalling_codec import Payload
from svc.sfu.allocation import PAUSED, UNLIMITED, Allocator, Level, Limit, Video, ladder, wanted_bps
from svc.sfu.client_events import Bandwidth, LayerRequest, Layers, LayerState
from svc.sfu.media_protocols import MediaTransport
from svc.sfu.subscriptions import ReceivingSection, Subscriptions

# The highest rate to probe for, which is enough for 25 cameras and a screen.
MAX_PROBED_BPS = 10_000_000
# The minimum time between two `layers` events.
LAYERS_INTERVAL_S = 0.25
# Clients are sent the estimate at this interval, and immediately when it falls below this share of the
# previous estimate.
BANDWIDTH_INTERVAL_S, BANDWIDTH_DROP = 1.0, 0.9

# After a client's request, a review waits this long for more requests, because clients send one request per
# track.
REVIEW_DELAY_S = 0.05
# The time constant for averaging the rate of retransmissions.
_REPEATS_OVER_S = 2.0
# The target rate of probing is lowered only by at least the first factor, and raised only by at least the
# second. The allocation relies on an estimate of nearly the target.
_PROBED_STEP_DOWN, _PROBED_STEP_UP = 1.2, 1.05
_MIN_PROBED_BPS = 300_000
# Videos are paced for this long after the downlink last limited a video. After a drop in capacity, encoders
# send less for some seconds, so all videos seem to fit until their rates recover.
_PACED_AFTER_S = 10.0
# A rate below every estimate, so that the downlink is estimated but never probed.
_UNPROBED_BPS = 1


class LayerControl:
    """Controls the layers of one client's videos. Times are in seconds."""

    def __init__(
        self, transport: MediaTransport, subscriptions: Subscriptions, push: Callable[[Payload], None]
    ) -> None:
        self.push = push
        self._transport = transport
        self._subscriptions = subscriptions
        self._allocator = Allocator()
        self._listener: Callable[[int, str, int], None] | None = None
        self._estimate_bps: float | None = None
        self._estimated_at = 0.0
        self._repeated_bps = 0.0
        self._probed_bps = 0.0
        self._pushed_bps, self._bandwidth_pushed_at = inf, -inf
        self._review_due = inf
        self._paced_until = -inf
        self._reported: dict[str, LayerState] = {}
        self._layers_pushed_at = -inf
        self._report_due = inf

    def start(self, listener: Callable[[int, str, int], None], now: float) -> None:
        """Start estimating and probing the downlink, and reporting layers to the client."""
        self._listener = listener
        self._estimated_at = now
        self._probe(MAX_PROBED_BPS)
        self.changed(now)

    def estimated(self, estimate_bps: int, reason: str, repeated_bytes: int, now: float) -> None:
        """Handle an estimate of the downlink and lower videos immediately if they no longer fit."""
        elapsed, self._estimated_at = max(now - self._estimated_at, 0.001), now
        share = 1 - exp(-elapsed / _REPEATS_OVER_S)
        self._repeated_bps += share * (8 * repeated_bytes / elapsed - self._repeated_bps)
        self._estimate_bps = estimate_bps
        self._review(now)
        waited = now - self._bandwidth_pushed_at >= BANDWIDTH_INTERVAL_S
        if estimate_bps <= BANDWIDTH_DROP * self._pushed_bps or waited:
            self._pushed_bps, self._bandwidth_pushed_at = estimate_bps, now
            self.push(Bandwidth(estimate_bps, reason))

    def changed(self, now: float) -> None:
        """Schedule a review after a change to the requests, the media sections or the forwarded layers."""
        if self._listener:
            self._review_due = min(self._review_due, now + REVIEW_DELAY_S)
            self._report_soon(now)

    def repeat(self, now: float) -> None:
        """Report all layers again to a client that may have missed them."""
        self._reported.clear()
        self.changed(now)

    def advance(self, now: float) -> None:
        if self._review_due <= now:
            self._review(now)
        if self._report_due <= now:
            self._report(now)

    def next_deadline(self) -> float:
        return min(self._review_due, self._report_due)

    def _review(self, now: float) -> None:
        """Divide the downlink again, and forward each video within its new limit."""
        self._review_due = inf
        sections = self._subscriptions.videos()
        shown = [section for section in sections if not (section.request and section.request.paused)]
        videos = [_video(section) for section in shown if section.request and section.request.adaptive]
        limits: Mapping[str, Limit] = {}
        if videos:
            reserved = self._repeated_bps + self._subscriptions.audio_bps()
            reserved += sum(
                _levels(section)[-1].bps
                for section in shown
                if not (section.request and section.request.adaptive)
            )
            limits = self._allocator.review(videos, self._estimate_bps, reserved, now)
            self._review_due = self._allocator.next_review
            self._probe(min(max(wanted_bps(videos, reserved), _MIN_PROBED_BPS), MAX_PROBED_BPS))
        else:
            # Do not probe for a client that hides every video. It wants to save data, and on a narrow
            # downlink the probing would never end.
            self._probe(_UNPROBED_BPS if sections and not shown else MAX_PROBED_BPS)
        if any(limit != UNLIMITED for limit in limits.values()):
            self._paced_until = now + _PACED_AFTER_S
        for section in sections:
            assert section.track is not None, "a down track has a track"
            adaptive = section.request is not None and section.request.adaptive
            self._subscriptions.pace(section, paced=adaptive and now < self._paced_until)
            limit = limits.get(section.track.track_id, UNLIMITED)
            if section.request and section.request.paused and section.request.adaptive:
                # When the client shows the video again, the next review decides how much of it fits.
                section.limit = PAUSED
            elif limit != section.limit:
                at_once = limit.rank < section.limit.rank
                section.limit = limit
                self._subscriptions.apply(section, at_once=at_once)
                self._report_soon(now)

    def _probe(self, up_to_bps: float) -> None:
        """Probe the downlink up to the given rate if it differs considerably from the current target."""
        if self._listener and not 1 / _PROBED_STEP_UP < self._probed_bps / up_to_bps < _PROBED_STEP_DOWN:
            self._probed_bps = up_to_bps
            self._transport.want_bandwidth(up_to_bps, self._listener)

    def _report_soon(self, now: float) -> None:
        self._report_due = min(self._report_due, max(now, self._layers_pushed_at + LAYERS_INTERVAL_S))

    def _report(self, now: float) -> None:
        self._report_due = inf
        states = {section.transceiver.mid: _state(section) for section in self._subscriptions.videos()}
        changes = [state for mid, state in states.items() if state != self._reported.get(mid)]
        self._reported = states
        if changes:
            self._layers_pushed_at = now
            self.push(Layers(changes))


def _video(section: ReceivingSection) -> Video:
    assert section.track is not None and section.request is not None, (
        "an adaptive section has a track and a request"
    )
    # Videos are identified by track id and not by media section, because sections are reused for other
    # tracks.
    return Video(
        section.track.track_id,
        _levels(section),
        section.request.priority,
        section.request.width,
        screen=section.track.source == "screen",
    )


def _levels(section: ReceivingSection) -> tuple[Level, ...]:
    """Return the levels at which a track may be forwarded, up to the level that the client requested."""
    assert section.track is not None, "a down track has a track"
    track, request = section.track, section.request or LayerRequest()
    rates = track.rates.encodings(max(len(track.rids), 1))
    screen = track.source == "screen"
    return ladder(rates, request.max_spatial_layer, request.max_temporal_layer, screen=screen)


def _state(section: ReceivingSection) -> LayerState:
    """Return the layers of a track that the client gets."""
    assert section.track is not None, "a down track has a track"
    effective = section.effective
    return LayerState(
        track_id=section.track.track_id,
        mid=section.transceiver.mid,
        spatial=_spatial(section),
        temporal=-1 if effective.paused else effective.max_temporal_layer,
        paused=effective.paused,
        reason=_reason(section),
    )


def _spatial(section: ReceivingSection) -> int:
    """Return the forwarded encoding, or the highest permitted spatial layer of a single stream, or -1 if all
    layers are permitted or the encoding is unknown.
    """
    assert section.track is not None, "a down track has a track"
    effective, only_stream = section.effective, len(section.track.rids) <= 1
    if effective.paused:
        return -1
    if only_stream:
        return effective.max_spatial_layer if section.limit.spatial != -1 else -1
    return -1 if section.forwarded is None else section.forwarded


def _reason(section: ReceivingSection) -> str:
    """Return the reason for the state of a track."""
    assert section.track is not None, "a down track has a track"
    if section.request and section.request.paused:
        return "hidden"
    if section.limit != UNLIMITED:
        return "line"
    top = min(section.effective.target, len(section.track.rids) - 1)
    return "source" if top > 0 and not section.track.flowing & 1 << top else "wish"
