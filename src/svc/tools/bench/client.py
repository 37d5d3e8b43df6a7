"""Simulates one participant in a room: it does the signalling like a web client and hands its media over to
Traffic.

Answers every offer and sends in one media section or in none. Raises BenchError if the service rejects the
client. See docs/signalling.md, "From participants".
"""

import asyncio
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from svc.base.signalling_codec import EnvelopeError, parse, payload, serialise
from svc.sfu.dtls import Certificate
from svc.sfu.sdp import SessionDescription
from svc.tools.bench.errors import BenchError
from svc.tools.bench.media_connection import Connecting
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.sdp_answer import Terms, answer
from svc.tools.bench.traffic import Traffic


@dataclass(frozen=True, slots=True)
class Room:
    """A room's URL and secret."""

    url: str  # ws://host:port
    server_id: str
    room_id: str
    secret: str = field(repr=False)

    async def register(self, http: ClientSession) -> ClientWebSocketResponse:
        """Register the room as a chat server does. The room exists while the connection is being read."""
        control = await http.ws_connect(self.url + "/server", max_msg_size=0)
        register = {"server_id": self.server_id, "server_password": self.secret, "room_id": self.room_id}
        await control.send_str(serialise("server_register", register))
        await control.send_str(serialise("sync_request", register))
        await control.receive_str()
        return control


class Client:
    """One participant in a room. Run `listen` for as long as the client exists."""

    def __init__(
        self, http: ClientSession, room: Room, name: str, scenario: Scenario, certificate: Certificate
    ) -> None:
        self.name = name
        self.number = -1  # its number in Traffic
        self.joined_at = 0.0  # when client_join was sent
        self._http = http
        self._room = room
        self._scenario = scenario
        self._certificate = certificate
        self._connecting: Connecting | None = None
        self._socket: ClientWebSocketResponse | None = None
        self._mid, self._ssrc = "", 0
        self._answered = asyncio.Event()
        self._terms = Terms()  # from the first offer, valid for all later offers

    def will_send(self) -> None:
        """Make the client send the scenario's kind of track. Call it before `join`."""
        self._mid, self._ssrc = self._scenario.mid, secrets.randbits(31) + 1

    async def join(self) -> None:
        self._socket = await self._http.ws_connect(self._room.url + "/client", max_msg_size=0)
        self.joined_at = asyncio.get_running_loop().time()
        request = {
            "room_id": self._room.room_id,
            "server_id": self._room.server_id,
            "server_password": self._room.secret,
            "user_token": "",
            "user_id": self.name,
        }
        await self._socket.send_str(serialise("client_join", request))

    async def listen(self) -> None:
        """Answer offers until an error occurs. Raises BenchError."""
        assert self._socket is not None, "a client listens after it has joined"
        while (message := await self._socket.receive()).type is WSMsgType.TEXT:
            try:
                envelope = parse(message.data)
                if envelope.event == "offer":
                    await self._answer(payload(envelope))
                elif envelope.event == "candidate" and envelope.data not in ("", "null"):
                    self._add_candidate(payload(envelope))
                elif envelope.event == "room_error":
                    raise BenchError(f"the service sent an error to {self.name}: {envelope.data}")
            except EnvelopeError as problem:
                raise BenchError(f"the service sent something unreadable: {problem}") from None
        raise BenchError(
            f"the service has closed the connection of {self.name}: {message.data} {message.extra}"
        )

    async def enter(self, traffic: Traffic) -> None:
        """Wait for the first offer, connect the media, and hand the connection over to Traffic."""
        await self._answered.wait()
        assert self._connecting is not None
        self.number = await self._connecting.enter(
            traffic, self._terms, streams=self._scenario.publishers, mid=self._mid, ssrc=self._ssrc
        )

    @property
    def sends(self) -> bool:
        return bool(self._mid)

    @property
    def media_socket(self) -> socket.socket | None:
        return self._connecting.socket if self._connecting else None

    async def close(self) -> None:
        """Close the connections. Stop `listen` first."""
        if media := self.media_socket:
            media.close()
        if self._socket:
            await self._socket.close()

    def _add_candidate(self, candidate: Mapping[str, object]) -> None:
        if self._connecting:
            self._connecting.add_candidate(str(candidate.get("candidate", "")))

    async def _answer(self, offer: Mapping[str, object]) -> None:
        description = SessionDescription.parse(str(offer["sdp"]))
        if self._connecting is None:
            self._connecting = Connecting(self._certificate)
            self._connecting.set_remote(description)
            self._terms = Terms.of(description, self._scenario.mid, self._scenario.codec.name)
        sdp = answer(
            description,
            ice=self._connecting.local,
            fingerprint=self._certificate.fingerprint,
            sends=self._mid,
            ssrc=self._ssrc,
            name=self.name,
        )
        assert self._socket is not None
        await self._socket.send_str(serialise("answer", {"type": "answer", "sdp": sdp}))
        self._answered.set()
