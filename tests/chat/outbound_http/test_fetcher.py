"""Tests the guarded fetcher with real DNS and sockets: successful fetches, redirects and failures."""

import asyncio
import ssl
from pathlib import Path

import pytest

from tests.chat.outbound_http.isolated_internet import FILE, Scene
from tests.kit.certificates import Authority
from tests.kit.name_server import A
from tests.kit.private_internet import (
    OTHER,
    PUBLIC,
    PUBLIC_V6,
    answer,
    hosted,
    on_an_internet,
    redirect,
)

# Successful fetches


@pytest.mark.parametrize(
    "address",
    ["http://pictures.example/a", f"http://{PUBLIC}/a", f"http://[{PUBLIC_V6}]/a", "http://six.example/a"],
)
def test_a_file_is_fetched_by_name_and_by_address(tmp_path: Path, address: str) -> None:
    async def body() -> None:
        async with Scene({"/a": answer(FILE)}, six=PUBLIC_V6) as scene:
            assert await scene.fetch(address) == FILE
            assert scene.counted == len(FILE)

    on_an_internet(body, tmp_path)


def test_a_request_reveals_nothing_about_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"/a": answer(b"", "302 Found", Location="/b", Set_Cookie="who=me"), "/b": answer(FILE)}
    monkeypatch.setenv("http_proxy", f"http://{OTHER}:80")
    monkeypatch.setenv("HTTP_PROXY", f"http://{OTHER}:80")

    async def body() -> None:
        async with Scene(pages) as scene:
            assert await scene.fetch("http://user:secret@pictures.example/a#here") == FILE
            assert scene.host.paths == ["/a", "/b"]  # A proxy would see whole URLs.
            for head in scene.host.requests:
                sent = {line.split(":")[0].lower() for line in head.split("\r\n")[1:] if line}
                assert sent == {"host", "accept", "accept-encoding", "user-agent", "connection"}
                assert "secret" not in head
                assert "accept-encoding: identity\r\n" in head.lower()

    on_an_internet(body, tmp_path)


def test_a_name_is_resolved_once_per_request(tmp_path: Path) -> None:
    async def body() -> None:
        async with Scene({"/a": answer(FILE)}) as scene:
            assert await scene.fetch("http://pictures.example/a") == FILE
            assert scene.names.queries["pictures.example", A] == 1

    on_an_internet(body, tmp_path)


def test_a_host_is_reached_if_any_of_its_addresses_responds(tmp_path: Path) -> None:
    async def body() -> None:
        # On this port, nothing is listening at the first address, but the second address responds.
        async with Scene({}, both=[[PUBLIC_V6, PUBLIC]]) as scene, hosted({"/a": answer(FILE)}, port=8080):
            assert await scene.fetch("http://both.example:8080/a") == FILE

    on_an_internet(body, tmp_path)


# Redirects


def chain(length: int) -> dict[str, bytes]:
    """Return responses that redirect `length` times, back and forth between two hosts."""
    hosts = ("pictures.example", OTHER)
    pages = {f"/{at}": redirect(f"http://{hosts[at % 2]}/{at + 1}") for at in range(length)}
    return pages | {f"/{length}": answer(FILE)}


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 For Ever"]
)
def test_redirects_of_all_kinds_are_followed(tmp_path: Path, status: str) -> None:
    async def body() -> None:
        async with Scene({"/a": redirect("b", status), "/b": answer(FILE)}) as scene:
            assert await scene.fetch("http://pictures.example/a") == FILE

    on_an_internet(body, tmp_path)


def test_five_redirects_are_followed_and_a_sixth_is_blocked(tmp_path: Path) -> None:
    async def body() -> None:
        async with Scene(chain(5)) as scene:
            assert await scene.fetch("http://pictures.example/0") == FILE
        async with Scene(chain(6)) as scene:
            assert await scene.refusal("http://pictures.example/0") == "blocked"
            assert scene.host.paths[-1] == "/5"  # The target of the sixth redirect is not requested.

    on_an_internet(body, tmp_path)


@pytest.mark.parametrize(
    "location",
    [
        *("http://127.0.0.1/", "http://[::1]/", "http://2130706433/", "http://0x7f.1/", "http://127.1/"),
        *(
            "http://169.254.169.254/latest/meta-data/",
            "http://10.0.0.1/",
            "//127.0.0.1/",
            "http://localhost/",
        ),
        *("http://[::ffff:127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://０.0.0.0/", "http://0/"),
        *(
            "http://private.example/",
            "http://cloud.example/",
            "http://six.example/",
            "http://mapped.example/",
        ),
        *(
            "http://mixed.example/",
            "http://pictures.example:22/",
            "ftp://pictures.example/",
            "file:///etc/passwd",
        ),
    ],
)
def test_a_redirect_to_an_internal_address_is_blocked(tmp_path: Path, location: str) -> None:
    async def body() -> None:
        scene = Scene(
            {"/a": redirect(location)},
            private="127.0.0.1",
            cloud="169.254.169.254",
            six="::1",
            mapped="::ffff:127.0.0.1",
            mixed=[[PUBLIC, "10.0.0.1"]],
        )
        async with scene:
            assert await scene.refusal("http://pictures.example/a") == "blocked"

    on_an_internet(body, tmp_path)


@pytest.mark.parametrize("location", ["", "http://[", "http://example:port/"])
def test_a_redirect_without_a_target_is_a_failure(tmp_path: Path, location: str) -> None:
    async def body() -> None:
        async with Scene({"/a": redirect(location)}) as scene:
            assert await scene.refusal("http://pictures.example/a") in ("blocked", "fetch_failed")

    on_an_internet(body, tmp_path)


# Hosts that fail


BROKEN: dict[str, bytes] = {
    "not found": answer(b"", "404 Not Found"),
    "forbidden": answer(FILE, "403 Forbidden"),
    "its own fault": answer(FILE, "500 Internal Server Error"),
    "nothing to say": b"HTTP/1.1 204 No Content\r\n\r\n",
    "a part": answer(FILE, "206 Partial Content"),
    "not modified": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    "a redirect to nowhere": answer(b"", "302 Found"),
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "an endless head": b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 100_000,
    "too many headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000 + b"\r\n",
    "two lengths": answer(FILE).replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n", 1),
    "bad chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "65 headers": answer(FILE, **{f"X-{number}": "y" for number in range(65)}),
}


@pytest.mark.parametrize("response", BROKEN.values(), ids=BROKEN)
def test_a_host_without_the_file_is_a_failure(tmp_path: Path, response: bytes) -> None:
    async def respond(writer: asyncio.StreamWriter) -> None:
        writer.write(response)
        await writer.drain()

    async def body() -> None:
        async with Scene({"/a": respond}) as scene:
            assert await scene.refusal("http://pictures.example/a") == "fetch_failed"

    on_an_internet(body, tmp_path)


def test_a_truncated_file_is_a_failure(tmp_path: Path) -> None:
    async def break_off(writer: asyncio.StreamWriter) -> None:
        writer.write(answer(FILE)[:-1])
        await writer.drain()

    async def body() -> None:
        async with Scene({"/a": break_off}) as scene:
            assert await scene.refusal("http://pictures.example/a") == "fetch_failed"

    on_an_internet(body, tmp_path)


@pytest.mark.parametrize(
    "address",
    ["http://nobody.example/", f"http://{PUBLIC}:8080/", f"http://[{PUBLIC_V6}]:8080/", "http://8.8.8.8/"],
)
def test_an_unreachable_host_is_a_failure(tmp_path: Path, address: str) -> None:
    async def body() -> None:
        async with Scene({}) as scene:
            assert await scene.refusal(address) == "fetch_failed"

    on_an_internet(body, tmp_path)


def test_a_host_with_an_untrusted_certificate_is_a_failure(tmp_path: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*Authority().pair().write(tmp_path))

    async def body() -> None:
        async with Scene({}) as scene, hosted({"/a": answer(FILE)}, port=443, tls=tls) as host:
            assert await scene.refusal("https://pictures.example/a") == "fetch_failed"
            assert host.requests == []

    on_an_internet(body, tmp_path)
