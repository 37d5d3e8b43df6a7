"""Serves the worker's `GET /health` and `GET /metrics`.

The worker is healthy as long as it is running. Whether it can reach the chat server's queue is a separate
field, because the cause may be the server rather than the worker.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from aiohttp import web

from svc.base.metrics import Registry
from svc.base.package_version import package_version


def health_of(reachable: Callable[[], bool], registry: Registry, used: Callable[[], None]) -> web.Application:
    """Return the application without starting it. It calls `used` for each request."""
    running = package_version()

    async def health(_: web.Request) -> web.Response:
        used()
        return web.json_response(
            {
                "status": "healthy",
                "service": "worker",
                "version": running,
                "queue": "reached" if reachable() else "not reached",
                "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            }
        )

    async def metrics(_: web.Request) -> web.Response:
        used()
        body, content_type = registry.exposition()
        return web.Response(body=body, headers={"Content-Type": content_type})

    application = web.Application()
    application.router.add_get("/health", health)
    application.router.add_get("/metrics", metrics)
    return application
