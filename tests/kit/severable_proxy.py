"""A TCP proxy on loopback between a program and a server. A test can cut the connection and restore it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

_CHUNK_BYTES = 64 * 1024


class SeverableProxy:
    """A proxy that forwards connections until it is cut. While it is cut, connections stay open but carry no
    data.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._whole = asyncio.Event()
        self._whole.set()
        self._ends: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server

    async def open(self) -> int:
        """Open the proxy. Return the port on which it listens."""
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def cut(self) -> None:
        self._whole.clear()

    def join(self) -> None:
        self._whole.set()

    def drop(self) -> None:
        """End all connections and lose the data that they still hold."""
        for end in self._ends:
            end.transport.abort()

    def close(self) -> None:
        self._server.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far = None
        try:
            await self._whole.wait()
            far_reader, far = await asyncio.open_connection("127.0.0.1", self._port)
            self._ends |= {writer, far}
            ways = (self._copy(reader, far), self._copy(far_reader, writer))
            copying = [asyncio.ensure_future(way) for way in ways]
            await asyncio.wait(copying, return_when=asyncio.FIRST_COMPLETED)
            for task in copying:
                task.cancel()
        except OSError:
            pass
        finally:
            for end in (writer, far):
                if end is not None:
                    self._ends.discard(end)
                    end.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK_BYTES):
                await self._whole.wait()
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def severable_proxies(ports: list[int]) -> AsyncIterator[list[tuple[SeverableProxy, int]]]:
    """Open a proxy in front of each port. Yield the proxies with their own ports."""
    lines = [SeverableProxy(port) for port in ports]
    try:
        yield [(line, await line.open()) for line in lines]
    finally:
        for line in lines:
            line.join()
            line.close()
