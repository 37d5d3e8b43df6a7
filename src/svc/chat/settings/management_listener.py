"""Runs the management listener, through which an operator can change settings without being a member.

The listener has a separate port and exists only if a token is configured. Every request needs the token, and
requests from browsers are rejected. The sender's IP address is not checked, because the port is open only to
this machine. Settings are changed by the same code as for members. See docs/http.md, "The management
listener".
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from svc.base.config_parsing import ConfigError, port, text
from svc.base.grants import same_secret
from svc.base.http_connections import serve_http
from svc.base.http_server import Runner
from svc.base.listeners import address_of, bound
from svc.chat.errors import ChatError
from svc.chat.http import answer, body, json_errors
from svc.chat.settings.rules import Settings


@dataclass(frozen=True, slots=True)
class OperatingConfig:
    # The name or IP address of the interface to advertise on. Empty for all interfaces.
    mdns_interface: str
    instance_id: str
    # The version to report to clients. Empty for this program's own version.
    version: str
    # The management token. If empty, the listener is off.
    admin_token: str = field(repr=False)
    admin_port: int
    runtime_mode: str


def read(variables: Mapping[str, str]) -> OperatingConfig:
    """Read the configuration from variables. Raises ConfigError for invalid values."""
    return OperatingConfig(
        mdns_interface=text(variables, "MDNS_INTERFACE"),
        instance_id=text(variables, "SERVER_INSTANCE_ID"),
        version=text(variables, "SERVER_VERSION"),
        admin_token=text(variables, "SVC_ADMIN_TOKEN"),
        admin_port=port(variables, "SVC_ADMIN_PORT", 5099),
        runtime_mode=text(variables, "NODE_ENV"),
    )


MAX_BODY_BYTES = 64 * 1024
# The timeout for receiving a body. It can be short, because the longest change is one line and the sender is
# local.
BODY_DEADLINE_S = 10.0
# The maximum number of connections, enough for the operator's programs. If all are in use, an idle one is
# closed to make room.
MAX_CONNECTIONS = 32
_SHUTDOWN_DEADLINE_S = 2.0

logger = logging.getLogger(__name__)


@asynccontextmanager
async def listening(settings: Settings, config: OperatingConfig, host: str) -> AsyncIterator[str]:
    """Run the listener while the block runs. Yield its URL, or an empty string if it is off.

    Raises ConfigError if the port cannot be used.
    """
    if not config.admin_token:
        yield ""
        return
    runner = Runner(build(settings, config.admin_token), shutdown_timeout=_SHUTDOWN_DEADLINE_S)
    await runner.setup()
    try:
        try:
            sockets = bound(host, config.admin_port)
        except OSError as fault:
            where = f"--admin-host {host}, SVC_ADMIN_PORT {config.admin_port}"
            raise ConfigError(f"Cannot listen on {where}: {fault.strerror or fault}") from None
        async with serve_http(runner, sockets, MAX_CONNECTIONS):
            address = address_of(sockets[0], "http")
            logger.info("management listens", extra={"address": address})
            yield address
    finally:
        await runner.cleanup()


def build(settings: Settings, token: str) -> web.Application:
    """Return the application without starting it."""
    application = web.Application(
        client_max_size=MAX_BODY_BYTES, middlewares=[json_errors, _from_programs, _by_token(token)]
    )

    async def read(request: web.Request) -> web.Response:
        return answer(settings.current.specified_settings())

    async def read_all(request: web.Request) -> web.Response:
        return answer(settings.current)

    async def change(request: web.Request) -> web.Response:
        async with asyncio.timeout(BODY_DEADLINE_S):
            changes = await body(request)
        return answer(await settings.apply(changes, None, time.time()))

    async def health(request: web.Request) -> web.Response:
        return answer({"ok": True})

    application.router.add_get("/management/settings", read)
    application.router.add_patch("/management/settings", change)
    application.router.add_get("/management/settings/all", read_all)
    application.router.add_get("/management/health", health)
    application.on_response_prepare.append(_add_headers)
    return application


@web.middleware
async def _from_programs(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Reject requests from browsers, because any web page in a local browser could reach this port."""
    if "Origin" in request.headers or any(name.lower().startswith("sec-fetch-") for name in request.headers):
        raise ChatError(
            "origin_refused",
            "The management listener does not answer browsers: use svc admin settings or curl",
        )
    return await handler(request)


def _by_token(token: str) -> Middleware:
    @web.middleware
    async def admit(request: web.Request, handler: Handler) -> web.StreamResponse:
        """Reject a request without the token, before revealing which paths exist."""
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise ChatError("auth_required", "This needs the token of the management listener")
        if not same_secret(given.strip(), token):
            raise ChatError("token_invalid", "This is not the token of the management listener")
        return await handler(request)

    return admit


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers["Cache-Control"] = "no-store"
