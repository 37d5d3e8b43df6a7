"""Manages the tracks that one client sends: the first four media sections and their forwarders.

    mid  source        needed cap
    0    mic           speak
    1    camera        share_video
    2    screen        share_screen
    3    screen_audio  share_screen

A media section that the client has no permission to use is offered as inactive. When an answer states that
the client sends in a section, the section's forwarder is opened. The track is published when media actually
arrives, so that no receiver negotiates a section for a track without media. The track ends when an answer
makes the section inactive, when the client loses the cap, or when the peer leaves.

Does not read session descriptions or send offers. See docs/signalling.md, "How an offer is made".
"""

from collections.abc import Callable
from dataclasses import dataclass

from svc.base.signalling_codec import Payload
from svc.sfu.answer import AnsweredSection
from svc.sfu.codecs import payload_types
from svc.sfu.layer_rates import MeasuredRates
from svc.sfu.media_protocols import Forwarder, MediaTransport
from svc.sfu.offer import Transceiver
from svc.sfu.rooms import AudioControl, Peer, Track
from svc.sfu.track_demand import DemandUpdates


@dataclass(frozen=True, slots=True)
class Source:
    mid: str
    name: str
    kind: str
    cap: str


MICROPHONE = Source("0", "mic", "audio", "speak")
SOURCES = (
    MICROPHONE,
    Source("1", "camera", "video", "share_video"),
    Source("2", "screen", "video", "share_screen"),
    Source("3", "screen_audio", "audio", "share_screen"),
)
_BY_MID = {source.mid: source for source in SOURCES}


@dataclass(slots=True, eq=False)
class _Sending:
    """One media section in which the client sends."""

    source: Source
    forwarder: Forwarder
    stream_id: str | None  # from the client's answer
    track_id: str | None
    rids: tuple[str, ...] = ()  # the track's encodings, smallest first
    track: Track | None = None  # set once media has arrived


class Publications:
    """The media sections in which one peer sends."""

    def __init__(
        self,
        transport: MediaTransport,
        peer: Peer,
        *,
        new_id: Callable[[], str],
        push: Callable[[Payload], None],
        simulcast: bool = False,
    ) -> None:
        self.demand = DemandUpdates(push)
        self._transport = transport
        self._peer = peer
        self._simulcast = simulcast
        self._new_id = new_id
        self._cname = new_id()
        # Stream ids for tracks without a stream id. Voice and camera share a stream, so that browsers keep
        # them in lip sync. A screen and its audio also share a stream.
        self._stream_ids = {cap: new_id() for cap in ("person", "share_screen")}
        self._sending: dict[str, _Sending] = {}
        self._wanted: frozenset[int] | None = None  # the codecs preferred in the latest offer

    def transceivers(self) -> list[Transceiver]:
        """Return the transceivers of the four media sections for the next offer."""
        self._wanted = self._peer.shown_by_all()
        return [
            Transceiver(
                source.mid,
                source.kind,
                "recvonly" if source.cap in self._peer.caps else "inactive",
                wanted=self._wanted if source.kind == "video" else None,
                simulcast=self._simulcast and source.kind == "video",
            )
            for source in SOURCES
        ]

    def not_shown_by_all(self) -> bool:
        """Return whether video is being sent and the latest offer's codec preference is out of date."""
        pictures = any(sending.source.kind == "video" for sending in self._sending.values())
        return pictures and self._wanted != self._peer.shown_by_all()

    def answered(self, section: AnsweredSection) -> None:
        """Open or close the forwarder of a media section, as its answer requires."""
        source = _BY_MID[section.mid]
        if not section.sending or source.cap not in self._peer.caps:
            self._end(section.mid)
            return
        # Accept every offered payload type, because until the next offer the browser might send a type that
        # its answer omits.
        forwarder = self._transport.receive_section(
            section.mid, section.kind, payload_types(section.kind), section.ssrcs, section.rids
        )
        if section.mid not in self._sending:
            self._sending[section.mid] = _Sending(
                source, forwarder, section.stream_id, section.track_id, section.rids
            )
            self.control(self._peer.audio_control)

    def started(self, mid: str, payload_type: int) -> None:
        """Publish a track when its first media arrives, or update it when media arrives from a new source."""
        sending = self._sending.get(mid)
        if sending is None:
            return
        track = sending.track
        if track is None:
            sending.track = self._track(sending, payload_type)
            self._peer.room.publish(sending.track)
        elif track.payload_type != payload_type:
            track.payload_type = payload_type
            self._peer.room.change(track)

    def rates_measured(self, mid: str, report: MeasuredRates, now: float) -> None:
        """Record the bit rates of a track, and update its demand if the set of received encodings has
        changed.
        """
        sending = self._sending.get(mid)
        if sending is None or sending.track is None:
            return
        track = sending.track
        track.rates.measured(report, self.demand.wanted_encodings(track))
        if track.flowing != report.active:
            track.flowing = report.active
            self.demand.changed(track, now)

    def enforce_caps(self) -> None:
        """End the tracks that the peer no longer has permission to send."""
        for mid, sending in list(self._sending.items()):
            if sending.source.cap not in self._peer.caps:
                self._end(mid)

    def control(self, control: AudioControl) -> None:
        """Mute or unmute all audio of this peer."""
        for sending in self._sending.values():
            if sending.source.kind == "audio":
                sending.forwarder.set_muted(control.is_muted)

    def close(self) -> None:
        for mid in list(self._sending):
            self._end(mid)

    def _end(self, mid: str) -> None:
        sending = self._sending.pop(mid, None)
        if sending is None:
            return
        if sending.track:
            self.demand.forget(sending.track)
            self._peer.room.withdraw(sending.track)
        self._transport.close_section(mid)

    def _track(self, sending: _Sending, payload_type: int) -> Track:
        source, tracks = sending.source, self._peer.room.tracks
        track_id, stream_id = sending.track_id, sending.stream_id
        if track_id is None or track_id in tracks:
            track_id = self._new_id()
        # If two users shared a stream id, browsers would synchronise their tracks.
        if stream_id is None or any(
            track.stream_id == stream_id and track.user_id != self._peer.user_id for track in tracks.values()
        ):
            stream_id = self._stream_ids["share_screen" if source.cap == "share_screen" else "person"]
        return Track(
            track_id=track_id,
            stream_id=stream_id,
            cname=self._cname,
            user_id=self._peer.user_id,
            mid=source.mid,
            source=source.name,
            kind=source.kind,
            payload_type=payload_type,
            forwarder=sending.forwarder,
            rids=sending.rids,
        )
