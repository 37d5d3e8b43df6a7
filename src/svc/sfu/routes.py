"""Serves the media service's HTTP requests: health, metrics and WebSocket upgrades.

`/server` is for chat servers, and every other path is for participants. Requests without an upgrade get a
400. Decides which clients may connect, but not which may join. See docs/signalling.md.
"""

import asyncio
import logging
from datetime import UTC, datetime

from aiohttp import web

from svc.base import logs
from svc.base.addresses import is_nearby, rate_limit_key
from svc.base.connections import WaitingQueue
from svc.base.http_connections import recognise
from svc.base.package_version import package_version
from svc.base.token_bucket import TokenBucket
from svc.sfu.close_codes import CloseCode
from svc.sfu.control import Control, control_pace
from svc.sfu.measurements import Measurements
from svc.sfu.participant_connection import ParticipantConnection, participant_pace
from svc.sfu.sfu import Sfu
from svc.sfu.signalling_connection import Connection, Socket

# A client that does not join within 10 s is disconnected. More than this many unjoined clients at the same
# time indicate an attack. The service then drops the oldest connection from the address with the most
# connections, so that clients with valid tokens can still join.
MAX_NEWCOMERS = 1_000

# Headers that proxies add to the requests that they forward.
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP")

logger = logging.getLogger(__name__)


class Routes:
    def __init__(self, sfu: Sfu, measurements: Measurements, *, control_from_anywhere: bool) -> None:
        self._sfu = sfu
        self._measurements = measurements
        self._control_from_anywhere = control_from_anywhere
        # Connections that have neither joined nor presented a registration's secret.
        self._newcomers: WaitingQueue[Connection] = WaitingQueue()
        self._version = package_version()

    def application(self) -> web.Application:
        application = web.Application()
        application.router.add_get("/health", self.health)
        application.router.add_get("/metrics", self.metrics)
        application.router.add_route("*", "/server", self.control)
        application.router.add_route("*", "/{path:.*}", self.participant)
        return application

    async def health(self, _: web.Request) -> web.Response:
        if not self._sfu.ready:
            body = {"status": "starting", "detail": "verifying UDP connectivity"}
            return web.json_response(body, status=503)
        moment = datetime.fromtimestamp(self._sfu.wall_clock(), UTC)
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
        # Any Origin may connect, because some WebSocket clients send an Origin by default. Access depends
        # only on the credentials.
        return await self._attend(request, control_pace(), Control)

    async def participant(self, request: web.Request) -> web.StreamResponse:
        return await self._attend(request, participant_pace(), ParticipantConnection)

    async def _attend(
        self,
        request: web.Request,
        pace: TokenBucket,
        conversation: type[Control] | type[ParticipantConnection],
    ) -> web.StreamResponse:
        """Upgrade a request to a WebSocket and serve the WebSocket until it closes."""
        if request.transport is None:  # The client has already disconnected.
            return web.Response()
        socket = Socket(request.transport)
        if not socket.can_prepare(request):
            raise web.HTTPBadRequest(text="This is the voice server: connect to it by WebSocket.")
        if self._sfu.leaving:
            raise web.HTTPServiceUnavailable(text="The voice server is shutting down.")
        connections, newcomers = self._sfu.connections, self._newcomers
        await socket.prepare(request)
        connection = Connection(socket, pace)
        connections.add(connection)
        if leaving := newcomers.evict(MAX_NEWCOMERS):
            leaving.drop()
        newcomers.add(connection, rate_limit_key(request.remote or ""))

        def proven(owner: str) -> None:
            newcomers.discard(connection)
            recognise(request, owner)

        connection.on_proof = proven
        if self._sfu.leaving:  # The shutdown began during the upgrade.
            connection.close(CloseCode.GOING_AWAY, "The voice server is shutting down")
        logs.name_request()
        fields = {"path": request.path[:64], "remote": request.remote}
        logger.debug("connection opened", extra=fields)
        try:
            await _serve(connection, conversation(connection, self._sfu))
        finally:
            connections.discard(connection)
            newcomers.discard(connection)
            logger.debug("connection closed", extra={**fields, "code": socket.close_code})
        return socket


async def _serve(connection: Connection, conversation: Control | ParticipantConnection) -> None:
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
    """Return whether the request comes from this machine or a private network, without passing through a
    proxy.
    """
    if request.remote is None or any(name in request.headers for name in _FORWARDED):
        return False
    return is_nearby(request.remote)
