"""The demand for a track: each receiver's wish, and the summary that its publisher gets.

A publisher need not encode more than the widest tile shows, or a track that nobody watches. A receiver may
send the width of its tile with `set_layer`, and the publisher gets `layers_wanted` when the largest width
changes. This is our own addition to the protocol. A receiver that sends no width counts as one with a large
tile.

No I/O and no clock. docs/signalling.md, "From participants" and "To participants".
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf

from svc.sfu import fields
from svc.sfu.rooms import Track

ALL_LAYERS = -1
MAX_TEMPORAL_LAYER = 2
MAX_SPATIAL_LAYER = 2
# Wider than any picture that browsers encode.
MAX_WIDTH_PX = 16_384
# The least time between two events for a track: its publisher's browser may have to set up its encoder each
# time.
INTERVAL_S = 0.2


@dataclass(frozen=True, slots=True)
class LayerWish:
    """One receiver's `set_layer` for one track."""

    max_temporal_layer: int = ALL_LAYERS
    max_spatial_layer: int = ALL_LAYERS
    width: int = 0  # of the tile that shows the track, in screen pixels; 0 = unknown
    paused: bool = False

    @classmethod
    def read(cls, request: Mapping[str, object]) -> "LayerWish":
        """Read the payload. A missing field gets its default. Raises EnvelopeError."""
        return cls(
            fields.number(request, "max_temporal_layer", ALL_LAYERS, MAX_TEMPORAL_LAYER),
            fields.number(request, "max_spatial_layer", ALL_LAYERS, MAX_SPATIAL_LAYER)
            if "max_spatial_layer" in request
            else ALL_LAYERS,
            fields.number(request, "width", 0, MAX_WIDTH_PX) if "width" in request else 0,
            "paused" in request and fields.flag(request, "paused"),
        )


@dataclass(frozen=True, slots=True)
class Demand:
    """The combined demand of a track's receivers. Without an event, a publisher assumes the defaults."""

    width: int = 0  # of the widest tile; 0 = unknown, so possibly as wide as the picture
    watched: bool = True

    def exceeds(self, other: "Demand") -> bool:
        """Return whether a publisher that satisfies `other` sends too little for this demand."""
        if not self.watched:
            return False
        return not other.watched or (self.width or inf) > (other.width or inf)


def demand_of(widths: Iterable[int | None], before: Demand) -> Demand:
    """Combine the receivers' widths. A width is None while the receiver's tile is unknown."""
    all_widths = list(widths)
    known = [width or inf for width in all_widths if width is not None]
    # A receiver that has not sent a wish yet keeps the track going but changes nothing else.
    widest = max(known) if known else before.width or inf
    return Demand(0 if widest == inf else int(widest), bool(all_widths))


@dataclass(slots=True)
class _Told:
    demand: Demand
    at: float
    wanted: Demand
    due: float = inf


class DemandUpdates:
    """Sends one publisher the demand for its tracks. `say(event, payload)`; times are in seconds."""

    def __init__(self, say: Callable[[str, object], None]) -> None:
        self.say = say
        self._tracks: dict[Track, _Told] = {}

    def changed(self, track: Track, now: float) -> None:
        """Send a change: an increase immediately, a decrease after a moment in which it may be reverted."""
        told = self._tracks.setdefault(track, _Told(Demand(), -inf, Demand()))
        told.wanted = demand_of(track.widths.values(), told.demand)
        if told.wanted == told.demand:
            told.due = inf
        elif told.wanted.exceeds(told.demand):
            told.due = max(now, told.at + INTERVAL_S)
        else:
            told.due = min(told.due, max(now, told.at) + INTERVAL_S)
        self.advance(now)

    def forget(self, track: Track) -> None:
        """Remove a track that has ended."""
        self._tracks.pop(track, None)

    def repeat(self) -> None:
        """Send all demands again to a client that may have missed them."""
        for track, told in self._tracks.items():
            self.say("layers_wanted", _payload(track, told.demand))

    def advance(self, now: float) -> None:
        for track, told in self._tracks.items():
            if told.due <= now:
                told.demand, told.at, told.due = told.wanted, now, inf
                self.say("layers_wanted", _payload(track, told.demand))

    def next_deadline(self) -> float:
        return min((told.due for told in self._tracks.values()), default=inf)


def _payload(track: Track, demand: Demand) -> dict[str, object]:
    """Name the track by id and by source: a browser may know it by another id than the room does."""
    named: dict[str, object] = {"track_id": track.track_id, "source": track.source}
    return {**named, "width": demand.width, "watched": demand.watched}
