"""Runs a TCP proxy between a program and a server on loopback. A test can pause and drop its connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.kit.tcp_server import relay, tcp_server


class SeverableProxy:
    """A proxy for the server at a URL on loopback. `drops` counts the connections that have been dropped."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.port = 0
        self.drops = 0
        # While this is set, the proxy refuses connections.
        self.refusing = False
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._relays: set[asyncio.Task[Any]] = set()

    @property
    def url(self) -> str:
        return f"{urlsplit(self.server).scheme}://127.0.0.1:{self.port}"

    def pause(self) -> None:
        """Keep all connections open, but forward no data."""
        self._flowing.clear()

    def resume(self) -> None:
        self._flowing.set()

    async def drop(self) -> None:
        """End all connections and discard the data that they still hold."""
        self.drops += len(self._relays)
        for task in self._relays:
            task.cancel()
        await asyncio.gather(*self._relays, return_exceptions=True)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refusing:
            return
        await self._flowing.wait()
        task = asyncio.current_task()
        assert task is not None
        self._relays.add(task)
        try:
            port = urlsplit(self.server).port or 0
            await relay(reader, writer, port, to_server=self._hold, to_client=self._hold)
        finally:
            self._relays.discard(task)

    async def _hold(self, data: bytes) -> bytes:
        await self._flowing.wait()
        return data


@asynccontextmanager
async def severable_proxy(server: str) -> AsyncIterator[SeverableProxy]:
    proxy = SeverableProxy(server)
    async with tcp_server(proxy.serve) as listener:
        proxy.port = listener.sockets[0].getsockname()[1]
        yield proxy
