"""Webhooks with slow image hosts or very many pictures cannot use up other members' downloads and storage."""

import asyncio
from pathlib import Path

import pytest

from svc.chat.media import usage
from svc.chat.outbound_http import fetcher as fetcher_module
from svc.chat.outbound_http.address_checks import FetchError
from svc.chat.outbound_http.connector import AddressGuard
from svc.chat.outbound_http.fetcher import Fetcher
from svc.chat.webhooks.json_reader import PayloadWarning
from svc.chat.webhooks.pictures import QUOTA
from svc.chat.webhooks.rules import holder_of
from tests.chat.outbound_http.isolated_internet import FILE, LONG_S, MAX_BYTES, SHORT_S, Scene
from tests.chat.webhooks.picture_server import PNG, codes, scene_of, wanted
from tests.kit.private_internet import answer, on_an_internet

GREEDY, OTHER = holder_of("greedy"), holder_of("other")


async def fetched(fetcher: Fetcher, address: str, holder: str, within_s: float = LONG_S) -> bytes:
    deadline = asyncio.get_running_loop().time() + within_s
    return await fetcher.fetch(
        address, max_bytes=MAX_BYTES, deadline=deadline, count=lambda size: None, holder=holder
    )


def test_unresponsive_hosts_of_one_member_leave_download_slots_for_other_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher_module, "AT_ONCE", 4)
    release = asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(answer(FILE))
        await writer.drain()

    async def body() -> None:
        async with Scene({"/slow": slow, "/a": answer(FILE)}) as scene, asyncio.TaskGroup() as group:
            fetcher = Fetcher(AddressGuard())
            held = [
                group.create_task(fetched(fetcher, "http://pictures.example/slow", GREEDY)) for _ in range(9)
            ]
            assert await fetched(fetcher, "http://pictures.example/a", OTHER) == FILE
            assert scene.host.paths.count("/slow") <= 2
            release.set()
            assert await asyncio.gather(*held) == [FILE] * 9

    on_an_internet(body, tmp_path)


def test_an_endless_dns_lookup_counts_towards_the_limit_of_the_requesting_member(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetcher_module, "AT_ONCE", 3)

    async def body() -> None:
        async with Scene({"/a": answer(FILE)}):
            fetcher = Fetcher(AddressGuard())
            for _ in range(2):
                with pytest.raises(FetchError):
                    await fetched(fetcher, "http://silent.example/a", GREEDY, SHORT_S)
            # Both lookup threads are still waiting for a name server that does not respond.
            with pytest.raises(FetchError, match="in time"):
                await fetched(fetcher, "http://pictures.example/a", GREEDY, SHORT_S)
            assert await fetched(fetcher, "http://pictures.example/a", OTHER) == FILE

    on_an_internet(body, tmp_path)


def test_each_members_webhooks_have_their_own_storage_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "MAX_BYTES_PER_MEMBER", 2_000)

    async def body() -> None:
        async with scene_of({f"/{n}": answer(PNG) for n in range(40)}, tmp_path) as on:
            refused: list[PayloadWarning] = []
            for n in range(40):
                collected = await on.pictures.collect([wanted(str(n))], GREEDY)
                refused += collected.warnings
            assert {(warning.code, warning.message) for warning in refused} == {("store_failed", QUOTA)}
            assert not codes(await on.pictures.collect([wanted("0")], OTHER))

    on_an_internet(body, tmp_path)


def test_all_webhooks_of_a_member_share_one_quota() -> None:
    assert holder_of("ada") == holder_of("ada") != holder_of("bob")
    assert holder_of(None) not in ("", holder_of("ada"))
