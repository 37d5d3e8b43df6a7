"""Tracks the bit rates of a published video, by encoding and temporal layer.

The core counts the bytes of each layer and reports them every quarter of a second. This module computes
smoothed rates, remembers the rate of an encoding that is switched off, and assumes a rate for an encoding
that has never been received. Has no I/O and no clock.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

# The usual rates of a 720p camera in three encodings.
ASSUMED_BPS = (150_000.0, 450_000.0, 1_200_000.0)
# A smoothed rate is the mean of this many reports, which cover 2 s. In that time, the core requests one
# keyframe, so that keyframes do not make the rate go up and down.
_REPORTS = 8
# A layer below this rate is not in use (bit/s).
_MIN_LAYER_BPS = 500.0
# An encoding counts as not sent after this time. Browsers take a moment to start an encoding and never send
# the largest encodings of a small video.
_MISSING_AFTER_S = 2.0


@dataclass(frozen=True, slots=True)
class MeasuredRates:
    """One report from the core, with the bytes received in each layer since the previous report."""

    elapsed_s: float
    active: int  # Bit i is set if encoding i is being received.
    layer_bytes: Sequence[Sequence[int]]  # by encoding, smallest first, and then by temporal layer


class LayerRates:
    """The smoothed rates of one track's layers, in bit/s.

    If a track has a single stream with spatial layers (SVC), these layers are measured like encodings.
    """

    def __init__(self) -> None:
        self._layers: dict[int, list[float]] = {}
        self._recent: dict[int, deque[list[float]]] = {}
        self._starting: set[int] = set()
        # The encodings that started again less than 2 s ago, each with its earlier reports and the number of
        # reports since. During this time the remembered rate is used, because the initial keyframe inflates
        # the measured rate.
        self._restarted: dict[int, tuple[deque[list[float]], int]] = {}
        self._absent_s: dict[int, float] = {}

    def measured(self, report: MeasuredRates, wanted: int) -> None:
        """Process a report. Bit i of `wanted` is set if the publisher should be sending encoding i."""
        known = max(self._layers, default=-1) + 1
        for encoding in range(max(len(report.layer_bytes), known)):
            bit = 1 << encoding
            sizes = report.layer_bytes[encoding] if encoding < len(report.layer_bytes) else ()
            if report.active & bit:
                self._absent_s.pop(encoding, None)
                self._smooth(encoding, [8 * size / report.elapsed_s for size in sizes])
            else:
                if encoding not in self._starting:
                    self._stop(encoding)
                if wanted & bit:
                    self._absent_s[encoding] = self._absent_s.get(encoding, 0.0) + report.elapsed_s

    def encodings(self, count: int) -> list[tuple[float, ...]]:
        """Return the rates by encoding and temporal layer. Each rate includes the layers below.

        If the publisher should send an encoding but does not, the encoding's entry is empty. The spatial
        layers of a single stream are returned as encodings that include those below them.
        """
        if count == 1 and len(self._layers) > 1:
            return self._spatial_layers()
        return [self._cumulative(encoding, count) for encoding in range(count)]

    def total(self) -> float:
        """Return the combined bit rate of all layers in the largest encoding, or 0 if nothing has been
        measured.
        """
        return sum(self._layers[max(self._layers)]) if self._layers else 0.0

    def _smooth(self, encoding: int, rates: list[float]) -> None:
        recent = self._recent.setdefault(encoding, deque(maxlen=_REPORTS))
        if encoding in self._starting and recent:
            # This report covers only part of its interval and begins with a keyframe.
            self._starting.discard(encoding)
            self._restarted[encoding] = recent.copy(), 0
            return
        if encoding in self._restarted:
            before, reports = self._restarted.pop(encoding)
            if reports + 1 < _REPORTS:
                self._restarted[encoding] = before, reports + 1
        if recent and len(recent[-1]) != len(rates):
            recent.clear()
        recent.append(rates)
        if encoding not in self._restarted:
            self._layers[encoding] = [fmean(layer) for layer in zip(*recent, strict=True)]

    def _stop(self, encoding: int) -> None:
        self._starting.add(encoding)
        if encoding in self._restarted:
            self._recent[encoding], _ = self._restarted.pop(encoding)

    def _spatial_layers(self) -> list[tuple[float, ...]]:
        layers: list[tuple[float, ...]] = []
        for layer in range(max(self._layers) + 1):
            own = self._cumulative(layer, max(self._layers) + 1)
            below = layers[-1] if layers else ()
            depth = max(len(own), len(below)) if own else 0
            layers.append(tuple(_rate_up_to(own, i) + _rate_up_to(below, i) for i in range(depth)))
            if not own:
                break  # Higher layers depend on this layer.
        return layers

    def _cumulative(self, encoding: int, count: int) -> tuple[float, ...]:
        if self._absent_s.get(encoding, 0.0) >= _MISSING_AFTER_S:
            return ()
        layers = self._layers.get(encoding)
        lacks_smaller = any(self._absent_s.get(n, 0.0) >= _MISSING_AFTER_S for n in range(encoding))
        if lacks_smaller and encoding < count - 1 and (layers is None or encoding in self._starting):
            # Publishers of text on a screen soon send only the largest encoding, even if others are
            # requested.
            return ()
        if layers is None:
            # Browsers start a track that has a single encoding at a low rate. If the assumed rate were too
            # high for every downlink, the publisher would stop, and the real rate would never be measured.
            return (ASSUMED_BPS[encoding],) if count > 1 else ASSUMED_BPS
        if encoding == 0 and count > 1 and encoding in self._starting and sum(layers) > ASSUMED_BPS[0]:
            # The last packets received may have belonged to a keyframe. A paused track is not sent, so a rate
            # that is too high would never be corrected, and the track would stay paused.
            layers = [bps * ASSUMED_BPS[0] / sum(layers) for bps in layers]
        used = max((layer for layer, bps in enumerate(layers) if bps >= _MIN_LAYER_BPS), default=0)
        return tuple(sum(layers[: layer + 1]) for layer in range(used + 1))


def _rate_up_to(rates: Sequence[float], layer: int) -> float:
    """Return the rate up to a temporal layer. Spatial layers can have different numbers of temporal
    layers.
    """
    return rates[min(layer, len(rates) - 1)] if rates else 0.0
