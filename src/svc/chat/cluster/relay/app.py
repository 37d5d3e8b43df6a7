"""Runs `svc relay`, which serves live sockets and the web client's files, and passes all other requests to
the owner.

A relay stores none of the community's data or secrets. Its only credential is its access to NATS. See
docs/cluster.md.
"""

import asyncio
import logging
import secrets
import sys
from collections.abc import Sequence
from socket import socket

from aiohttp import ClientSession, web
from nats.aio.client import Client

from svc.base import logs
from svc.base.config_parsing import ConfigError
from svc.base.fair_loop import new_loop
from svc.base.garbage_collector import collect_rarely, collect_when_quiet
from svc.base.http_server import Runner
from svc.base.listeners import tcp_sockets
from svc.base.metrics import Registry
from svc.base.open_file_limit import raise_limit
from svc.base.strict_json import dumps
from svc.base.tasks import stop_event, until_first_ends
from svc.chat import http_port
from svc.chat.cluster.measurements import RELAY_COUNTERS, RELAY_GAUGES
from svc.chat.cluster.nats_connection import ClusterError, connect, disconnect, flush
from svc.chat.cluster.owner_proxy import Proxy, session_to_owner
from svc.chat.cluster.relay.config import RelayConfig
from svc.chat.cluster.relay.link import OwnerLink
from svc.chat.cluster.relay.replica import RelayReplica
from svc.chat.cluster.relay.sockets import LearnedOrigins, RelaySockets
from svc.chat.cluster.relay_protocol import events_subject
from svc.chat.http import TRUSTED_HOPS, json_errors
from svc.chat.http_port import Flags
from svc.chat.pages.routes import WEB_FOLDER, Pages
from svc.chat.response_headers import strict_transport, usual_headers
from svc.chat.voice.pass_through import PASS_THROUGH, SignallingPassThrough

_SHUTDOWN_S = 2.0

logger = logging.getLogger(__name__)


def run(config: RelayConfig, flags: Flags) -> None:
    """Serve until SIGTERM or SIGINT. Raises ConfigError if it cannot start or continue."""
    logs.configure(sys.stderr, debug=False)
    raise_limit()
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(_run(config, flags))


async def _run(config: RelayConfig, flags: Flags) -> None:
    stop = stop_event()
    try:
        await Relay(config, flags).serve(stop)
    except ClusterError as fault:
        raise ConfigError(str(fault)) from None


class Relay:
    """The relay. Call `serve` once."""

    def __init__(self, config: RelayConfig, flags: Flags) -> None:
        self._config, self._flags = config, flags
        self._files = flags.tls_files()
        self._replica = RelayReplica()
        self._address = ""

    async def serve(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set. Raises ClusterError."""
        config, replica = self._config, self._replica
        sockets = tcp_sockets(self._flags.listen_fds, config.host, config.port)
        nats = await connect(config.servers)
        try:

            async def receive(message: object) -> None:
                replica.receive(message.data)  # type: ignore[attr-defined]

            await nats.subscribe(events_subject(config.name), cb=receive)
            await flush(nats)
            async with session_to_owner() as http:
                await self._serve(stop, nats, http, sockets)
        finally:
            await disconnect(nats)

    async def _serve(
        self, stop: asyncio.Event, nats: Client, http: ClientSession, sockets: Sequence[socket]
    ) -> None:
        config, replica = self._config, self._replica
        link = OwnerLink(config, secrets.token_hex(8), http, nats, replica, lambda: self._address)
        origins = LearnedOrigins([], secure=self._files is not None)
        live = RelaySockets(link, replica, origins)
        proxy = Proxy(link.owner_url, http, lambda: self._files is not None)
        link.on_replaced = proxy.abandon
        signalling = SignallingPassThrough(
            http, origins, lambda: _signalling_urls(link), proxy.handshake_headers
        )
        runner = Runner(self._build(link, live, proxy, signalling), shutdown_timeout=_SHUTDOWN_S)
        await runner.setup()
        try:
            async with http_port.accept_connections(
                runner.server, sockets, self._files, http_port.table_of(config.trusted_proxy_hops)
            ) as address:
                self._address = address
                logger.info("listening", extra={"address": address, "relay": config.relay})
                collect_rarely()
                await until_first_ends(stop.wait(), link.run(), live.run(), collect_when_quiet())
        finally:
            await live.close_all()
            await signalling.close_all()
            await runner.cleanup()

    def _build(
        self, link: OwnerLink, live: RelaySockets, proxy: Proxy, signalling: SignallingPassThrough
    ) -> web.Application:
        application = web.Application(middlewares=[json_errors])
        application[TRUSTED_HOPS] = self._config.trusted_proxy_hops
        if self._files is not None:
            application.on_response_prepare.append(strict_transport(self._files))
        registry = self._measurements(link, live, proxy, signalling)

        async def health(_: web.Request) -> web.Response:
            return self._health(link, live)

        async def metrics(_: web.Request) -> web.Response:
            body, content_type = registry.exposition()
            return web.Response(body=body, headers={"Content-Type": content_type})

        pages = Pages(WEB_FOLDER)

        def own(serve: object) -> object:
            async def with_headers(request: web.Request) -> web.Response:
                connection = await link.wait_connected()
                response: web.Response = await serve(request)  # type: ignore[operator]
                for name, value in usual_headers(connection.attached.media_urls).items():
                    response.headers.setdefault(name, value)
                return response

            return with_headers

        application.add_routes(
            [
                web.get("/health", health),
                web.get("/metrics", metrics),
                web.get("/", own(pages.index)),  # type: ignore[arg-type]
                web.get("/web/{path:.+}", own(pages.file)),  # type: ignore[arg-type]
                web.get("/sw.js", own(pages.service_worker)),  # type: ignore[arg-type]
                *live.table(),
                *signalling.table(),
                web.route("*", "/{path:.*}", proxy.serve),
            ]
        )
        return application

    def _health(self, link: OwnerLink, live: RelaySockets) -> web.Response:
        connection = link.connection
        health = {
            "status": "healthy" if connection is not None else "no_owner",
            "service": "relay",
            "relay": self._config.relay,
            "owner": connection.owner.node if connection is not None else None,
            "epoch": self._replica.epoch,
            "event": self._replica.number,
            "pages": len(live),
        }
        status = 200 if connection is not None else 503
        headers = {"Cache-Control": "no-store"}
        return web.Response(
            status=status, body=dumps(health), content_type="application/json", headers=headers
        )

    def _measurements(
        self, link: OwnerLink, live: RelaySockets, proxy: Proxy, signalling: SignallingPassThrough
    ) -> Registry:
        registry = Registry()
        values = {
            "svc_relay_live_connections_active": lambda: len(live),
            "svc_relay_signalling_connections_active": lambda: len(signalling),
            "svc_relay_owner_link_up": lambda: link.connection is not None,
        }
        for name, description in RELAY_GAUGES.items():
            registry.gauge(name, description).set_function(values[name])
        registry.counters_from(
            lambda: {"svc_relay_events": self._replica.applied, "svc_relay_repairs": link.repairs},
            RELAY_COUNTERS,
        )
        registry.labelled_counter_from(
            "svc_relay_http_requests",
            "HTTP requests passed to the owner",
            ("status",),
            lambda: proxy.counts,
        )
        return registry


def _signalling_urls(link: OwnerLink) -> list[str]:
    """Return the owner's signalling URL for each media service."""
    if link.connection is None:
        return [""]
    url, count = link.connection.owner.url, link.connection.attached.media_services
    return [f"{url}{PASS_THROUGH}?service={number}" for number in range(count)] or [""]
