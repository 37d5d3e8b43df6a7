"""The guarded fetcher against hosts that misbehave, on an internet of its own: real DNS, real sockets."""

import asyncio
import gzip
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import ClientError, ClientSession
from aiohttp.abc import ResolveResult

from svc.chat.fetching.connecting import Guard
from svc.chat.fetching.fetcher import Fetcher
from svc.chat.fetching.targets import NotFetched
from tests.kit.certificates import Authority
from tests.kit.internet import (
    OTHER,
    PUBLIC,
    PUBLIC_V6,
    Host,
    Pages,
    answer,
    hosted,
    inside,
    names,
    on_an_internet,
    opening,
    redirect,
)
from tests.kit.name_server import A, Answers, NameServer, name_server

FILE = b"what is at the address"
MAX_BYTES = 1000
SHORT_S, LONG_S = 0.5, 20.0

Everywhere = (PUBLIC, OTHER, PUBLIC_V6)
Run = Callable[[Callable[[], Awaitable[None]]], None]


@pytest.fixture
def internet(tmp_path: Path) -> Run:
    return lambda body: on_an_internet(body, tmp_path)


class Scene:
    """A host everywhere, a name server, what is inside, and a fetcher that is asked for files."""

    def __init__(self, pages: Pages, guard: Guard | None = None, **answers: str | Answers) -> None:
        self._pages = pages
        self._answers: dict[str, str | Answers] = {"pictures": PUBLIC, **answers}
        self._guard = guard or Guard()
        self.counted = 0
        self.host: Host
        self.inside: Host
        self.names: NameServer

    async def __aenter__(self) -> "Scene":
        self._stack = AsyncExitStack()
        enter = self._stack.enter_async_context
        self.host = await enter(hosted(self._pages, Everywhere))
        self.inside = await enter(inside())
        self.names = await enter(name_server(names(**self._answers), silent=("silent.example",)))
        self._stack.callback(self._guard.close)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()
        assert self.inside.connections == 0, "nobody comes inside"

    async def fetch(self, address: str, max_bytes: int = MAX_BYTES, within_s: float = LONG_S) -> bytes:
        deadline = asyncio.get_running_loop().time() + within_s
        return await Fetcher(self._guard).fetch(
            address, max_bytes=max_bytes, deadline=deadline, count=self._count
        )

    async def refusal(self, address: str, max_bytes: int = MAX_BYTES, within_s: float = LONG_S) -> str:
        with pytest.raises(NotFetched) as refused:
            await self.fetch(address, max_bytes, within_s)
        assert refused.value.message
        return refused.value.code

    def _count(self, size: int) -> None:
        self.counted += size


# What it fetches.


@pytest.mark.parametrize(
    "address",
    ["http://pictures.example/a", f"http://{PUBLIC}/a", f"http://[{PUBLIC_V6}]/a", "http://six.example/a"],
)
def test_a_file_is_fetched_by_name_and_by_address(internet: Run, address: str) -> None:
    async def body() -> None:
        async with Scene({"/a": answer(FILE)}, six=PUBLIC_V6) as scene:
            assert await scene.fetch(address) == FILE
            assert scene.counted == len(FILE)

    internet(body)


def test_a_host_hears_nothing_of_anybody(internet: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"/a": answer(b"", "302 Found", Location="/b", Set_Cookie="who=me"), "/b": answer(FILE)}
    monkeypatch.setenv("http_proxy", f"http://{OTHER}:80")
    monkeypatch.setenv("HTTP_PROXY", f"http://{OTHER}:80")

    async def body() -> None:
        async with Scene(pages) as scene:
            assert await scene.fetch("http://user:secret@pictures.example/a#here") == FILE
            assert scene.host.paths == ["/a", "/b"]  # A proxy would be asked for the whole address.
            for head in scene.host.requests:
                sent = {line.split(":")[0].lower() for line in head.split("\r\n")[1:] if line}
                assert sent == {"host", "accept", "accept-encoding", "user-agent", "connection"}
                assert "secret" not in head

    internet(body)


def test_a_name_is_looked_up_once_for_a_request(internet: Run) -> None:
    async def body() -> None:
        async with Scene({"/a": answer(FILE)}) as scene:
            assert await scene.fetch("http://pictures.example/a") == FILE
            assert scene.names.asked["pictures.example", A] == 1

    internet(body)


def test_a_host_that_answers_on_one_of_its_addresses_is_reached(internet: Run) -> None:
    async def body() -> None:
        # Nobody listens there on this port; the next address does.
        async with Scene({}, both=[[PUBLIC_V6, PUBLIC]]) as scene, hosted({"/a": answer(FILE)}, port=8080):
            assert await scene.fetch("http://both.example:8080/a") == FILE

    internet(body)


# Redirects.


def chain(length: int) -> dict[str, bytes]:
    """`/0` redirects so many times, to and fro between two hosts."""
    hosts = ("pictures.example", OTHER)
    pages = {f"/{at}": redirect(f"http://{hosts[at % 2]}/{at + 1}") for at in range(length)}
    return pages | {f"/{length}": answer(FILE)}


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 For Ever"]
)
def test_redirects_of_all_kinds_are_followed(internet: Run, status: str) -> None:
    async def body() -> None:
        async with Scene({"/a": redirect("b", status), "/b": answer(FILE)}) as scene:
            assert await scene.fetch("http://pictures.example/a") == FILE

    internet(body)


def test_five_redirects_are_followed_and_a_sixth_is_blocked(internet: Run) -> None:
    async def body() -> None:
        async with Scene(chain(5)) as scene:
            assert await scene.fetch("http://pictures.example/0") == FILE
        async with Scene(chain(6)) as scene:
            assert await scene.refusal("http://pictures.example/0") == "blocked"
            assert scene.host.paths[-1] == "/5"  # What the sixth points to is not asked for.

    internet(body)


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
def test_a_redirect_inside_is_blocked_and_nobody_comes(internet: Run, location: str) -> None:
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

    internet(body)


@pytest.mark.parametrize("location", ["", "http://[", "http://example:port/"])
def test_a_redirect_that_leads_nowhere_is_no_file(internet: Run, location: str) -> None:
    async def body() -> None:
        async with Scene({"/a": redirect(location)}) as scene:
            assert await scene.refusal("http://pictures.example/a") in ("blocked", "fetch_failed")

    internet(body)


# Names that lie.


def test_a_name_that_turns_private_is_blocked_on_the_next_fetch(internet: Run) -> None:
    async def body() -> None:
        async with Scene({"/a": answer(FILE)}, turning=[[PUBLIC], ["127.0.0.1"]]) as scene:
            assert await scene.fetch("http://turning.example/a") == FILE
            assert await scene.refusal("http://turning.example/a") == "blocked"

    internet(body)


def test_a_name_that_turns_private_between_redirects_is_blocked(internet: Run) -> None:
    async def body() -> None:
        # The connection of the first request could be used again; it is not.
        pages = {"/a": redirect("/b"), "/b": answer(FILE)}
        async with Scene(pages, turning=[[PUBLIC], ["169.254.169.254"]]) as scene:
            assert await scene.refusal("http://turning.example/a") == "blocked"
            assert scene.host.paths == ["/a"]

    internet(body)


def test_each_request_has_a_connection_of_its_own(internet: Run) -> None:
    async def body() -> None:
        pages = {"/a": redirect("/b"), "/b": answer(FILE, Connection="keep-alive")}
        async with Scene(pages) as scene:
            for _ in range(2):
                assert await scene.fetch("http://pictures.example/a") == FILE
            assert scene.host.connections == len(scene.host.requests) == 4

    internet(body)


@pytest.mark.parametrize("private", ["127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"])
def test_one_private_answer_among_public_ones_blocks_the_name(internet: Run, private: str) -> None:
    async def body() -> None:
        async with Scene({"/a": answer(FILE)}, mixed=[[PUBLIC, PUBLIC_V6, private]]) as scene:
            assert await scene.refusal("http://mixed.example/a") == "blocked"
            assert scene.host.connections == 0

    internet(body)


def test_the_sites_own_address_is_blocked(internet: Run) -> None:
    async def body() -> None:
        async with Scene({"/a": answer(FILE)}, Guard([PUBLIC, PUBLIC_V6]), site=OTHER) as scene:
            assert await scene.fetch("http://site.example/a") == FILE
            for address in (f"http://{PUBLIC}/a", "http://pictures.example/a", f"http://[{PUBLIC_V6}]/a"):
                assert await scene.refusal(address) == "blocked"

    internet(body)


class Gullible(Guard):
    """A guard whose look-ups let everything through."""

    async def look_up(self, host: str, port: int, family: int) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host, host=address, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST
            )
            for address, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6))
        ]


def test_what_look_ups_let_through_no_socket_is_opened_for(internet: Run) -> None:
    async def body() -> None:
        async with Scene({}, Gullible()) as scene:
            assert await scene.refusal("http://pictures.example/a") == "blocked"

    internet(body)


@pytest.mark.parametrize(
    "address",
    [
        *("http://127.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        *("http://0x7f000001/", "http://2130706433/", "http://１２７.0.0.1/", "http://127.1/", "http://0/"),
        *("http://169.254.169.254/", "http://localhost/", "http://[::1%25lo]/"),
    ],
)
def test_without_the_judgement_of_spelling_no_socket_is_opened_either(internet: Run, address: str) -> None:
    async def body() -> None:
        async with Scene({}) as scene, ClientSession(connector=Guard().connector()) as session:
            with pytest.raises((NotFetched, ClientError)):
                await session.get(address)
            assert scene.inside.connections == 0

    internet(body)


# Hosts that take their time.


async def drip(writer: asyncio.StreamWriter) -> None:
    writer.write(opening())
    while True:
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(0.02)


async def drip_headers(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(0.02)


async def promise(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def say_nothing(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(LONG_S)


async def compress_nothing(writer: asyncio.StreamWriter) -> None:
    """Bytes without end that decompress to none."""
    packer = zlib.compressobj(wbits=31)
    writer.write(opening(Content_Encoding="gzip"))
    while True:
        writer.write(packer.flush(zlib.Z_FULL_FLUSH))
        await writer.drain()
        await asyncio.sleep(0)


SLOW = {
    "a body in drops": drip,
    "a head in drops": drip_headers,
    "hints without end": promise,
    "silence": say_nothing,
    "compressed nothing without end": compress_nothing,
}


@pytest.mark.parametrize("speech", SLOW.values(), ids=SLOW)
def test_a_host_that_never_ends_is_cut_off_at_the_deadline(
    internet: Run, speech: Callable[[asyncio.StreamWriter], Awaitable[None]]
) -> None:
    async def body() -> None:
        async with Scene({"/a": speech}) as scene:
            assert await scene.refusal("http://pictures.example/a", within_s=SHORT_S) == "timeout"
            assert scene.host.paths == ["/a"]

    internet(body)


def test_a_name_server_that_never_answers_is_not_waited_for(internet: Run) -> None:
    async def body() -> None:
        async with Scene({}) as scene:
            assert await scene.refusal("http://silent.example/a", within_s=SHORT_S) == "timeout"

    internet(body)


def test_redirects_share_the_deadline(internet: Run) -> None:
    async def slowly(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(SHORT_S * 0.6)
        writer.write(redirect("/b"))
        await writer.drain()

    async def body() -> None:
        async with Scene({"/a": slowly, "/b": slowly}) as scene:
            assert await scene.refusal("http://pictures.example/a", within_s=SHORT_S) == "timeout"

    internet(body)


# How much it takes.


def zeros(megabytes: int) -> Iterator[bytes]:
    return (bytes(1024 * 1024) for _ in range(megabytes))


def bomb(wbits: int) -> bytes:
    """A hundred megabytes of nothing in a hundred kilobytes."""
    packer = zlib.compressobj(9, wbits=wbits)
    return b"".join(map(packer.compress, zeros(100))) + packer.flush()


BOMBS = {"gzip": ("gzip", 31), "zlib": ("deflate", 15), "bare deflate": ("deflate", -15)}


@pytest.mark.parametrize(("encoding", "wbits"), BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_cut_off_as_it_unfolds(internet: Run, encoding: str, wbits: int) -> None:
    packed = bomb(wbits)

    async def body() -> None:
        async with Scene({"/a": answer(packed, Content_Encoding=encoding)}) as scene:
            assert await scene.refusal("http://pictures.example/a", 1024 * 1024) == "too_large"
            assert scene.counted <= 1024 * 1024

    internet(body)


def test_a_bomb_within_a_bomb_stays_packed(internet: Run) -> None:
    packed = gzip.compress(bomb(31))

    async def body() -> None:
        async with Scene({"/a": answer(packed, Content_Encoding="gzip, gzip")}) as scene:
            assert await scene.refusal("http://pictures.example/a", 1024 * 1024) == "fetch_failed"

    internet(body)


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "x-snappy"])
def test_a_compression_that_was_not_asked_for_is_no_file(internet: Run, encoding: str) -> None:
    async def body() -> None:
        async with Scene({"/a": answer(FILE, Content_Encoding=encoding)}) as scene:
            assert await scene.refusal("http://pictures.example/a") == "fetch_failed"

    internet(body)


def chunked(body: bytes) -> bytes:
    chunks = [body[at : at + 100] for at in range(0, len(body), 100)]
    packed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + packed + b"0\r\n\r\n"


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "with its length": answer,
    "in chunks": chunked,
    "compressed": lambda body: answer(gzip.compress(body), Content_Encoding="gzip"),
    "compressed, hardly": lambda body: answer(gzip.compress(body, 0), Content_Encoding="gzip"),
    "in several members": lambda body: answer(
        gzip.compress(body[:500]) + gzip.compress(body[500:]), Content_Encoding="gzip"
    ),
    "deflated": lambda body: answer(zlib.compress(body), Content_Encoding="deflate"),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_largest_file_passes_and_one_byte_more_does_not(
    internet: Run, form: Callable[[bytes], bytes]
) -> None:
    pages = {"/a": form(b"x" * MAX_BYTES), "/b": form(b"x" * (MAX_BYTES + 1))}

    async def body() -> None:
        async with Scene(pages) as scene:
            assert await scene.fetch("http://pictures.example/a") == b"x" * MAX_BYTES
            assert await scene.refusal("http://pictures.example/b") == "too_large"

    internet(body)


def test_a_length_that_is_too_large_is_believed(internet: Run) -> None:
    async def announce(writer: asyncio.StreamWriter) -> None:
        writer.write(opening(Content_Length="1000000000"))
        await writer.drain()
        await asyncio.sleep(LONG_S)

    async def body() -> None:
        async with Scene({"/a": announce}) as scene:
            assert await scene.refusal("http://pictures.example/a") == "too_large"
            assert scene.counted == 0

    internet(body)


def test_who_counts_may_end_it(internet: Run) -> None:
    def enough(size: int) -> None:
        raise NotFetched("media_budget", f"not {size} more")

    async def body() -> None:
        async with Scene({"/a": answer(FILE)}):
            deadline = asyncio.get_running_loop().time() + LONG_S
            with pytest.raises(NotFetched) as refused:
                await Fetcher(Guard()).fetch(
                    "http://pictures.example/a", max_bytes=MAX_BYTES, deadline=deadline, count=enough
                )
            assert refused.value.code == "media_budget"

    internet(body)


# Hosts that fail.


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
    "a head without end": b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 100_000,
    "too many headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000 + b"\r\n",
    "two lengths": answer(FILE).replace(b"\r\n\r\n", b"\r\nContent-Length: 5\r\n\r\n", 1),
    "bad chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "no gzip at all": answer(FILE, Content_Encoding="gzip"),
    "deflate that is cut off": answer(zlib.compress(FILE)[:-5], Content_Encoding="deflate"),
}


@pytest.mark.parametrize("said", BROKEN.values(), ids=BROKEN)
def test_a_host_that_has_no_file_is_a_failure(internet: Run, said: bytes) -> None:
    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await writer.drain()

    async def body() -> None:
        async with Scene({"/a": say}) as scene:
            assert await scene.refusal("http://pictures.example/a") == "fetch_failed"

    internet(body)


def test_a_file_that_breaks_off_is_a_failure(internet: Run) -> None:
    async def break_off(writer: asyncio.StreamWriter) -> None:
        writer.write(answer(FILE)[:-1])
        await writer.drain()

    async def body() -> None:
        async with Scene({"/a": break_off}) as scene:
            assert await scene.refusal("http://pictures.example/a") == "fetch_failed"

    internet(body)


@pytest.mark.parametrize(
    "address",
    ["http://nobody.example/", f"http://{PUBLIC}:8080/", f"http://[{PUBLIC_V6}]:8080/", "http://8.8.8.8/"],
)
def test_a_host_that_cannot_be_reached_is_a_failure(internet: Run, address: str) -> None:
    async def body() -> None:
        async with Scene({}) as scene:
            assert await scene.refusal(address) == "fetch_failed"

    internet(body)


def test_a_host_with_nobodys_certificate_is_a_failure(internet: Run, tmp_path: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*Authority().pair().write(tmp_path))

    async def body() -> None:
        async with Scene({}) as scene, hosted({"/a": answer(FILE)}, port=443, tls=tls) as host:
            assert await scene.refusal("https://pictures.example/a") == "fetch_failed"
            assert host.requests == []

    internet(body)
