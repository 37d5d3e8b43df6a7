"""The server handles request bodies that are too large, shorter or longer than declared, slow or cut off.

Clients that send too much can still read the error response.

See docs/webhooks.md.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from svc.chat.webhooks import endpoints
from svc.chat.webhooks.limits import MAX_BODY_BYTES
from tests.chat.members_by_role import MembersByRole
from tests.chat.webhooks.webhook_client import Hook

DEADLINE_S = 20.0
TOO_LARGE = (413, {"error": "body_too_large"})
# This exceeds the buffers of both sockets, so a sender blocks if the other side does not read.
FLOOD = 16 * 1024 * 1024


class Sender:
    """A connection to the server that sends a request in parts."""

    def __init__(self, hook: Hook, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.hook = hook
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def begin(self, *headers: str) -> None:
        lines = [f"POST {self.hook.path} HTTP/1.1", "Host: test", *headers, "", ""]
        await self.send("\r\n".join(lines).encode())

    async def chunks(self, data: bytes, size: int = 65_536) -> None:
        for start in range(0, len(data), size):
            part = data[start : start + size]
            await self.send(f"{len(part):x}\r\n".encode() + part + b"\r\n")

    async def answer(self) -> tuple[int, object]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        [length] = [line.split(":")[1] for line in head.splitlines() if line.startswith("content-length:")]
        return int(head.split()[1]), json.loads(await self.reader.readexactly(int(length)))


@asynccontextmanager
async def connected(hook: Hook) -> AsyncIterator[Sender]:
    host, _, port = hook.chat.address.removeprefix("http://").rpartition(":")
    async with asyncio.timeout(DEADLINE_S):
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            yield Sender(hook, reader, writer)
        finally:
            writer.close()


@pytest.fixture
async def sender(hook: Hook) -> AsyncIterator[Sender]:
    async with connected(hook) as sender:
        yield sender


def padded(size: int) -> bytes:
    payload = b'{"text": "a"}'
    return payload + b" " * (size - len(payload))


async def posts(members: MembersByRole) -> int:
    return len((await members.owner.done("GET", "/api/channels/general/messages"))["messages"])


async def test_a_body_of_exactly_the_limit_is_accepted(sender: Sender) -> None:
    await sender.begin(f"Content-Length: {MAX_BODY_BYTES}")
    await sender.send(padded(MAX_BODY_BYTES))
    assert (await sender.answer())[0] == 200


async def test_a_chunked_body_of_exactly_the_limit_is_accepted(sender: Sender) -> None:
    await sender.begin("Transfer-Encoding: chunked")
    await sender.chunks(padded(MAX_BODY_BYTES))
    await sender.send(b"0\r\n\r\n")
    assert (await sender.answer())[0] == 200


async def test_a_body_one_byte_over_the_limit_is_rejected(sender: Sender, members: MembersByRole) -> None:
    await sender.begin(f"Content-Length: {MAX_BODY_BYTES + 1}")
    await sender.send(padded(MAX_BODY_BYTES + 1))
    assert await sender.answer() == TOO_LARGE
    assert await posts(members) == 0


async def test_a_chunked_body_one_byte_over_the_limit_is_rejected(
    sender: Sender, members: MembersByRole
) -> None:
    await sender.begin("Transfer-Encoding: chunked")
    await sender.chunks(padded(MAX_BODY_BYTES + 1))
    assert await sender.answer() == TOO_LARGE
    assert await posts(members) == 0


async def test_an_oversized_body_is_rejected_before_it_is_sent(sender: Sender) -> None:
    await sender.begin(f"Content-Length: {10**12}")
    assert await sender.answer() == TOO_LARGE


async def test_a_client_that_sends_everything_before_reading_still_gets_the_error(sender: Sender) -> None:
    await sender.begin(f"Content-Length: {FLOOD}")
    await sender.send(b" " * FLOOD)
    assert await sender.answer() == TOO_LARGE


async def test_a_client_that_sends_all_chunks_before_reading_still_gets_the_error(sender: Sender) -> None:
    await sender.begin("Transfer-Encoding: chunked")
    await sender.chunks(b" " * FLOOD)
    await sender.send(b"0\r\n\r\n")
    assert await sender.answer() == TOO_LARGE


async def test_after_an_oversized_body_the_connection_accepts_another_post(sender: Sender) -> None:
    for size in (MAX_BODY_BYTES * 2, 100):
        await sender.begin(f"Content-Length: {size}")
        await sender.send(padded(size))
        status, _ = await sender.answer()
    assert status == 200


async def test_a_body_longer_than_declared_ends_at_the_declared_length(
    sender: Sender, members: MembersByRole
) -> None:
    await sender.begin("Content-Length: 13")
    await sender.send(b'{"text": "a"}')
    assert (await sender.answer())[0] == 200
    await sender.send(b'{"text": "b"}\r\n\r\n')
    assert (await sender.reader.readline()).startswith(b"HTTP/1.0 400")
    assert await posts(members) == 1


async def test_a_body_that_never_arrives_times_out(
    sender: Sender, members: MembersByRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "BODY_DEADLINE_S", 0.1)
    await sender.begin("Content-Length: 100")
    await sender.send(b'{"text": "a"}')
    status, answer = await sender.answer()
    assert (status, answer) == (
        408,
        {"error": "too_slow", "message": "The request took too long to arrive"},
    )
    assert await posts(members) == 0


async def test_a_post_that_is_cut_off_by_a_disconnect_is_discarded(
    hook: Hook, members: MembersByRole, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        async with connected(hook) as sender:
            await sender.begin("Content-Length: 100")
            await sender.send(b'{"text": "a"}')
        await members.owner.done("GET", "/api/me/permissions")
    assert await posts(members) == 0
    assert caplog.records == []


async def test_pipelined_requests_are_answered_in_order(sender: Sender) -> None:
    # Before a large body, curl waits for permission to continue.
    await sender.begin(f"Content-Length: {10 * MAX_BODY_BYTES}", "Expect: 100-continue")
    head = await sender.reader.readuntil(b"\r\n\r\n")
    if head.startswith(b"HTTP/1.1 100"):
        assert await sender.answer() == TOO_LARGE
    else:
        assert head.startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("token", [b"%FF", b"%ED%A0%80", b"%00", b"a" * 4000])
async def test_a_malformed_token_in_the_url_is_rejected(sender: Sender, token: bytes) -> None:
    await sender.send(b"POST /api/webhooks/a/" + token + b" HTTP/1.1\r\nHost: test\r\n")
    await sender.send(b'Content-Length: 13\r\n\r\n{"text": "a"}')
    assert await sender.answer() == (404, {"error": "not_found"})
