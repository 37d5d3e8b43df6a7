"""Keeps the state of the service: chat servers' registrations, and their rooms, peers and tracks.

Does only the bookkeeping, with no I/O, clock or negotiation. Assigns seats and notifies each `Member` (a
peer's session) and `Watcher` (a control connection). Rooms belong to their registration, so different chat
servers may use the same room ids.

See docs/signalling.md and docs/configuration.md, "SFU".
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from svc.base.grants import same_secret
from svc.base.signalling_codec import Payload
from svc.sfu.close_codes import CloseCode
from svc.sfu.codecs import for_all
from svc.sfu.layer_rates import LayerRates
from svc.sfu.media_protocols import Forwarder

# The media service specification, section 3.2: "Rooms empty for 30 minutes are removed by a sweep that runs
# every 5 minutes." The sweep also removes registrations with neither rooms nor a control connection.
FORGET_AFTER_S = 30 * 60
SWEEP_INTERVAL_S = 5 * 60

# Only chat servers that have a secret and run on this machine or network can approach these limits.
MAX_REGISTRATIONS = 1_000
MAX_ROOMS = 10_000
MAX_AUDIO_CONTROLS = 10_000
MAX_USED_TOKENS = 100_000

# A bitmask with one bit for each encoding that a track may have.
ALL_ENCODINGS = 0b111

NO_SEATS = "No seats left in this voice server"


class NoSeats(Exception):
    """All of the service's seats are taken."""


class OutdatedEpoch(Exception):
    """The request comes from a chat server that has been replaced as the owner of the community."""


@dataclass(frozen=True, slots=True)
class AudioControl:
    is_muted: bool = False
    is_deafened: bool = False


@dataclass(frozen=True, slots=True)
class TrackUse:
    """One receiver's use of a track."""

    width: int | None = None  # width of its tile; 0 if it reports none, None until known
    target: int | None = None  # the largest encoding that it should get; None until known
    forwarded: int | None = None  # the encoding that it gets now; None if unknown
    encodings: int = 0  # bit i is set if a receiver on another SFU gets or needs encoding i


@dataclass(slots=True, eq=False)
class Track:
    """The media that one peer publishes in one media section."""

    track_id: str
    stream_id: str
    cname: str
    user_id: str
    mid: str
    source: str  # mic, camera, screen or screen_audio
    kind: str  # audio or video
    payload_type: int  # the publisher's current codec
    forwarder: Forwarder
    # The names (rids) of the encodings, smallest first. A track with a single encoding has at most one name.
    rids: tuple[str, ...] = ()
    # Bit i is set if encoding i is being received or has not been measured yet.
    flowing: int = ALL_ENCODINGS
    rates: LayerRates = field(default_factory=LayerRates)
    # The receivers that are watching the track: peers, and relays to other SFUs.
    uses: dict[object, TrackUse] = field(default_factory=dict)
    # The relay, if another SFU relays the track to this SFU.
    relayed_by: "Publisher | None" = None


class Audience(Protocol):
    """The receiver of events about a room's tracks."""

    def track_published(self, track: Track) -> None: ...
    def track_ended(self, track: Track) -> None: ...
    def track_changed(self, track: Track) -> None: ...
    def codecs_changed(self) -> None: ...


class Publisher(Protocol):
    """The source of a track."""

    def demand_changed(self, track: Track) -> None: ...


class Member(Audience, Publisher, Protocol):
    """The part of a peer's session that its room uses."""

    def speakers_changed(self, user_ids: list[str]) -> None: ...
    def audio_controlled(self, control: AudioControl) -> None: ...
    def caps_changed(self, caps: frozenset[str]) -> None: ...
    def dismissed(self, code: CloseCode, reason: str) -> None: ...


class Watcher(Protocol):
    """The part of a control connection that its registration uses."""

    def peer_joined(self, room_id: str, user_id: str) -> None: ...
    def peer_left(self, room_id: str, user_id: str, *, lost: bool) -> None: ...
    def speaking_changed(self, room: "Room") -> None: ...
    def replaced(self) -> None: ...
    def report(self, payload: Payload) -> None: ...


@dataclass(slots=True, eq=False)
class Peer:
    user_id: str
    room: "Room"
    member: Member
    caps: frozenset[str]
    # The payload types of the video codecs that this peer can show. None if it can show all, or has not
    # answered yet.
    takes: frozenset[int] | None = None

    @property
    def present(self) -> bool:
        """Whether this peer is in the room, that is, it has not left and the user has not joined again."""
        return self.room.peers.get(self.user_id) is self

    @property
    def audio_control(self) -> AudioControl:
        return self.room.audio_controls.get(self.user_id, AudioControl())

    def others(self) -> list["Peer"]:
        return [peer for peer in self.room.peers.values() if peer is not self]

    def shown_by_all(self) -> frozenset[int] | None:
        """Return the video codecs that all other participants can show, or None if they can show every
        codec.
        """
        takes = [*(peer.takes for peer in self.others()), self.room.takes_elsewhere]
        return for_all(codecs for codecs in takes if codecs is not None)

    def can_show(self, payload_types: frozenset[int]) -> None:
        """Record the video codecs that the peer's answer accepts.

        A codec that an earlier answer omitted stays excluded, to avoid repeated switching.
        """
        takes = for_all([payload_types if self.takes is None else self.takes & payload_types])
        # A peer that accepts no video does not restrict the others.
        if payload_types and takes != self.takes:
            self.takes = takes
            self.report_codecs()

    def report_codecs(self) -> None:
        """Notify the other peers that the set of common codecs may have changed."""
        for peer in self.others():
            peer.member.codecs_changed()
        if self.room.span is not None:
            self.room.span.codecs_changed()


@dataclass(slots=True, eq=False)
class Room:
    room_id: str
    registration: "Registration"
    empty_since: float | None
    peers: dict[str, Peer] = field(default_factory=dict)
    tracks: dict[str, Track] = field(default_factory=dict)
    # The users who are speaking, with the level at which each started (RFC 6464: 0 is the loudest).
    speakers: dict[str, int] = field(default_factory=dict)
    # Keyed by user rather than by peer, so that leaving and rejoining does not undo a mute.
    audio_controls: dict[str, AudioControl] = field(default_factory=dict)
    # Relays the tracks of a room that spans several SFUs. None while all participants are on this SFU.
    span: Audience | None = None
    # The payload types of the video codecs that all participants on other SFUs can show. None if they can
    # show all.
    takes_elsewhere: frozenset[int] | None = None

    def publish(self, track: Track) -> None:
        """Announce a track to all participants except its publisher. The track's id must be unused."""
        assert track.track_id not in self.tracks, "track ids are unique in a room"
        self.tracks[track.track_id] = track
        for member in self._others(track):
            member.track_published(track)
        self.report_demand(track)

    def change(self, track: Track) -> None:
        for member in self._others(track):
            member.track_changed(track)

    def withdraw(self, track: Track) -> None:
        if self.tracks.get(track.track_id) is not track:
            return
        del self.tracks[track.track_id]
        for member in self._others(track):
            member.track_ended(track)

    def watch(self, track: Track, watcher: object, use: TrackUse) -> None:
        """Record a receiver's use of a track."""
        if track.uses.get(watcher) != use:
            track.uses[watcher] = use
            self.report_demand(track)

    def unwatch(self, track: Track, watcher: object) -> None:
        """Record that a receiver no longer uses a track."""
        if watcher in track.uses:
            del track.uses[watcher]
            self.report_demand(track)

    def report_demand(self, track: Track) -> None:
        """Make the publisher recalculate the demand for its track."""
        publisher = track.relayed_by
        if publisher is None and (peer := self.peers.get(track.user_id)):
            publisher = peer.member
        if publisher and track.kind == "video" and self.tracks.get(track.track_id) is track:
            publisher.demand_changed(track)

    def active_speakers(self) -> list[str]:
        """Return the ids of the speaking users, loudest first."""
        return sorted(self.speakers, key=lambda user_id: self.speakers[user_id])

    def speaking_changed(self, user_id: str, speaking: bool, level: int) -> None:
        """Record that a user has started or stopped speaking, and send the list of speakers to all
        participants.
        """
        was_speaking = self.speakers.pop(user_id, None) is not None
        if speaking:
            self.speakers[user_id] = level
        if speaking or was_speaking:
            for peer in list(self.peers.values()):
                peer.member.speakers_changed(self.active_speakers())
            for watcher in list(self.registration.watchers):
                watcher.speaking_changed(self)

    def control_audio(self, user_id: str, control: AudioControl) -> None:
        """Mute or deafen a user, even one who is not in the room."""
        self.audio_controls.pop(user_id, None)
        if control != AudioControl() and len(self.audio_controls) < MAX_AUDIO_CONTROLS:
            self.audio_controls[user_id] = control
        if peer := self.peers.get(user_id):
            peer.member.audio_controlled(control)

    def take_elsewhere(self, payload_types: frozenset[int] | None) -> None:
        """Record the video codecs that all participants on other SFUs can show."""
        if payload_types != self.takes_elsewhere:
            self.takes_elsewhere = payload_types
            for peer in list(self.peers.values()):
                peer.member.codecs_changed()

    def local_tracks(self) -> list[Track]:
        return [track for track in self.tracks.values() if track.relayed_by is None]

    def _others(self, track: Track) -> list[Audience]:
        others: list[Audience] = [
            peer.member for peer in self.peers.values() if peer.user_id != track.user_id
        ]
        return others if self.span is None or track.relayed_by else [*others, self.span]


@dataclass(slots=True, eq=False)
class Registration:
    """A chat server's registration: its secret, its rooms, and its control connections."""

    server_id: str
    server_password: str = field(repr=False)
    idle_since: float | None
    rooms: dict[str, Room] = field(default_factory=dict)
    watchers: list[Watcher] = field(default_factory=list)
    used_tokens: dict[str, float] = field(default_factory=dict, repr=False)
    # The newest epoch of the node that owns the community's database, or 0 without a cluster.
    epoch: int = 0

    def admit(self, epoch: int) -> None:
        """Accept a request with this epoch, or raise OutdatedEpoch. A newer epoch closes older
        connections.
        """
        if epoch < self.epoch:
            raise OutdatedEpoch
        if epoch > self.epoch:
            self.epoch = epoch
            outdated, self.watchers = self.watchers, []
            for watcher in outdated:
                watcher.replaced()

    def watch(self, watcher: Watcher) -> None:
        """Notify the given control connection of future joins and leaves."""
        if watcher not in self.watchers:
            self.watchers.append(watcher)
        self.idle_since = None

    def unwatch(self, watcher: Watcher, now: float) -> None:
        if watcher in self.watchers:
            self.watchers.remove(watcher)
        self._note_idleness(now)

    def spend_token(self, jti: str, expires_at: float, now: float) -> bool:
        """Mark a single-use token as used.

        Return False if the token is already used, or if the table of used tokens is full.
        """
        if jti in self.used_tokens:
            return False
        if len(self.used_tokens) >= MAX_USED_TOKENS:
            self.used_tokens = {used: until for used, until in self.used_tokens.items() if until > now}
        if len(self.used_tokens) >= MAX_USED_TOKENS:
            return False
        self.used_tokens[jti] = expires_at
        return True

    def sweep(self, now: float, wall_now: float) -> None:
        """Remove rooms that have been empty for a long time, and expired tokens."""
        for room in list(self.rooms.values()):
            if room.empty_since is not None and now - room.empty_since >= FORGET_AFTER_S:
                del self.rooms[room.room_id]
        self.used_tokens = {used: until for used, until in self.used_tokens.items() if until > wall_now}
        self._note_idleness(now)

    def _note_idleness(self, now: float) -> None:
        if self.rooms or self.watchers:
            self.idle_since = None
        elif self.idle_since is None:
            self.idle_since = now


class Rooms:
    """The service's registrations and seats."""

    def __init__(self, *, max_peers: int) -> None:
        self.max_peers = max_peers
        self._registrations: dict[str, Registration] = {}
        self._peers = 0

    @property
    def peers(self) -> int:
        return self._peers

    def rooms(self) -> Iterator[Room]:
        for registration in self._registrations.values():
            yield from registration.rooms.values()

    def register(
        self, server_id: str, server_password: str, room_id: str, now: float, *, epoch: int = 0
    ) -> Registration | None:
        """Ensure that a room exists. Return None if the secret is empty or wrong for this server.

        Raises OutdatedEpoch.
        """
        registration = self._registrations.get(server_id) or self._first_registration(
            server_id, server_password, now
        )
        if registration is None or not same_secret(server_password, registration.server_password):
            return None
        registration.admit(epoch)
        if room_id not in registration.rooms and len(registration.rooms) < MAX_ROOMS:
            registration.rooms[room_id] = Room(room_id, registration, empty_since=now)
        registration.idle_since = None
        return registration

    def registration(self, server_id: str) -> Registration | None:
        return self._registrations.get(server_id)

    def authenticate(self, server_id: str, server_password: str, *, epoch: int = 0) -> Registration | None:
        """Return the registration that these credentials unlock. Raises OutdatedEpoch."""
        registration = self._registrations.get(server_id)
        if registration is None or not same_secret(server_password, registration.server_password):
            return None
        registration.admit(epoch)
        return registration

    def join(self, room: Room, user_id: str, caps: frozenset[str], member: Member, now: float) -> Peer:
        """Assign a seat to a user, after freeing the same user's earlier seat in this room.

        Raises NoSeats.
        """
        if earlier := room.peers.get(user_id):
            self.dismiss(earlier, CloseCode.REPLACED, "Joined again from elsewhere", now)
        if self._peers >= self.max_peers:
            raise NoSeats(NO_SEATS)
        peer = room.peers[user_id] = Peer(user_id, room, member, caps)
        self._peers += 1
        room.empty_since = None
        for watcher in list(room.registration.watchers):
            watcher.peer_joined(room.room_id, user_id)
        return peer

    def leave(self, peer: Peer, now: float, *, lost: bool = False) -> None:
        """Free a seat and end its tracks. Idempotent. `lost` means that the user may soon return."""
        if not peer.present:
            return
        room = peer.room
        for track in [track for track in room.local_tracks() if track.user_id == peer.user_id]:
            room.withdraw(track)
        del room.peers[peer.user_id]
        if peer.takes is not None:
            peer.report_codecs()
        room.speaking_changed(peer.user_id, speaking=False, level=0)
        self._peers -= 1
        if not room.peers:
            room.empty_since = now
        for watcher in list(room.registration.watchers):
            watcher.peer_left(room.room_id, peer.user_id, lost=lost)

    def dismiss(self, peer: Peer, code: CloseCode, reason: str, now: float) -> None:
        """Free a peer's seat, and then end the peer's session."""
        self.leave(peer, now, lost=code is CloseCode.REPLACED)
        peer.member.dismissed(code, reason)

    def sweep(self, now: float, wall_now: float) -> None:
        """Remove rooms, registrations and tokens that have been unused for a long time.

        Tokens expire by the wall clock, everything else by the steady clock.
        """
        for registration in list(self._registrations.values()):
            registration.sweep(now, wall_now)
            if registration.idle_since is not None and now - registration.idle_since >= FORGET_AFTER_S:
                del self._registrations[registration.server_id]

    def _first_registration(self, server_id: str, server_password: str, now: float) -> Registration | None:
        if not server_id or not server_password or len(self._registrations) >= MAX_REGISTRATIONS:
            return None
        registration = Registration(server_id, server_password, idle_since=now)
        return self._registrations.setdefault(server_id, registration)
