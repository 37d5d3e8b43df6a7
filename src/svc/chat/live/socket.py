"""Serves `/live`, the WebSocket over which each client signs in, sends requests and receives events.

If a member sends too many requests, they are read more slowly. A client that reads too slowly or does not
sign in is disconnected. This module is independent of the features: it passes requests to the given handlers.
See docs/live.md.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import WSMessage, WSMsgType, web

from svc.base.connections import WaitingQueue
from svc.base.database import StorageFailed
from svc.base.http_connections import recognise
from svc.base.query_pool import reading_for
from svc.chat.access import rate_limits
from svc.chat.access.checked_writes import on_authority_of
from svc.chat.access.endpoint_permissions import EVENTS, check
from svc.chat.access.origins import Origins
from svc.chat.access.rate_limits import RateLimits
from svc.chat.access.tokens import Session
from svc.chat.endpoints import Handler
from svc.chat.errors import ChatError
from svc.chat.http import client_address
from svc.chat.live import frames
from svc.chat.live.client import HEARTBEAT_S, ConnectedClient, LocalClient, WebSocket
from svc.chat.live.endpoints import ClientEndpoints
from svc.chat.live.frames import CloseCode
from svc.chat.live.hub import Hub
from svc.chat.live.responses import Hello, SocketLimits
from svc.chat.live.sign_in import ClientSignIn

AUTHENTICATION_DEADLINE_S = 10.0
# The maximum number of sockets. Each takes about 30 KB and a file descriptor.
MAX_SOCKETS = 4096
# The limit for unauthenticated sockets. A quarter of all sockets is enough when many members reconnect at the
# same time. Above this limit, the oldest socket from the IP address with the most unauthenticated sockets is
# closed. A client with a valid token can therefore still connect, even from that address.
MAX_UNSIGNED = 1024
CHECK_INTERVAL_S = 1.0

logger = logging.getLogger(__name__)


class SocketServer:
    """A server of live sockets. Subclasses sign clients in and reply to their requests.

    `run` is a background task.
    """

    def __init__(self, hub: Hub, origins: Origins, server_id: str) -> None:
        self._hub = hub
        self._origins = origins
        self._hello = hello_of(server_id)
        self._unsigned: WaitingQueue[LocalClient] = WaitingQueue()
        self._clients: set[LocalClient] = set()
        # Set while clients are connected. The checks run only then.
        self._has_clients = asyncio.Event()

    def table(self) -> list[web.RouteDef]:
        return [web.get("/live", self.serve)]

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self._admit(request)
        if (transport := request.transport) is None:  # The client has already disconnected.
            return web.Response()
        ws = WebSocket(transport)
        await ws.prepare(request)
        client = LocalClient(ws, self._hub.scheduler)
        self._make_room(MAX_UNSIGNED)
        self._clients.add(client)
        self._has_clients.set()
        self._unsigned.add(client, client_address(request).limited_as)
        try:
            client.send(self._hello)
            if await self._sign_in(client):
                assert client.session is not None, "somebody has signed in"
                recognise(request, client.session.member_id)
                await self.opened(request.headers.get("Origin"))
                await self._read(client)
        except OSError:
            logger.debug("live connection lost")
        finally:
            self._clients.discard(client)
            self._unsigned.discard(client)
            if client.session is not None:
                self._hub.remove(client.session.member_id, client)
            self._left(client)
            await client.ended()
        return ws

    async def run(self) -> None:
        """Disconnect clients that have stopped reading or have an expired token."""
        loop = asyncio.get_running_loop()
        while True:
            await self._has_clients.wait()
            await asyncio.sleep(CHECK_INTERVAL_S)
            if not self._clients:
                self._has_clients.clear()
            for client in list(self._clients):
                client.check(loop.time(), time.time())

    async def close_all(self) -> None:
        """Disconnect every client. Clients reconnect when the server is back."""
        clients = list(self._clients)
        for client in clients:
            client.cut_off(CloseCode.GOING_AWAY, "The server is stopping")
        await asyncio.gather(*(client.ended() for client in clients))

    def _admit(self, request: web.Request) -> None:
        if not self._origins.permits(request.headers.get("Origin"), request.host):
            raise ChatError("origin_refused")
        if len(self._clients) >= MAX_SOCKETS and not self._make_room(0):
            raise ChatError("too_many_connections")

    def _make_room(self, maximum: int) -> bool:
        """Close the unauthenticated connection that `evict` chooses, if there are at least `maximum` of them.
        Return whether a connection was closed.
        """
        client = self._unsigned.evict(maximum)
        if client is None:
            return False
        self._clients.discard(client)
        # Send no close frame, because in a flood each close would take seconds.
        client.ws.transport.abort()
        return True

    async def _sign_in(self, client: LocalClient) -> bool:
        """Authenticate the client. On failure, send it the reason and return False."""
        request_id: frames.RequestId | None = None
        try:
            async with asyncio.timeout(AUTHENTICATION_DEADLINE_S):
                message = await client.ws.receive()
            if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                return False
            text = _text(message)
            if len(text) > frames.MAX_FIRST_CHARACTERS:
                raise ChatError("auth_required")
            request = frames.parse(text)
            request_id = request.id
            await self._welcome(client, request)
            return True
        except TimeoutError:
            problem = ChatError("auth_required")
        except ChatError as refusal:
            problem = refusal
        client.send(frames.error(problem, request_id))
        client.cut_off(CloseCode.REFUSED, problem.code)
        return False

    async def _welcome(self, client: LocalClient, request: frames.Request) -> None:
        """Process the first request: send the welcome, and `_enter` the client. Raises ChatError."""
        raise NotImplementedError

    async def opened(self, origin: str | None) -> None:
        """Record the origin of a client that has signed in."""

    def _wait_s(self, client: LocalClient, event: str) -> float:
        """Return how long the member's rate limit delays a request."""
        return 0.0

    async def _answer(self, client: LocalClient, request: frames.Request | ChatError) -> bytes:
        """Return the reply to a request."""
        raise NotImplementedError

    def _left(self, client: LocalClient) -> None:
        """Handle a client's disconnection."""

    def _enter(self, client: LocalClient, session: Session) -> None:
        client.session = session
        self._unsigned.discard(client)
        self._hub.add(session.member_id, client)

    async def _read(self, client: LocalClient) -> None:
        assert client.session is not None, "requests are read when somebody has signed in"
        async for message in client.ws:
            request = _request(message)
            event = request.event if isinstance(request, frames.Request) else ""
            if delay_s := self._wait_s(client, event):
                await asyncio.sleep(delay_s)
            if client.is_ending:
                break
            client.send(await self._answer(client, request))


class LiveSockets(SocketServer):
    """The server of `/live`, which signs clients in and passes their requests to handlers.

    `handlers` are keyed by event. `opened` is called with the Origin of each client that signs in.
    """

    def __init__(
        self,
        hub: Hub,
        signing_in: ClientSignIn,
        origins: Origins,
        rate_limits: RateLimits,
        server_id: str,
        handlers: Mapping[str, Handler],
        opened: Callable[[str | None], Awaitable[None]],
    ) -> None:
        super().__init__(hub, origins, server_id)
        self.signing_in = signing_in
        self._pace = rate_limits
        self._handlers = handlers
        self._opened = opened

    async def _welcome(self, client: LocalClient, request: frames.Request) -> None:
        # Do not await between the welcome and `_enter`, or events in between would be lost.
        session, welcome = self.signing_in.first(request, time.time())
        client.send_welcome(welcome)
        self._enter(client, session)

    async def opened(self, origin: str | None) -> None:
        await self._opened(origin)

    def _wait_s(self, client: LocalClient, event: str) -> float:
        assert client.session is not None, "requests are read when somebody has signed in"
        return self._pace.wait_s(client.session.member_id, event)

    async def answer_at_its_pace(self, client: ConnectedClient, request: frames.Request) -> bytes:
        """Return the reply to a request from a client on a relay, delayed by the rate limit."""
        assert client.session is not None, "a relay passes on requests from members"
        if delay_s := self._pace.wait_s(client.session.member_id, request.event):
            await asyncio.sleep(delay_s)
        return await self._answer(client, request)

    async def _answer(self, client: ConnectedClient, request: frames.Request | ChatError) -> bytes:
        if isinstance(request, ChatError):
            return frames.error(request, None)
        request_id, event = request.id, request.event
        try:
            return frames.reply(request.event, request_id, await self._handle(client, request))
        except ChatError as problem:
            return frames.error(problem, request_id)
        except StorageFailed as fault:
            refusal = ChatError("storage_unavailable", fault.reason_for_clients)
            return frames.error(refusal, request_id)
        except Exception:
            member_id = client.session.member_id if client.session else ""
            logger.exception("live request failed", extra={"event": event, "member": member_id})
            return frames.error(ChatError("internal_error"), request_id)

    async def _handle(self, client: ConnectedClient, request: frames.Request) -> object:
        assert client.session is not None, "requests are read when somebody has signed in"
        event = request.event
        handler = self._handlers.get(event) or self._own_handler(client, event)
        session, needs = client.session, EVENTS[event]

        def check_again() -> None:
            self.signing_in.require_standing(session)
            check(needs, self._hub.directory, session.member_id)

        check_again()
        with on_authority_of(check_again), reading_for(session.member_id):
            return await handler(session, request.data)

    def _own_handler(self, client: ConnectedClient, event: str) -> Handler:
        """Return the handler for a request about the socket itself. Raises ChatError."""
        own = ClientEndpoints(client, self._hub, self.signing_in).handlers()
        if event not in own:
            raise ChatError("unknown_event")
        return own[event]


def hello_of(server_id: str) -> bytes:
    """Return the first frame of every socket."""
    limits = SocketLimits(frames.MAX_FRAME_BYTES, rate_limits.REQUEST_BURST, rate_limits.REQUESTS_PER_S)
    hello = Hello(server_id, int(HEARTBEAT_S * 1000), int(AUTHENTICATION_DEADLINE_S * 1000), limits)
    return frames.push("hello", hello)


def _request(message: WSMessage) -> frames.Request | ChatError:
    """Parse a message. Return the error if it is not a valid request."""
    try:
        return frames.parse(_text(message))
    except ChatError as refusal:
        return refusal


def _text(message: WSMessage) -> str:
    """Return the text of a text message. For any other message, return an empty string, which is not a valid
    request.
    """
    return message.data if message.type is WSMsgType.TEXT else ""
