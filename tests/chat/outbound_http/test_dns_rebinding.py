"""Names that resolve differently at the second lookup never cause a connection to the internal network."""

import socket
from pathlib import Path

import pytest
from aiohttp import ClientError, ClientSession
from aiohttp.abc import ResolveResult

from svc.chat.outbound_http.address_checks import FetchError
from svc.chat.outbound_http.connector import AddressGuard, LookUp
from tests.chat.outbound_http.isolated_internet import FILE, Scene
from tests.kit.private_internet import (
    OTHER,
    PUBLIC,
    PUBLIC_V6,
    answer,
    on_an_internet,
    redirect,
)


def test_a_name_that_becomes_private_is_blocked_on_the_next_fetch(tmp_path: Path) -> None:
    async def body() -> None:
        async with Scene({"/a": answer(FILE)}, turning=[[PUBLIC], ["127.0.0.1"]]) as scene:
            assert await scene.fetch("http://turning.example/a") == FILE
            assert await scene.refusal("http://turning.example/a") == "blocked"

    on_an_internet(body, tmp_path)


def test_a_name_that_becomes_private_between_redirects_is_blocked(tmp_path: Path) -> None:
    async def body() -> None:
        # The second request must not reuse the connection of the first one.
        pages = {"/a": redirect("/b"), "/b": answer(FILE)}
        async with Scene(pages, turning=[[PUBLIC], ["169.254.169.254"]]) as scene:
            assert await scene.refusal("http://turning.example/a") == "blocked"
            assert scene.host.paths == ["/a"]

    on_an_internet(body, tmp_path)


def test_each_request_has_its_own_connection(tmp_path: Path) -> None:
    async def body() -> None:
        pages = {"/a": redirect("/b"), "/b": answer(FILE, Connection="keep-alive")}
        async with Scene(pages) as scene:
            for _ in range(2):
                assert await scene.fetch("http://pictures.example/a") == FILE
            assert scene.host.connections == len(scene.host.requests) == 4

    on_an_internet(body, tmp_path)


@pytest.mark.parametrize("private", ["127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"])
def test_one_private_address_among_public_ones_blocks_the_name(tmp_path: Path, private: str) -> None:
    async def body() -> None:
        async with Scene({"/a": answer(FILE)}, mixed=[[PUBLIC, PUBLIC_V6, private]]) as scene:
            assert await scene.refusal("http://mixed.example/a") == "blocked"
            assert scene.host.connections == 0

    on_an_internet(body, tmp_path)


def test_the_servers_own_address_is_blocked(tmp_path: Path) -> None:
    async def body() -> None:
        async with Scene(
            {"/a": answer(FILE)}, AddressGuard([PUBLIC, f"[{PUBLIC_V6}]:5000", "chat.example"]), site=OTHER
        ) as scene:
            assert await scene.fetch("http://site.example/a") == FILE
            for address in (f"http://{PUBLIC}/a", "http://pictures.example/a", f"http://[{PUBLIC_V6}]/a"):
                assert await scene.refusal(address) == "blocked"

    on_an_internet(body, tmp_path)


class Gullible(AddressGuard):
    """A guard that accepts every address when it resolves a name."""

    async def look_up(
        self, host: str, port: int, family: int, looking: list[LookUp] | None = None
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host, host=address, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST
            )
            for address, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6))
        ]


def test_the_check_at_connection_time_blocks_addresses_that_the_lookup_accepted(tmp_path: Path) -> None:
    async def body() -> None:
        async with Scene({}, Gullible()) as scene:
            assert await scene.refusal("http://pictures.example/a") == "blocked"

    on_an_internet(body, tmp_path)


@pytest.mark.parametrize(
    "address",
    [
        *("http://127.0.0.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        *("http://0x7f000001/", "http://2130706433/", "http://１２７.0.0.1/", "http://127.1/", "http://0/"),
        *("http://169.254.169.254/", "http://localhost/", "http://[::1%25lo]/"),
    ],
)
def test_the_check_at_connection_time_works_without_the_spelling_check(tmp_path: Path, address: str) -> None:
    async def body() -> None:
        async with Scene({}) as scene, ClientSession(connector=AddressGuard().connector()) as session:
            with pytest.raises((FetchError, ClientError)):
                await session.get(address)
            assert scene.inside.connections == 0

    on_an_internet(body, tmp_path)
