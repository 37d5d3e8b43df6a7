"""The /server connection: a chat server registers rooms and learns who is in them.

Every message except `keep_alive` carries `server_id` and `server_password`. An invalid message is dropped
without a reply. A connection receives events only for registrations whose secret it has presented.

Assigns no seats (`rooms` does). docs/signalling.md.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from svc.base.envelope import Envelope, EnvelopeError, payload
from svc.base.grants import CAPS
from svc.base.token_bucket import TokenBucket
from svc.sfu import fields
from svc.sfu.close_codes import CloseCode
from svc.sfu.connection import Connection
from svc.sfu.rooms import AudioControl, Peer, Registration, Room
from svc.sfu.service import Service
from svc.sfu.speaker_updates import SpeakerUpdates

FIRST_MESSAGE_DEADLINE_S = 10.0
EXPECTED_CONTROL = "Expected server_register event"

# A chat server that reconnects registers all its rooms at once.
_BURST = 5_000
_PER_S = 1_000

logger = logging.getLogger(__name__)

Payload = Mapping[str, object]


def control_pace() -> TokenBucket:
    """Return the pace at which one chat server's messages are read."""
    return TokenBucket(_BURST, _PER_S)


class Control:
    """A control connection, the Watcher of its registrations."""

    def __init__(self, connection: Connection, service: Service) -> None:
        self._connection = connection
        self._service = service
        self._registrations: set[Registration] = set()
        self._speakers = SpeakerUpdates(self._say_speakers)
        connection.on_pulse = self._say_keep_alive

    async def talk(self) -> None:
        """Serve the connection until it ends."""
        try:
            if await self._begin():
                await self._listen()
        except EnvelopeError as error:
            self._connection.close(CloseCode.POLICY, str(error))
        finally:
            self._speakers.stop()
            for registration in self._registrations:
                registration.unwatch(self, self._service.clock())

    def peer_joined(self, room_id: str, user_id: str) -> None:
        self._connection.say("peer_joined", {"room_id": room_id, "user_id": user_id})

    def peer_left(self, room_id: str, user_id: str, *, lost: bool) -> None:
        told: dict[str, object] = {"room_id": room_id, "user_id": user_id}
        self._connection.say("peer_left", told | {"lost": True} if lost else told)

    def speaking_changed(self, room: Room) -> None:
        self._speakers.changed(room)

    def _say_speakers(self, room_id: str, user_ids: Sequence[str]) -> None:
        self._connection.say("speakers", {"room_id": room_id, "user_ids": list(user_ids)})

    def _say_keep_alive(self) -> None:
        self._connection.say("keep_alive", {"timestamp": int(self._service.wall_clock() * 1000)})

    async def _begin(self) -> bool:
        """Receive the first message, which must be a chat server's."""
        try:
            async with asyncio.timeout(FIRST_MESSAGE_DEADLINE_S):
                envelope = await self._connection.receive()
        except (TimeoutError, EnvelopeError):
            envelope = None
        if envelope is None or envelope.event not in _CONTROL_EVENTS:
            self._connection.close(CloseCode.POLICY, EXPECTED_CONTROL)
            return False
        self._receive(envelope)
        return True

    async def _listen(self) -> None:
        while envelope := await self._connection.receive():
            self._receive(envelope)

    def _receive(self, envelope: Envelope) -> None:
        # A newer chat server may send unknown events, so they do not end the connection.
        handler = _CONTROL_EVENTS.get(envelope.event)
        try:
            if handler is None:
                raise EnvelopeError("unknown event")
            handler(self, payload(envelope))
        except EnvelopeError as error:
            self._service.tally["dropped_control_messages"] += 1
            extra = {"event": envelope.event[:64], "cause": str(error)}
            logger.debug("control message dropped", extra=extra)

    def _receive_keep_alive(self, message: Payload) -> None:
        """Ignore the contents: a keep-alive carries nothing else."""

    def _receive_register(self, message: Payload) -> None:
        room_id = fields.identifier(message, "room_id")
        server_id = fields.identifier(message, "server_id")
        password = fields.identifier(message, "server_password")
        registration = self._service.rooms.register(server_id, password, room_id, self._service.clock())
        if registration is None:
            raise EnvelopeError("credentials do not match")
        logger.debug("room registered", extra={"server": server_id, "room": room_id})
        self._watch(registration)

    def _receive_sync_request(self, message: Payload) -> None:
        registration = self._authenticated(message)
        rooms = [
            {"room_id": room.room_id, "user_ids": list(room.peers)} for room in registration.rooms.values()
        ]
        self._connection.say("sync_response", {"rooms": rooms})

    def _receive_disconnect(self, message: Payload) -> None:
        peer = self._peer(message)
        self._service.rooms.dismiss(
            peer, CloseCode.DISCONNECTED, "Disconnected by the server", self._service.clock()
        )

    def _receive_audio_control(self, message: Payload) -> None:
        registration = self._authenticated(message)
        control = AudioControl(fields.flag(message, "is_muted"), fields.flag(message, "is_deafened"))
        user_id = fields.identifier(message, "user_id")
        if room := registration.rooms.get(fields.identifier(message, "room_id")):
            room.control_audio(user_id, control)

    def _receive_caps(self, message: Payload) -> None:
        peer = self._peer(message)
        peer.member.caps_changed(fields.texts(message, "caps") & CAPS)

    def _receive_speakers_wanted(self, message: Payload) -> None:
        registration = self._authenticated(message)
        wanted = fields.flag(message, "wanted")
        if room := registration.rooms.get(fields.identifier(message, "room_id")):
            self._speakers.want(room, wanted)

    def _authenticated(self, message: Payload) -> Registration:
        registration = self._service.rooms.authenticate(
            fields.identifier(message, "server_id"), fields.identifier(message, "server_password")
        )
        if registration is None:
            raise EnvelopeError("credentials do not match")
        self._watch(registration)
        return registration

    def _peer(self, message: Payload) -> Peer:
        registration = self._authenticated(message)
        room = registration.rooms.get(fields.identifier(message, "room_id"))
        peer = room.peers.get(fields.identifier(message, "user_id")) if room else None
        if peer is None:
            raise EnvelopeError("no such peer")
        return peer

    def _watch(self, registration: Registration) -> None:
        self._connection.on_proof(registration.server_id)
        self._registrations.add(registration)
        registration.watch(self)


_CONTROL_EVENTS: dict[str, Callable[[Control, Payload], None]] = {
    "server_register": Control._receive_register,
    "sync_request": Control._receive_sync_request,
    "disconnect_user": Control._receive_disconnect,
    "user_audio_control": Control._receive_audio_control,
    "user_caps": Control._receive_caps,
    "speakers_wanted": Control._receive_speakers_wanted,
    "keep_alive": Control._receive_keep_alive,
}
