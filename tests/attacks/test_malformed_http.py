"""On every listener, malformed HTTP and unmasked WebSocket frames get the server's own error responses.

See RFC 9112 section 3 and RFC 6455 section 5.1.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSMsgType

from svc.chat.app import serving
from svc.chat.config import read
from svc.chat.http_port import Flags
from svc.chat.settings import management_listener
from svc.worker import config as worker_config
from svc.worker.app import working
from tests.chat.chat_server import ChatServer
from tests.chat.fake_sfu import FakeSfu
from tests.chat.internal_server import server_with_insight
from tests.kit.certificates import Authority
from tests.kit.raw_http import RawResponse, raw_connection
from tests.kit.signalling_server import signalling_server

GARBAGE = {
    "no request line": b"\x00\x01\x02 hello\r\n\r\n",
    "another protocol": b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
    "a header without a name": b"GET / HTTP/1.1\r\n: x\r\n\r\n",
    "a header with a NUL": b"GET / HTTP/1.1\r\nHost: a\x00b\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    "a length that is none": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1x\r\n\r\nx",
    "an endless line": b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n",
    "a path of slashes": b"GET " + b"/" * 8_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    "an address with an impossible host": b"GET http://xn--a/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "very many headers": b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 1_000 + b"\r\n",
    "an unknown version": b"GET / HTTP/9.9\r\nHost: a\r\n\r\n",
}
Listener = Callable[[dict[str, str], Path], AbstractAsyncContextManager[str]]


@asynccontextmanager
async def chat_listener(variables: dict[str, str], _: Path) -> AsyncIterator[str]:
    async with serving(read(variables)) as address:
        yield address


@asynccontextmanager
async def plain_http_on_tls(variables: dict[str, str], folder: Path) -> AsyncIterator[str]:
    """Start a server that also responds to plain HTTP on its TLS port."""
    async with serving(read(variables), Flags("127.0.0.1", *Authority().pair().write(folder))) as address:
        yield address.replace("https://", "http://")


@asynccontextmanager
async def admin_listener(variables: dict[str, str], _: Path) -> AsyncIterator[str]:
    config = read({**variables, "SVC_ADMIN_TOKEN": "token", "SVC_ADMIN_PORT": "0"}).operating
    async with (
        server_with_insight(variables) as (_chat, community),
        management_listener.listening(community.settings, config, "127.0.0.1") as address,
    ):
        yield address


@asynccontextmanager
async def sfu_listener(_: dict[str, str], __: Path) -> AsyncIterator[str]:
    async with signalling_server() as server:
        yield server.url


@asynccontextmanager
async def worker_listener(variables: dict[str, str], _: Path) -> AsyncIterator[str]:
    async with working(replace(worker_config.read(variables), port=0)) as running:
        yield running.address


LISTENERS: dict[str, Listener] = {
    "chat": chat_listener,
    "chat, beside TLS": plain_http_on_tls,
    "management": admin_listener,
    "sfu": sfu_listener,
    "worker": worker_listener,
}


def require_anonymous(answer: RawResponse) -> None:
    text = answer.head.lower() + answer.body.decode().lower()
    assert not [name for name in ("aiohttp", "python", "llhttp", "http/1.0 400 bad http") if name in text]
    assert "server: svc\r\n" in answer.head.lower()


@pytest.mark.parametrize("listener", LISTENERS)
async def test_errors_for_malformed_requests_do_not_name_a_library(
    listener: str, variables: dict[str, str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with LISTENERS[listener](variables, tmp_path) as address:
        caplog.clear()
        for what, garbage in GARBAGE.items():
            async with raw_connection(address) as raw:
                await raw.send(garbage)
                answer = await raw.answer()
                assert answer.status == 400, what
                assert answer.json() == {
                    "error": "invalid_request",
                    "message": "The server cannot read this as an HTTP/1.1 request",
                }, what
                require_anonymous(answer)
                await raw.ended()
        # Data from unauthenticated clients is not logged. A request line, in particular, may contain a
        # secret.
        assert [record.message for record in caplog.records if record.levelname != "DEBUG"] == []


@pytest.mark.parametrize("listener", LISTENERS)
async def test_ordinary_responses_do_not_name_the_http_library_either(
    listener: str, variables: dict[str, str], tmp_path: Path
) -> None:
    async with LISTENERS[listener](variables, tmp_path) as address:
        for path in ("/health", "/nowhere"):
            async with raw_connection(address) as raw:
                require_anonymous(await raw.ask("GET", path))


async def test_an_unknown_expectation_gets_the_servers_own_error(chat: ChatServer) -> None:
    async with raw_connection(chat.address) as raw:
        answer = await raw.ask("GET", "/health", ["Expect: tea"])
        assert (answer.status, answer.json()["error"]) == (417, "expectation_failed")
        require_anonymous(answer)


async def test_garbage_after_a_request_gets_an_error_and_closes_the_connection(chat: ChatServer) -> None:
    async with raw_connection(chat.address) as raw:
        assert (await raw.ask("GET", "/health")).status == 200
        await raw.send(b"\x00\x00\r\n\r\n")
        answer = await raw.answer()
        assert (answer.status, answer.json()["error"]) == (400, "invalid_request")
        await raw.ended()


@pytest.mark.parametrize("channel", ["live", "sfu", "pass-through"])
async def test_an_unmasked_frame_closes_the_websocket_with_1002(
    channel: str, chat: ChatServer, sfu: FakeSfu
) -> None:
    async with signalling_server() as server:
        address, path = {
            "live": (chat.address, "/live"),
            "sfu": (server.url, "/client"),
            "pass-through": (chat.address, "/sfu/client"),
        }[channel]
        async with raw_connection(address) as raw:
            await raw.upgrade(path)
            await raw.send(b"\x81\x02{}")
            assert await raw.closing() == (1002, "Not the WebSocket protocol")


def masked(text: str) -> bytes:
    data, mask = text.encode(), bytes((1, 2, 3, 4))
    length = len(data)
    if length < 126:
        head = bytes((0x81, 0x80 | length))
    elif length < 1 << 16:
        head = b"\x81\xfe" + length.to_bytes(2, "big")
    else:
        head = b"\x81\xff" + length.to_bytes(8, "big")
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))


@pytest.mark.parametrize("size", [1, 3, 7])
async def test_masked_frames_are_accepted_however_they_are_fragmented(
    size: int, chat: ChatServer, sfu: FakeSfu
) -> None:
    small, large = ["", "a", "b" * 125, "c" * 126, ""], ["d" * 65_535, "e" * 65_536, "f"]
    frames = b"".join(map(masked, small))
    async with raw_connection(chat.address) as raw:
        await raw.upgrade("/sfu/client")
        participant = await sfu.participants.get()
        for start in range(0, len(frames), size):
            await raw.send(frames[start : start + size])
        await raw.send(b"".join(map(masked, large)))
        assert [await participant.receive_str() for _ in small + large] == small + large
        # An unmasked frame closes the connection even if its header arrives in two pieces.
        await raw.send(b"\x81")
        await raw.send(b"\x02{}")
        assert (await raw.closing())[0] == 1002


async def test_no_websocket_negotiates_compression(chat: ChatServer, sfu: FakeSfu) -> None:
    async with signalling_server() as server, ClientSession() as http:
        for url in (f"{chat.address}/live", f"{chat.address}/sfu/client", f"{server.url}/client"):
            async with http.ws_connect(url, compress=15) as socket:
                assert not socket.compress
                # This client sends a compressed frame anyway. A reserved bit identifies it (RFC 7692).
                assert socket._writer is not None
                socket._writer.transport.write(b"\xc1\x82\x00\x00\x00\x00\x00\x00")
                message = await socket.receive()
                while message.type is WSMsgType.TEXT:
                    message = await socket.receive()
                assert (message.type, message.data) == (WSMsgType.CLOSE, 1002)
