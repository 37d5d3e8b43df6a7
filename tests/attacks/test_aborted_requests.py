"""Clients that repeatedly disconnect before receiving a response trigger no errors and no log entries."""

import asyncio
import logging
import re

import pytest
from aiohttp import web

from svc.base.http_connections import serve_http
from svc.base.http_server import Runner
from svc.base.listeners import bound
from svc.tools.bench.attack.target import Target
from tests.chat.chat_server import ChatServer
from tests.kit.wait import wait_until

TIMES = 50
_COUNTED = re.compile(r"svc_chat_http_requests_total\{[^}]*GET /api/me/export[^}]*\} (\d+)")


async def counted(chat: ChatServer) -> int:
    return sum(int(times) for times in _COUNTED.findall(await chat.metrics()))


async def test_a_request_from_a_disconnected_client_is_counted_but_not_logged_as_an_error(
    chat: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    token = await chat.join("Ada")
    host, port = chat.address.removeprefix("http://").split(":")
    with caplog.at_level(logging.INFO):
        for _ in range(TIMES):
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(Target(chat.address).request("GET", "/api/me/export", token=token))
            writer.close()

        async def all_are_counted() -> bool:
            return await counted(chat) == TIMES

        await wait_until("every request is counted", all_are_counted, within_s=20)
    faults = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert [record.getMessage() for record in faults] == []


async def test_an_upgrade_request_on_an_evicted_connection_causes_no_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tried = 0

    async def upgrade(request: web.Request) -> web.StreamResponse:
        nonlocal tried
        assert request.transport is not None
        request.transport.abort()  # A full connection table may evict a connection at any time.
        tried += 1
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        return socket

    application = web.Application()
    application.router.add_get("/client", upgrade)
    runner = Runner(application, shutdown_timeout=1.0)
    await runner.setup()
    sockets = bound("127.0.0.1", 0)
    port = sockets[0].getsockname()[1]
    with caplog.at_level(logging.INFO):
        async with serve_http(runner, sockets, TIMES):
            for _ in range(TIMES):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(Target(f"http://127.0.0.1:{port}").upgrade("/client"))
                assert await ended(reader)
                writer.close()
        await runner.cleanup()
    assert tried == TIMES
    assert [record.getMessage() for record in caplog.records] == []


async def ended(reader: asyncio.StreamReader) -> bool:
    """Return whether the server closed the connection without a response."""
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True
