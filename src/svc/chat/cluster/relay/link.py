"""Connects a relay to the owner node, over a WebSocket for requests and over NATS for events.

The lease in NATS identifies the owner. A relay has one link at a time, to the current owner, and attaches to
the new owner after a takeover. Requests wait for a link until their deadline.
"""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec
from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, ClientWSTimeout, WSMsgType
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js.errors import BucketNotFoundError, KeyNotFoundError

from svc.base.logs import Outage
from svc.base.tasks import until_first_ends
from svc.chat.cluster.membership import OWNER_KEY, Owner, bucket_of
from svc.chat.cluster.nats_connection import ClusterError
from svc.chat.cluster.owner_proxy import NO_OWNER, OWNER_WITHIN_S
from svc.chat.cluster.relay.config import RelayConfig
from svc.chat.cluster.relay.replica import RelayReplica
from svc.chat.cluster.relay_protocol import (
    HANDED_OVER,
    LINK_PATH,
    NAME_IN_USE,
    PROTOCOL,
    REFUSED,
    AttachedClient,
    AttachRequest,
    AttachResponse,
    DirectoryPart,
    DirectoryRecord,
    ErrorResponse,
    FromRelay,
    Heartbeat,
    NotProcessed,
    PresenceRecord,
    RelayedResponse,
    ReplayRequest,
    ReplayResponse,
    StateResponse,
    decode_from_owner,
    encode,
)
from svc.chat.errors import ChatError

# The owner rate-limits a member's requests, so its responses may take a while.
_ANSWER_WITHIN_S = 60.0
_CONNECT_S = 5.0
_PING_INTERVAL_S = 10.0
_LOOK_S = 0.3
# An event that NATS has not delivered within this time has probably been dropped.
_LATE_S = 0.2
_REPLAY_WITHIN_S = 2.0
# A message can contain all batches that the owner stores for replays, up to 8 MB.
_MAX_MESSAGE_BYTES = 32 * 1024 * 1024
_FAULTS = (ClientError, OSError, TimeoutError, msgspec.MsgspecError)

Reply = StateResponse | ErrorResponse | RelayedResponse | NotProcessed

logger = logging.getLogger(__name__)


class LinkLost(Exception):
    """The connection closed before the owner responded, so the outcome of the request is unknown."""


class Connection:
    """An established link."""

    def __init__(self, ws: ClientWebSocketResponse, owner: Owner, attached: AttachResponse) -> None:
        self.ws, self.owner, self.attached = ws, owner, attached
        self.calls: dict[int, asyncio.Future[Reply]] = {}

    async def send(self, message: FromRelay) -> None:
        """Send a message. Raises LinkLost."""
        try:
            await self.ws.send_bytes(encode(message))
        except (ConnectionError, ClientError):
            raise LinkLost from None

    async def call(self, request: int, message: FromRelay) -> Reply:
        """Send a request and return the reply. Raises LinkLost."""
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self.calls[request] = reply
        try:
            # If the message cannot be sent, the connection closes, and its close code determines the reply.
            with contextlib.suppress(LinkLost):
                await self.send(message)
            async with asyncio.timeout(_ANSWER_WITHIN_S):
                return await reply
        except TimeoutError:
            raise LinkLost from None
        finally:
            self.calls.pop(request, None)

    def end(self) -> None:
        """Complete the requests that have no reply. An owner that hands over has replied to every request it
        processed.
        """
        handed_over = self.ws.close_code == HANDED_OVER
        for request, reply in self.calls.items():
            if reply.done():
                continue
            if handed_over:
                reply.set_result(NotProcessed(request))
            else:
                reply.set_exception(LinkLost())


class OwnerLink:
    """The link to the node that owns the community. Its background task `run` raises ClusterError for faults
    that only an operator can fix.
    """

    def __init__(
        self,
        config: RelayConfig,
        session: str,
        http: ClientSession,
        nats: Client,
        replica: RelayReplica,
        url: Callable[[], str],
    ) -> None:
        self._config, self.session = config, session
        self._http, self._nats, self._replica, self._url = http, nats, replica, url
        self._ids = itertools.count(1)
        self._up: asyncio.Event = asyncio.Event()
        self.connection: Connection | None = None
        # `clients` returns the connected clients. `on_attached` is called with the owner's response and the
        # clients that were connected when the relay attached.
        self.clients: Callable[[], Sequence[AttachedClient]] = list
        self.on_attached: Callable[[AttachResponse, Sequence[AttachedClient]], None] = (
            lambda attached, clients: None
        )
        # Called with the URL of a replaced owner, unless it handed over.
        self.on_replaced: Callable[[str], None] = lambda url: None
        self.repairs = 0
        self._replay_due: asyncio.TimerHandle | None = None
        self._was_attached = self._handed_over = False
        self._outage = Outage(logger, "no link to the owner")
        self._tasks: set[asyncio.Task[object]] = set()
        replica.on_gap = self._request_replay

    async def wait_connected(self, within_s: float = OWNER_WITHIN_S) -> Connection:
        """Wait until the link is up and return its connection. Raises ChatError."""
        try:
            async with asyncio.timeout(within_s):
                while self.connection is None:
                    await self._up.wait()
                return self.connection
        except TimeoutError:
            raise ChatError("server_stopping", NO_OWNER) from None

    async def owner_url(self) -> str:
        """Wait until the link is up and return the owner's URL. Raises ChatError."""
        return (await self.wait_connected()).owner.url

    async def call(self, make: Callable[[int], FromRelay]) -> tuple[Connection, Reply]:
        """Send a request to the owner. If the owner did not process it, send it to the next owner.

        Returns the connection to the owner that replied, and the reply. Raises LinkLost or ChatError.
        """
        give_up_at = asyncio.get_running_loop().time() + OWNER_WITHIN_S
        while True:
            connection, request = await self.wait_connected(), next(self._ids)
            reply = await connection.call(request, make(request))
            if not isinstance(reply, NotProcessed):
                return connection, reply
            if asyncio.get_running_loop().time() > give_up_at:
                raise ChatError("server_stopping", NO_OWNER)
            await asyncio.sleep(_LOOK_S)

    def notify(self, message: FromRelay) -> None:
        """Send a message that needs no reply. Does nothing if there is no link."""
        if self.connection is not None:
            self._start(_without_loss(self.connection.send(message)))

    def _start(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def run(self) -> None:
        last: Owner | None = None
        while True:
            owner = await self._owner()
            if owner is not None:
                if last is None or owner.session != last.session:
                    if last is not None and not self._handed_over:
                        self.on_replaced(last.url)
                    last, self._handed_over = owner, False
                try:
                    await until_first_ends(self._hold(owner), self._watch(owner))
                except _FAULTS as fault:
                    self._outage.failed(str(fault) or type(fault).__name__)
            await asyncio.sleep(_LOOK_S)

    async def _owner(self) -> Owner | None:
        """Return the owner identified by the lease, or None."""
        try:
            async with asyncio.timeout(_CONNECT_S):
                bucket = await self._nats.jetstream(timeout=2).key_value(bucket_of(self._config.name))
                entry = await bucket.get(OWNER_KEY)
        except (BucketNotFoundError, KeyNotFoundError, NatsError, TimeoutError, OSError):
            return None
        owner = msgspec.json.decode(entry.value, type=Owner) if entry.value else Owner()
        return owner if owner.session and owner.url else None

    async def _hold(self, owner: Owner) -> None:
        """Attach to an owner and handle its messages until the connection closes."""
        async with self._http.ws_connect(
            owner.url + LINK_PATH,
            headers={"Authorization": f"Bearer {owner.relay_key}"},
            heartbeat=_PING_INTERVAL_S,
            max_msg_size=_MAX_MESSAGE_BYTES,
            timeout=ClientWSTimeout(ws_close=_CONNECT_S),
        ) as ws:
            async with asyncio.timeout(OWNER_WITHIN_S):
                connection = await self._attach(ws, owner)
            try:
                async for message in ws:
                    if message.type is WSMsgType.BINARY:
                        self._handle(connection, message.data)
            finally:
                self.connection = None
                self._up.clear()
                connection.end()
                self._handed_over = ws.close_code == HANDED_OVER
                logger.warning("the link to the owner ended", extra={"owner": owner.node})

    async def _attach(self, ws: ClientWebSocketResponse, owner: Owner) -> Connection:
        clients, replica, config = self.clients(), self._replica, self._config
        attach = AttachRequest(
            PROTOCOL,
            config.relay,
            self.session,
            config.url or self._url(),
            replica.epoch,
            replica.number,
            clients,
            replica.online.records(),
        )
        await ws.send_bytes(encode(attach))
        attached = decode_from_owner(await self._first(ws))
        assert isinstance(attached, AttachResponse), "an owner answers AttachRequest first"
        records: list[DirectoryRecord] = []
        online: list[PresenceRecord] = []
        while not attached.goes_on:
            part = decode_from_owner(await ws.receive_bytes())
            # Heartbeats may arrive between the parts.
            if isinstance(part, DirectoryPart):
                records += part.records
                online += part.online
                if part.is_last:
                    break
        if not attached.goes_on:
            shared = online if attached.shares_online else None
            replica.begin(attached.epoch, attached.number, attached.seq, records, shared)
        connection = self.connection = Connection(ws, owner, attached)
        self._was_attached = True
        self._outage.ended()
        self._up.set()
        logger.info(
            "attached", extra={"owner": owner.node, "epoch": attached.epoch, "new": not attached.goes_on}
        )
        self.on_attached(attached, clients)
        self._request_replay()
        return connection

    async def _first(self, ws: ClientWebSocketResponse) -> bytes:
        message = await ws.receive()
        if message.type is WSMsgType.BINARY:
            data: bytes = message.data
            return data
        if ws.close_code == NAME_IN_USE and not self._was_attached:
            name = self._config.relay
            raise ClusterError(f"another live relay is named {name}: give each relay its own --name")
        if ws.close_code == REFUSED:
            # During an upgrade, the next owner may run this relay's version.
            reason = message.extra or "it has another version"
            raise ConnectionResetError(f"the owner refuses this relay: {reason}")
        raise ConnectionResetError("the owner closed the link")

    async def _watch(self, owner: Owner) -> None:
        """Wait until the lease identifies another owner. A paused owner would not close the connection."""
        present: Owner | None = owner
        while present is None or present.session == owner.session:
            await asyncio.sleep(_LOOK_S)
            present = await self._owner()

    def _handle(self, connection: Connection, data: bytes) -> None:
        match decode_from_owner(data):
            case StateResponse() | ErrorResponse() | RelayedResponse() | NotProcessed() as reply:
                waiting = connection.calls.get(reply.request)
                if waiting is not None and not waiting.done():
                    waiting.set_result(reply)
            case Heartbeat(number):
                if number > self._replica.number:
                    asyncio.get_running_loop().call_later(_LATE_S, self._replay_up_to, number)
            case ReplayResponse(batches):
                self._replayed(connection, batches)

    # Methods that replay missed events.

    def _replay_up_to(self, number: int) -> None:
        if number > self._replica.number:
            self._request_replay()

    def _request_replay(self) -> None:
        """Request the events after the last applied event, unless a request is already in progress."""
        if self.connection is None or self._replay_due is not None:
            return
        self.notify(ReplayRequest(self._replica.number))
        self._replay_due = asyncio.get_running_loop().call_later(_REPLAY_WITHIN_S, self._forget_replay)

    def _forget_replay(self) -> None:
        if self._replay_due is not None:
            self._replay_due.cancel()
        self._replay_due = None

    def _replayed(self, connection: Connection, batches: Sequence[bytes] | None) -> None:
        self._forget_replay()
        if batches is None:
            # The owner no longer has the missing events. Close the link, because a new link starts with the
            # complete directory.
            self._start(connection.ws.close())
            return
        self.repairs += bool(batches)
        for batch in batches:
            self._replica.receive(batch)
        if self._replica.has_gap:
            self._request_replay()


async def _without_loss(sending: Any) -> None:
    with contextlib.suppress(LinkLost):
        await sending
