"""Manages the owner's links to relays: attaches relays, signs in their clients, and handles the clients'
requests.

Clients on a relay are signed in, checked, rate-limited and served here, as if their sockets were in this
process. Only a relay that has read the key in the cluster's NATS bucket may attach.
"""

import asyncio
import contextlib
import hmac
import logging
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import NoReturn

import msgspec
from aiohttp import WSMsgType, web

from svc.base.http_connections import recognise
from svc.base.tasks import until_first_ends
from svc.chat.access.tokens import Session
from svc.chat.cluster.membership import RelayStatus
from svc.chat.cluster.relay_feed import Feed, RemoteClient, ReplicatedDirectory, ReplicatedHub
from svc.chat.cluster.relay_protocol import (
    HANDED_OVER,
    LINK_PATH,
    NAME_IN_USE,
    PROTOCOL,
    REFUSED,
    AttachRequest,
    AttachResponse,
    ClientClosed,
    DirectoryPart,
    DirectoryRecord,
    ErrorResponse,
    FromOwner,
    Heartbeat,
    NotProcessed,
    OriginNotice,
    PresenceRecord,
    RelayedRequest,
    RelayedResponse,
    ReplayRequest,
    ReplayResponse,
    SessionRecord,
    SignInRequest,
    StateRequest,
    StateResponse,
    decode_from_relay,
    encode,
    key_digest,
)
from svc.chat.community import Community
from svc.chat.errors import ChatError
from svc.chat.live import frames
from svc.chat.live.frames import CloseCode
from svc.chat.live.hub import Presence

# A relay's first message lists the online members, with 45 bytes for each. All its other messages are
# smaller.
_MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_HEARTBEAT_INTERVAL_S = 0.5
# A relay that does not answer a ping is considered gone, along with its clients.
_PING_INTERVAL_S = 10.0
_ATTACH_WITHIN_S = 10.0
# Encoding this many records takes about a millisecond.
_RECORDS_AT_ONCE = 1000
# How long the owner composes states for all relays before it lets other tasks run. A state takes about 0.2
# ms.
_MAX_TURN_S = 0.005
# How long the owner waits for requests in progress when it stops.
_FINISH_WITHIN_S = 10.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Facts:
    """Information about the server that relays need."""

    server_id: str
    allowed_origins: Sequence[str]
    media_urls: Sequence[str]
    media_services: int


class RelayLinks:
    """The links from relays to this owner. `run` is a background task."""

    def __init__(self, hub: ReplicatedHub, key: str) -> None:
        self.hub, self._key = hub, key_digest(key)
        self._links: dict[str, Link] = {}
        self._facts: Facts | None = None
        self._community: Community
        self.is_ending = False

    def routes(self, community: Community, facts: Facts) -> list[web.RouteDef]:
        self._community, self._facts = community, facts
        return [web.get(LINK_PATH, self._serve)]

    @property
    def count(self) -> int:
        """The number of attached relays."""
        return len(self._links)

    def statuses(self) -> list[RelayStatus]:
        """Return the attached relays. May be called on any thread."""
        return [link.status for link in list(self._links.values())]

    async def run(self) -> None:
        """Publish events and heartbeats, and disconnect clients whose tokens have expired."""
        await until_first_ends(self.hub.feed.run(), self._check_links())

    async def _check_links(self) -> NoReturn:
        while True:
            await asyncio.sleep(_HEARTBEAT_INTERVAL_S)
            now = time.time()
            for link in list(self._links.values()):
                link.check(now)

    async def close(self) -> None:
        """Let requests in progress finish, and leave all others to the next owner."""
        self.is_ending = True
        await asyncio.gather(*(link.finish() for link in list(self._links.values())))

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        scheme, _, shown = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(key_digest(shown), self._key):
            raise ChatError("forbidden")
        if self.is_ending:
            raise ChatError("server_stopping")
        ws = web.WebSocketResponse(
            heartbeat=_PING_INTERVAL_S, compress=False, max_msg_size=_MAX_MESSAGE_BYTES
        )
        await ws.prepare(request)
        # Recognised connections are not closed when there are too many connections.
        recognise(request, f"relay {id(ws)}")
        link: Link | None = None
        try:
            async with asyncio.timeout(_ATTACH_WITHIN_S):
                link = await self._attach(ws)
            if link is not None:
                await link.read()
        except (TimeoutError, OSError, msgspec.MsgspecError) as fault:
            logger.info("a relay's link ended", extra={"fault": type(fault).__name__})
        finally:
            if link is not None:
                self._drop(link)
            with contextlib.suppress(OSError, TimeoutError):
                await asyncio.wait_for(ws.close(), _HEARTBEAT_INTERVAL_S)
        return ws

    async def _attach(self, ws: web.WebSocketResponse) -> "Link | None":
        attach = decode_from_relay(await ws.receive_bytes())
        if not isinstance(attach, AttachRequest) or attach.protocol != PROTOCOL:
            await ws.close(code=REFUSED, message=b"another version of the relay protocol")
            return None
        present = self._links.get(attach.relay)
        if present is not None and present.session != attach.session:
            await ws.close(code=NAME_IN_USE, message=b"another live relay has this name")
            return None
        if present is not None:
            self._drop(present)
            present.abort()
        link = self._links[attach.relay] = Link(ws, self._community, self.hub, attach, self)
        assert self._facts is not None, "the route exists once the community is built"
        logger.info("a relay attached", extra={"relay": attach.relay, "pages": len(attach.pages)})
        await link.begin(attach, self._facts)
        return link

    def _drop(self, link: "Link") -> None:
        if self._links.get(link.name) is link:
            del self._links[link.name]
        link.forget_clients()


class Link:
    """The link to one attached relay."""

    def __init__(
        self,
        ws: web.WebSocketResponse,
        community: Community,
        hub: ReplicatedHub,
        attach: AttachRequest,
        links: RelayLinks,
    ) -> None:
        self.name, self.session, self._url = attach.relay, attach.session, attach.url
        self._ws, self._hub, self._links = ws, hub, links
        self._live, self._presence = community.live, community.messages.presence
        self._feed: Feed = hub.feed
        self._clients: dict[int, RemoteClient] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._yielded_at = 0.0

    @property
    def status(self) -> RelayStatus:
        return RelayStatus(self.name, self._url, len(self._clients))

    async def begin(self, attach: AttachRequest, facts: Facts) -> None:
        """Register the relay's connected clients, and send the relay everything it has missed."""
        feed, directory = self._feed, self._hub.directory
        assert isinstance(directory, ReplicatedDirectory), "a replicated hub has such a directory"
        if attach.epoch < feed.epoch:
            self._presence.adopt(
                {record.member_id: Presence(record.idle, record.do_not_disturb) for record in attach.online}
            )
        feed.want()
        goes_on = attach.epoch == feed.epoch and feed.batches_after(attach.number) is not None
        number, seq = feed.number, self._hub.seq
        records: list[DirectoryRecord] = [] if goes_on else directory.records()
        online: list[PresenceRecord] = [] if goes_on else self._hub.presence_records()
        refused = self._restore(attach)
        await self.send(
            AttachResponse(
                feed.epoch,
                number,
                seq,
                goes_on,
                facts.server_id,
                facts.allowed_origins,
                facts.media_urls,
                facts.media_services,
                refused,
                shares_online=True,
            )
        )
        while not goes_on:
            part, records = records[:_RECORDS_AT_ONCE], records[_RECORDS_AT_ONCE:]
            shown, online = online[:_RECORDS_AT_ONCE], online[_RECORDS_AT_ONCE:]
            goes_on = not records and not online
            await self.send(DirectoryPart(part, is_last=goes_on, online=shown))

    def _restore(self, attach: AttachRequest) -> list[int]:
        """Register the clients that are already connected to the relay. Return the numbers of rejected
        clients.
        """
        refused = []
        for opened in attach.pages:
            session = opened.session.session()
            try:
                self._live.signing_in.require_standing(session)
            except ChatError:
                refused.append(opened.page)
                continue
            self._add(opened.page, session, in_sight=opened.in_sight, idle=opened.idle)
        return refused

    async def read(self) -> None:
        """Handle the relay's messages until the link is closed."""
        async for message in self._ws:
            if message.type is not WSMsgType.BINARY:
                return
            match decode_from_relay(message.data):
                case SignInRequest() as request:
                    await self._sign_in(request)
                    await self._yield_to_others()
                case RelayedRequest() as request:
                    self._start(self._answer(request))
                case StateRequest() as request:
                    await self._send_state(request)
                    await self._yield_to_others()
                case OriginNotice(origin):
                    self._start(self._live.opened(origin))
                case ClientClosed(client_id):
                    self._remove(client_id)
                case ReplayRequest(after):
                    await self.send(ReplayResponse(self._feed.batches_after(after)))
                case AttachRequest():
                    return

    async def send(self, message: FromOwner) -> None:
        with contextlib.suppress(ConnectionError):
            await self._ws.send_bytes(encode(message))

    def check(self, now: float) -> None:
        for client in list(self._clients.values()):
            client.check_token(now)
        self._start(self.send(Heartbeat(self._feed.number)))

    def forget_clients(self) -> None:
        clients, self._clients = self._clients, {}
        for client in clients.values():
            if client.session is not None:
                self._hub.remove(client.session.member_id, client)

    def abort(self) -> None:
        self._start(self._end())

    async def finish(self) -> None:
        """Wait for requests in progress to finish, then close the link."""
        unfinished: set[asyncio.Task[None]] = set()
        if self._tasks:
            _, unfinished = await asyncio.wait(self._tasks, timeout=_FINISH_WITHIN_S)
        await self._end(CloseCode.GOING_AWAY if unfinished else HANDED_OVER)

    async def _end(self, code: int = CloseCode.GOING_AWAY) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            await asyncio.wait_for(self._ws.close(code=code), _HEARTBEAT_INTERVAL_S)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _remove(self, client_id: int) -> None:
        if (client := self._clients.pop(client_id, None)) is not None and client.session is not None:
            self._hub.remove(client.session.member_id, client)

    def _add(self, client_id: int, session: Session, *, in_sight: bool = False, idle: bool = False) -> None:
        # The relay may be repeating a sign-in.
        self._remove(client_id)
        client = self._clients[client_id] = RemoteClient(self._feed, self.session, client_id)
        client.session, client.in_sight, client.idle = session, in_sight, idle
        self._hub.add(session.member_id, client)

    async def _sign_in(self, message: SignInRequest) -> None:
        if self._links.is_ending:
            await self.send(NotProcessed(message.request))
            return
        request = frames.Request(message.event, message.id, message.data)
        signing_in = self._live.signing_in
        try:
            session = signing_in.authenticate(request, time.time())
            # Do not await between these steps: the welcome, `number` and the hub's entry must reflect the
            # same moment.
            event, welcome = signing_in.welcome(session, is_resumed=message.is_resumed)
            number = self._feed.number
            self._add(message.page, session)
        except ChatError as fault:
            await self.send(ErrorResponse(message.request, fault.code, fault.message, dict(fault.more)))
            return
        frame = frames.reply(event, message.id, welcome)
        await self.send(StateResponse(message.request, number, SessionRecord.of(session), frame))

    async def _send_state(self, message: StateRequest) -> None:
        client = self._clients.get(message.page)
        if client is None or client.session is None or self._links.is_ending:
            await self.send(NotProcessed(message.request))
            return
        signing_in = self._live.signing_in
        event, welcome = signing_in.state(client.session, with_present=message.with_online)
        number = self._feed.number
        frame = frames.push(event, welcome)
        await self.send(StateResponse(message.request, number, SessionRecord.of(client.session), frame))

    async def _answer(self, message: RelayedRequest) -> None:
        client = self._clients.get(message.page)
        if client is None or client.session is None or self._links.is_ending:
            await self.send(NotProcessed(message.request))
            return
        request = frames.Request(message.event, message.id, message.data)
        frame = await self._live.answer_at_its_pace(client, request)
        session = SessionRecord.of(client.session)
        await self.send(RelayedResponse(message.request, frame, session, client.in_sight, client.idle))

    async def _yield_to_others(self) -> None:
        """Let other tasks run, unless they ran a moment ago.

        A relay that attaches to a new owner sends thousands of state requests, and reading them does not
        yield.
        """
        now = asyncio.get_running_loop().time
        if now() - self._yielded_at > _MAX_TURN_S / max(self._links.count, 1):
            await asyncio.sleep(0)
            self._yielded_at = now()
