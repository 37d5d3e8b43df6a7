"""Serves a chat server's /server connection, over which the chat server registers rooms and is notified when
users join or leave.

Every message except `keep_alive` carries `server_id` and `server_password`. An invalid message is dropped
without a reply. A connection receives events only for registrations whose secret it has presented.

Does not assign seats (`rooms` does). See docs/signalling.md.
"""

import asyncio
import logging
from collections.abc import Sequence

from msgspec import UNSET

from svc.base import server_events as events
from svc.base.grants import CAPS
from svc.base.signalling_codec import Envelope, EnvelopeError, Payload
from svc.base.token_bucket import TokenBucket
from svc.sfu.close_codes import CloseCode
from svc.sfu.event_handlers import EventHandlers, handles
from svc.sfu.rooms import AudioControl, OutdatedEpoch, Peer, Registration, Room
from svc.sfu.sfu import Sfu
from svc.sfu.signalling_connection import Connection
from svc.sfu.speaker_reports import SpeakerReports

FIRST_MESSAGE_DEADLINE_S = 10.0
EXPECTED_CONTROL = "Expected server_register event"
NEWER_OWNER = "Another chat server owns the community now"

# The burst is large, because a chat server that reconnects registers all its rooms at once.
_BURST = 5_000
_PER_S = 1_000

logger = logging.getLogger(__name__)


def control_pace() -> TokenBucket:
    """Return a token bucket that limits the pace at which one chat server's messages are read."""
    return TokenBucket(_BURST, _PER_S)


class Control(EventHandlers):
    """A chat server's control connection. It is notified about the registrations whose secret it has
    presented.
    """

    def __init__(self, connection: Connection, sfu: Sfu) -> None:
        self._connection = connection
        self._sfu = sfu
        self._registrations: set[Registration] = set()
        self._speakers = SpeakerReports(self._push_speakers)
        connection.on_pulse = self._push_keep_alive

    async def talk(self) -> None:
        """Receive and handle the chat server's events until the connection closes."""
        try:
            if await self._begin():
                await self._listen()
        except EnvelopeError as error:
            self._connection.close(CloseCode.POLICY, str(error))
        finally:
            self._speakers.stop()
            for registration in self._registrations:
                registration.unwatch(self, self._sfu.clock())

    def peer_joined(self, room_id: str, user_id: str) -> None:
        self._connection.push(events.PeerJoined(room_id, user_id))

    def peer_left(self, room_id: str, user_id: str, *, lost: bool) -> None:
        self._connection.push(events.PeerLeft(room_id, user_id, lost or UNSET))

    def speaking_changed(self, room: Room) -> None:
        self._speakers.changed(room)

    def replaced(self) -> None:
        self._connection.close(CloseCode.OUTDATED, NEWER_OWNER)

    def report(self, payload: Payload) -> None:
        self._connection.push(payload)

    def _push_speakers(self, room_id: str, user_ids: Sequence[str]) -> None:
        self._connection.push(events.Speakers(room_id, list(user_ids)))

    def _push_keep_alive(self) -> None:
        self._connection.push(events.KeepAlive(int(self._sfu.wall_clock() * 1000)))

    async def _begin(self) -> bool:
        """Receive the first message, which must come from a chat server."""
        try:
            async with asyncio.timeout(FIRST_MESSAGE_DEADLINE_S):
                envelope = await self._connection.receive()
        except (TimeoutError, EnvelopeError):
            envelope = None
        if envelope is None or envelope.event not in self.handlers:
            self._connection.close(CloseCode.POLICY, EXPECTED_CONTROL)
            return False
        self._receive(envelope)
        return True

    async def _listen(self) -> None:
        while envelope := await self._connection.receive():
            self._receive(envelope)

    def _receive(self, envelope: Envelope) -> None:
        # A newer chat server may send unknown events, so they do not close the connection.
        try:
            self.handle(envelope)
        except EnvelopeError as error:
            self._sfu.tally["dropped_control_messages"] += 1
            extra = {"event": envelope.event[:64], "cause": str(error)}
            logger.debug("control message dropped", extra=extra)
        except OutdatedEpoch:
            self._sfu.tally["dropped_control_messages"] += 1
            self.replaced()

    @handles
    def _receive_keep_alive(self, message: events.KeepAlive) -> None:
        """Ignore the event, because a chat server's keep-alive needs no response."""

    @handles
    def _receive_register(self, message: events.ServerRegister) -> None:
        server_id, room_id = message.server_id, message.room_id
        registration = self._sfu.rooms.register(
            server_id, message.server_password, room_id, self._sfu.clock(), epoch=message.epoch
        )
        if registration is None:
            raise EnvelopeError("credentials do not match")
        logger.debug("room registered", extra={"server": server_id, "room": room_id})
        self._watch(registration)

    @handles
    def _receive_sync_request(self, message: events.SyncRequest) -> None:
        rooms = self._authenticate(message).rooms.values()
        members = [events.RoomMembers(room.room_id, list(room.peers)) for room in rooms]
        relays = self._sfu.held_relays(rooms)
        self._connection.push(events.SyncResponse(members, self._sfu.fixed_addresses(), relays))

    @handles
    def _receive_span_room(self, message: events.SpanRoom) -> None:
        room = self._room(message)
        if message.spans:
            self._sfu.create_span(room).begin(message.relays)
        else:
            self._sfu.unspan(room)

    @handles
    def _receive_send_relay(self, message: events.SendRelay) -> None:
        self._sfu.create_span(self._room(message)).send(message)

    @handles
    def _receive_receive_relay(self, message: events.ReceiveRelay) -> None:
        self._sfu.create_span(self._room(message)).receive(message)

    @handles
    def _receive_end_relay(self, message: events.EndRelay) -> None:
        self._sfu.create_span(self._room(message)).end(message.relay_id)

    @handles
    def _receive_relay_demand(self, message: events.SetRelayDemand) -> None:
        self._sfu.create_span(self._room(message)).set_demand(message.demand)

    @handles
    def _receive_codecs_elsewhere(self, message: events.SetCodecsElsewhere) -> None:
        self._room(message).take_elsewhere(
            None if message.payload_types is None else frozenset(message.payload_types)
        )

    @handles
    def _receive_disconnect(self, message: events.DisconnectUser) -> None:
        self._sfu.rooms.dismiss(
            self._peer(message), CloseCode.DISCONNECTED, "Disconnected by the server", self._sfu.clock()
        )

    @handles
    def _receive_audio_control(self, message: events.UserAudioControl) -> None:
        if room := self._authenticate(message).rooms.get(message.room_id):
            room.control_audio(message.user_id, AudioControl(message.is_muted, message.is_deafened))

    @handles
    def _receive_caps(self, message: events.UserCaps) -> None:
        self._peer(message).member.caps_changed(CAPS.intersection(message.caps))

    @handles
    def _receive_speakers_wanted(self, message: events.SpeakersWanted) -> None:
        if room := self._authenticate(message).rooms.get(message.room_id):
            self._speakers.want(room, message.wanted)

    def _authenticate(self, message: events.ServerRequest) -> Registration:
        registration = self._sfu.rooms.authenticate(
            message.server_id, message.server_password, epoch=message.epoch
        )
        if registration is None:
            raise EnvelopeError("credentials do not match")
        self._watch(registration)
        return registration

    def _room(self, message: events.RoomRequest) -> Room:
        room = self._authenticate(message).rooms.get(message.room_id)
        if room is None:
            raise EnvelopeError("no such room")
        return room

    def _peer(self, message: events.UserRequest) -> Peer:
        room = self._authenticate(message).rooms.get(message.room_id)
        if room is None or (peer := room.peers.get(message.user_id)) is None:
            raise EnvelopeError("no such peer")
        return peer

    def _watch(self, registration: Registration) -> None:
        self._connection.on_proof(registration.server_id)
        self._registrations.add(registration)
        registration.watch(self)
