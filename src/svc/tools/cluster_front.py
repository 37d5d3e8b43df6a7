"""A front that passes TCP connections to the node that owns the community, for `svc up --cluster-demo`.

It knows the owner by a response to `GET /info`, which followers refuse. It changes no byte, so the nodes see
its address instead of the client's. Use a real proxy in front of a real cluster (docs/cluster.md).
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

# Longer than a takeover. A client waits no longer for a node.
_OWNER_WITHIN_S = 15.0
_ASK_S = 1.0
_PAUSE_S = 0.1
_CHUNK_BYTES = 64 * 1024

Address = tuple[str, int]


class Front:
    """Passes connections to one of `nodes`."""

    def __init__(self, nodes: Sequence[Address]) -> None:
        self._nodes = nodes
        self._passing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def listening(self, sockets: Sequence[socket.socket]) -> AsyncIterator[None]:
        """Serve on these sockets while the block runs."""
        servers = [await asyncio.start_server(self._accept, sock=opened) for opened in sockets]
        try:
            yield
        finally:
            for server in servers:
                server.close()
            for task in self._passing:
                task.cancel()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        self._passing.add(task)
        try:
            await self._pass(reader, writer)
        finally:
            self._passing.discard(task)
            writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_OWNER_WITHIN_S):
                far_reader, far_writer = await self._connect()
        except TimeoutError:
            return
        ways = [
            asyncio.ensure_future(_copy(reader, far_writer)),
            asyncio.ensure_future(_copy(far_reader, writer)),
        ]
        try:
            # The first end closes both: browsers and nodes close no direction on its own.
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            far_writer.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the owner, and wait for one if there is none."""
        while True:
            for node in self._nodes:
                if await _owns(node):
                    with contextlib.suppress(OSError):
                        return await asyncio.open_connection(*node)
            await asyncio.sleep(_PAUSE_S)


async def _owns(node: Address) -> bool:
    try:
        async with asyncio.timeout(_ASK_S):
            reader, writer = await asyncio.open_connection(*node)
            try:
                host = f"{node[0]}:{node[1]}"
                writer.write(f"GET /info HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                return (await reader.readline()).split()[1:2] == [b"200"]
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
