"""Manages rooms that span several media services: each member's service, and the tracks relayed between
services.

Each track in a spanning room is relayed once to every other service with members in the room. This module
chooses the keys and SSRCs for a relay, and passes the receivers' demand on to the sender. It adopts relays
that an earlier owner node started, once both services have reported them. It does not process media. See
docs/signalling.md, "A room over several SFUs".
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Protocol

from svc.base import server_events as events
from svc.chat.voice.sfu_link import SpanEvent

# A master key and its salt, for AEAD_AES_128_GCM (RFC 7714).
_KEY_BYTES = 16 + 12


class Service(Protocol):
    """The parts of a link to a media service that relays need."""

    host: str
    addresses: Sequence[tuple[str, int]]

    @property
    def synchronised(self) -> bool: ...
    def send(self, kind: type[events.RoomRequest], room_id: str, **fields: Any) -> None: ...


@dataclass(slots=True)
class _Relay:
    relay_id: str
    origin: int
    target: int
    demand: events.RelayDemand | None = None  # The latest demand of the relay's receivers.


@dataclass(slots=True)
class _SpanningRoom:
    at: set[int] = field(default_factory=set)
    tracks: dict[tuple[int, str], events.RelayedTrack] = field(default_factory=dict)
    # The relays by origin, track and target service.
    relays: dict[tuple[int, str, int], _Relay] = field(default_factory=dict)
    # For each service, the video codecs that all its members can decode, or None for all codecs.
    takes: dict[int, frozenset[int] | None] = field(default_factory=dict)


class MultiSfuRooms:
    """Each member's service, and the relays between services."""

    def __init__(self, services: Sequence[Service]) -> None:
        self._services = services
        self._indices: dict[str, dict[str, int]] = {}
        self._rooms: dict[str, _SpanningRoom] = {}
        self._speakers: dict[str, dict[int, Sequence[str]]] = {}
        # For each service, the relays that it has reported but this server has not started, by id.
        self._unknown: dict[int, dict[str, events.HeldRelay]] = {}
        # Services that do not respond. No reports are expected from them.
        self._gone: set[int] = set()

    # Methods that track which service each member is connected to.

    def index_of(self, room_id: str, user_id: str) -> int | None:
        return self._indices.get(room_id, {}).get(user_id)

    def users_at(self, index: int) -> list[tuple[str, str]]:
        return [
            (room_id, user_id)
            for room_id, indices in self._indices.items()
            for user_id, at in indices.items()
            if at == index
        ]

    def choose(self, room_id: str, home: int, usable: Sequence[int], size: int) -> int:
        """Return the index of the service for another member of a room.

        This is the room's home service until `size` members use it, then a service with at least one but
        fewer than `size` members of the room. If there is none, it is the least loaded service.
        """
        services = [*self._indices.get(room_id, {}).values()]
        everywhere = [index for indices in self._indices.values() for index in indices.values()]
        if home in usable and services.count(home) < size:
            return home
        open_ = [index for index in usable if 0 < services.count(index) < size]
        return min(open_ or usable or [home], key=lambda index: (everywhere.count(index), index))

    def joined(self, index: int, room_id: str, user_id: str) -> int | None:
        """Record the service that a member is connected to.

        Returns the member's previous service if it is a different one, otherwise None.
        """
        indices = self._indices.setdefault(room_id, {})
        earlier = indices.get(user_id)
        indices[user_id] = index
        self._update(room_id)
        return earlier if earlier != index else None

    def left(self, index: int, room_id: str, user_id: str) -> bool:
        """Record that a member has left a room on a service. Return False if the member has since joined on
        another service.
        """
        indices = self._indices.get(room_id, {})
        if indices.get(user_id) != index:
            return False
        del indices[user_id]
        if not indices:
            del self._indices[room_id]
        self._update(room_id)
        return True

    def spoke(self, index: int, room_id: str, user_ids: Sequence[str]) -> list[str]:
        """Record a room's speakers on a service. Return its speakers on all services."""
        speakers = self._speakers.setdefault(room_id, {})
        speakers[index] = user_ids
        at = set(self._indices.get(room_id, {}).values()) | {index}
        return sorted({user_id for service in at for user_id in speakers.get(service, ())})

    # Methods that handle reports from services.

    def held(self, index: int, relays: Sequence[events.HeldRelay]) -> None:
        """Handle the relays that a service reports. A service reports its relays before its members."""
        known = {relay.relay_id for room in self._rooms.values() for relay in room.relays.values()}
        self._unknown[index] = {relay.relay_id: relay for relay in relays if relay.relay_id not in known}

    def gone(self, index: int) -> None:
        """Stop waiting for reports from a service that does not respond."""
        if index not in self._gone:
            self._gone.add(index)
            self._unknown.pop(index, None)
            self._end_unknown()

    def link_synchronised(self, index: int) -> None:
        """Send a newly connected service its spanning rooms. The service then reports their tracks."""
        self._gone.discard(index)
        for room_id, room in self._rooms.items():
            if index in room.at:
                self._begin(index, room_id, room)
                for relay in room.relays.values():
                    if relay.origin == index:
                        self._send_demand(room_id, relay)
                self._relay(room_id, room)
        self._end_unknown()

    def changed(self, index: int, event: SpanEvent) -> None:
        """Handle an event from a service about a spanning room."""
        room = self._rooms.get(event.room_id)
        if room is None or index not in room.at:
            return
        match event:
            case events.RoomTracks():
                tracks = {(index, track.track_id): track for track in event.tracks}
                # The track of an adopted relay may have ended.
                known = {*room.tracks, *(key[:2] for key in room.relays)}
                for key in [key for key in known if key[0] == index and key not in tracks]:
                    self._end_track(event.room_id, room, key)
                room.tracks.update(tracks)
                self._relay(event.room_id, room)
            case events.TrackPublished():
                room.tracks[index, event.track.track_id] = event.track
                self._relay(event.room_id, room)
            case events.TrackEnded():
                self._end_track(event.room_id, room, (index, event.track_id))
            case events.RelayDemandChanged():
                for relay in room.relays.values():
                    if relay.relay_id == event.demand.relay_id and relay.target == index:
                        relay.demand = event.demand
                        self._send_demand(event.room_id, relay)
            case events.CodecsChanged():
                types = event.payload_types
                room.takes[index] = None if types is None else frozenset(types)
                self._send_codecs(event.room_id, room)

    def _update(self, room_id: str) -> None:
        """Make a room span exactly the services on which it has members."""
        at = set(self._indices.get(room_id, {}).values())
        if not at:
            self._speakers.pop(room_id, None)
        if len(at) < 2:
            at = set()
        room = self._rooms.get(room_id)
        if room is None:
            if not at:
                return
            room = self._rooms[room_id] = _SpanningRoom()
        removed, new, room.at = room.at - at, at - room.at, at
        for index in removed:
            self._leave(index, room_id, room)
        if new:
            self._adopt(room_id, room)
        for index in new:
            self._begin(index, room_id, room)
        if not at:
            del self._rooms[room_id]
        elif new:
            self._relay(room_id, room)

    def _begin(self, index: int, room_id: str, room: _SpanningRoom) -> None:
        known = [relay.relay_id for relay in room.relays.values() if index in (relay.origin, relay.target)]
        known += [
            relay.relay_id for relay in self._unknown.get(index, {}).values() if relay.room_id == room_id
        ]
        self._services[index].send(events.SpanRoom, room_id, spans=True, relays=known)
        self._send_codecs(room_id, room)

    def _adopt(self, room_id: str, room: _SpanningRoom) -> None:
        """Adopt the relays in a room that both services have reported."""
        for origin in room.at:
            for relay_id, held in list(self._unknown.get(origin, {}).items()):
                if held.room_id != room_id or not held.sends:
                    continue
                for target in room.at - {origin}:
                    if relay_id in self._unknown.get(target, {}):
                        room.relays[origin, held.track_id, target] = _Relay(relay_id, origin, target)
                        del self._unknown[origin][relay_id], self._unknown[target][relay_id]
                        break

    def _end_unknown(self) -> None:
        """End all reported relays that were not adopted, once every service has reported or is gone."""
        services = range(len(self._services))
        if not all(self._services[index].synchronised or index in self._gone for index in services):
            return
        for index, relays in self._unknown.items():
            for relay in relays.values():
                self._services[index].send(events.EndRelay, relay.room_id, relay_id=relay.relay_id)
            for room_id in {relay.room_id for relay in relays.values()} - set(self._rooms):
                self._services[index].send(events.SpanRoom, room_id, spans=False, relays=[])
        self._unknown.clear()

    def _leave(self, index: int, room_id: str, room: _SpanningRoom) -> None:
        """End a room's tracks and relays on a service that no longer has members in the room."""
        for track in [track for track in room.tracks if track[0] == index]:
            self._end_track(room_id, room, track)
        for key, relay in list(room.relays.items()):
            if relay.target == index:
                del room.relays[key]
                self._services[relay.origin].send(events.EndRelay, room_id, relay_id=relay.relay_id)
        room.takes.pop(index, None)
        self._services[index].send(events.SpanRoom, room_id, spans=False, relays=[])
        self._send_codecs(room_id, room)

    def _end_track(self, room_id: str, room: _SpanningRoom, track: tuple[int, str]) -> None:
        room.tracks.pop(track, None)
        for key, relay in list(room.relays.items()):
            if key[:2] == track:
                del room.relays[key]
                for index in (relay.target, relay.origin):
                    self._services[index].send(events.EndRelay, room_id, relay_id=relay.relay_id)

    def _relay(self, room_id: str, room: _SpanningRoom) -> None:
        """Start the missing relays."""
        for (origin, track_id), track in room.tracks.items():
            for target in room.at - {origin}:
                services = self._services[origin], self._services[target]
                if (origin, track_id, target) in room.relays or not all(
                    service.synchronised for service in services
                ):
                    continue
                if ends := _ends(*services):
                    relay = _Relay(secrets.token_hex(16), origin, target)
                    room.relays[origin, track_id, target] = relay
                    self._begin_relay(room_id, relay, track, ends)

    def _begin_relay(self, room_id: str, relay: _Relay, track: events.RelayedTrack, ends: "_Ends") -> None:
        forward_key, backward_key = secrets.token_hex(_KEY_BYTES), secrets.token_hex(_KEY_BYTES)
        *ssrcs, rtcp_ssrc = _distinct_ssrcs(2 * max(len(track.rids), 1) + 1)
        sending = events.RelayLink(ends.origin[0], ends.target, forward_key, backward_key, ssrcs, rtcp_ssrc)
        receiving = events.RelayLink(ends.target[0], ends.origin, backward_key, forward_key, ssrcs, rtcp_ssrc)
        name: Mapping[str, str] = {"relay_id": relay.relay_id, "track_id": track.track_id}
        # Set up the receiving service first, so that its keys are in place when the first packet arrives.
        receiver, sender = self._services[relay.target], self._services[relay.origin]
        receiver.send(events.ReceiveRelay, room_id, **name, line=receiving, track=track)
        sender.send(events.SendRelay, room_id, **name, line=sending)

    def _send_demand(self, room_id: str, relay: _Relay) -> None:
        if relay.demand is not None:
            self._services[relay.origin].send(events.SetRelayDemand, room_id, demand=relay.demand)

    def _send_codecs(self, room_id: str, room: _SpanningRoom) -> None:
        """Send each service the video codecs that the members on all other services can decode.

        Until all other services have reported, a service keeps the codecs sent by an earlier owner node.
        """
        for index in room.at:
            if not room.at - {index} <= room.takes.keys():
                continue
            takes = [room.takes[other] for other in room.at - {index}]
            limited = [codecs for codecs in takes if codecs is not None]
            common = sorted(frozenset.intersection(*limited)) if limited else None
            self._services[index].send(events.SetCodecsElsewhere, room_id, payload_types=common)


@dataclass(frozen=True, slots=True)
class _Ends:
    origin: tuple[str, int]
    target: tuple[str, int]


def _ends(origin: Service, target: Service) -> _Ends | None:
    """Return the addresses for a relay, or None if the services cannot reach each other.

    Prefers addresses on the network that this server shares with both services.
    """
    pairs = [
        (candidate, other)
        for candidate in origin.addresses
        for other in target.addresses
        if ip_address(candidate[0]).version == ip_address(other[0]).version
        and ip_address(candidate[0]).is_loopback == ip_address(other[0]).is_loopback
    ]
    shared = (origin.host, target.host)
    pairs.sort(key=lambda pair: -sum(address[0] in shared for address in pair))
    return _Ends(*pairs[0]) if pairs else None


def _distinct_ssrcs(count: int) -> list[int]:
    """Return distinct random SSRCs. Small numbers are avoided, as in the media service."""
    ssrcs: set[int] = set()
    while len(ssrcs) < count:
        ssrcs.add(secrets.randbits(32) | 1 << 16)
    return list(ssrcs)
