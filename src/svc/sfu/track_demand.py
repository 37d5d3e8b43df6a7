"""Combines the receivers' requests for a track and sends the combined demand to its publisher.

A publisher need not encode more pixels than the widest tile shows, an encoding that nobody needs, or a track
that nobody is watching. A receiver may send the width of its tile with `set_layer`, and the publisher gets
`layers_wanted` when the combined demand changes. This is an extension of the protocol. A receiver that sends
no width is treated as if it had a large tile.

Has no I/O and no clock. See docs/signalling.md, "From participants" and "To participants".
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf

from svc.base.signalling_codec import Payload
from svc.sfu.client_events import LayersWanted
from svc.sfu.codecs import ENCODINGS
from svc.sfu.rooms import ALL_ENCODINGS, Track, TrackUse

# The minimum time between two events for a track. The publisher's browser might have to set up its encoder
# each time.
INTERVAL_S = 0.2


@dataclass(frozen=True, slots=True)
class Demand:
    """The combined demand of a track's receivers. A publisher that gets no event assumes the defaults."""

    width: int = 0  # width of the widest tile; 0 if unknown and possibly as wide as the video
    watched: bool = True
    encodings: int = ALL_ENCODINGS  # bit i is set if a receiver uses or needs encoding i

    def exceeds(self, other: "Demand") -> bool:
        """Return whether a publisher that meets only the demand `other` sends too little for this demand."""
        if not self.watched:
            return False
        wider = (self.width or inf) > (other.width or inf)
        return not other.watched or wider or bool(self.encodings & ~other.encodings)


def demand_of(track: Track, before: Demand) -> Demand:
    """Combine the demands of a track's receivers."""
    uses = track.uses.values()
    known = [use.width or inf for use in uses if use.width is not None]
    # A receiver that has not sent a request yet keeps the track active but changes nothing else.
    widest = max(known) if known else before.width or inf
    encodings = before.encodings
    if len(track.rids) > 1:
        encodings = needed_encodings(uses, len(track.rids), track.flowing) or encodings
    return Demand(0 if widest == inf else int(widest), bool(uses), encodings)


def needed_encodings(uses: Iterable[TrackUse], count: int, flowing: int) -> int:
    """Return a bitmask of the encodings that receivers use or need, or 0 until a receiver has sent a request.

    The smallest encoding stays on as a fallback for receivers, because browsers stop larger encodings on a
    narrow uplink.
    """
    needed = 0
    for use in uses:
        needed |= use.encodings
        if use.target is None:
            continue
        layer = min(use.target, count - 1)
        needed |= 1 | 1 << max(layer, 0)
        if use.forwarded is not None:
            needed |= 1 << use.forwarded
        while layer > 0 and not flowing & 1 << layer:
            # The publisher may be unable to send this encoding, so the receiver also needs the next smaller
            # one.
            layer -= 1
            needed |= 1 << layer
    return needed & ALL_ENCODINGS


@dataclass(slots=True)
class _Sent:
    demand: Demand
    at: float
    wanted: Demand
    due: float = inf


class DemandUpdates:
    """Sends one publisher the demand for its tracks. Times are in seconds."""

    def __init__(self, push: Callable[[Payload], None]) -> None:
        self.push = push
        self._tracks: dict[Track, _Sent] = {}

    def changed(self, track: Track, now: float) -> None:
        """Send an increase immediately. Delay a decrease, because it may soon be reverted."""
        sent = self._tracks.setdefault(track, _Sent(Demand(), -inf, Demand()))
        sent.wanted = demand_of(track, sent.demand)
        if sent.wanted == sent.demand:
            sent.due = inf
        elif sent.wanted.exceeds(sent.demand):
            sent.due = max(now, sent.at + INTERVAL_S)
        else:
            sent.due = min(sent.due, max(now, sent.at) + INTERVAL_S)
        self.advance(now)

    def wanted_encodings(self, track: Track) -> int:
        """Return a bitmask of the encodings that the publisher should send."""
        sent = self._tracks.get(track)
        demand = sent.demand if sent else Demand()
        return demand.encodings if demand.watched else 0

    def forget(self, track: Track) -> None:
        """Remove a track that has ended."""
        self._tracks.pop(track, None)

    def repeat(self) -> None:
        """Send all demands again to a client that may have missed them."""
        for track, sent in self._tracks.items():
            self.push(_event(track, sent.demand))

    def advance(self, now: float) -> None:
        for track, sent in self._tracks.items():
            if sent.due <= now:
                sent.demand, sent.at, sent.due = sent.wanted, now, inf
                self.push(_event(track, sent.demand))

    def next_deadline(self) -> float:
        return min((sent.due for sent in self._tracks.values()), default=inf)


def _event(track: Track, demand: Demand) -> LayersWanted:
    event = LayersWanted(track.track_id, track.source, demand.width, demand.watched)
    if len(track.rids) > 1:
        on = {rid for layer, rid in enumerate(track.rids) if demand.watched and demand.encodings >> layer & 1}
        event.encodings = [rid in on for rid in ENCODINGS]
    return event
