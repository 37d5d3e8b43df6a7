"""Runs the HTTP server that serves the community, with its middleware and response headers.

Contains no business logic and is independent of all features. See ARCHITECTURE.md and docs/http.md.
"""

import asyncio
import contextlib
import logging
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from aiohttp import ClientSession, ClientTimeout, web
from aiohttp.typedefs import Handler, Middleware

from svc.base import logs
from svc.base.commit_log import CommitLog
from svc.base.config_parsing import ConfigError, is_loopback
from svc.base.control_socket import Handler as ControlHandler
from svc.base.control_socket import listening
from svc.base.data_folder import hold
from svc.base.database import Database, DatabaseError
from svc.base.fair_loop import FairLoop, new_loop
from svc.base.garbage_collector import collect_rarely, collect_when_quiet
from svc.base.http_connections import recognise
from svc.base.http_server import Runner
from svc.base.listeners import tcp_sockets
from svc.base.metrics import Registry
from svc.base.migrations import migrations_in
from svc.base.open_file_limit import raise_limit
from svc.base.query_pool import reading_for
from svc.base.tasks import cancel_and_wait, stop_event
from svc.chat import http_port
from svc.chat.access.checked_writes import on_authority_of
from svc.chat.access.directory import Directory
from svc.chat.access.endpoint_permissions import ENDPOINTS, Audience, check
from svc.chat.access.origins import Origins
from svc.chat.access.rate_limits import RateLimits
from svc.chat.access.tokens import AccessTokens
from svc.chat.authentication.trusted_issuers import read_or_create_server_id
from svc.chat.community import DATABASE_NAME, SCHEMA_FOLDER, Community
from svc.chat.config import ChatConfig
from svc.chat.errors import ChatError
from svc.chat.http import CLIENT_GONE, SESSION, TRUSTED_HOPS, json_errors
from svc.chat.http_port import Flags
from svc.chat.live.hub import Hub
from svc.chat.response_headers import REQUEST_ID, adding_headers, strict_transport
from svc.chat.server_status.measurements import RequestCounts
from svc.chat.settings import management_listener
from svc.chat.settings.mdns_advertiser import advertise
from svc.chat.settings.mdns_records import AdvertisedServer
from svc.chat.tls import TlsFiles
from svc.chat.uploads.protocols import OPTIONS

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Replication:
    """The parts of a cluster node that the chat server uses, such as its commit log and commands."""

    log: CommitLog
    # Adds the node's commands to the server's.
    commands: Callable[[ControlHandler], ControlHandler]
    # Adds the node's metrics to the server's.
    measure: Callable[[Registry], None]
    # Sends events to the relays and to the clients connected to this process.
    hub: Hub
    # Returns whether this node is certain that it owns the community. If not, members' requests are rejected.
    is_current: Callable[[], bool]
    # Passes connections on the port to the given server, which must already be set up. Yields the
    # server's URL.
    port: Callable[[web.Server], contextlib.AbstractAsyncContextManager[str]]
    # Functions that serve this community's relays.
    relay_routes: Callable[[Community], list[web.RouteDef]]
    relay_task: Callable[[], Awaitable[None]]
    end_relays: Callable[[], Awaitable[None]]


class InFlightRequests:
    """The requests in progress, tracked for a graceful shutdown.

    Install `middleware` inside the middleware that formats errors.
    """

    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[object]] = set()
        self._begun = False
        self._finished = asyncio.Event()

    def middleware(self) -> Middleware:
        @web.middleware
        async def count(request: web.Request, handler: Handler) -> web.StreamResponse:
            """Reject new requests on kept-alive connections during shutdown."""
            if self._begun:
                raise ChatError("server_stopping")
            task = asyncio.current_task()
            assert task is not None, "a handler runs in its connection's task"
            self._under_way.add(task)
            try:
                return await handler(request)
            finally:
                self._under_way.discard(task)
                if not self._under_way:
                    self._finished.set()

        return count

    async def close_connection(self, _: web.Request, response: web.StreamResponse) -> None:
        """Close the connection after this response if the server is shutting down."""
        if self._begun:
            response.force_close()

    def begin(self) -> None:
        """Reject new requests from now on."""
        self._begun = True

    async def wait_idle(self, deadline_s: float) -> None:
        """Wait up to `deadline_s` for all requests in progress, then abort them. Call `begin` first."""
        try:
            async with asyncio.timeout(deadline_s):
                while self._under_way:
                    self._finished.clear()
                    await self._finished.wait()
        except TimeoutError:
            logger.warning("requests aborted at shutdown", extra={"count": len(self._under_way)})
            for task in self._under_way:
                task.cancel()


MAX_BODY_BYTES = 64 * 1024
# How long requests in progress may continue during shutdown. Downloading a webhook message's images takes up
# to 12 s.
SHUTDOWN_DEADLINE_S = 15.0
# How long sending a response may take during shutdown.
LAST_WORDS_S = 2.0
NO_FLAGS = Flags()


def run(config: ChatConfig, flags: Flags = NO_FLAGS) -> None:
    """Run the server until SIGTERM or SIGINT. Raises ConfigError if it cannot start."""
    logs.configure(sys.stderr, debug=False)
    raise_limit()
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(_run(config, flags))


@contextlib.asynccontextmanager
async def open_database(config: ChatConfig, log: CommitLog | None = None) -> AsyncIterator[Database]:
    """Open the database in DATA_DIR and lock the folder. Raises ConfigError."""
    with hold(config.data_dir):
        path = config.data_dir / DATABASE_NAME
        try:
            database = await Database.open(
                path, migrations_in(SCHEMA_FOLDER), config.data_dir / "backups", log
            )
        except DatabaseError as fault:
            raise ConfigError(str(fault)) from None
        try:
            yield database
        finally:
            if log is not None:
                log.stop()
            await database.close()


async def _run(config: ChatConfig, flags: Flags) -> None:
    stop = stop_event()
    async with serving(config, flags) as address:
        if is_loopback(config.host):
            logger.warning("only this machine can reach the server", extra={"host": config.host})
        instance = {"instance": config.operating.instance_id} if config.operating.instance_id else {}
        logger.info("listening", extra={"address": address, **instance})
        collect_rarely()
        await stop.wait()


@contextlib.asynccontextmanager
async def serving(
    config: ChatConfig, flags: Flags = NO_FLAGS, replication: Replication | None = None
) -> AsyncIterator[str]:
    """Run a server and yield its URL. With `replication`, it is the owner node of a cluster.

    When the block ends, the server refuses new connections, notifies clients, and waits for requests in
    progress.
    """
    files = flags.tls_files()
    # Request uncompressed responses, because a small compressed response from an issuer could expand to
    # gigabytes.
    identity = {"Accept-Encoding": "identity"}
    async with (
        open_database(config, replication.log if replication is not None else None) as database,
        ClientSession(
            timeout=ClientTimeout(), headers=identity, auto_decompress=False, max_headers=64
        ) as session,
    ):
        logger.info("database opened", extra={"sqlite": database.sqlite_version})
        machine = socket.gethostname()
        hub = replication.hub if replication is not None else None
        community = Community(config, session, database, secure=files is not None, machine=machine, hub=hub)
        await community.load()
        loop = asyncio.get_running_loop()
        if isinstance(loop, FairLoop):
            loop.owner_of = lambda head: community.tokens.member_in(head, time.time())
        commands: ControlHandler = community.commands.run
        if replication is not None:
            community.directory.is_current = replication.is_current
            commands = replication.commands(commands)
            replication.measure(community.registry)
        control = listening(config.data_dir, commands)
        managed = management_listener.listening(community.settings, config.operating, flags.admin_host)
        in_flight = InFlightRequests()
        application = build(community, config, in_flight, replication)
        if files is not None:
            application.on_response_prepare.append(strict_transport(files))
        runner = Runner(application, shutdown_timeout=LAST_WORDS_S)
        await runner.setup()
        try:
            async with (
                managed,
                control,
                _port_of(runner, config, flags, files, replication) as address,
                advertise(community.settings, _mdns_info(config, community.settings.current.name, address)),
            ):
                community.address = address
                yield address
        finally:
            in_flight.begin()
            if replication is not None:
                await replication.end_relays()
            await community.send_goodbye()
            await in_flight.wait_idle(SHUTDOWN_DEADLINE_S)
            await runner.cleanup()


def _port_of(
    runner: Runner, config: ChatConfig, flags: Flags, files: TlsFiles | None, replication: Replication | None
) -> contextlib.AbstractAsyncContextManager[str]:
    server = runner.server
    assert server is not None, "the runner has been set up"
    if replication is not None:
        return replication.port(server)
    sockets = tcp_sockets(flags.listen_fds, config.host, config.port)
    return http_port.accept_connections(server, sockets, files, http_port.table_of(config.trusted_proxy_hops))


def _mdns_info(config: ChatConfig, name: str, address: str) -> AdvertisedServer:
    """Return the mDNS advertisement for the server at the URL `address`."""
    parts = urlsplit(address)
    server_id = read_or_create_server_id(config.identity.server_id, config.data_dir)
    return AdvertisedServer(
        name,
        server_id,
        parts.hostname or "",
        parts.port or 0,
        config.identity.names,
        config.operating.mdns_interface,
    )


def build(
    community: Community,
    config: ChatConfig,
    in_flight: InFlightRequests,
    replication: Replication | None = None,
) -> web.Application:
    """Return the application without starting it."""
    application = web.Application(
        client_max_size=MAX_BODY_BYTES,
        middlewares=[
            _name_request,
            _count_requests(community.tally),
            json_errors,
            in_flight.middleware(),
            _cross_origin(community.origins),
            _by_the_catalogue(community.tokens, community.directory, community.pace),
        ],
    )
    application[TRUSTED_HOPS] = config.trusted_proxy_hops
    application.on_response_prepare.append(adding_headers(community.origins, config.media.public_urls))
    application.add_routes(community.routes())
    application.on_response_prepare.append(in_flight.close_connection)
    tasks = [*community.tasks(), collect_when_quiet]
    if replication is not None:
        application.add_routes(replication.relay_routes(community))
        tasks.append(replication.relay_task)
    for task in tasks:
        application.cleanup_ctx.append(_running(task))
    return application


def _running(task: Callable[[], Awaitable[None]]) -> Callable[[web.Application], AsyncIterator[None]]:
    async def background(_: web.Application) -> AsyncIterator[None]:
        running = asyncio.ensure_future(task())
        yield
        await cancel_and_wait(running)

    return background


@web.middleware
async def _name_request(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Give each request an id, which log lines and the response include, so that users can quote it."""
    request[REQUEST_ID] = logs.name_request()
    return await handler(request)


def _count_requests(tally: RequestCounts) -> Middleware:
    @web.middleware
    async def count(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Count requests by route and status. A client that disconnects before its response counts as status
        499.
        """
        status = CLIENT_GONE
        try:
            response = await handler(request)
            status = response.status
            return response
        finally:
            resource = request.match_info.route.resource
            # An unknown path must not become a metric label, because anybody can request any path.
            route = f"{request.match_info.route.method} {resource.canonical}" if resource else "none"
            tally.http[route, str(status)] += 1

    return count


def _cross_origin(origins: Origins) -> Middleware:
    @web.middleware
    async def check_origin(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Reject requests from origins that are not permitted, and respond to CORS preflights from those that
        are.
        """
        if not request.path.startswith("/api/") or _is_open_to_all_pages(request):
            return await handler(request)
        if not origins.permits(request.headers.get("Origin"), request.host):
            raise ChatError("origin_refused")
        if request.method == "OPTIONS":
            return web.Response(status=204, headers=OPTIONS)
        return await handler(request)

    return check_origin


def _is_open_to_all_pages(request: web.Request) -> bool:
    route = request.match_info.route
    needs = ENDPOINTS.get(f"{route.method} {route.resource.canonical}") if route.resource else None
    return needs is not None and needs.any_origin


def _by_the_catalogue(tokens: AccessTokens, directory: Directory, pace: RateLimits) -> Middleware:
    @web.middleware
    async def admit(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Enforce the endpoint's permission and rate limit, and store the member's session in the request."""
        resource = request.match_info.route.resource
        if resource is None:  # aiohttp responds to unknown paths and methods.
            return await handler(request)
        method = request.match_info.route.method.replace("HEAD", "GET")
        endpoint = f"{method} {resource.canonical}"
        needs = ENDPOINTS[endpoint]
        if needs.who is not Audience.ANYONE:
            scheme, _, token = request.headers.get("Authorization", "").partition(" ")
            if scheme.lower() != "bearer":
                raise ChatError("auth_required")
            session = tokens.verify(token.strip(), time.time())
            recognise(request, session.member_id)
            await pace.admit(session.member_id, endpoint)
            check(needs, directory, session.member_id)
            request[SESSION] = session

            def check_again() -> None:
                tokens.require_standing(session)
                check(needs, directory, session.member_id)

            with on_authority_of(check_again), reading_for(session.member_id):
                return await handler(request)
        return await handler(request)

    return admit
