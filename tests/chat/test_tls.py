"""With TLS, the chat server serves https and wss on one port and redirects http requests."""

import asyncio
import os
import signal
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector, WSMsgType, WSServerHandshakeError
from cryptography import x509

from svc.base.config_parsing import ConfigError
from svc.chat import app, tls
from svc.chat.app import serving
from svc.chat.community import Community
from svc.chat.config import read
from svc.chat.http_port import Flags
from svc.chat.live import client
from svc.chat.live.hub import EVERYONE
from svc.chat.tls import TlsFiles
from tests.chat.chat_server import ChatServer
from tests.chat.live_member import abort
from tests.kit.certificates import DAY, Authority, Pair
from tests.kit.device import Device
from tests.kit.wait import eventually, wait_until

WITHIN_S = 10.0


@pytest.fixture
def authority() -> Authority:
    return Authority()


@pytest.fixture
def pair(authority: Authority) -> Pair:
    return authority.pair()


def trusting(authority: Authority) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.load_verify_locations(cadata=authority.certificate.decode())
    return context


@asynccontextmanager
async def secured(
    variables: dict[str, str], folder: Path, pair: Pair, authority: Authority
) -> AsyncIterator[ChatServer]:
    """Run a server with this certificate. Its client trusts the authority."""
    config = read(variables)
    flags = Flags("127.0.0.1", *pair.write(folder))
    connector = TCPConnector(ssl=trusting(authority))
    async with serving(config, flags) as address, ClientSession(address, connector=connector) as http:
        yield ChatServer(address, http, (config.data_dir / "invite-code").read_text().strip())


@pytest.fixture
async def chat(
    variables: dict[str, str], tmp_path: Path, pair: Pair, authority: Authority
) -> AsyncIterator[ChatServer]:
    async with secured(variables, tmp_path, pair, authority) as chat:
        yield chat


async def presented(chat: ChatServer) -> int:
    """Open a connection. Return the serial number of the server's certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    host, port = where(chat)
    _, writer = await asyncio.open_connection(host, port, ssl=context)
    shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    await close(writer)
    return x509.load_der_x509_certificate(shown).serial_number


def where(chat: ChatServer) -> tuple[str, int]:
    host, _, port = chat.address.removeprefix("https://").partition(":")
    return host, int(port)


async def raw_response(chat: ChatServer, request: bytes) -> bytes:
    """Send these bytes without TLS. Return the complete response."""
    reader, writer = await asyncio.open_connection(*where(chat))
    writer.write(request)
    async with asyncio.timeout(WITHIN_S):
        answer = await reader.read()
    await close(writer)
    return answer


async def close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def test_a_member_signs_in_and_sends_requests_over_tls(chat: ChatServer) -> None:
    assert chat.address.startswith("https://127.0.0.1:")
    async with chat.member("Ada") as ada:
        assert (await ada.ask("ping"))["data"] == {}
        grant = await ada.ask("voice_join", channel_id="lobby")
        assert grant["data"]["urls"] == ["/sfu/client"]
    async with chat.http.ws_connect("/sfu/client") as signalling:
        assert not signalling.closed


async def test_an_oversized_message_is_also_rejected_over_tls(chat: ChatServer) -> None:
    async with chat.member("Ada") as ada:
        await ada.ws.send_str("x" * 100_000)
        async with asyncio.timeout(WITHIN_S):
            while (message := await ada.ws.receive()).type is WSMsgType.TEXT:
                pass
        assert (message.type, message.data) == (WSMsgType.CLOSE, 1009)


async def test_a_client_that_does_not_read_is_also_disconnected_over_tls(
    variables: dict[str, str],
    tmp_path: Path,
    pair: Pair,
    authority: Authority,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "CLOSE_DEADLINE_S", 0.1)
    built: list[Community] = []

    class Seen(Community):
        def __init__(self, *arguments: Any, **kwargs: Any) -> None:
            super().__init__(*arguments, **kwargs)
            built.append(self)

    monkeypatch.setattr(app, "Community", Seen)
    async with (
        secured(variables, tmp_path, pair, authority) as chat,
        chat.member("Ada") as ada,
        chat.member("Bob") as bob,
    ):
        bob.ws._response.connection.transport.pause_reading()  # type: ignore[union-attr]
        for number in range(20):
            built[0].hub.push("long", [number, "x" * 1_000_000], EVERYONE)
            assert (await ada.pushed("long"))[0] == number
        async with asyncio.timeout(WITHIN_S):
            while "svc_chat_live_connections_active 1.0" not in await chat.metrics():
                pass
        abort(bob.ws)


@pytest.mark.parametrize("path", ["/", "/health?a=b&c=%20d", "//elsewhere.example/x"])
async def test_http_redirects_to_the_same_address_over_https(chat: ChatServer, path: str) -> None:
    authority_part = f"chat.example:{where(chat)[1]}"
    answer = await raw_response(chat, f"GET {path} HTTP/1.1\r\nHost: {authority_part}\r\n\r\n".encode())
    head = answer.decode().split("\r\n")
    assert head[0] == "HTTP/1.1 308 Permanent Redirect"
    assert f"Location: https://{authority_part}{path}" in head
    assert {"Connection: close", "Server: svc"} <= {*head}


async def test_following_the_redirect_leads_to_the_page(chat: ChatServer) -> None:
    async with chat.http.get(chat.address.replace("https", "http") + "/health") as response:
        assert (response.status, response.url.scheme) == (200, "https")


@pytest.mark.parametrize("host", ["evil.example/x", "a b", "", 'x"y', "[::1", "a:b"])
async def test_an_unknown_host_is_not_redirected(chat: ChatServer, host: str) -> None:
    answer = await raw_response(chat, f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Location" not in answer


async def test_garbage_closes_only_its_own_connection(chat: ChatServer) -> None:
    assert (await raw_response(chat, b"\x00\x01\x02 nothing\r\n\r\n")).startswith(b"HTTP/1.")
    # Data that starts like a TLS handshake gets an alert or nothing.
    assert not (await raw_response(chat, b"\x16 is all that is right in it")).startswith(b"HTTP")
    async with chat.http.get("/health") as response:
        assert response.status == 200


async def test_a_silent_connection_is_closed(chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svc.chat.http_port.FIRST_BYTE_DEADLINE_S", 0.05)
    reader, writer = await asyncio.open_connection(*where(chat))
    async with asyncio.timeout(WITHIN_S):
        assert await reader.read() == b""
    await close(writer)


async def test_a_renewed_certificate_is_used_without_a_restart(
    chat: ChatServer,
    authority: Authority,
    pair: Pair,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tls, "LOOK_INTERVAL_S", 0.01)
    async with chat.member("Ada") as ada:
        assert await presented(chat) == pair.serial
        renewed = authority.pair()
        renewed.write(tmp_path)
        os.kill(os.getpid(), signal.SIGHUP)

        async def shown() -> bool:
            return await presented(chat) == renewed.serial

        await wait_until("the new certificate is served", shown, within_s=WITHIN_S)
        # Existing connections continue.
        assert (await ada.ask("ping"))["data"] == {}


async def test_a_broken_renewal_changes_nothing(
    chat: ChatServer, pair: Pair, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "certificate.pem").write_text("half a certif")
    os.kill(os.getpid(), signal.SIGHUP)
    await eventually(
        "the rejection is logged", lambda: "certificate rejected" in caplog.messages, within_s=WITHIN_S
    )
    assert await presented(chat) == pair.serial


async def test_changed_files_are_loaded_again(
    authority: Authority, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "LOOK_INTERVAL_S", 0.01)
    files = TlsFiles(*pair.write(tmp_path))
    before = files.context
    watching = asyncio.create_task(files.watch())
    authority.pair().write(tmp_path)
    await eventually("the new context is in use", lambda: files.context is not before, within_s=WITHIN_S)
    watching.cancel()


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_tls_1_2_and_1_3_are_accepted_only_with_forward_secrecy(
    chat: ChatServer, authority: Authority, version: ssl.TLSVersion
) -> None:
    context = trusting(authority)
    context.minimum_version = context.maximum_version = version
    _, writer = await asyncio.open_connection(*where(chat), ssl=context)
    cipher = writer.get_extra_info("cipher")[0]
    assert cipher.startswith(("ECDHE-", "TLS_"))
    assert "GCM" in cipher or "CHACHA20" in cipher
    await close(writer)


async def test_ciphers_without_authenticated_encryption_are_rejected(
    chat: ChatServer, authority: Authority
) -> None:
    context = trusting(authority)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("AES128-SHA:ECDHE-ECDSA-AES128-SHA")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await asyncio.open_connection(*where(chat), ssl=context)


async def test_a_page_opened_over_http_has_a_different_origin(chat: ChatServer) -> None:
    host, port = where(chat)
    with pytest.raises(WSServerHandshakeError, match="403"):
        await chat.http.ws_connect("/live", origin=f"http://{host}:{port}")
    async with chat.http.ws_connect("/live", origin=f"https://{host}:{port}") as live:
        assert (await live.receive_json())["event"] == "hello"


async def test_a_sign_in_over_http_is_rejected(chat: ChatServer) -> None:
    proof = await Device().proof(chat.http, chat.address.replace("https://", "http://"))
    body: dict[str, Any] = proof | {"nickname": "Ada", "invite_code": chat.invite}
    async with chat.http.post("/api/auth/join", json=body) as response:
        assert (response.status, (await response.json())["error"]) == (401, "proof_invalid")


async def test_hsts_is_sent_only_with_a_trusted_certificate(chat: ChatServer) -> None:
    async with chat.http.get("/health") as response:
        assert response.headers["Strict-Transport-Security"] == "max-age=31536000"


def problem_with(certificate: Path, key: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        TlsFiles(certificate, key)
    return str(caught.value)


def test_the_error_for_unusable_files_names_them_with_the_reason(
    authority: Authority, tmp_path: Path
) -> None:
    certificate, key = authority.pair().write(tmp_path)
    missing = tmp_path / "missing.pem"
    assert problem_with(missing, key) == f"{missing} cannot be read: No such file or directory"
    assert problem_with(certificate, missing) == f"{missing} cannot be read: No such file or directory"
    assert problem_with(key, key) == f"{key} contains no PEM certificate"
    assert problem_with(certificate, certificate) == f"{certificate} contains no PEM private key"
    other = tmp_path / "other.pem"
    other.write_bytes(authority.pair().key)
    expected = f"{other} is not the key of the first certificate in {certificate}"
    assert problem_with(certificate, other) == expected
    other.write_bytes(authority.pair(password=b"hunter2").key)
    assert problem_with(certificate, other) == (
        f"{other} contains a key with a password. Remove the password"
    )


def test_the_certificate_and_the_key_may_be_in_one_file(pair: Pair, tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    both.write_bytes(pair.certificate + pair.key)
    files = Flags(tls_certificate=both).tls_files()
    assert files is not None and not files.self_signed


def test_a_key_without_a_certificate_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--tls-key needs --tls-cert"):
        Flags(tls_key=tmp_path / "key.pem").tls_files()


@pytest.mark.parametrize(
    ("lasting", "message"),
    [(-DAY, "certificate has expired: browsers refuse it"), (timedelta(days=9), "certificate expires soon")],
)
def test_a_certificate_near_or_past_its_expiry_is_reported(
    authority: Authority,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    lasting: timedelta,
    message: str,
) -> None:
    TlsFiles(*authority.pair(lasting=lasting).write(tmp_path))
    assert message in caplog.messages
