"""Provides hosts, DNS names and a fetcher on a simulated, isolated internet.

The fetcher must never reach the internal network.
"""

import asyncio
from contextlib import AsyncExitStack

import pytest

from svc.chat.outbound_http.address_checks import FetchError
from svc.chat.outbound_http.connector import AddressGuard
from svc.chat.outbound_http.fetcher import Fetcher
from tests.kit.name_server import Answers, NameServer, name_server
from tests.kit.private_internet import (
    OTHER,
    PUBLIC,
    PUBLIC_V6,
    Host,
    Pages,
    hosted,
    inside,
    names,
)

FILE = b"what is at the address"
MAX_BYTES = 1000
SHORT_S, LONG_S = 0.5, 20.0

Everywhere = (PUBLIC, OTHER, PUBLIC_V6)


class Scene:
    """Hosts on the internet and on the internal network, a name server, and a fetcher."""

    def __init__(self, pages: Pages, guard: AddressGuard | None = None, **answers: str | Answers) -> None:
        self._pages = pages
        self._answers: dict[str, str | Answers] = {"pictures": PUBLIC, **answers}
        self._guard = guard or AddressGuard()
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
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()
        assert self.inside.connections == 0, "no request reaches the private network"

    async def fetch(self, address: str, max_bytes: int = MAX_BYTES, within_s: float = LONG_S) -> bytes:
        deadline = asyncio.get_running_loop().time() + within_s
        return await Fetcher(self._guard).fetch(
            address, max_bytes=max_bytes, deadline=deadline, count=self._count
        )

    async def refusal(self, address: str, max_bytes: int = MAX_BYTES, within_s: float = LONG_S) -> str:
        with pytest.raises(FetchError) as refused:
            await self.fetch(address, max_bytes, within_s)
        assert refused.value.message
        return refused.value.code

    def _count(self, size: int) -> None:
        self.counted += size
