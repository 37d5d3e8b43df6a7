"""Clients that stop reading media or exports do not block other clients' streams, however many there are."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from aiohttp import ClientSession, TCPConnector

from svc.base import object_store, object_store_s3, stream_admission
from svc.base.object_store import StoreFailed
from svc.base.object_store_s3 import S3Objects
from svc.chat.account import endpoints as account_endpoints
from svc.chat.community import Community
from svc.chat.media import endpoints
from svc.chat.media.stored_media import ObjectInfo
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import newcomer
from tests.chat.internal_server import server_with_insight
from tests.kit.object_stores import FOLDER, MOTO, RCLONE, Stores

# more than the system buffers for a client that does not read its response
LARGE = bytes(24 * 1024 * 1024)
MAX_STREAMS = 8


def variables_of(tmp_path: Path) -> dict[str, str]:
    return {
        "PORT": "0",
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "DATA_DIR": str(tmp_path / "data"),
        "SVC_IDENTITY_TIERS": "local",
        "STORAGE_BACKEND": "filesystem",
    }


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return variables_of(tmp_path)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow only a few streams, and treat every reader as stalled immediately so that the tests need not
    wait.
    """
    monkeypatch.setattr(endpoints, "MAX_STREAMS", MAX_STREAMS)
    monkeypatch.setattr(stream_admission, "STALLED_AFTER_S", 0.0)


class Stalled:
    """A connection that requests a path and reads only the response's status line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def start(cls, chat: ChatServer, path: str, source: str, token: str = "") -> "Stalled":
        host, port = chat.address.removeprefix("http://").rsplit(":", 1)
        # Use the smallest possible receive buffer.
        reader, writer = await asyncio.open_connection(host, int(port), limit=1024, local_addr=(source, 0))
        authorized = f"Authorization: Bearer {token}\r\n" if token else ""
        writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\n{authorized}\r\n".encode())
        assert await reader.readuntil(b"\r\n") == b"HTTP/1.1 200 OK\r\n"
        return cls(reader, writer)

    async def was_closed(self) -> bool:
        """Return whether the server closed the stream before it was complete."""
        received = 0
        try:
            while chunk := await self._reader.read(1024 * 1024):
                received += len(chunk)
                if received > len(LARGE):
                    return False
        except ConnectionError:
            return True
        return received < len(LARGE)

    async def close(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


Stall = Callable[..., Awaitable[Stalled]]


@pytest.fixture
async def stall() -> AsyncIterator[Stall]:
    """Return a function that starts a stream without reading it. The streams are closed at the end of the
    test.
    """
    async with AsyncExitStack() as stack:

        async def begin(chat: ChatServer, path: str, source: str, token: str = "") -> Stalled:
            stalled = await Stalled.start(chat, path, source, token)
            stack.push_async_callback(stalled.close)
            return stalled

        yield begin


@asynccontextmanager
async def reading_from(chat: ChatServer, source: str) -> AsyncIterator[ClientSession]:
    async with ClientSession(chat.address, connector=TCPConnector(local_addr=(source, 0))) as session:
        yield session


async def keep(community: Community, content: bytes, kind: str = "video/mp4") -> str:
    return community.media.url(await community.media.keep(content, "mp4", ObjectInfo(kind)))


@pytest.mark.parametrize("kind", [FOLDER, MOTO])
async def test_stalled_streams_from_one_address_do_not_displace_others(
    kind: str, variables: dict[str, str], stores: Stores, stall: Stall
) -> None:
    variables |= stores.variables(kind)
    async with server_with_insight(variables) as (chat, community):
        large, small = await keep(community, LARGE), await keep(community, b"small")
        stalled = [await stall(chat, large, "127.0.0.1") for _ in range(2 * MAX_STREAMS)]
        async with reading_from(chat, "127.0.0.2") as session, session.get(small) as response:
            assert (response.status, await response.read()) == (200, b"small")
        closed = [await reader.was_closed() for reader in stalled]
        assert closed.count(True) == 2 * MAX_STREAMS - MAX_STREAMS // 2, (
            "one address gets half of the streams"
        )


async def test_if_many_addresses_are_stalled_the_longest_stalled_stream_is_closed(
    variables: dict[str, str], stall: Stall
) -> None:
    async with server_with_insight(variables) as (chat, community):
        large, small = await keep(community, LARGE), await keep(community, b"small")
        stalled = [await stall(chat, large, f"127.0.1.{n + 1}") for n in range(MAX_STREAMS)]
        async with reading_from(chat, "127.0.0.2") as session, session.get(small) as response:
            assert response.status == 200
        closed = [await reader.was_closed() for reader in stalled]
        assert closed.count(True) == 1


async def test_unread_exports_do_not_prevent_other_exports(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch, stall: Stall
) -> None:
    async def endless(*_: object) -> AsyncIterator[bytes]:
        while True:
            yield bytes(64 * 1024)

    monkeypatch.setattr(account_endpoints, "export_json", endless)
    async with server_with_insight(variables) as (chat, _):
        members = [await newcomer(chat, f"Member {n}") for n in range(account_endpoints.MAX_EXPORTS + 1)]
        stalled = [await stall(chat, "/api/me/export", "127.0.0.1", member.token) for member in members]
        assert await stalled[0].was_closed() or await stalled[1].was_closed()


async def test_a_store_without_range_requests_serves_few_readers_and_leaves_disk_space_free(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = S3Objects(stores.address(RCLONE))
    await store.put("uploads/whole.mp4", b"0123456789", "video/mp4")
    assert [chunk async for chunk in store.read("uploads/whole.mp4", 2, 5)] == [b"234"]
    assert store.readers_at_once == object_store_s3._COPIES_AT_ONCE
    monkeypatch.setattr(object_store, "MIN_FREE_BYTES", 2**60)
    with pytest.raises(StoreFailed, match="almost full"):
        async for _ in store.read("uploads/whole.mp4", 2, 5):
            pass


async def test_an_unavailable_store_is_reported_in_the_response_and_once_in_the_log(
    variables: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    with TemporaryDirectory() as folder:
        stores = Stores(Path(folder))
        try:
            variables |= stores.variables(MOTO)
            async with server_with_insight(variables) as (chat, community):
                url = await keep(community, b"here")
                stores.close()
                for _ in range(2):
                    async with chat.http.get(url) as response:
                        answer = await response.json()
                        assert (response.status, answer["error"]) == (503, "storage_unavailable")
                        assert answer["message"] == endpoints._NOT_READ
        finally:
            stores.close()
    records = [record for record in caplog.records if record.message == "stored media cannot be read"]
    assert len(records) == 1
