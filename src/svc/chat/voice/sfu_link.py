"""Keeps the control connection to the media service open and in sync.

On every connection, this module registers the rooms and requests their participants. It reports joins and
leaves, and always reconnects. It makes no decisions about members. See docs/signalling.md, "From the chat
server".
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn, Protocol, get_args

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, ClientWSTimeout, WSMsgType

from svc.base import server_events as events
from svc.base.backoff import Backoff
from svc.base.media_services import MediaConfig
from svc.base.signalling_codec import EnvelopeError, Payload, parse, read, serialise_payload
from svc.base.tasks import until_first_ends
from svc.chat.errors import ChatError

CONNECT_DEADLINE_S = 5.0
WRITE_DEADLINE_S = 5.0
# The timeout for the response to a sync_request. The response is normally immediate. After this time, the
# service has dropped the request because of wrong credentials, or is not working.
ANSWER_DEADLINE_S = 5.0
# If a response takes longer than this, members are sent to another media service. A service that loses power
# or its network does not close the connection.
SILENT_S = 1.0
# The interval between probes. Together with PATIENCE_S in `sfu_pool`, it ensures that members are moved
# within three seconds of their service disappearing.
PROBE_INTERVAL_S = 0.25
# The longest time that a member waits for a room. It is long enough for a restart of the media service.
CONFIRM_DEADLINE_S = 6.0
KEEP_ALIVE_S = 20.0
# The maximum size of a frame, enough for a list of thousands of participants.
MAX_FRAME_BYTES = 4 * 1024 * 1024
MAX_WAITING_FRAMES = 1024
_DOES_NOT_READ = "the media service does not read"
# The close code that a chat server with an older epoch receives (docs/signalling.md).
_OUTDATED = 4007
_NEWER_OWNER = (
    "the media service has seen an owner of this community with a newer epoch"
    " (restart svc sfu if the community was restored from an older state)"
)
# The media service silently drops requests with wrong credentials (specification, section 7).
_DOES_NOT_ANSWER = (
    "the media service answers nothing: SERVER_PASSWORD is not the one that it knows this SERVER_ID by"
    " (restart svc sfu after a change), or it is overloaded"
)

logger = logging.getLogger(__name__)


SpanEvent = (
    events.RoomTracks
    | events.TrackPublished
    | events.TrackEnded
    | events.RelayDemandChanged
    | events.CodecsChanged
)
_SPAN_EVENTS: Mapping[str, type[SpanEvent]] = {kind.event: kind for kind in get_args(SpanEvent)}


class SfuListener(Protocol):
    """A listener for events from all media services. Each service is identified by its index."""

    def joined(self, index: int, room_id: str, user_id: str) -> None: ...
    def left(self, index: int, room_id: str, user_id: str, *, lost: bool) -> None: ...
    def relays_held(self, index: int, relays: Sequence[events.HeldRelay]) -> None: ...
    def synchronise(self, index: int, actual: Mapping[str, Sequence[str]]) -> None: ...
    def link_synchronised(self, index: int) -> None: ...
    def lost(self, index: int) -> None: ...
    def spoke(self, index: int, room_id: str, user_ids: Sequence[str]) -> None: ...
    def span_changed(self, index: int, event: SpanEvent) -> None: ...


class LinkError(Exception):
    """The connection has become unusable. The message is for the log."""


class SfuLink:
    """The link to the media service with the given `index`.

    `room_ids` returns the rooms to register on each connection. `epoch` is the owner node's epoch, or 0
    outside a cluster.
    """

    def __init__(
        self,
        session: ClientSession,
        media: MediaConfig,
        index: int,
        room_ids: Callable[[], Sequence[str]],
        listener: SfuListener,
        backoff: Backoff,
        epoch: int = 0,
    ) -> None:
        self._session = session
        self._url = f"{media.services[index].url}/server"
        self.credentials: dict[str, Any] = {
            "server_id": media.server_id,
            "server_password": media.server_password,
        }
        # Outside a cluster, omit the epoch, which older media services do not understand.
        if epoch:
            self.credentials["epoch"] = epoch
        self.room_ids = room_ids
        self.listener, self.index = listener, index
        self._backoff = backoff
        self._conversation: _Conversation | None = None
        self._synchronised = asyncio.Event()
        # The service's addresses for other media services, and its address on the network that it shares with
        # this server.
        self.addresses: Sequence[tuple[str, int]] = ()
        self.host = ""
        # The reason why the link is not in sync, or empty.
        self.fault = ""
        # The time of a request whose response is overdue, or None. The connection may still be open.
        self.silent_since: float | None = None
        # Whether to probe the service even if nobody joins. This is useful only if another service could take
        # over its members.
        self.is_probed = False

    @property
    def synchronised(self) -> bool:
        """Whether the link is connected and the service has reported its participants."""
        return self._synchronised.is_set()

    @property
    def responds(self) -> bool:
        """Whether the link is in sync and no response is overdue."""
        return self.synchronised and not self.is_silent

    @property
    def is_silent(self) -> bool:
        return self.silent_since is not None

    async def run(self) -> NoReturn:
        """Connect, and reconnect whenever the connection is lost."""
        while True:
            try:
                await self._converse()
            except (ClientError, OSError, LinkError, EnvelopeError) as fault:
                self._report(fault)
            except Exception:
                logger.exception("media link failed", extra={"url": self._url})
            await asyncio.sleep(self._backoff.next_delay())

    async def confirm_room(self, room_id: str, within_s: float = CONFIRM_DEADLINE_S) -> None:
        """Wait until the media service confirms that it has the room. Raises ChatError if that takes too
        long.
        """
        try:
            async with asyncio.timeout(within_s):
                confirmed = False
                while not confirmed:
                    await self._synchronised.wait()
                    assert self._conversation is not None, "only a conversation is synchronised"
                    confirmed = await self._conversation.confirm_room(room_id)
        except (TimeoutError, LinkError):
            raise ChatError("voice_unavailable") from None

    def register(self, room_id: str) -> None:
        """Register a new room. If there is no connection, the next one will register it."""
        if self._conversation is not None:
            with suppress(LinkError):
                self._conversation.register(room_id)

    def send(self, kind: type[events.RoomRequest], room_id: str, **fields: Any) -> None:
        """Send an event about a room if the link is in sync.

        Otherwise, `SfuListener.link_synchronised` sends the state later.
        """
        if self.synchronised and self._conversation is not None:
            with suppress(LinkError):
                self._conversation.send(kind, room_id, **fields)

    async def _converse(self) -> None:
        """Open a connection and exchange frames until it closes, then raise LinkError."""
        async with asyncio.timeout(CONNECT_DEADLINE_S):
            ws = await self._session.ws_connect(
                self._url,
                heartbeat=KEEP_ALIVE_S,
                autoping=False,
                max_msg_size=MAX_FRAME_BYTES,
                timeout=ClientWSTimeout(ws_close=WRITE_DEADLINE_S),
            )
        async with ws:
            peer = ws.get_extra_info("peername")
            self.host = str(peer[0]) if peer else ""
            self._conversation = _Conversation(ws, self)
            try:
                await self._conversation.run()
            finally:
                self._synchronised.clear()
                self.silent_since = None
                self._conversation = None
                self.listener.lost(self.index)
        outdated = ws.close_code == _OUTDATED
        raise LinkError(_NEWER_OWNER if outdated else f"closed with code {ws.close_code}")

    def _report(self, fault: Exception) -> None:
        """Log a fault as a warning once when the service is lost, and once when it does not respond.

        Later attempts are logged at debug level.
        """
        known, self.fault = self.fault, str(fault) or type(fault).__name__
        news = not known or (self.fault == _DOES_NOT_ANSWER != known)
        level = logging.WARNING if news else logging.DEBUG
        logger.log(level, "no media service", extra={"url": self._url, "fault": self.fault})

    def mark_silent(self, since: float) -> None:
        self.silent_since = since
        self.listener.lost(self.index)

    def mark_synchronised(self) -> None:
        """Mark the link as in sync. Call this after the first `sync_response`."""
        self.fault = ""
        logger.info("synchronised with the media service", extra={"url": self._url})
        self._backoff.reset()
        self._synchronised.set()
        self.listener.link_synchronised(self.index)


class _Conversation:
    """An exchange of frames over one connection."""

    def __init__(self, ws: ClientWebSocketResponse, link: SfuLink) -> None:
        self._ws, self._link = ws, link
        self._outbox: asyncio.Queue[str] = asyncio.Queue(MAX_WAITING_FRAMES)
        # Responses have no id, so only one sync_request is outstanding at a time. Callers that need the next
        # request share the future `_next`. Its result is whether the response has arrived.
        self._wanted = asyncio.Event()
        self._answered = asyncio.Event()
        self._next = _new_answer()
        self._pong = asyncio.Event()
        # Set if a frame was lost because the queue was full. After that, only a new connection can restore
        # the state.
        self._stuck = asyncio.Event()

    async def run(self) -> None:
        """Exchange frames until the connection closes. Propagates any other failure."""
        for room_id in self._link.room_ids():
            self.register(room_id)
        try:
            await until_first_ends(
                self._read(), self._write(), self._synchronise(), self._probe(), self._until_stuck()
            )
        finally:
            self._next.set_result(False)

    async def confirm_room(self, room_id: str) -> bool:
        """Register a room and wait until the media service has read the request. Return False if the
        connection closed.

        The media service forgets rooms that stay empty, so a room is registered again each time. A
        registration gets no response, so it is followed by a sync_request, which does.
        """
        self.register(room_id)
        self._wanted.set()
        # Shield the future, because other callers may be waiting for the same response.
        return await asyncio.shield(self._next)

    def register(self, room_id: str) -> None:
        self.send(events.ServerRegister, room_id)

    def send(self, kind: type[events.RoomRequest], room_id: str, **fields: Any) -> None:
        self._send(kind(**self._link.credentials, room_id=room_id, **fields))

    async def _synchronise(self) -> None:
        """Request the participants at the start, and again whenever a caller needs them."""
        await self._ask()
        self._link.mark_synchronised()
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            await self._ask()

    async def _ask(self) -> None:
        answered, self._next = self._next, _new_answer()
        self._answered.clear()
        try:
            self._send(events.SyncRequest(**self._link.credentials))
            await self._await_answer(self._answered)
        finally:
            answered.set_result(self._answered.is_set())

    async def _probe(self) -> None:
        """Detect that the service has disappeared without closing the connection."""
        while self._link.is_probed:
            await asyncio.sleep(PROBE_INTERVAL_S)
            self._pong.clear()
            await self._ws.ping()
            await self._await_answer(self._pong)
            if self._link.is_silent and self._answered.is_set():
                # The service responds again. Synchronise, because its members may have moved to another
                # service.
                self._link.silent_since = None
                self._wanted.set()
        await self._stuck.wait()

    async def _await_answer(self, answered: asyncio.Event) -> None:
        loop = asyncio.get_running_loop()
        silent = loop.call_later(SILENT_S, self._link.mark_silent, loop.time())
        try:
            async with asyncio.timeout(ANSWER_DEADLINE_S):
                await answered.wait()
        except TimeoutError:
            raise LinkError(_DOES_NOT_ANSWER) from None
        finally:
            silent.cancel()

    async def _read(self) -> None:
        async for message in self._ws:
            match message.type:
                case WSMsgType.TEXT:
                    self._receive(message.data)
                case WSMsgType.PING:
                    await self._ws.pong(message.data)
                case WSMsgType.PONG:
                    self._pong.set()
                case _:
                    raise LinkError("the media service sent a binary message")

    async def _write(self) -> None:
        while True:
            try:
                async with asyncio.timeout(KEEP_ALIVE_S):
                    frame = await self._outbox.get()
            except TimeoutError:
                frame = serialise_payload(events.KeepAlive(int(time.time() * 1000)))
            async with asyncio.timeout(WRITE_DEADLINE_S):
                await self._ws.send_str(frame)

    def _receive(self, text: str) -> None:
        envelope, listener, index = parse(text), self._link.listener, self._link.index
        match envelope.event:
            case events.PeerJoined.event:
                joined = read(envelope, events.PeerJoined)
                listener.joined(index, joined.room_id, joined.user_id)
            case events.PeerLeft.event:
                left = read(envelope, events.PeerLeft)
                listener.left(index, left.room_id, left.user_id, lost=left.lost is True)
            case events.Speakers.event:
                speakers = read(envelope, events.Speakers)
                listener.spoke(index, speakers.room_id, speakers.user_ids)
            case events.SyncResponse.event:
                response = read(envelope, events.SyncResponse)
                self._link.addresses = response.addresses
                self._link.silent_since = None
                listener.relays_held(index, response.relays)
                listener.synchronise(index, {room.room_id: room.user_ids for room in response.rooms})
                self._answered.set()
            case name if kind := _SPAN_EVENTS.get(name):
                listener.span_changed(index, read(envelope, kind))

    def _send(self, payload: Payload) -> None:
        try:
            self._outbox.put_nowait(serialise_payload(payload))
        except asyncio.QueueFull:
            self._stuck.set()
            raise LinkError(_DOES_NOT_READ) from None

    async def _until_stuck(self) -> None:
        await self._stuck.wait()
        raise LinkError(_DOES_NOT_READ)


def _new_answer() -> asyncio.Future[bool]:
    return asyncio.get_running_loop().create_future()
