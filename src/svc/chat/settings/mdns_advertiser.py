"""Advertises the server on the local network (mDNS) and keeps the advertisement current.

The advertiser obeys the setting `discoverable`. The request that turns it off waits until the withdrawal has
been sent. Nothing else waits for the network. Failures are logged and retried, and do not stop the server.
`mdns_records` computes the advertisement's content. See docs/http.md, "Settings" and docs/configuration.md,
"Chat server".
"""

import asyncio
import importlib
import logging
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING

import ifaddr

from svc.base.tasks import cancel_and_wait
from svc.chat.settings import mdns_records
from svc.chat.settings.mdns_records import AdvertisedServer, Interface
from svc.chat.settings.rules import Settings

# The interval between checks for new networks and IP addresses.
RECHECK_S = 30.0
# The timeout of a DNS look-up. The system's resolver may wait for an unreachable name server.
LOOKUP_DEADLINE_S = 5.0

if TYPE_CHECKING:
    from svc.chat.settings.mdns_responder import Responder

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Network:
    """The interfaces to send on, and the IP addresses to advertise."""

    senders: Sequence[str | int]
    addresses: Sequence[str]


@asynccontextmanager
async def advertise(settings: Settings, announced: AdvertisedServer) -> AsyncIterator[None]:
    """Advertise the server while the block runs and the setting is on."""
    advertisement = Advertisement(announced)
    settings.on_change("discoverable", advertisement.follow)
    settings.on_change("name", advertisement.rename)
    await advertisement.follow(settings.current.discoverable)
    try:
        yield
    finally:
        await advertisement.close()


def system_interfaces() -> list[Interface]:
    return [
        Interface(
            adapter.nice_name,
            adapter.index or 0,
            [ip.ip if isinstance(ip.ip, str) else ip.ip[0] for ip in adapter.ips],
        )
        for adapter in ifaddr.get_adapters()
    ]


class Advertisement:
    """The server's advertisement, off until the first call to `follow`. `interfaces` returns the system's
    interfaces.
    """

    def __init__(
        self,
        announced: AdvertisedServer,
        interfaces: Callable[[], Sequence[Interface]] = system_interfaces,
        recheck_s: float = RECHECK_S,
    ) -> None:
        self._announced = announced
        self._interfaces = interfaces
        self._recheck_s = recheck_s
        self._keeping: asyncio.Task[None] | None = None
        self._closed = False
        # Ensures that changes are applied one at a time.
        self._one_at_a_time = asyncio.Lock()
        self._logged_fault = ""
        # A separate context, because the advertisement outlives the request that turns it on.
        self._context = copy_context()

    async def follow(self, on: object) -> None:
        """Start or stop advertising. When stopping, wait until the withdrawal has been sent."""
        async with self._one_at_a_time:
            if self._keeping is not None:
                await cancel_and_wait(self._keeping)
                self._keeping = None
            if on and not self._closed:
                self._keeping = asyncio.create_task(self._keep(), context=self._context)

    async def rename(self, name: object) -> None:
        """Advertise under a new name."""
        self._announced = replace(self._announced, name=str(name))
        if self._keeping is not None:
            await self.follow(True)

    async def close(self) -> None:
        self._closed = True
        await self.follow(False)

    async def _keep(self) -> None:
        """Advertise the server, and do so again whenever its IP addresses change."""
        responder: Responder | None = None
        advertised_on: _Network | None = None
        try:
            while True:
                try:
                    current = await self._current_network()
                    if current != advertised_on:
                        if responder is not None:
                            former, responder = responder, None
                            await former.close()
                        responder, advertised_on = await _open_responder(current.senders), current
                        name = await responder.register(self._announced, current.addresses)
                        self._logged_fault = ""
                        self._log_advertised(name, current.addresses)
                # Multicast is not available, the interface is missing, or too many servers have the same
                # name.
                except (OSError, ValueError, RuntimeError) as fault:
                    advertised_on = None
                    self._log_fault(str(fault) or type(fault).__name__)
                await asyncio.sleep(self._recheck_s)
        finally:
            if responder is not None:
                await responder.close()

    async def _current_network(self) -> _Network:
        """Return the interfaces and addresses. Raises OSError or ValueError if there are none."""
        every = await asyncio.to_thread(self._interfaces)
        interfaces = mdns_records.usable(self._announced, every)
        senders = mdns_records.by_family(interfaces)
        if not senders:
            what = f"MDNS_INTERFACE {self._announced.interface}" if self._announced.interface else "network"
            raise ValueError(f"no {what} has an address")
        addresses = mdns_records.own_addresses(self._announced, interfaces)
        if name := mdns_records.outside_name(self._announced):
            addresses = await _resolve(name)
        elif not addresses:
            raise ValueError(f"this machine has no address that matches HOST {self._announced.host}")
        return _Network(tuple(senders), tuple(sorted(addresses)))

    def _log_advertised(self, name: str, addresses: Sequence[str]) -> None:
        details = {"as": name, **mdns_records.log_fields(self._announced)}
        if addresses and all(ip_address(address).is_loopback for address in addresses):
            logger.warning("advertised at an address that only this machine can reach", extra=details)
        else:
            logger.info("advertised on the local network", extra=details)

    def _log_fault(self, fault: str) -> None:
        """Log a fault only if it differs from the previous one, because attempts are repeated twice a
        minute.
        """
        if fault != self._logged_fault:
            self._logged_fault = fault
            logger.warning("not advertised on the local network", extra={"fault": fault})


async def _open_responder(senders: Sequence[str | int]) -> "Responder":
    """Open a responder. Raises the same errors as `Responder`."""
    # Import the module only when needed, because most servers are not discoverable. Import it on a separate
    # thread, because importing is slow.
    module = await asyncio.to_thread(importlib.import_module, "svc.chat.settings.mdns_responder")
    opened: Responder = module.Responder(senders)
    return opened


async def _resolve(name: str) -> list[str]:
    """Return a name's IP addresses, or an empty list if it does not resolve here. Clients may still be able
    to resolve it.
    """
    try:
        async with asyncio.timeout(LOOKUP_DEADLINE_S):
            resolved = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [str(address[4][0]).partition("%")[0] for address in resolved]
