"""`GET /health` and `GET /metrics`. Spec: chat document section 4.1."""

from datetime import UTC, datetime

from aiohttp import web

from svc.base.metrics import Registry


class Status:
    def __init__(self, server_name: str, registry: Registry) -> None:
        self._server_name = server_name
        self._registry = registry

    def table(self) -> list[web.RouteDef]:
        return [web.get("/health", self.health), web.get("/metrics", self.metrics)]

    async def health(self, request: web.Request) -> web.Response:
        return web.json_response(
            {
                "status": "healthy",
                "service": "chat",
                "serverName": self._server_name,
                "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            }
        )

    async def metrics(self, request: web.Request) -> web.Response:
        body, content_type = self._registry.exposition()
        return web.Response(body=body, headers={"Content-Type": content_type})
