"""Handles requests for the server's state: from anyone (`GET /health`, `/info` and `/metrics`), and from the
owner (`/api/health`).

See docs/http.md, "Getting started".
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Literal

from aiohttp import web
from msgspec import UNSET, Meta, UnsetType

from svc.base.metrics import Registry
from svc.base.package_version import package_version
from svc.base.turn_server import IceServer
from svc.chat.access.endpoint_permissions import ANYONE, OWNER
from svc.chat.access.tokens import AccessTokens
from svc.chat.authentication.jwt_verification import Tier
from svc.chat.authentication.responses import SignIn
from svc.chat.config import ChatConfig
from svc.chat.control.commands import Commands, command
from svc.chat.endpoints import Endpoints, describe_feature, endpoint
from svc.chat.errors import ChatError
from svc.chat.http import answer, client_address
from svc.chat.schemas import Natural, Response
from svc.chat.server_status.health_report import HealthReport, ServerHealth, Sources
from svc.chat.settings.setting_types import JoinMode

MAX_KEPT = 16
_MIN_CHARACTERS, _MAX_CHARACTERS = 16, 64


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request as it arrived at the server.

    `address` is the client's IP address according to the server. `forwarded_for` contains the values of
    X-Forwarded-For.
    """

    host: str
    peer: str
    forwarded_for: Sequence[str]
    address: str
    secure: bool


class Probes:
    """A record of how probe requests arrive. It shows the operator how proxies change them.

    It contains the last few requests to `/health?probe=…`. `svc doctor` sends such a request from outside,
    and then gets its record over the control socket. Nobody else can see it.
    """

    def __init__(self) -> None:
        self._arrivals: OrderedDict[str, Arrival] = OrderedDict()

    def arrived(self, mark: str, arrival: Arrival) -> None:
        """Record a probe request if its mark (the value of `probe`) is long enough to be unguessable."""
        if not (_MIN_CHARACTERS <= len(mark) <= _MAX_CHARACTERS and mark.isascii() and mark.isalnum()):
            return
        self._arrivals[mark] = arrival
        if len(self._arrivals) > MAX_KEPT:
            self._arrivals.popitem(last=False)

    def take(self, mark: str) -> Arrival | None:
        return self._arrivals.pop(mark, None)


@dataclass(frozen=True, slots=True)
class Health:
    status: Literal["healthy", "degraded"]
    service: Literal["chat"]
    serverName: str
    timestamp: Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


@dataclass(frozen=True, slots=True)
class Info:
    serverId: str
    name: str
    description: str
    members: Natural
    lanOpen: bool
    identityTiers: Sequence[Tier]
    signIn: SignIn
    joinPolicy: JoinMode
    iconUrl: str | None
    rules: str
    rulesVersion: str
    instanceId: str | UnsetType = UNSET
    version: str | UnsetType = UNSET


class StatusEndpoints(Endpoints):
    """The endpoints for the server's state. `info` returns the content of `/info`, where only members see
    `version`.
    """

    def __init__(
        self,
        version: str,
        info: Callable[[], Info],
        tokens: AccessTokens,
        registry: Registry,
        probes: Probes,
        report: HealthReport,
    ) -> None:
        self._version = version
        self._info = info
        self._tokens = tokens
        self._registry = registry
        self._probes = probes
        self._report = report

    @endpoint(
        ANYONE,
        "Report whether the server is up and can store data",
        http="GET /health",
        returns=Health,
        alternative=(503, "Data cannot be stored, or the database is damaged: `degraded`"),
    )
    async def health(self, http_request: web.Request) -> web.Response:
        if mark := http_request.query.get("probe"):
            self._probes.arrived(mark, _arrival(http_request))
        works = await self._report.works()
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        health = Health("healthy" if works else "degraded", "chat", self._info().name, now)
        return answer(health, 200 if works else 503)

    @endpoint(
        ANYONE,
        "Return public facts about the server. Only members get `version`. `instanceId` needs "
        "`SERVER_INSTANCE_ID`",
        http="GET /info",
    )
    async def info(self, http_request: web.Request) -> Info:
        info = self._info()
        return replace(info, version=self._version) if self._is_member(http_request) else info

    @endpoint(
        OWNER,
        "Report the health of the server and the connected members. `verdict` is `ok`, `notice` or `problem`",
        http="GET /api/health",
    )
    async def report(self) -> ServerHealth:
        return await self._report.condition(time.time())

    @endpoint(
        ANYONE, "Return metrics for Prometheus", http="GET /metrics", returns=str, media_type="text/plain"
    )
    async def metrics(self, http_request: web.Request) -> web.Response:
        body, content_type = self._registry.exposition()
        return web.Response(body=body, headers={"Content-Type": content_type})

    def _is_member(self, request: web.Request) -> bool:
        """Return whether the request has a valid token. This method does not raise, because `/info` is public
        except for the version.
        """
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return False
        try:
            self._tokens.verify(token.strip(), time.time())
        except ChatError:
            return False
        return True


def _arrival(request: web.Request) -> Arrival:
    return Arrival(
        host=request.host,
        peer=request.remote or "",
        forwarded_for=request.headers.getall("X-Forwarded-For", []),
        address=client_address(request).ip,
        secure=request.secure,
    )


DESCRIPTION = describe_feature(StatusEndpoints)


class ServerStatus(Response):
    version: str
    host: str
    port: int
    # The URL at which the server listens, or empty.
    address: str
    names: Sequence[str]
    trusted_proxy_hops: int
    sfu: str
    sfu_faults: Sequence[str]
    worker: str
    obstacle: str
    jobs_waiting: int
    push_contact: str
    worker_up: bool


class ProbeResult(Response):
    arrival: Arrival | None


class TurnStatus(Response):
    server: IceServer | None


class StatusCommands(Commands):
    """Commands that `svc doctor` sends to a running server. `address` returns the URL at which the server
    listens, or an empty string if it is not listening.
    """

    def __init__(
        self, config: ChatConfig, probes: Probes, sources: Sources, address: Callable[[], str]
    ) -> None:
        self._config = config
        self._probes = probes
        self._sources = sources
        self._address = address

    @command("status_get")
    async def get(self) -> ServerStatus:
        config, sources = self._config, self._sources
        return ServerStatus(
            version=package_version(),
            host=config.host,
            port=config.port,
            address=self._address(),
            names=config.identity.names,
            trusted_proxy_hops=config.trusted_proxy_hops,
            sfu=config.media.url,
            sfu_faults=sources.link.faults,
            worker=config.uploads.worker_url,
            obstacle=config.identity.obstacle(),
            jobs_waiting=sources.jobs_waiting(),
            push_contact=sources.push_contact(),
            worker_up=sources.worker_up(),
        )

    @command("status_probe")
    async def probe(self, mark: Annotated[str, Meta(max_length=64)]) -> ProbeResult:
        return ProbeResult(self._probes.take(mark))

    @command("status_turn")
    async def turn(self) -> TurnStatus:
        """Return the TURN server that members get, with credentials for the operator."""
        server = self._config.media.turn
        return TurnStatus(None if server is None else server.ice_server("doctor", time.time()))
