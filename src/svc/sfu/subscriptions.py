"""Manages the tracks that one client receives. Each track has a sendonly media section and a down track.

The states of a section:

- offered: a track was published. The next offer makes the section sendonly, with new sources.
- flowing: the answer accepted the track. A DownTrack forwards the codecs that the answer lists.
- ending: the track has ended, and its DownTrack is closed. The next offer makes the section inactive.
- free: the inactive section was answered. It waits for another track of its kind.

A source (SSRC) is never used by more than one DownTrack. With the same key, a repeated SSRC and packet index
would reuse a nonce, which breaks the encryption (RFC 7714 section 8.1). A reused section therefore gets new
sources, and so does a section that the client stops and later resumes.

Offers and answers grow with every section, and a message larger than 256 KB would end the call. Media
sections therefore have a budget. A track that exceeds the budget is unavailable until a section becomes free.

Does not write offers. See docs/signalling.md, "How an offer is made".
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from msgspec import structs

from svc.sfu.allocation import ALL_LAYERS, UNLIMITED, Limit
from svc.sfu.answer import AnsweredSection
from svc.sfu.client_events import LayerRequest, OfferedTrack
from svc.sfu.media_protocols import DownTrack, MediaTransport
from svc.sfu.offer import Transceiver
from svc.sfu.publications import SOURCES
from svc.sfu.rooms import Peer, Track, TrackUse

# The reasons why a track can be unavailable, as sent to clients.
CODEC, NO_SECTION = "codec", "no_line"

# The size of one media section in an offer on the wire, escaped as JSON within JSON. Browsers' answers are
# shorter. The total below leaves room for the client's own four sections.
_OFFER_BYTES = {"audio": 1_100, "video": 3_350}
MAX_OFFER_BYTES = 243_000
# Video must leave room for audio. This is enough for 46 videos, more than a screen can show.
MAX_VIDEO_BYTES = 154_500


@dataclass(slots=True, eq=False)
class ReceivingSection:
    """One media section in which the client receives."""

    transceiver: Transceiver
    track: Track | None = None
    down_track: DownTrack | None = None
    accepted: frozenset[int] = frozenset()
    request: LayerRequest | None = None
    limit: Limit = UNLIMITED  # set by the allocation
    applied: LayerRequest = field(default_factory=LayerRequest)  # as last sent to the core
    paced: bool = False  # whether the core was last told to pace the video
    forwarded: int | None = None  # the encoding that the core forwards, if the track has several
    answered: bool = False  # whether the client has answered an offer with this track
    free: bool = False
    reported_unavailable: bool = False

    @property
    def effective(self) -> LayerRequest:
        """The client's request, capped at the downlink's limit."""
        request, limit = self.request or LayerRequest(), self.limit
        return structs.replace(
            request,
            max_temporal_layer=_lower(request.max_temporal_layer, limit.temporal),
            max_spatial_layer=_lower(request.max_spatial_layer, limit.spatial),
            paused=request.paused or limit.paused,
        )


class Subscriptions:
    """The media sections in which one peer receives."""

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
        self._sections: list[ReceivingSection] = []
        self._waiting: list[Track] = []
        self._used_ssrcs: set[int] = set()

    def transceivers(self) -> list[Transceiver]:
        """Return copies of the sections for the next offer. Later changes do not affect them."""
        return [replace(section.transceiver) for section in self._sections]

    def tracks(self) -> dict[str, OfferedTrack]:
        """Return the track in each media section. The client needs this list, because the browser keeps its
        track id for a section when the section is reused.
        """
        return {
            section.transceiver.mid: OfferedTrack(
                section.track.track_id, section.track.user_id, section.track.source
            )
            for section in self._sections
            if section.track
        }

    def add(self, track: Track) -> None:
        """Assign a free or new media section of the right kind to a track. If there is none, queue the
        track.
        """
        section = self._free_section(track.kind) or self._new_section(track.kind)
        if section:
            self._occupy(section, track)
        else:
            self._waiting.append(track)
            self._unavailable(track, NO_SECTION)

    def place_waiting(self) -> bool:
        """Assign free media sections to waiting tracks. Return True if any track got one."""
        waiting, self._waiting = self._waiting, []
        for track in waiting:
            if section := self._free_section(track.kind):
                self._occupy(section, track)
                self._available(track)
            else:
                self._waiting.append(track)
        return len(self._waiting) < len(waiting)

    def remove(self, track: Track) -> None:
        """Stop forwarding a track that has ended."""
        if track in self._waiting:
            self._waiting.remove(track)
            self._available(track)
        if section := self._section_of(track):
            if section.reported_unavailable:
                self._available(track)
            self._stop(section)
            section.track = None
            section.transceiver.direction = "inactive"

    def change(self, track: Track) -> None:
        """Handle the publisher's switch to a different codec."""
        if section := self._section_of(track):
            section.transceiver.first_codec = track.payload_type
            if section.down_track:
                self._judge(section, track)

    def answered(self, offered: Transceiver, answer: AnsweredSection, *, mixed: bool) -> None:
        """Forward in this media section as its answer requires. `offered` is the section in the offer."""
        section = self._sections[int(offered.mid) - len(SOURCES)]
        if offered.direction == "inactive":
            section.free = section.track is None
        elif section.track and offered.ssrc == section.transceiver.ssrc:
            self._apply(section, section.track, answer, mixed)

    def set_layer(self, key: str, request: LayerRequest) -> bool:
        """Apply a client's request for a track, found by id or by mid. Return False if no such track
        exists.
        """
        for section in self._sections:
            if section.track and key in (section.track.track_id, section.transceiver.mid):
                section.request = request
                self.apply(section)
                return True
        return False

    def videos(self) -> list[ReceivingSection]:
        """Return the media sections in which the client has accepted a video."""
        return [
            section
            for section in self._sections
            if section.down_track and section.transceiver.kind == "video"
        ]

    def audio_bps(self) -> float:
        """Return the bit rate of the audio that the client receives."""
        return sum(
            section.track.rates.total()
            for section in self._sections
            if section.track and section.down_track and section.transceiver.kind == "audio"
        )

    def apply(self, section: ReceivingSection, *, at_once: bool = False) -> None:
        """Forward the layers that a media section's request and limit permit.

        With `at_once`, stop a larger encoding even before a keyframe of a smaller encoding arrives.
        """
        effective = section.effective
        if section.down_track:
            _send_changes(section.down_track, section.applied, effective, at_once=at_once)
            section.applied = effective
        self._update_demand(section)

    def pace(self, section: ReceivingSection, *, paced: bool) -> None:
        """Pace the video of a media section, or send each packet as soon as it arrives."""
        if section.down_track and section.paced != paced:
            section.down_track.set_paced(paced)
            section.paced = paced

    def encoding_forwarded(self, down_track_id: int, layer: int) -> None:
        """Record the encoding that the core now forwards."""
        for section in self._sections:
            if section.down_track and section.down_track.id == down_track_id:
                section.forwarded = layer
                self._update_demand(section)

    def report_unavailable(self) -> None:
        """Report every unavailable track again, because the client might have missed the earlier report."""
        for track in self._waiting:
            self._unavailable(track, NO_SECTION)
        for section in self._sections:
            if section.track and section.reported_unavailable:
                self._unavailable(section.track, CODEC)

    def close(self) -> None:
        for section in self._sections:
            self._stop(section)
            if section.track:
                self._peer.room.unwatch(section.track, self._peer)

    def _free_section(self, kind: str) -> ReceivingSection | None:
        return next(
            (section for section in self._sections if section.free and section.transceiver.kind == kind), None
        )

    def _new_section(self, kind: str) -> ReceivingSection | None:
        kinds = [kind, *(section.transceiver.kind for section in self._sections)]
        video_bytes = _OFFER_BYTES["video"] * kinds.count("video")
        total_bytes = video_bytes + _OFFER_BYTES["audio"] * kinds.count("audio")
        if total_bytes > MAX_OFFER_BYTES or (kind == "video" and video_bytes > MAX_VIDEO_BYTES):
            return None
        self._sections.append(
            ReceivingSection(Transceiver(str(len(SOURCES) + len(self._sections)), kind, "inactive"))
        )
        return self._sections[-1]

    def _occupy(self, section: ReceivingSection, track: Track) -> None:
        section.track, section.free, section.accepted = track, False, frozenset()
        section.request, section.limit, section.answered, section.reported_unavailable = (
            None,
            UNLIMITED,
            False,
            False,
        )
        transceiver = section.transceiver
        transceiver.direction = "sendonly"
        transceiver.stream_id, transceiver.track_id = track.stream_id, track.track_id
        transceiver.cname = track.cname
        transceiver.first_codec = track.payload_type
        self._renew_sources(transceiver)
        self._update_demand(section)

    def _update_demand(self, section: ReceivingSection) -> None:
        """Record in the room the width at which the client shows the track, or that the client does not show
        it.

        A screen stays in use while only the downlink pauses it. Otherwise, its publisher would stop encoding
        it, and would then need seconds to return to the bit rate at which text is sharp.
        """
        if section.track is None:
            return
        declined = section.answered and section.down_track is None
        effective = section.effective
        hidden = section.request is not None and section.request.paused
        stays = section.track.source == "screen" and not hidden
        if declined or (effective.paused and not stays):
            self._peer.room.unwatch(section.track, self._peer)
        elif section.request or section.answered:
            use = TrackUse(effective.width, effective.target, section.forwarded)
            self._peer.room.watch(section.track, self._peer, use)
        else:
            self._peer.room.watch(section.track, self._peer, TrackUse())

    def _apply(self, section: ReceivingSection, track: Track, answer: AnsweredSection, mixed: bool) -> None:
        if section.down_track and not answer.receiving:
            self._stop(section)
            self._renew_sources(section.transceiver)
        elif answer.receiving and section.down_track is None:
            section.down_track = self._forward(section, track, answer, mixed)
        section.accepted, section.answered = answer.payload_types, True
        self._update_demand(section)
        # A client that deliberately accepts no video needs no explanation.
        if answer.receiving or answer.rejected:
            self._judge(section, track)

    def _forward(
        self, section: ReceivingSection, track: Track, answer: AnsweredSection, mixed: bool
    ) -> DownTrack:
        transceiver = section.transceiver
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
        section.applied, section.forwarded, section.paced = section.effective, None, False
        _send_changes(down_track, LayerRequest(), section.applied)
        return down_track

    def _judge(self, section: ReceivingSection, track: Track) -> None:
        """Report that the client has not accepted the publisher's codec, or that it now does. Send each
        report only once.
        """
        lacking = track.payload_type not in section.accepted
        if lacking and not section.reported_unavailable:
            self._unavailable(track, CODEC)
        elif section.reported_unavailable and not lacking:
            self._available(track)
        section.reported_unavailable = lacking

    def _stop(self, section: ReceivingSection) -> None:
        if section.down_track:
            section.down_track.close()
            section.down_track = None

    def _section_of(self, track: Track) -> ReceivingSection | None:
        return next((section for section in self._sections if section.track is track), None)

    def _renew_sources(self, transceiver: Transceiver) -> None:
        transceiver.ssrc = self._unused_ssrc()
        transceiver.rtx_ssrc = self._unused_ssrc() if transceiver.kind == "video" else None

    def _unused_ssrc(self) -> int:
        ssrc = self._new_ssrc()
        while ssrc in self._used_ssrcs:
            ssrc = self._new_ssrc()
        self._used_ssrcs.add(ssrc)
        return ssrc


def _lower(layer: int, limit: int) -> int:
    """Return the lower of two layers, where -1 means the highest layer."""
    return min(layer, limit) if ALL_LAYERS not in (layer, limit) else max(layer, limit)


def _send_changes(
    down_track: DownTrack, before: LayerRequest, after: LayerRequest, *, at_once: bool = False
) -> None:
    """Send the core only the changed settings, because clients repeat their requests."""
    if after.max_temporal_layer != before.max_temporal_layer:
        down_track.set_max_temporal_layer(after.max_temporal_layer)
    if after.max_spatial_layer != before.max_spatial_layer:
        down_track.set_max_spatial_layer(after.max_spatial_layer, at_once=at_once)
    if after.paused != before.paused:
        down_track.set_paused(after.paused)
