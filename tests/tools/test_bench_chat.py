"""`svc bench chat` correctly measures a real server with real members."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from svc.tools.bench.chat import Result
from svc.tools.bench.errors import BenchError
from svc.tools.bench.websocket import WebSocket, connect
from tests.chat.chat_server import ChatServer, chat_server

DEADLINE_S = 300.0


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[ChatServer]:
    variables = {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(tmp_path / "data"),
        "ADDITIONAL_CHANNELS": "general",
        "SVC_IDENTITY_TIERS": "local",
    }
    async with chat_server(variables) as running:
        yield running


async def bench(kind: str, *arguments: str) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "svc.cli", "bench", kind, *arguments),
        stdout=PIPE,
        stderr=PIPE,
        env=os.environ,
    )
    async with asyncio.timeout(DEADLINE_S):
        output, errors = await process.communicate()
    return process.returncode, output.decode(), errors.decode()


async def test_members_of_a_temporary_server_receive_every_message() -> None:
    code, output, errors = await bench("chat", "--members", "5", "--rate", "20", "--seconds", "1", "--json")
    assert (code, errors) == (0, "")
    result = Result(**json.loads(output))
    assert (result.members, result.lost, result.refused) == (5, 0, 0)
    assert result.messages_per_s > 0
    assert result.p99_ms >= result.p50_ms > 0
    assert min(result.us_cpu_per_delivery, result.rss_mb, result.join_bytes, result.joins_s) > 0


async def test_a_running_server_can_be_measured_without_a_rate_limit_for_messages(chat: ChatServer) -> None:
    code, output, errors = await bench(
        "chat",
        *("--url", chat.address, "--invite", chat.invite, "--pid", str(os.getpid())),
        *("--members", "3", "--rate", "0", "--writers", "2", "--seconds", "0.5"),
    )
    assert (code, errors) == (0, "")
    figures = dict(line.rsplit(None, 1) for line in output.strip().splitlines())
    assert {name.strip(): value for name, value in figures.items()}["lost"] == "0"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--url", "ftp://here"), "the address of a server must look like"),
        (("--url", "http://127.0.0.1:1"), "Cannot connect"),
        (("--pid", "999999999"), "no process has the id 999999999"),
    ],
)
async def test_invalid_options_for_a_chat_measurement_are_reported_on_one_line(
    chat: ChatServer, arguments: tuple[str, ...], words: str
) -> None:
    flags = () if "--url" in arguments else ("--url", chat.address, "--invite", chat.invite)
    code, output, errors = await bench("chat", "--members", "1", "--seconds", "0.1", *flags, *arguments)
    assert (code, output) == (2, "")
    assert words in errors
    assert len(errors.splitlines()) == 1


async def test_a_wrong_invite_is_reported(chat: ChatServer) -> None:
    await chat.join("Ada")
    code, _, errors = await bench("chat", "--members", "1", "--url", chat.address, "--invite", "wrong")
    assert code == 2
    assert "nobody can join" in errors


async def test_the_minimal_websocket_client_accepts_frames_split_at_any_point() -> None:
    seen: list[bytes] = []
    client = WebSocket("host", "/", seen.append)
    frames = b"\x81\x01a" + b"\x81\x7e\x00\x80" + bytes(128) + b"\x81\x7f" + (1 << 16).to_bytes(8, "big")
    stream = b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + frames + bytes(1 << 16)
    for size in (1, 7, len(stream)):
        client = WebSocket("host", "/", seen.append)
        seen.clear()
        for at in range(0, len(stream), size):
            client.data_received(stream[at : at + size])
        assert [len(text) for text in seen] == [1, 128, 1 << 16]


async def test_the_minimal_websocket_client_reports_the_reason_for_a_rejection(chat: ChatServer) -> None:
    with pytest.raises(BenchError, match="refused a live socket"):
        await connect(chat.address.replace("http", "ws") + "/nowhere", lambda _: None)
