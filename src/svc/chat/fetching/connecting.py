"""Connections to public addresses only: names are looked up once, judged, and connected to as judged.

Two guards, because each sees what the other does not: the resolver hears every name but no
address that stands in the URL itself, and the socket factory sees every address just before
the connection. A name that answers otherwise the next time changes nothing, for nobody
asks again. Knows nothing of requests and redirects.
"""

import asyncio
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from ipaddress import ip_address
from socket import (
    AF_UNSPEC,
    AI_ADDRCONFIG,
    AI_NUMERICHOST,
    AI_NUMERICSERV,
    SOCK_STREAM,
    AddressFamily,
    getaddrinfo,
    socket,
)
from typing import Any

from aiohttp import AddrInfoType, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from svc.chat.fetching.targets import NotFetched, is_public, literals

# The system's look-ups cannot be called off. These threads are ours alone, so that a slow name server
# holds up nothing else; as many as downloads, so that names that never answer do not keep the others waiting.
LOOK_UPS_AT_ONCE = 96
# Some names have hundreds of addresses; a few are enough to find one that answers.
MAX_ADDRESSES = 8


# What the system answers, once it does.
LookUp = Future[Any]


class Inside(OSError):
    """A connection that was not made. The connector expects no other kind of exception there."""


class Guard:
    """Judges addresses. `site` is what this site is called: reached from itself, its own opens further."""

    def __init__(self, site: Iterable[str] = ()) -> None:
        self._own = frozenset(literals(site))
        self._threads = ThreadPoolExecutor(LOOK_UPS_AT_ONCE, thread_name_prefix="look-up")

    def judge(self, address: str) -> None:
        if not is_public(address) or ip_address(address) in self._own:
            raise NotFetched("blocked", "Private and local addresses are not fetched")

    async def look_up(
        self, host: str, port: int, family: int, looking: list[LookUp] | None = None
    ) -> list[ResolveResult]:
        """The addresses of a name, if all of them are public: one that is not makes the name suspect.

        What is put into `looking` ends when its thread does, whatever becomes of the caller.
        """
        look_up = partial(getaddrinfo, host, port, family, SOCK_STREAM, flags=AI_ADDRCONFIG)
        running = self._threads.submit(look_up)
        if looking is not None:
            looking.append(running)
        found = await asyncio.wrap_future(running)
        addresses = list(dict.fromkeys((str(address[0]), family) for family, *_, address in found))
        for address, _ in addresses:
            self.judge(address)
        flags = AI_NUMERICHOST | AI_NUMERICSERV
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)
            for address, family in addresses[:MAX_ADDRESSES]
        ]

    def open(self, found: AddrInfoType) -> socket:
        """A socket for a connection that is about to be made."""
        family, kind, protocol, _, address = found
        try:
            self.judge(str(address[0]))
        except NotFetched as refusal:
            raise Inside(refusal.message) from None
        return socket(family, kind, protocol)

    def connector(self, looking: list[LookUp] | None = None) -> TCPConnector:
        """Every request gets a connection of its own: none is used again for what nobody has judged."""
        return TCPConnector(
            resolver=_Resolver(self, looking), socket_factory=self.open, use_dns_cache=False, force_close=True
        )


class _Resolver(AbstractResolver):
    """aiohttp's way to ask a guard."""

    def __init__(self, guard: Guard, looking: list[LookUp] | None) -> None:
        self._guard = guard
        self._looking = looking

    async def resolve(
        self, host: str, port: int = 0, family: AddressFamily = AF_UNSPEC
    ) -> list[ResolveResult]:
        return await self._guard.look_up(host, port, family, self._looking)

    async def close(self) -> None:
        """Nothing is held."""
