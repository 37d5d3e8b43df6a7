"""When a connection is closed while the peer is still sending, the peer gets all remaining data."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress

import pytest

from svc.base.graceful_close import linger

LAST_WORDS = b"You talk too much"
# More than the socket buffers of both ends hold.
TIRADE = bytes(32 * 1024 * 1024)

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def lingering(writer: asyncio.StreamWriter, deadline_s: float) -> None:
    assert isinstance(writer.transport, asyncio.Transport)
    await linger(writer.transport, deadline_s)


@asynccontextmanager
async def connected(
    serve: Callable[[asyncio.StreamWriter], Coroutine[None, None, None]],
) -> AsyncIterator[Streams]:
    accepted: asyncio.Future[asyncio.StreamWriter] = asyncio.get_running_loop().create_future()
    server = await asyncio.start_server(lambda _, writer: accepted.set_result(writer), "127.0.0.1", 0)
    async with server, asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        theirs = await accepted
        serving = tasks.create_task(serve(theirs))
        yield reader, writer
        await serving
        for end in (writer, theirs):
            end.transport.abort()
            with suppress(ConnectionError):
                await end.wait_closed()


@pytest.mark.parametrize("attempt", range(10))
async def test_the_last_response_arrives_while_the_peer_keeps_sending(attempt: int) -> None:
    async def refuse(writer: asyncio.StreamWriter) -> None:
        writer.write(LAST_WORDS)
        await lingering(writer, 20)
        writer.transport.abort()

    async with connected(refuse) as (reader, writer):
        writer.write(TIRADE)
        await writer.drain()
        assert await reader.read() == LAST_WORDS
        writer.close()


async def test_a_peer_that_never_stops_sending_is_closed_at_the_deadline() -> None:
    async def refuse(writer: asyncio.StreamWriter) -> None:
        await lingering(writer, 0.05)
        assert not writer.transport.is_closing()

    async with connected(refuse) as (_, writer):
        writer.write(b"and another thing")


async def test_closing_a_closed_connection_gracefully_returns_immediately() -> None:
    async def refuse(writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()
        await lingering(writer, 1_000)

    async with connected(refuse):
        pass
