"""Relays a room's tracks between SFUs, as instructed by the chat server.

A relay carries one track to one other SFU. It uses an RTP core transport with a fixed path and keys from the
chat server, so ICE and DTLS are not needed. The sending SFU has a down track for each encoding, and sends the
encodings that a receiver on the other SFU needs. The receiving SFU publishes the track in its own room, where
it is treated like any other track. PLI, NACK and reports are sent as RTCP over the same transport.

The chat server decides which tracks are relayed, and where.
See docs/signalling.md, "A room over several SFUs".
"""

import asyncio
from collections.abc import Callable
from math import inf

from svc.base import server_events as events
from svc.base.signalling_codec import Payload
from svc.sfu.client_events import LayersWanted
from svc.sfu.codecs import ENCODINGS, EXTENSIONS, for_all, payload_types
from svc.sfu.layer_rates import MeasuredRates
from svc.sfu.media_protocols import MediaPlane, MediaTransport
from svc.sfu.network_path import BindingCheck, Path
from svc.sfu.rooms import ALL_ENCODINGS, Room, Track, TrackUse
from svc.sfu.track_demand import DemandUpdates

_MID = "0"
_PROFILE = "AEAD_AES_128_GCM"
# A relay forwards the end-to-end header extensions. The mid and rid extensions are not needed, because a
# relay's SSRCs identify the track and the encoding.
_EXTENSION_IDS = frozenset(extension.id for extension in EXTENSIONS if not extension.hop_by_hop)
# The maximum number of relays. A room with hundreds of cameras is legitimate, but more relays than this
# indicate a bug.
MAX_RELAYS = 10_000


class TooManyRelays(Exception):
    """The SFU has reached the maximum number of relays."""


class _RelayTransport:
    """The transport of a relay. Ignores events that matter only for clients."""

    def __init__(self, plane: MediaPlane, link: events.RelayLink, *, sends: bool) -> None:
        ssrc = None if sends else link.rtcp_ssrc
        self.transport: MediaTransport = plane.open_transport(self, rtcp_ssrc=ssrc)
        path = Path(link.remote, link.local)
        self.transport.link(path, [link.rtcp_ssrc] if sends else link.ssrcs)
        self.transport.set_keys(_PROFILE, bytes.fromhex(link.local_key), bytes.fromhex(link.remote_key))

    def check_received(self, check: BindingCheck) -> None:
        pass

    def stun_received(self, data: bytes, path: Path) -> None:
        pass

    def dtls_received(self, data: bytes) -> None:
        pass

    def path_silent(self, silent: bool) -> None:
        """Ignore the silence, because an unwatched track is silent, and a fixed path needs no restart."""

    def track_started(self, mid: str, ssrc: int, payload_type: int) -> None:
        pass

    def speaking_changed(self, mid: str, speaking: bool, level: int) -> None:
        pass

    def rates_measured(self, mid: str, rates: MeasuredRates) -> None:
        pass

    def encoding_forwarded(self, down_track_id: int, layer: int) -> None:
        pass


class SentRelay(_RelayTransport):
    """A track on this SFU that is relayed to another SFU."""

    def __init__(self, plane: MediaPlane, room: Room, track: Track, link: events.RelayLink) -> None:
        super().__init__(plane, link, sends=True)
        self.track = track
        self._room = room
        self._down_tracks = [
            track.forwarder.add_down_track(
                self.transport,
                mid="",
                ssrc=link.ssrcs[2 * encoding],
                rtx_ssrc=link.ssrcs[2 * encoding + 1] if track.kind == "video" else None,
                payload_types=payload_types(track.kind),
                extension_ids=_EXTENSION_IDS,
                mixed=True,
                cname=track.cname,
                encoding=encoding if len(track.rids) > 1 else -1,
            )
            for encoding in range(max(len(track.rids), 1))
        ]
        self._sent = ALL_ENCODINGS
        room.watch(track, self, TrackUse())

    def set_demand(self, demand: events.RelayDemand) -> None:
        """Send only the encodings that a receiver on the other SFU needs."""
        wanted = demand.encodings if demand.watched else 0
        for encoding, down_track in enumerate(self._down_tracks):
            is_wanted = wanted >> encoding & 1 if len(self._down_tracks) > 1 else demand.watched
            if is_wanted != self._sent >> encoding & 1:
                down_track.set_paused(not is_wanted)
                self._sent ^= 1 << encoding
        if demand.watched:
            self._room.watch(self.track, self, TrackUse(demand.width, encodings=wanted))
        else:
            self._room.unwatch(self.track, self)

    def close(self) -> None:
        self._room.unwatch(self.track, self)
        self.transport.close()


class ReceivedRelay(_RelayTransport):
    """A track from another SFU, published in the room on this SFU."""

    def __init__(
        self,
        plane: MediaPlane,
        room: Room,
        request: events.ReceiveRelay,
        report: Callable[[Payload], None],
        clock: Callable[[], float],
    ) -> None:
        super().__init__(plane, request.line, sends=False)
        # The id of the track on the publisher's SFU.
        self.origin_track_id = request.track_id
        self._room, self._relay_id, self._report, self._clock = room, request.relay_id, report, clock
        self._demand = DemandUpdates(self._report_demand)
        self._timer: asyncio.TimerHandle | None = None
        described = request.track
        rids = tuple(described.rids)
        self.track = Track(
            # The browser keeps its track id when it changes SFUs, so this room may still have the publisher's
            # previous track under the same id.
            track_id=request.relay_id if described.track_id in room.tracks else described.track_id,
            stream_id=described.stream_id,
            cname=described.cname,
            user_id=described.user_id,
            mid=_MID,
            source=described.source,
            kind=described.kind,
            payload_type=0,
            forwarder=self.transport.receive_section(
                _MID, described.kind, payload_types(described.kind), request.line.ssrcs, rids
            ),
            rids=rids,
            relayed_by=self,
        )

    def track_started(self, mid: str, ssrc: int, payload_type: int) -> None:
        is_new = self._room.tracks.get(self.track.track_id) is not self.track
        if self.track.payload_type == payload_type and not is_new:
            return
        self.track.payload_type = payload_type
        if is_new:
            self._room.publish(self.track)
        else:
            self._room.change(self.track)

    def speaking_changed(self, mid: str, speaking: bool, level: int) -> None:
        if self.track.source == "mic":
            self._room.speaking_changed(self.track.user_id, speaking, level)

    def rates_measured(self, mid: str, rates: MeasuredRates) -> None:
        track = self.track
        track.rates.measured(rates, self._demand.wanted_encodings(track))
        if track.flowing != rates.active:
            track.flowing = rates.active
            self.demand_changed(track)

    def demand_changed(self, track: Track) -> None:
        self._demand.changed(track, self._clock())
        self._schedule()

    def repeat(self) -> None:
        """Report the demand again to a chat server that may have missed it."""
        self._demand.repeat()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._room.tracks.get(self.track.track_id) is self.track:
            self._room.withdraw(self.track)
        if self.track.source == "mic":
            self._room.speaking_changed(self.track.user_id, speaking=False, level=0)
        self.transport.close()

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self._demand.next_deadline()
        if due < inf:
            self._timer = asyncio.get_running_loop().call_later(max(due - self._clock(), 0.0), self._advance)

    def _advance(self) -> None:
        self._timer = None
        self._demand.advance(self._clock())
        self._schedule()

    def _report_demand(self, payload: Payload) -> None:
        assert isinstance(payload, LayersWanted)
        encodings = ALL_ENCODINGS
        if payload.encodings:
            on = dict(zip(ENCODINGS, payload.encodings, strict=True))
            encodings = sum(on[rid] << layer for layer, rid in enumerate(self.track.rids))
        demand = events.RelayDemand(self._relay_id, payload.width, payload.watched, encodings)
        self._report(events.RelayDemandChanged(self._room.room_id, demand))


class Span:
    """One room's relays, and the reports to the chat servers about the room's tracks."""

    def __init__(self, room: Room, plane: MediaPlane, clock: Callable[[], float]) -> None:
        self._room, self._plane, self._clock = room, plane, clock
        self._sent: dict[str, SentRelay] = {}
        self._received: dict[str, ReceivedRelay] = {}

    def begin(self, known: list[str]) -> None:
        """Report the room's tracks to a chat server that has connected. End the relays that `known` does not
        list.
        """
        for relay_id in {*self._sent, *self._received} - set(known):
            self.end(relay_id)
        tracks = [_relayed_track(track) for track in self._room.local_tracks()]
        self._report(events.RoomTracks(self._room.room_id, tracks))
        for relay in self._received.values():
            relay.repeat()
        self.codecs_changed()

    def held_relays(self) -> list[events.HeldRelay]:
        """Return the sent and received relays, each with the track's id on the publisher's SFU."""
        room_id = self._room.room_id
        sent = [(relay_id, relay.track.track_id, True) for relay_id, relay in self._sent.items()]
        received = [(relay_id, relay.origin_track_id, False) for relay_id, relay in self._received.items()]
        return [events.HeldRelay(room_id, *relay) for relay in sent + received]

    def send(self, request: events.SendRelay) -> None:
        """Relay a track to another SFU. Do nothing if the track has ended."""
        track = self._room.tracks.get(request.track_id)
        if request.relay_id in self._sent or track is None or track.relayed_by is not None:
            return
        if len(request.line.ssrcs) != 2 * max(len(track.rids), 1):
            return
        self._require_room()
        self._sent[request.relay_id] = SentRelay(self._plane, self._room, track, request.line)

    def receive(self, request: events.ReceiveRelay) -> None:
        if request.relay_id in self._received:
            return
        self._require_room()
        self._received[request.relay_id] = ReceivedRelay(
            self._plane, self._room, request, self._report, self._clock
        )

    def set_demand(self, demand: events.RelayDemand) -> None:
        if relay := self._sent.get(demand.relay_id):
            relay.set_demand(demand)

    def end(self, relay_id: str) -> None:
        if sent := self._sent.pop(relay_id, None):
            sent.close()
        if received := self._received.pop(relay_id, None):
            received.close()

    def close(self) -> None:
        for relay_id in [*self._sent, *self._received]:
            self.end(relay_id)

    # Room events.

    def track_published(self, track: Track) -> None:
        self._report(events.TrackPublished(self._room.room_id, _relayed_track(track)))

    def track_ended(self, track: Track) -> None:
        for relay_id in [relay_id for relay_id, relay in self._sent.items() if relay.track is track]:
            self.end(relay_id)
        self._report(events.TrackEnded(self._room.room_id, track.track_id))

    def track_changed(self, track: Track) -> None:
        """Ignore the change, because the other SFU sees the new codec in the packets."""

    def codecs_changed(self) -> None:
        takes = for_all(peer.takes for peer in self._room.peers.values() if peer.takes is not None)
        payload = events.CodecsChanged(self._room.room_id, None if takes is None else sorted(takes))
        self._report(payload)

    def _report(self, payload: Payload) -> None:
        for watcher in list(self._room.registration.watchers):
            watcher.report(payload)

    def _require_room(self) -> None:
        if len(self._sent) + len(self._received) >= MAX_RELAYS:
            raise TooManyRelays


def _relayed_track(track: Track) -> events.RelayedTrack:
    return events.RelayedTrack(
        track.track_id,
        track.stream_id,
        track.cname,
        track.user_id,
        track.source,
        track.kind,
        list(track.rids),
    )
