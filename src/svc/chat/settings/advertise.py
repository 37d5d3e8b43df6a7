"""The server's advertisement in the local network: made, kept up to date, and withdrawn (mDNS).

Follows the setting `discoverable`. Nothing waits for it but its withdrawal, which is sent
before whoever turns it off is answered. What goes wrong is logged and tried again; it never
stops the server. What is said stands in `announced`. docs/http.md, "Settings" and docs/configuration.md,
"Chat server".
"""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, replace
from ipaddress import ip_address

import ifaddr
from zeroconf import Error, IPVersion, NonUniqueNameException
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from svc.chat.settings import announced as words
from svc.chat.settings.announced import SERVICE_TYPE, Announced, Interface
from svc.chat.settings.rules import Settings

# A network that comes up later, or gives another address, is noticed within this time.
RECHECK_S = 30.0
# For so long it is asked whether somebody has the name already. Nobody waits for it.
ASK_MS = 2000
# Probing takes a second more, for each name that is taken already another one.
ADVERTISE_DEADLINE_S = 20.0
# The resolver of the system may wait for a name server that is away.
LOOKUP_DEADLINE_S = 5.0
# So many servers of one name in one network were not meant to be told apart.
MAX_NAMESAKES = 20

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What there is to send on, and the addresses to advertise."""

    senders: Sequence[str | int]
    addresses: Sequence[str]


@asynccontextmanager
async def advertised(settings: Settings, announced: Announced) -> AsyncIterator[None]:
    """Be found for as long as the block runs and the setting says so."""
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
    """Off until it is told to `follow`; `interfaces` asks the system which it has."""

    def __init__(
        self,
        announced: Announced,
        interfaces: Callable[[], Sequence[Interface]] = system_interfaces,
        recheck_s: float = RECHECK_S,
    ) -> None:
        self._announced = announced
        self._interfaces = interfaces
        self._recheck_s = recheck_s
        self._keeping: asyncio.Task[None] | None = None
        self._closed = False
        # On and off come one after the other.
        self._one_at_a_time = asyncio.Lock()
        self._complaint = ""
        # Not that of the request which turns it on: it goes on when that is over.
        self._context = copy_context()

    async def follow(self, on: object) -> None:
        """The setting is this now. Off: the withdrawal has been sent when this returns."""
        async with self._one_at_a_time:
            if self._keeping is not None:
                self._keeping.cancel()
                with suppress(asyncio.CancelledError):
                    await self._keeping
                self._keeping = None
            if on and not self._closed:
                self._keeping = asyncio.create_task(self._keep(), context=self._context)

    async def rename(self, name: object) -> None:
        """The server is called something else now."""
        self._announced = replace(self._announced, name=str(name))
        if self._keeping is not None:
            await self.follow(True)

    async def close(self) -> None:
        self._closed = True
        await self.follow(False)

    async def _keep(self) -> None:
        """Advertise, and again whenever the addresses have become others."""
        responder: AsyncZeroconf | None = None
        said: _Surroundings | None = None
        try:
            while True:
                try:
                    here = await self._surroundings()
                    if here != said:
                        if responder is not None:
                            former, responder = responder, None
                            await _closed(former)
                        responder, said = _responder(here), here
                        await self._register(responder, here)
                # Also no multicast, no such interface, too many namesakes; RuntimeError is zeroconf's.
                except (OSError, ValueError, RuntimeError, Error) as fault:
                    said = None
                    self._complain(str(fault) or type(fault).__name__)
                await asyncio.sleep(self._recheck_s)
        finally:
            if responder is not None:
                await _closed(responder)

    async def _register(self, responder: AsyncZeroconf, here: _Surroundings) -> None:
        """Raises OSError, as TimeoutError too, and zeroconf's Error."""
        async with asyncio.timeout(ADVERTISE_DEADLINE_S):
            for number in range(1, MAX_NAMESAKES + 1):
                info = _info(self._announced, number, here.addresses)
                # The library asks for half a second, and does not defend a name later on: a machine
                # that is busy must have the time to say that it has it.
                if await AsyncServiceInfo(SERVICE_TYPE, info.name).async_request(responder.zeroconf, ASK_MS):
                    continue
                try:
                    announcing = await responder.async_register_service(info)
                except NonUniqueNameException:
                    continue
                await announcing
                self._complaint = ""
                self._say(info.name.removesuffix(f".{SERVICE_TYPE}"), here.addresses)
                return
        raise ValueError(f"{MAX_NAMESAKES} servers already have this name")

    async def _surroundings(self) -> _Surroundings:
        """Raises OSError and ValueError where there is nothing to advertise or to send on."""
        every = await asyncio.to_thread(self._interfaces)
        interfaces = words.usable(self._announced, every)
        senders = words.by_family(interfaces)
        if not senders:
            what = f"MDNS_INTERFACE {self._announced.interface}" if self._announced.interface else "network"
            raise ValueError(f"there is no {what} with an address")
        addresses = words.own_addresses(self._announced, interfaces)
        if name := words.outside_name(self._announced):
            addresses = await _looked_up(name)
        elif not addresses:
            raise ValueError(f"no address of this machine is reached by HOST {self._announced.host}")
        return _Surroundings(tuple(senders), tuple(sorted(addresses)))

    def _say(self, name: str, addresses: Sequence[str]) -> None:
        details = {"as": name, **words.described(self._announced)}
        if addresses and all(ip_address(address).is_loopback for address in addresses):
            logger.warning("advertised at an address that only this machine can reach", extra=details)
        else:
            logger.info("advertised in the local network", extra=details)

    def _complain(self, complaint: str) -> None:
        """Once: it is tried again twice a minute."""
        if complaint != self._complaint:
            self._complaint = complaint
            logger.warning("not advertised in the local network", extra={"fault": complaint})


def _responder(here: _Surroundings) -> AsyncZeroconf:
    fours = all(isinstance(sender, str) for sender in here.senders)
    version = IPVersion.V4Only if fours else IPVersion.V6Only
    return AsyncZeroconf(interfaces=list(here.senders), ip_version=version)


async def _closed(responder: AsyncZeroconf) -> None:
    """It says goodbye first. Done to its end also when cancelled: half closed, it would keep sockets."""
    closing = asyncio.ensure_future(responder.async_close())
    try:
        await asyncio.shield(closing)
    except asyncio.CancelledError:
        await closing
        raise


def _info(announced: Announced, number: int, addresses: Sequence[str]) -> AsyncServiceInfo:
    host, port = words.target(announced)
    return AsyncServiceInfo(
        SERVICE_TYPE,
        f"{words.label(announced.name, number)}.{SERVICE_TYPE}",
        port=port,
        properties=words.text_record(announced),
        server=host,
        addresses=[ip_address(address).packed for address in addresses],
    )


async def _looked_up(name: str) -> list[str]:
    """The addresses of a name; none where it has none here. Whoever finds the name may ask again."""
    try:
        async with asyncio.timeout(LOOKUP_DEADLINE_S):
            found = await asyncio.get_running_loop().getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [str(address[4][0]).partition("%")[0] for address in found]
