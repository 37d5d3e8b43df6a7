"""Fetches from hosts that never finish or that send too much data, compressed or not, are aborted."""

import asyncio
import zlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from aiohttp import helpers

from svc.chat.outbound_http import fetcher as fetcher_module
from svc.chat.outbound_http.address_checks import MAX_REDIRECTS, FetchError
from svc.chat.outbound_http.connector import AddressGuard
from svc.chat.outbound_http.fetcher import MAX_HEADERS, Fetcher
from tests.chat.outbound_http.isolated_internet import FILE, LONG_S, MAX_BYTES, SHORT_S, Scene
from tests.kit.private_internet import (
    CountedPage,
    answer,
    on_an_internet,
    opening,
    redirect,
)

# Headers


def test_a_content_type_is_not_parsed_by_the_http_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Parsing takes half a second for 8,000 semicolons.
    monkeypatch.delattr(helpers, "parse_content_type")

    async def body() -> None:
        async with Scene({"/a": answer(FILE, Content_Type="image/png" + ";" * 7_000)}) as scene:
            assert await scene.fetch("http://pictures.example/a") == FILE

    on_an_internet(body, tmp_path)


# Slow hosts


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


async def send_nothing(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(LONG_S)


SLOW = {
    "a body in drops": drip,
    "a head in drops": drip_headers,
    "endless hints": promise,
    "silence": send_nothing,
}


@pytest.mark.parametrize("speech", SLOW.values(), ids=SLOW)
def test_an_endless_response_is_cut_off_at_the_deadline(
    tmp_path: Path, speech: Callable[[asyncio.StreamWriter], Awaitable[None]]
) -> None:
    async def body() -> None:
        async with Scene({"/a": speech}) as scene:
            assert await scene.refusal("http://pictures.example/a", within_s=SHORT_S) == "timeout"
            assert scene.host.paths == ["/a"]

    on_an_internet(body, tmp_path)


async def flood_hints(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 103 \r\n\r\n" * 1_000)
        await writer.drain()


def test_a_fetch_with_too_many_informational_responses_is_aborted(tmp_path: Path) -> None:
    # These responses once kept the event loop busy for the maximum time of a download.
    async def body() -> None:
        async with Scene({"/a": flood_hints}) as scene:
            assert await scene.refusal("http://pictures.example/a") == "fetch_failed"

    on_an_internet(body, tmp_path)


def test_a_name_server_that_never_responds_times_out(tmp_path: Path) -> None:
    async def body() -> None:
        async with Scene({}) as scene:
            assert await scene.refusal("http://silent.example/a", within_s=SHORT_S) == "timeout"

    on_an_internet(body, tmp_path)


def test_all_redirects_of_a_fetch_share_one_deadline(tmp_path: Path) -> None:
    async def slowly(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(SHORT_S * 0.6)
        writer.write(redirect("/b"))
        await writer.drain()

    async def body() -> None:
        async with Scene({"/a": slowly, "/b": slowly}) as scene:
            assert await scene.refusal("http://pictures.example/a", within_s=SHORT_S) == "timeout"

    on_an_internet(body, tmp_path)


# Large responses


def zeros(megabytes: int) -> Iterator[bytes]:
    return (bytes(1024 * 1024) for _ in range(megabytes))


def bomb(wbits: int) -> bytes:
    """Compress a hundred megabytes of zeros to a hundred kilobytes."""
    packer = zlib.compressobj(9, wbits=wbits)
    return b"".join(map(packer.compress, zeros(100))) + packer.flush()


BOMBS = {
    "gzip": ("gzip", 31),
    "zlib": ("deflate", 15),
    "bare deflate": ("deflate", -15),
    "named twice": ("gzip, gzip", 31),
}


@pytest.mark.parametrize(("encoding", "wbits"), BOMBS.values(), ids=BOMBS)
def test_a_decompression_bomb_is_not_unpacked(tmp_path: Path, encoding: str, wbits: int) -> None:
    packed = bomb(wbits)

    async def body() -> None:
        async with Scene({"/a": answer(packed, Content_Encoding=encoding)}) as scene:
            assert await scene.refusal("http://pictures.example/a", 1024 * 1024) == "fetch_failed"
            assert scene.counted == 0

    on_an_internet(body, tmp_path)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "compress", "x-snappy"])
def test_unrequested_compression_is_a_failure(tmp_path: Path, encoding: str) -> None:
    async def body() -> None:
        async with Scene({"/a": answer(FILE, Content_Encoding=encoding)}) as scene:
            assert await scene.refusal("http://pictures.example/a") == "fetch_failed"

    on_an_internet(body, tmp_path)


@pytest.mark.parametrize(("headers", "outcome"), [(MAX_HEADERS, "accepted"), (MAX_HEADERS + 1, "refused")])
def test_a_response_with_too_many_headers_is_a_failure(tmp_path: Path, headers: int, outcome: str) -> None:
    # `answer` adds Content-Length.
    page = answer(FILE, **{f"X-{number}": "x" for number in range(headers - 1)})

    async def body() -> None:
        async with Scene({"/a": page}) as scene:
            if outcome == "accepted":
                assert await scene.fetch("http://pictures.example/a") == FILE
            else:
                assert await scene.refusal("http://pictures.example/a") == "fetch_failed"

    on_an_internet(body, tmp_path)


def chunked(body: bytes) -> bytes:
    chunks = [body[at : at + 100] for at in range(0, len(body), 100)]
    packed = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + packed + b"0\r\n\r\n"


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "with its length": answer,
    "in chunks": chunked,
    "as it is": lambda body: answer(body, Content_Encoding="Identity"),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_file_of_the_maximum_size_is_accepted_and_one_more_byte_is_not(
    tmp_path: Path, form: Callable[[bytes], bytes]
) -> None:
    pages = {"/a": form(b"x" * MAX_BYTES), "/b": form(b"x" * (MAX_BYTES + 1))}

    async def body() -> None:
        async with Scene(pages) as scene:
            assert await scene.fetch("http://pictures.example/a") == b"x" * MAX_BYTES
            assert await scene.refusal("http://pictures.example/b") == "too_large"

    on_an_internet(body, tmp_path)


def test_an_excessive_content_length_is_an_immediate_failure(tmp_path: Path) -> None:
    async def announce(writer: asyncio.StreamWriter) -> None:
        writer.write(opening(Content_Length="1000000000"))
        await writer.drain()
        await asyncio.sleep(LONG_S)

    async def body() -> None:
        async with Scene({"/a": announce}) as scene:
            assert await scene.refusal("http://pictures.example/a") == "too_large"
            assert scene.counted == 0

    on_an_internet(body, tmp_path)


def test_a_caller_can_cancel_a_download(tmp_path: Path) -> None:
    def enough(size: int) -> None:
        raise FetchError("media_budget", f"not {size} more")

    async def body() -> None:
        async with Scene({"/a": answer(FILE)}):
            deadline = asyncio.get_running_loop().time() + LONG_S
            with pytest.raises(FetchError) as refused:
                await Fetcher(AddressGuard()).fetch(
                    "http://pictures.example/a", max_bytes=MAX_BYTES, deadline=deadline, count=enough
                )
            assert refused.value.code == "media_budget"

    on_an_internet(body, tmp_path)


# Malformed responses


def mutated(response: bytes, random: Random) -> bytes:
    changed = bytearray(response)
    for _ in range(random.choice((1, 1, 2, 8))):
        at = random.randrange(len(changed))
        match random.randrange(4):
            case 0:
                changed[at] = random.randrange(256)
            case 1:
                del changed[at : at + random.randrange(1, 30)]
            case 2:
                changed[at:at] = changed[at : at + random.randrange(1, 200)]
            case _:
                changed[at:at] = random.choice(
                    (b"\r\n", b"\0", b"\xff", b"999999999999", b"-1", b"http://[", b"\x80")
                )
        changed = changed or bytearray(b".")
    return bytes(changed)


def test_any_response_yields_a_file_or_a_failure(tmp_path: Path) -> None:
    honest = [*(form(FILE) for form in FORMS.values()), redirect("/a"), redirect("http://private.example/")]
    turns = [mutated(honest[turn % len(honest)], Random(turn)) for turn in range(400)]

    async def respond(writer: asyncio.StreamWriter) -> None:
        writer.write(turns.pop())
        await writer.drain()

    async def body() -> None:
        async with Scene({"/a": respond}, private="127.0.0.1") as scene:
            while len(turns) > MAX_REDIRECTS:
                try:
                    assert len(await scene.fetch("http://pictures.example/a")) <= MAX_BYTES
                except FetchError as fault:
                    assert fault.code in ("blocked", "fetch_failed", "too_large")

    on_an_internet(body, tmp_path)


def test_the_servers_concurrent_downloads_are_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher_module, "AT_ONCE", 3)

    async def body() -> None:
        page = CountedPage(FILE, expected=3)
        async with Scene({"/a": page}) as scene:
            fetcher = Fetcher(AddressGuard())
            deadline = asyncio.get_running_loop().time() + LONG_S
            files = await asyncio.gather(
                *(
                    fetcher.fetch(
                        "http://pictures.example/a",
                        max_bytes=MAX_BYTES,
                        deadline=deadline,
                        count=lambda size: None,
                        holder=str(number),
                    )
                    for number in range(12)
                )
            )
            assert files == [FILE] * 12
            assert page.maximum == 3
            assert scene.host.connections == 12

    on_an_internet(body, tmp_path)
