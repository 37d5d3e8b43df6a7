"""Implements an mDNS responder (zeroconf) for one of the server's names.

The module is imported only when a server becomes discoverable, because the library uses 3 MB of memory and a
twentieth of the startup time. `mdns_records` and `mdns_advertiser` decide what is announced, and where. See
RFC 6762, RFC 6763.
"""

import asyncio
from collections.abc import Sequence
from ipaddress import ip_address

from zeroconf import Error, IPVersion, NonUniqueNameException
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from svc.chat.settings import mdns_records
from svc.chat.settings.mdns_records import SERVICE_TYPE, AdvertisedServer

# How long to wait for a response from another server with the same name. No request waits for the result.
ASK_MS = 2000
# The timeout for the registration. Each name that is already in use takes another second.
ADVERTISE_DEADLINE_S = 20.0
# The maximum number of servers with the same name on a network. Beyond that, registration fails.
MAX_NAMESAKES = 20


class Responder:
    """A responder on the interfaces `senders`, all of one address family, until `close`."""

    def __init__(self, senders: Sequence[str | int]) -> None:
        """Open the sockets. Raises OSError, ValueError or RuntimeError."""
        fours = all(isinstance(sender, str) for sender in senders)
        version = IPVersion.V4Only if fours else IPVersion.V6Only
        try:
            self._zeroconf = AsyncZeroconf(interfaces=list(senders), ip_version=version)
        except Error as fault:
            raise RuntimeError(str(fault) or type(fault).__name__) from None

    async def register(self, announced: AdvertisedServer, addresses: Sequence[str]) -> str:
        """Announce the server under an unused name. Return the name.

        Raises OSError (including TimeoutError), ValueError or RuntimeError.
        """
        try:
            async with asyncio.timeout(ADVERTISE_DEADLINE_S):
                return await self._register(announced, addresses)
        except Error as fault:
            raise RuntimeError(str(fault) or type(fault).__name__) from None

    async def _register(self, announced: AdvertisedServer, addresses: Sequence[str]) -> str:
        for number in range(1, MAX_NAMESAKES + 1):
            info = _info(announced, number, addresses)
            # Query before registering, because the library probes for only half a second and does not defend
            # the name later. A server on a busy machine may need more time to respond.
            if await AsyncServiceInfo(SERVICE_TYPE, info.name).async_request(self._zeroconf.zeroconf, ASK_MS):
                continue
            try:
                announcing = await self._zeroconf.async_register_service(info)
            except NonUniqueNameException:
                continue
            await announcing
            return info.name.removesuffix(f".{SERVICE_TYPE}")
        raise ValueError(f"{MAX_NAMESAKES} servers already have this name")

    async def close(self) -> None:
        """Send the goodbye packets and close the sockets, even if cancelled. Otherwise, a half-closed
        responder would keep its sockets open.
        """
        closing = asyncio.ensure_future(self._zeroconf.async_close())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await closing
            raise


def _info(announced: AdvertisedServer, number: int, addresses: Sequence[str]) -> AsyncServiceInfo:
    host, port = mdns_records.target(announced)
    return AsyncServiceInfo(
        SERVICE_TYPE,
        f"{mdns_records.label(announced.name, number)}.{SERVICE_TYPE}",
        port=port,
        properties=mdns_records.text_record(announced),
        server=host,
        addresses=[ip_address(address).packed for address in addresses],
    )
