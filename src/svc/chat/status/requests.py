"""`GET /health`, `/info` and `/metrics` for anybody, `/api/health` for the owner: what the server says.

docs/http.md, "What the server says of itself".
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated, Literal

from aiohttp import web
from msgspec import UNSET, Meta, UnsetType

from svc.base.metrics import Registry
from svc.chat.access.catalogue import ANYONE, OWNER
from svc.chat.access.tokens import AccessTokens
from svc.chat.errors import ChatError
from svc.chat.fields import Natural
from svc.chat.http import answer, client_address
from svc.chat.joining.config import SignIn
from svc.chat.joining.proof import Tier
from svc.chat.requests import Requests, described_by, request
from svc.chat.settings.values import JoinPolicy
from svc.chat.status.probes import Arrival, Probes
from svc.chat.status.report import Condition, Report


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
    joinPolicy: JoinPolicy
    iconUrl: str | None
    rules: str
    rulesVersion: str
    instanceId: str | UnsetType = UNSET
    version: str | UnsetType = UNSET


class StatusRequests(Requests):
    """`info` says what `/info` tells anybody, `works` whether writes are kept; `version` is for members."""

    def __init__(
        self,
        version: str,
        info: Callable[[], Info],
        tokens: AccessTokens,
        registry: Registry,
        probes: Probes,
        report: Report,
    ) -> None:
        self._version = version
        self._info = info
        self._tokens = tokens
        self._registry = registry
        self._probes = probes
        self._report = report

    @request(
        ANYONE,
        "Is the server up, and does it keep what is written?",
        http="GET /health",
        answers=Health,
        otherwise=(503, "Writes are not kept, or the database is damaged: `degraded`"),
    )
    async def health(self, request: web.Request) -> web.Response:
        if mark := request.query.get("probe"):
            self._probes.arrived(mark, _arrival(request))
        works = await self._report.works()
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        health = Health("healthy" if works else "degraded", "chat", self._info().name, now)
        return answer(health, 200 if works else 503)

    @request(ANYONE, "What somebody who is invited sees; `version` for members only", http="GET /info")
    async def info(self, request: web.Request) -> Info:
        info = self._info()
        return replace(info, version=self._version) if self._is_member(request) else info

    @request(OWNER, "How the server is doing, and who is connected", http="GET /api/health")
    async def report(self) -> Condition:
        return await self._report.condition(time.time())

    @request(ANYONE, "Measurements for Prometheus", http="GET /metrics", answers=str, media_type="text/plain")
    async def metrics(self, request: web.Request) -> web.Response:
        body, content_type = self._registry.exposition()
        return web.Response(body=body, headers={"Content-Type": content_type})

    def _is_member(self, request: web.Request) -> bool:
        """A token that is not good makes a stranger of its bearer, who may see the rest all the same."""
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


DESCRIBED = described_by(StatusRequests)
