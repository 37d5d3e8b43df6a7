"""Keep the videos that one client receives within its line, and report what it gets of each.

The glue between the estimate of the line (`media`), the allocation, and the client's lines (`subscriptions`).
The allocation is active only for a client that joined with `bandwidth: true`, and it touches only tracks for
which the client has sent `adaptive: true`.

No I/O and no clock. docs/bandwidth.md; docs/signalling.md, "To participants".
"""

from collections.abc import Callable
from math import inf

from svc.sfu.plane import MediaTransport
from svc.sfu.subscriptions import ReceivingLine, Subscriptions

# Enough for 25 cameras and a screen. There is no need to probe for more.
MAX_PROBED_BPS = 10_000_000
# The least time between two `layers` events.
REPORT_INTERVAL_S = 0.25

State = dict[str, object]


class LayerControl:
    """The layers of one client's videos. `say(event, payload)`; times are in seconds."""

    def __init__(
        self, transport: MediaTransport, subscriptions: Subscriptions, say: Callable[[str, object], None]
    ) -> None:
        self._transport = transport
        self._subscriptions = subscriptions
        self.say = say
        self._active = False
        self._reported: dict[str, State] = {}
        self._reported_at = -inf
        self._report_due = inf

    def start(self, listener: Callable[[int, str], None], now: float) -> None:
        """Have the line estimated and probed, and report layers from now on."""
        self._active = True
        self._transport.want_bandwidth(MAX_PROBED_BPS, listener)
        self.changed(now)

    def estimated(self, estimate_bps: int, reason: str, now: float) -> None:
        """Handle an estimate of the line."""
        self.say("bandwidth", {"estimate_bps": estimate_bps, "reason": reason})

    def changed(self, now: float) -> None:
        """Schedule a review after a change of a wish, of the lines, or of what is forwarded."""
        if self._active:
            self._report_due = min(self._report_due, max(now, self._reported_at + REPORT_INTERVAL_S))

    def repeat(self, now: float) -> None:
        """Report all layers again to a client that may have missed them."""
        self._reported.clear()
        self.changed(now)

    def advance(self, now: float) -> None:
        if self._report_due > now:
            return
        self._report_due = inf
        states = {line.transceiver.mid: _state(line) for line in self._subscriptions.videos()}
        changes = [state for mid, state in states.items() if state != self._reported.get(mid)]
        self._reported = states
        if changes:
            self._reported_at = now
            self.say("layers", {"tracks": changes})

    def next_deadline(self) -> float:
        return self._report_due


def _state(line: ReceivingLine) -> State:
    """Describe what a client gets of a track."""
    assert line.track is not None, "a down track has a track"
    wish, several = line.effective, len(line.track.rids) > 1
    state: State = {
        "track_id": line.track.track_id,
        "mid": line.transceiver.mid,
        "spatial": line.forwarded if several and line.forwarded is not None and not wish.paused else -1,
        "temporal": -1 if wish.paused else wish.max_temporal_layer,
        "paused": wish.paused,
    }
    return {**state, "reason": _reason(line)}


def _reason(line: ReceivingLine) -> str:
    """Return the reason for the state of a track."""
    assert line.track is not None, "a down track has a track"
    if line.wish and line.wish.paused:
        return "hidden"
    if line.effective != (line.wish or type(line.effective)()):
        return "line"
    top = min(line.effective.target, len(line.track.rids) - 1)
    return "source" if top > 0 and not line.track.flowing & 1 << top else "wish"
