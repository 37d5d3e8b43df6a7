"""Connects only to public IP addresses, each of which is checked immediately before the connection.

Each name is looked up once. Two guards are needed. The resolver sees every name, but not an IP address in the
URL itself. The socket factory sees every address immediately before the connection. A name that would resolve
differently the next time does no harm, because it is not looked up again. `fetcher` handles requests and
redirects.
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

from aiohttp import AddrInfoType, ServerDisconnectedError, StreamReader, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage

from svc.chat.outbound_http.address_checks import FetchError, address_literals, is_public

# The number of threads for DNS look-ups by the system. Such look-ups cannot be cancelled, so separate threads
# ensure that a slow name server delays nothing else. There is one thread for each simultaneous download, so
# that names that never resolve do not block other look-ups.
LOOK_UPS_AT_ONCE = 96
# The maximum number of IP addresses to try for a name. Some names have hundreds, but a few are enough to find
# one that responds.
MAX_ADDRESSES = 8

# The maximum number of responses to one request, all informational except the last. Hosts usually send one or
# two. The number is checked after each step of STEP_BYTES, which takes up to 3 ms.
MAX_RESPONSES = 64
STEP_BYTES = 8 * 1024
# The read size for unencrypted connections. It limits the time per read: a host can split a file into
# one-byte chunks, each of which takes 0.1 µs.
READ_AT_ONCE_BYTES = 64 * 1024


# A system look-up that may still be running.
LookUp = Future[Any]


class PrivateAddress(OSError):
    """The IP address is not public. It is an OSError, because aiohttp's connector expects no other error."""


class AddressGuard:
    """A guard that checks every name and IP address before a connection.

    `site` lists this site's hosts. IP addresses among them are rejected, because this server may have more
    access there than outsiders.
    """

    def __init__(self, site: Iterable[str] = ()) -> None:
        self._own = frozenset(address_literals(site))
        self._threads = ThreadPoolExecutor(LOOK_UPS_AT_ONCE, thread_name_prefix="look-up")

    def judge(self, address: str) -> None:
        if not is_public(address) or ip_address(address) in self._own:
            raise FetchError("blocked", "Private and local addresses are not fetched")

    async def look_up(
        self, host: str, port: int, family: int, looking: list[LookUp] | None = None
    ) -> list[ResolveResult]:
        """Return a name's IP addresses. Raises FetchError if any of them is not public."""
        look_up = partial(getaddrinfo, host, port, family, SOCK_STREAM, flags=AI_ADDRCONFIG)
        running = self._threads.submit(look_up)
        if looking is not None:
            looking.append(running)
        resolved = await asyncio.wrap_future(running)
        addresses = list(dict.fromkeys((str(address[0]), family) for family, *_, address in resolved))
        for address, _ in addresses:
            self.judge(address)
        flags = AI_NUMERICHOST | AI_NUMERICSERV
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)
            for address, family in addresses[:MAX_ADDRESSES]
        ]

    def open(self, resolved: AddrInfoType) -> socket:
        family, kind, protocol, _, address = resolved
        try:
            self.judge(str(address[0]))
        except FetchError as refusal:
            raise PrivateAddress(refusal.message) from None
        return socket(family, kind, protocol)

    def connector(self, looking: list[LookUp] | None = None) -> TCPConnector:
        """Return a connector that opens a new connection for every request, so every address is checked."""
        return _Connector(
            resolver=_Resolver(self, looking), socket_factory=self.open, use_dns_cache=False, force_close=True
        )


class _Connector(TCPConnector):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # aiohttp has no option for the protocol class.
        handler: type[ResponseHandler] = _Responses
        self._factory = partial(handler, loop=asyncio.get_running_loop())


class _Responses(ResponseHandler):
    """A protocol that processes data in small steps, and closes the connection after too many responses."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._responses = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if hasattr(transport, "max_size"):
            transport.max_size = READ_AT_ONCE_BYTES

    def data_received(self, data: bytes) -> None:
        for begin in range(0, max(len(data), 1), STEP_BYTES):
            super().data_received(data[begin : begin + STEP_BYTES])
            if self._responses > MAX_RESPONSES:
                self.close()
                # Set the exception after closing, because closing discards any earlier one.
                self.set_exception(ServerDisconnectedError("too many responses"))
                return

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        self._responses += 1
        if self._responses <= MAX_RESPONSES:
            super().feed_data(data, size)


class _Resolver(AbstractResolver):
    """A resolver that passes aiohttp's look-ups to the guard."""

    def __init__(self, guard: AddressGuard, looking: list[LookUp] | None) -> None:
        self._guard = guard
        self._looking = looking

    async def resolve(
        self, host: str, port: int = 0, family: AddressFamily = AF_UNSPEC
    ) -> list[ResolveResult]:
        return await self._guard.look_up(host, port, family, self._looking)

    async def close(self) -> None:
        """Do nothing: the resolver holds no resources."""
