"""The chat server put together: features, routes, what every answer carries, start and stop.

The only file that knows all features; contains no rules of its own.
Spec: chat document sections 1 and 4.1.
"""

import asyncio
import contextlib
import logging
import random
import signal
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

from aiohttp import ClientSession, ClientTimeout, web
from aiohttp.typedefs import Handler, Middleware

import svc
from svc.base import logs
from svc.base.backoff import Backoff
from svc.base.config import ConfigError
from svc.base.metrics import Registry
from svc.chat.access.origins import Origins
from svc.chat.access.tokens import AccessTokens
from svc.chat.config import ChatConfig, MediaConfig
from svc.chat.errors import ChatError, from_status
from svc.chat.joining.invite import invite_code
from svc.chat.joining.routes import JoiningRoutes
from svc.chat.joining.rules import Joining
from svc.chat.live.hub import Hub
from svc.chat.live.socket import LiveSockets
from svc.chat.pages.routes import Pages
from svc.chat.status.routes import Status
from svc.chat.voice.routes import SignallingPassThrough, VoiceEvents
from svc.chat.voice.rules import MediaAccess, Voice
from svc.chat.voice.sfu_link import Registration, SfuLink

MAX_BODY_BYTES = 64 * 1024
# People in a call notice each second, and the media service is near.
FIRST_RECONNECT_S = 0.2
LAST_RECONNECT_S = 2.0
SHUTDOWN_DEADLINE_S = 5.0
WEB_FOLDER = Path(svc.__file__).parent / "web"

logger = logging.getLogger(__name__)


def run(config: ChatConfig) -> None:
    """Serve until SIGTERM or SIGINT. Raises ConfigError when it cannot start."""
    logs.configure(sys.stderr, debug=False)
    asyncio.run(_run(config))


async def _run(config: ChatConfig) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serving(config) as address:
        logger.info("listening", extra={"address": address})
        await stop.wait()


@contextlib.asynccontextmanager
async def serving(config: ChatConfig) -> AsyncIterator[str]:
    """A running server; yields its address."""
    async with ClientSession(timeout=ClientTimeout()) as session:
        runner = web.AppRunner(build(config, session), access_log=None, shutdown_timeout=SHUTDOWN_DEADLINE_S)
        await runner.setup()
        try:
            try:
                await web.TCPSite(runner, config.host, config.port).start()
            except OSError as fault:
                where = f"HOST {config.host}, PORT {config.port}"
                raise ConfigError(f"Cannot listen on {where}: {fault.strerror}") from None
            host, port = runner.addresses[0][:2]
            yield f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        finally:
            await runner.cleanup()


def build(config: ChatConfig, session: ClientSession) -> web.Application:
    """The application, not yet listening; `session` makes its connections."""
    media = config.media
    origins = Origins(config.allowed_origins)
    tokens = AccessTokens(config.jwt_secret)
    hub = Hub()
    voice = Voice(media.channels, _media_access(media), hub.push, _new_id)
    link = _link(session, media, voice)
    pass_through = SignallingPassThrough(session, f"{media.url}/client", origins)
    live = LiveSockets(
        hub, tokens, origins, voice.welcome, {"voice_join": VoiceEvents(voice, link).voice_join}
    )
    joining = Joining(invite_code(config.data_dir), tokens, _new_id)
    registry = _measurements(hub, pass_through, link)

    application = web.Application(
        client_max_size=MAX_BODY_BYTES, middlewares=[_one_error_shape, _cross_origin(origins)]
    )
    application.on_response_prepare.append(_headers(origins, media.public_urls))
    for routes in (live, JoiningRoutes(joining), Status(config.server_name, registry), Pages(WEB_FOLDER)):
        application.add_routes(routes.table())
    application.on_shutdown.append(lambda _: live.close_all())
    if media.url:
        application.add_routes(pass_through.table())
        application.on_shutdown.append(lambda _: pass_through.close_all())
        application.cleanup_ctx.append(_kept_up(link))
    return application


def _new_id() -> str:
    return str(uuid.uuid4())


def _media_access(media: MediaConfig) -> MediaAccess:
    # A page tries these in turn; our own address reaches the media service in any case.
    urls = [*(f"{url}/client" for url in media.public_urls), "/sfu/client"]
    return MediaAccess(media.server_id, media.server_password, urls, media.stun_servers)


def _link(session: ClientSession, media: MediaConfig, voice: Voice) -> SfuLink:
    rooms = [channel.id for channel in media.channels]
    registration = Registration(media.server_id, media.server_password, rooms)
    backoff = Backoff(FIRST_RECONNECT_S, LAST_RECONNECT_S, jitter=random.random)
    return SfuLink(session, f"{media.url}/server", registration, voice.occupancy, backoff)


def _kept_up(link: SfuLink) -> Callable[[web.Application], AsyncIterator[None]]:
    async def keep_up(_: web.Application) -> AsyncIterator[None]:
        task = asyncio.create_task(link.run())
        yield
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    return keep_up


def _measurements(hub: Hub, pass_through: SignallingPassThrough, link: SfuLink) -> Registry:
    registry = Registry()
    gauges: dict[str, tuple[str, Callable[[], float]]] = {
        "svc_chat_live_connections_active": ("Pages signed in on the live socket", lambda: len(hub)),
        "svc_chat_signalling_connections_active": (
            "Participants passed through to the media service",
            lambda: len(pass_through),
        ),
        "svc_chat_sfu_link_up": ("Is the media service connected and in step?", lambda: link.in_step),
    }
    for name, (description, value) in gauges.items():
        registry.gauge(name, description).set_function(value)
    return registry


@web.middleware
async def _one_error_shape(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every refusal and every fault answers with the same body."""
    headers: dict[str, str] = {}
    try:
        return await handler(request)
    except ChatError as refusal:
        problem = refusal
    except web.HTTPException as fault:
        problem = from_status(fault.status)
        headers = {name: fault.headers[name] for name in ("Allow",) if name in fault.headers}
    except Exception:
        logger.exception("request failed", extra={"method": request.method, "path": request.path})
        problem = ChatError("internal_error")
    return web.json_response(problem.body(), status=problem.status, headers=headers)


def _cross_origin(origins: Origins) -> Middleware:
    @web.middleware
    async def check_origin(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Only pages that may use this server reach its API; others' preflights are answered."""
        if not request.path.startswith("/api/"):
            return await handler(request)
        if not origins.permits(request.headers.get("Origin"), request.host):
            raise ChatError("origin_refused")
        if request.method == "OPTIONS":
            return web.Response(status=204)
        return await handler(request)

    return check_origin


def _headers(
    origins: Origins, public_urls: Sequence[str]
) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    media = "".join(f" {url}" for url in public_urls)
    usual = {
        "Content-Security-Policy": (
            f"default-src 'self'; connect-src 'self'{media}; img-src 'self' data: blob:; "
            "media-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        ),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Server": "svc",
    }

    async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
        """What every answer carries, and what pages of other permitted sites need."""
        for name, value in usual.items():
            response.headers.setdefault(name, value)
        origin = request.headers.get("Origin")
        if origin is not None and origins.is_listed(origin):
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
            response.headers["Access-Control-Allow-Methods"] = "GET, POST, PUT, PATCH, DELETE"
            response.headers["Vary"] = "Origin"

    return add_headers
