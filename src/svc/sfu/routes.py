"""The HTTP side of the media service: health, metrics, and the doors to its WebSockets.

`/server` is the chat server's, every other path a participant's; without an upgrade they
answer 400 with one sentence. Decides who may knock, not who may join.
Spec: media document sections 4 and 7.
"""

import asyncio
import logging
from datetime import UTC, datetime
from importlib.metadata import version
from ipaddress import IPv6Address, ip_address, ip_network

from aiohttp import web

from svc.base import logs
from svc.sfu.closing import CloseCode
from svc.sfu.connection import Connection, Socket
from svc.sfu.control import Control, control_pace
from svc.sfu.measurements import Measurements
from svc.sfu.pace import Pace
from svc.sfu.participant import Participant, participant_pace
from svc.sfu.service import Service

# Who has not joined stays 10 s at most; this many of them at once are a flood.
MAX_CONNECTIONS_BEYOND_PEERS = 1_000

_NEARBY = [
    ip_network(network)
    for network in (
        *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"),
        *("::1/128", "fc00::/7", "fe80::/10"),
    )
]
# A proxy's word that a request came from elsewhere.
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP")

logger = logging.getLogger(__name__)


class Routes:
    """The handlers of one service."""

    def __init__(self, service: Service, measurements: Measurements, *, control_from_anywhere: bool) -> None:
        self._service = service
        self._measurements = measurements
        self._control_from_anywhere = control_from_anywhere
        self._version = version("svc-server")

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/health", self.health)
        application.router.add_get("/metrics", self.metrics)
        application.router.add_route("*", "/server", self.control)
        application.router.add_route("*", "/{path:.*}", self.participant)
        return application

    async def health(self, _: web.Request) -> web.Response:
        if not self._service.ready:
            body = {"status": "starting", "detail": "verifying UDP connectivity"}
            return web.json_response(body, status=503)
        moment = datetime.fromtimestamp(self._service.wall_clock(), UTC)
        return web.json_response(
            {
                "status": "healthy",
                "service": "sfu",
                "version": self._version,
                "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            }
        )

    async def metrics(self, _: web.Request) -> web.Response:
        body, content_type = self._measurements.exposition()
        return web.Response(body=body, headers={"Content-Type": content_type})

    async def control(self, request: web.Request) -> web.StreamResponse:
        if not self._control_from_anywhere and not _is_nearby(request):
            raise web.HTTPForbidden(text="Control connections are accepted from this network only.")
        return await self._attend(request, control_pace(), Control)

    async def participant(self, request: web.Request) -> web.StreamResponse:
        return await self._attend(request, participant_pace(), Participant)

    async def _attend(
        self, request: web.Request, pace: Pace, conversation: type[Control] | type[Participant]
    ) -> web.StreamResponse:
        """Upgrade the request to a WebSocket and serve it until it ends."""
        socket = Socket(request.transport)
        if not socket.can_prepare(request):
            raise web.HTTPBadRequest(text="This is the voice server: connect to it by WebSocket.")
        if self._service.leaving:
            raise web.HTTPServiceUnavailable(text="The voice server is shutting down.")
        connections = self._service.connections
        if len(connections) >= self._service.rooms.max_peers + MAX_CONNECTIONS_BEYOND_PEERS:
            raise web.HTTPServiceUnavailable(text="Too many connections.")
        await socket.prepare(request)
        connection = Connection(socket, pace)
        connections.add(connection)
        if self._service.leaving:  # Since we began to answer.
            connection.close(CloseCode.GOING_AWAY, "The voice server is shutting down")
        logs.name_request()
        fields = {"path": request.path[:64], "remote": request.remote}
        logger.debug("connection opened", extra=fields)
        try:
            await _serve(connection, conversation(connection, self._service))
        finally:
            connections.discard(connection)
            logger.debug("connection closed", extra={**fields, "code": socket.close_code})
        return socket


async def _serve(connection: Connection, conversation: Control | Participant) -> None:
    writer = asyncio.create_task(connection.write())
    try:
        await conversation.talk()
    except Exception:
        logger.exception("connection failed")
        connection.close(CloseCode.FAULT, "Internal error")
    finally:
        connection.close(CloseCode.GOING_AWAY, "")
        await writer


def _is_nearby(request: web.Request) -> bool:
    """Whether the request comes from this machine or a private network, and not through a proxy."""
    if request.remote is None or any(name in request.headers for name in _FORWARDED):
        return False
    address = ip_address(request.remote.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    return any(address in network for network in _NEARBY)
