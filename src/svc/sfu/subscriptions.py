"""The tracks that one client receives: a sendonly m-line per forwarded track, and its down track.

The life of a line:

- offered: a track was published. The next offer says sendonly, with new sources.
- flowing: the answer accepted the track. A DownTrack forwards what the answer lists.
- ending: the track has ended, and its DownTrack is closed. The next offer says inactive.
- free: the inactive line was answered. It waits for another track of its kind.

A source (SSRC) serves one DownTrack and never another. With the same key, the same SSRC and packet index
would encrypt two packets alike, which reveals the key (RFC 7714 section 8.1). A reused line therefore gets
new sources, and so does a line that the client stopped and resumes.

Offers and answers grow with every line, and a message above 256 KB would end the call. Lines therefore have a
budget: a track beyond it is unavailable until a line becomes free.

Keeps the records and writes no offer. docs/signalling.md, "How an offer is made".
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from msgspec import structs

from svc.sfu.allocation import ALL_LAYERS, UNLIMITED, Limit
from svc.sfu.answer import Line
from svc.sfu.client_events import LayerWish, OfferedTrack
from svc.sfu.media_protocols import DownTrack, MediaTransport
from svc.sfu.offer import Transceiver
from svc.sfu.publications import SOURCES
from svc.sfu.rooms import Peer, Track, TrackUse

# The reasons why a track is unavailable, as sent to clients.
CODEC, NO_LINE = "codec", "no_line"

# The size of one line in an offer on the wire, where it is JSON within JSON. Browsers' answers are shorter.
# All lines together leave room for the client's own four.
_OFFER_BYTES = {"audio": 1_100, "video": 3_350}
MAX_OFFER_BYTES = 243_000
# Video leaves room for audio: forty-six videos are more than a screen shows.
MAX_VIDEO_BYTES = 154_500


@dataclass(slots=True, eq=False)
class ReceivingLine:
    """One line that the client receives on."""

    transceiver: Transceiver
    track: Track | None = None
    down_track: DownTrack | None = None
    accepted: frozenset[int] = frozenset()
    wish: LayerWish | None = None
    limit: Limit = UNLIMITED  # set by the allocation
    applied: LayerWish = field(default_factory=LayerWish)  # what the core was last asked to forward
    forwarded: int | None = None  # the encoding that the core forwards, where the track has several
    answered: bool = False  # whether the client has answered for this track
    free: bool = False
    reported_unavailable: bool = False

    @property
    def effective(self) -> LayerWish:
        """The client's wish within the limit of the line."""
        wish, limit = self.wish or LayerWish(), self.limit
        return structs.replace(
            wish,
            max_temporal_layer=_lower(wish.max_temporal_layer, limit.temporal),
            max_spatial_layer=_lower(wish.max_spatial_layer, limit.spatial),
            paused=wish.paused or limit.paused,
        )


class Subscriptions:
    """The lines that one peer receives on."""

    def __init__(
        self,
        transport: MediaTransport,
        peer: Peer,
        *,
        new_ssrc: Callable[[], int],
        unavailable: Callable[[Track, str], None],
        available: Callable[[Track], None],
    ) -> None:
        self._transport = transport
        self._peer = peer
        self._new_ssrc = new_ssrc
        self._unavailable = unavailable
        self._available = available
        self._lines: list[ReceivingLine] = []
        self._waiting: list[Track] = []
        self._used_ssrcs: set[int] = set()

    def transceivers(self) -> list[Transceiver]:
        """Return copies of the lines for the next offer. Later changes do not affect them."""
        return [replace(line.transceiver) for line in self._lines]

    def tracks(self) -> dict[str, OfferedTrack]:
        """Return the track on each line, for the client: a reused line keeps its first id there."""
        return {
            line.transceiver.mid: OfferedTrack(line.track.track_id, line.track.user_id, line.track.source)
            for line in self._lines
            if line.track
        }

    def add(self, track: Track) -> None:
        """Assign a line to a track: a free one of its kind, or a new one, or else a place in the queue."""
        line = self._free_line(track.kind) or self._new_line(track.kind)
        if line:
            self._occupy(line, track)
        else:
            self._waiting.append(track)
            self._unavailable(track, NO_LINE)

    def place_waiting(self) -> bool:
        """Assign free lines to waiting tracks. Return True if any track got a line."""
        waiting, self._waiting = self._waiting, []
        for track in waiting:
            if line := self._free_line(track.kind):
                self._occupy(line, track)
                self._available(track)
            else:
                self._waiting.append(track)
        return len(self._waiting) < len(waiting)

    def remove(self, track: Track) -> None:
        """Stop forwarding a track that has ended."""
        if track in self._waiting:
            self._waiting.remove(track)
            self._available(track)
        if line := self._line_of(track):
            if line.reported_unavailable:
                self._available(track)
            self._stop(line)
            line.track = None
            line.transceiver.direction = "inactive"

    def change(self, track: Track) -> None:
        """Handle the publisher's change to another codec."""
        if line := self._line_of(track):
            line.transceiver.first_codec = track.payload_type
            if line.down_track:
                self._judge(line, track)

    def answered(self, offered: Transceiver, answer: Line, *, mixed: bool) -> None:
        """Forward on this line according to the answer. `offered` is the offered line."""
        line = self._lines[int(offered.mid) - len(SOURCES)]
        if offered.direction == "inactive":
            line.free = line.track is None
        elif line.track and offered.ssrc == line.transceiver.ssrc:
            self._apply(line, line.track, answer, mixed)

    def set_layer(self, key: str, wish: LayerWish) -> bool:
        """Apply a wish to the track with this id or on this line. Return False if there is none."""
        for line in self._lines:
            if line.track and key in (line.track.track_id, line.transceiver.mid):
                line.wish = wish
                self.apply(line)
                return True
        return False

    def videos(self) -> list[ReceivingLine]:
        """Return the lines on which the client has accepted a video."""
        return [line for line in self._lines if line.down_track and line.transceiver.kind == "video"]

    def audio_bps(self) -> float:
        """Return the bit rate of the sound that the client receives."""
        return sum(
            line.track.rates.total()
            for line in self._lines
            if line.track and line.down_track and line.transceiver.kind == "audio"
        )

    def apply(self, line: ReceivingLine, *, at_once: bool = False) -> None:
        """Forward what the wish and the limit of a line permit.

        `at_once`: stop a larger encoding before the keyframe of a smaller one arrives.
        """
        wish = line.effective
        if line.down_track:
            _apply_wish(line.down_track, line.applied, wish, at_once=at_once)
            line.applied = wish
        self._tell_demand(line)

    def encoding_forwarded(self, down_track_id: int, layer: int) -> None:
        """Record the encoding that the core now forwards."""
        for line in self._lines:
            if line.down_track and line.down_track.id == down_track_id:
                line.forwarded = layer
                self._tell_demand(line)

    def report_unavailable(self) -> None:
        """Repeat every unavailable track: the client may have missed an earlier message."""
        for track in self._waiting:
            self._unavailable(track, NO_LINE)
        for line in self._lines:
            if line.track and line.reported_unavailable:
                self._unavailable(line.track, CODEC)

    def close(self) -> None:
        for line in self._lines:
            self._stop(line)
            if line.track:
                self._peer.room.unwatch(line.track, self._peer)

    def _free_line(self, kind: str) -> ReceivingLine | None:
        return next((line for line in self._lines if line.free and line.transceiver.kind == kind), None)

    def _new_line(self, kind: str) -> ReceivingLine | None:
        kinds = [kind, *(line.transceiver.kind for line in self._lines)]
        video_bytes = _OFFER_BYTES["video"] * kinds.count("video")
        total_bytes = video_bytes + _OFFER_BYTES["audio"] * kinds.count("audio")
        if total_bytes > MAX_OFFER_BYTES or (kind == "video" and video_bytes > MAX_VIDEO_BYTES):
            return None
        self._lines.append(ReceivingLine(Transceiver(str(len(SOURCES) + len(self._lines)), kind, "inactive")))
        return self._lines[-1]

    def _occupy(self, line: ReceivingLine, track: Track) -> None:
        line.track, line.free, line.accepted = track, False, frozenset()
        line.wish, line.limit, line.answered, line.reported_unavailable = None, UNLIMITED, False, False
        transceiver = line.transceiver
        transceiver.direction = "sendonly"
        transceiver.stream_id, transceiver.track_id = track.stream_id, track.track_id
        transceiver.cname = track.cname
        transceiver.first_codec = track.payload_type
        self._renew_sources(transceiver)
        self._tell_demand(line)

    def _tell_demand(self, line: ReceivingLine) -> None:
        """Report how wide the client shows the track, as far as it is known, or that it does not show it."""
        if line.track is None:
            return
        declined = line.answered and line.down_track is None
        wish = line.effective
        if declined or wish.paused:
            self._peer.room.unwatch(line.track, self._peer)
        elif line.wish or line.answered:
            use = TrackUse(wish.width, wish.target, line.forwarded)
            self._peer.room.watch(line.track, self._peer, use)
        else:
            self._peer.room.watch(line.track, self._peer, TrackUse())

    def _apply(self, line: ReceivingLine, track: Track, answer: Line, mixed: bool) -> None:
        if line.down_track and not answer.receiving:
            self._stop(line)
            self._renew_sources(line.transceiver)
        elif answer.receiving and line.down_track is None:
            line.down_track = self._forward(line, track, answer, mixed)
        line.accepted, line.answered = answer.payload_types, True
        self._tell_demand(line)
        # A client that merely declines to receive knows why it sees nothing.
        if answer.receiving or answer.rejected:
            self._judge(line, track)

    def _forward(self, line: ReceivingLine, track: Track, answer: Line, mixed: bool) -> DownTrack:
        transceiver = line.transceiver
        down_track = track.forwarder.add_down_track(
            self._transport,
            mid=transceiver.mid,
            ssrc=transceiver.ssrc,
            rtx_ssrc=transceiver.rtx_ssrc,
            payload_types=answer.payload_types,
            extension_ids=answer.extension_ids,
            mixed=mixed,
            cname=transceiver.cname,
        )
        line.applied, line.forwarded = line.effective, None
        _apply_wish(down_track, LayerWish(), line.applied)
        return down_track

    def _judge(self, line: ReceivingLine, track: Track) -> None:
        """Report once that the client has not accepted the publisher's codec, or that it now has."""
        lacking = track.payload_type not in line.accepted
        if lacking and not line.reported_unavailable:
            self._unavailable(track, CODEC)
        elif line.reported_unavailable and not lacking:
            self._available(track)
        line.reported_unavailable = lacking

    def _stop(self, line: ReceivingLine) -> None:
        if line.down_track:
            line.down_track.close()
            line.down_track = None

    def _line_of(self, track: Track) -> ReceivingLine | None:
        return next((line for line in self._lines if line.track is track), None)

    def _renew_sources(self, transceiver: Transceiver) -> None:
        transceiver.ssrc = self._unused_ssrc()
        transceiver.rtx_ssrc = self._unused_ssrc() if transceiver.kind == "video" else None

    def _unused_ssrc(self) -> int:
        ssrc = self._new_ssrc()
        while ssrc in self._used_ssrcs:
            ssrc = self._new_ssrc()
        self._used_ssrcs.add(ssrc)
        return ssrc


def _lower(wish: int, limit: int) -> int:
    """Return the lower of two layers, of which -1 is the highest."""
    return min(wish, limit) if ALL_LAYERS not in (wish, limit) else max(wish, limit)


def _apply_wish(down_track: DownTrack, before: LayerWish, wish: LayerWish, *, at_once: bool = False) -> None:
    """Send the core only the differences: clients repeat themselves."""
    if wish.max_temporal_layer != before.max_temporal_layer:
        down_track.set_max_temporal_layer(wish.max_temporal_layer)
    if wish.max_spatial_layer != before.max_spatial_layer:
        down_track.set_max_spatial_layer(wish.max_spatial_layer, at_once=at_once)
    if wish.paused != before.paused:
        down_track.set_paused(wish.paused)
