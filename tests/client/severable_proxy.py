"""A proxy between a client and a server. A test can cut all of its connections at once, without a close
frame.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

_PIECE = 64 * 1024


class SeverableProxy:
    """A proxy whose connections can be cut. `address` is the proxy's own, and `cuts` counts the connections
    that have been cut.
    """

    def __init__(self, server: str) -> None:
        self.server = server
        self.address = ""
        self.cuts = 0
        # Nobody can connect while the proxy is down.
        self.down = False
        self._open: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        """Cut every open connection."""
        self.cuts += len(self._open) // 2
        for writer in self._open:
            writer.transport.abort()

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.down:
            writer.transport.abort()
            return
        server = urlsplit(self.server)
        outgoing, back = await asyncio.open_connection(server.hostname, server.port)
        self._open |= {writer, back}
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_carried(reader, back))
                group.create_task(_carried(outgoing, writer))
        finally:
            self._open -= {writer, back}


async def _carried(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while piece := await reader.read(_PIECE):
            writer.write(piece)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def severable_proxy(server: str) -> AsyncIterator[SeverableProxy]:
    proxy = SeverableProxy(server)
    listening = await asyncio.start_server(proxy.carry, "127.0.0.1", 0)
    proxy.address = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        listening.close()
        proxy.cut()
        await listening.wait_closed()
