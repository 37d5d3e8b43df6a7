"""On shutdown, the chat server accepts no new requests, notifies its clients, finishes pending work and
leaves a complete database file.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSMsgType

from svc.chat.app import serving
from svc.chat.config import read
from tests.chat.chat_server import ChatServer
from tests.chat.fake_sfu import FakeSfu
from tests.kit.chat_process import ChatProcess, chat_process
from tests.kit.wait import eventually

WITHIN_S = 10.0
BODY = b"{}" + b" " * 100
FIRST = b"POST /api/auth/refresh HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n{}" % len(BODY)
REST = BODY[2:]


@asynccontextmanager
async def server(variables: dict[str, str]) -> AsyncIterator[tuple[ChatProcess, ChatServer]]:
    """Run a server process. Yield the process and a client for it."""
    async with chat_process(variables) as process, ClientSession(process.address) as http:
        invite = invite_of(variables)
        yield process, ChatServer(process.address, http, invite)


def invite_of(variables: dict[str, str]) -> str:
    return (Path(variables["DATA_DIR"]) / "invite-code").read_text().strip()


def where(address: str) -> tuple[str, int]:
    host, _, port = address.removeprefix("http://").partition(":")
    return host, int(port)


def is_shut(address: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(where(address)) != 0


async def test_a_request_in_progress_gets_its_response_and_no_new_request_starts(
    variables: dict[str, str],
) -> None:
    async with server(variables) as (process, chat):
        reader, writer = await asyncio.open_connection(*where(chat.address))
        writer.write(FIRST)
        idle_reader, idle = await asyncio.open_connection(*where(chat.address))
        idle.write(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await idle_reader.readline()).startswith(b"HTTP/1.1 200")
        process.process.terminate()
        await eventually("the server refuses connections", lambda: is_shut(chat.address), within_s=WITHIN_S)
        idle.write(b"POST /api/auth/join HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
        async with asyncio.timeout(WITHIN_S):
            # The server closes the keep-alive connection, so `read` returns.
            refusal = await idle_reader.read()
        assert b"HTTP/1.1 503 " in refusal and b'"server_stopping"' in refusal
        assert process.process.returncode is None
        writer.write(REST)
        async with asyncio.timeout(WITHIN_S):
            answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 40")  # The request has no token.
        assert await process.ended() == 0
        for connection in (writer, idle):
            connection.close()


async def test_a_request_that_does_not_finish_is_cancelled(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc.chat.app.SHUTDOWN_DEADLINE_S", 0.05)
    async with asyncio.timeout(WITHIN_S), serving(read(variables)) as address:
        reader, writer = await asyncio.open_connection(*where(address))
        writer.write(FIRST)
        # The response on a second connection proves that the server has read the request on the first one.
        async with ClientSession(address) as http, http.get("/health") as response:
            assert response.status == 200
    assert b"HTTP/1.1 40" not in await reader.read()
    writer.close()


async def test_a_shutdown_tells_live_and_signalling_clients_to_reconnect(
    variables: dict[str, str], sfu: FakeSfu
) -> None:
    async with server(variables) as (process, chat), chat.member("Ada") as ada:
        async with chat.http.ws_connect("/sfu/client") as signalling:
            participant = await sfu.participants.get()
            process.process.terminate()
            async with asyncio.timeout(WITHIN_S):
                while (message := await ada.ws.receive()).type is WSMsgType.TEXT:
                    pass
                assert (message.type, message.data, message.extra) == (
                    WSMsgType.CLOSE,
                    1001,
                    "The server is stopping",
                )
                message = await signalling.receive()
                assert (message.type, message.data) == (WSMsgType.CLOSE, 1012)
                # The connection to the media service is closed, so the participant leaves.
                assert (await participant.receive()).type is not WSMsgType.TEXT
        assert await process.ended() == 0


async def test_an_unresponsive_client_does_not_delay_the_shutdown(variables: dict[str, str]) -> None:
    async with server(variables) as (process, chat):
        reader, writer = await asyncio.open_connection(*where(chat.address))
        writer.write(
            b"GET /live HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        assert (await reader.readline()).startswith(b"HTTP/1.1 101")
        process.process.terminate()
        assert await process.ended() == 0
        writer.close()


async def test_the_write_ahead_log_is_checkpointed_into_the_database(variables: dict[str, str]) -> None:
    async with server(variables) as (process, chat), chat.member("Ada") as ada:
        await ada.ask("message_send", channel_id="general", text="Hello")
        process.process.terminate()
        assert await process.ended() == 0
    log = Path(variables["DATA_DIR"]) / "community.sqlite3-wal"
    assert size_of(log) == 0
    async with server(variables) as (_, chat), chat.member("Grace") as grace:
        channel = next(entry for entry in grace.welcome["channels"] if entry["name"] == "general")
        history = await grace.ask("history", channel_id=channel["id"])
        assert [message["text"] for message in history["data"]["messages"]] == ["Hello"]


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
