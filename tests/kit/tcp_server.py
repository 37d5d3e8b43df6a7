"""Runs TCP servers and relays that close all their connections at the end, so that tests leave no open
sockets.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

_CHUNK_BYTES = 64 * 1024

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Filter = Callable[[bytes], Awaitable[bytes]]


@asynccontextmanager
async def tcp_server(
    serve: Serve, host: str | Sequence[str] | None = "127.0.0.1", port: int | None = 0, **options: Any
) -> AsyncIterator[asyncio.Server]:
    """Run a server that calls `serve` for each connection, and closes the connection when `serve` returns.

    On exit, every open connection is aborted. An exception in `serve` is then raised, except an OSError.
    """
    connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                await serve(reader, writer)
            writer.close()
        except BaseException:
            writer.transport.abort()
            raise

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # asyncio may have accepted a connection just before the server was closed.
        if server.is_serving():
            connections[asyncio.create_task(handle(reader, writer))] = writer
        else:
            writer.transport.abort()

    server = await asyncio.start_server(accept, host, port, **options)
    try:
        yield server
    finally:
        server.close()
        for task, writer in connections.items():
            task.cancel()
            writer.transport.abort()
        closing = [writer.wait_closed() for writer in connections.values()]
        for outcome in await asyncio.gather(*connections, *closing, return_exceptions=True):
            if isinstance(outcome, Exception) and not isinstance(outcome, OSError):
                raise outcome


async def _unchanged(data: bytes) -> bytes:
    return data


async def relay(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    port: int,
    *,
    to_server: Filter = _unchanged,
    to_client: Filter = _unchanged,
) -> None:
    """Forward a connection to a port on loopback. The filters can change or delay the data."""
    from_server, server = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.TaskGroup() as directions:
            directions.create_task(_copy(reader, server, to_server))
            directions.create_task(_copy(from_server, writer, to_client))
        await server.wait_closed()
    finally:
        server.transport.abort()
        with suppress(OSError):
            await server.wait_closed()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, adapt: Filter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK_BYTES):
            writer.write(await adapt(data))
            await writer.drain()
    writer.close()
