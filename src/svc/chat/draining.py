"""Ending in order: what is under way when the server stops may finish, and nothing begins any more.

aiohttp's own shutdown reads no more of requests that have not come whole; so they are waited for
before it. Knows no feature and shuts no port.
"""

import asyncio
import logging

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from svc.chat.errors import ChatError

logger = logging.getLogger(__name__)


class Draining:
    """`middleware` is to stand inside the one that gives errors their shape."""

    def __init__(self) -> None:
        self._under_way = 0
        self._begun = False
        self._finished = asyncio.Event()

    def middleware(self) -> Middleware:
        @web.middleware
        async def count(request: web.Request, handler: Handler) -> web.StreamResponse:
            """Once the server stops, connections that were kept alive bring nothing new."""
            if self._begun:
                raise ChatError("server_stopping")
            self._under_way += 1
            try:
                return await handler(request)
            finally:
                self._under_way -= 1
                if not self._under_way:
                    self._finished.set()

        return count

    async def close_connection(self, _: web.Request, response: web.StreamResponse) -> None:
        """For every response: the last one on its connection."""
        if self._begun:
            response.force_close()

    def begin(self) -> None:
        """Let nothing new begin."""
        self._begun = True

    async def finished(self, deadline_s: float) -> None:
        """Return when nothing is under way any more, or it has had time enough. `begin` comes first."""
        try:
            async with asyncio.timeout(deadline_s):
                while self._under_way:
                    self._finished.clear()
                    await self._finished.wait()
        except TimeoutError:
            logger.warning("requests aborted at shutdown", extra={"count": self._under_way})
