"""Runs the readiness probe: sends datagrams, resolves names and reports the results.

`readiness` decides which servers to query and when, and interprets the responses. See docs/signalling.md,
"Over HTTP".
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from random import Random
from typing import Protocol

from svc.sfu.network_path import Address, Path
from svc.sfu.readiness import Readiness, Reason, Server

LOOKUP_DEADLINE_S = 5.0
_TRANSACTION_ID_BYTES = 12

logger = logging.getLogger(__name__)


class ProbePlane(Protocol):
    """The part of the media plane that the probe uses. Requests leave from the media socket."""

    @property
    def probe_prefix(self) -> bytes: ...
    def set_probe_listener(self, listener: Callable[[bytes, Path], None] | None) -> None: ...
    def send_stun(self, data: bytes, path: Path) -> None: ...


class Probe:
    """The running probe. Calls `on_ready` once, and `on_mapped` whenever our public address changes."""

    def __init__(
        self,
        plane: ProbePlane,
        servers: Sequence[Server],
        *,
        disabled: bool,
        chance: Random,
        on_ready: Callable[[], None],
        on_mapped: Callable[[Mapping[str, Address]], None],
    ) -> None:
        prefix = plane.probe_prefix
        self._plane = plane
        self._on_ready = on_ready
        self._on_mapped = on_mapped
        self._readiness = Readiness(
            servers,
            disabled=disabled,
            transaction_id=lambda: prefix + chance.randbytes(_TRANSACTION_ID_BYTES - len(prefix)),
            jitter=chance.random,
        )
        self._known: dict[str, Address] = {}
        self._arrived = asyncio.Event()

    async def run(self) -> None:
        """Probe until healthy, then keep refreshing the NAT's mapping. Return immediately if there are no
        servers.
        """
        now = asyncio.get_running_loop().time
        self._plane.set_probe_listener(self._received)
        self._readiness.start(now())
        try:
            while True:
                await self._carry()
                deadline = self._readiness.next_deadline()
                if deadline is None:
                    return
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(deadline):
                        await self._arrived.wait()
                self._arrived.clear()
                self._readiness.advance(now())
        finally:
            self._plane.set_probe_listener(None)

    def _received(self, data: bytes, path: Path) -> None:
        self._readiness.stun_received(data, path, asyncio.get_running_loop().time())
        self._arrived.set()

    async def _carry(self) -> None:
        """Perform the lookups, transmissions and events that `readiness` has requested."""
        lookups, self._readiness.lookups[:] = self._readiness.lookups[:], []
        for addresses in await asyncio.gather(*map(_look_up, lookups)):
            self._readiness.resolved(addresses)
        for data, path in self._readiness.transmits:
            self._plane.send_stun(data, path)
        self._readiness.transmits.clear()
        for event in self._readiness.events:
            level = logging.WARNING if event.reason is Reason.UNANSWERED else logging.INFO
            logger.log(level, "ready", extra={"cause": event.reason.value})
            self._on_ready()
        self._readiness.events.clear()
        if self._readiness.mapped != self._known:
            self._known = dict(self._readiness.mapped)
            self._on_mapped(self._known)


async def _look_up(server: Server) -> list[Address]:
    """Return the addresses of a server, or an empty list if the lookup fails or times out."""
    try:
        async with asyncio.timeout(LOOKUP_DEADLINE_S):
            addresses = await asyncio.get_running_loop().getaddrinfo(*server, type=2)
    except (OSError, UnicodeError):
        return []
    return [(str(address[0]).partition("%")[0], int(address[1])) for *_, address in addresses]
