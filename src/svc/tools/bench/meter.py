"""Measures a running `Traffic` and the process that forwards its packets.

Does not depend on how the clients were set up. The other end need not be a media service.
"""

import asyncio
import socket
import struct
import sys
from collections.abc import Callable, Iterable

from svc.tools.bench import process
from svc.tools.bench.measurement import Measurement, Reading
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.traffic import Traffic

# If packets are missing and nothing has arrived for this long, no packet is still in transit. The value
# allows for a host that suspends the service for half a second. The total wait is also limited.
SETTLING_S = 1.0
MAX_SETTLING_S = 5.0
_POLL_S = 0.05

_SO_MEMINFO = 55
_MEMINFO = struct.Struct("9I")  # struct in linux/sock_diag.h, whose last field counts dropped datagrams


class Meter:
    """A meter for Traffic. `sockets` returns Traffic's current sockets."""

    def __init__(
        self,
        scenario: Scenario,
        traffic: Traffic,
        sockets: Callable[[], Iterable[socket.socket]],
        pid: int | None,
    ) -> None:
        self._scenario = scenario
        self._traffic = traffic
        self._sockets = sockets
        self._lost: int | None = None  # packets missing when traffic was last silent
        self.pid = pid

    async def warm_up(self, pps: int, seconds: float) -> None:
        """Send without measuring, because a room's first second is not representative."""
        self._traffic.set_rate(pps)
        await asyncio.sleep(seconds)

    async def measure(
        self, pps: int, seconds: float, progress: Callable[[str], None], *, settled_s: float = 0.0
    ) -> Measurement:
        """Measure traffic. Before and after, wait until no packets are in transit.

        Traffic first runs unmeasured for `settled_s` seconds, so that its start does not affect the
        latencies.
        """
        await self._silence()
        if settled_s:
            await self.warm_up(pps, settled_s)
        before = self._reading()
        self._traffic.set_rate(pps)
        await self._watch(seconds, progress)
        after = self._reading()
        await self._silence()
        return Measurement.of(self._scenario, pps, before, after, settled=self._reading())

    async def follow(self, pps: int, seconds: float, progress: Callable[[str], None]) -> Measurement:
        """Measure traffic that is already running at the rate that `warm_up` set."""
        before = self._reading()
        await self._watch(seconds, progress)
        after = self._reading()
        return Measurement.of(self._scenario, pps, before, after, settled=after)

    async def _silence(self) -> None:
        """Stop sending and wait until all packets have arrived."""
        self._traffic.set_rate(0)
        time = asyncio.get_running_loop().time
        end, quiet_since, missing = time() + MAX_SETTLING_S, time(), -1
        while time() < min(end, quiet_since + SETTLING_S):
            await asyncio.sleep(_POLL_S)
            if (missing_now := self._missing()) != missing:
                quiet_since, missing = time(), missing_now
            elif self._lost is not None and missing <= self._lost:
                break
        self._lost = missing

    def _missing(self) -> int:
        """Return the number of packets that never arrived. It is meaningless until all clients have
        joined.
        """
        totals = self._traffic.totals()
        return totals["sent"] * self._scenario.receivers_of_each - totals["received"] - totals["discarded"]

    async def _watch(self, seconds: float, progress: Callable[[str], None]) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        received, at = self._traffic.totals()["received"], loop.time()
        while (left := end - loop.time()) > 0:
            await asyncio.sleep(min(1.0, left))
            now, total = loop.time(), self._traffic.totals()["received"]
            rate = (total - received) / (now - at)
            progress(f"measuring {seconds - max(end - now, 0):.0f}/{seconds:.0f} s, {rate:,.0f} packets/s")
            received, at = total, now

    def _reading(self) -> Reading:
        return Reading(
            at=asyncio.get_running_loop().time(),
            cpu_ns=process.cpu_ns(self.pid) if self.pid else 0,
            waited_ns=process.waited_ns(self.pid) if self.pid else 0,
            totals=self._traffic.totals(),
            latencies=self._traffic.latencies(),
            missed=self._missed_packets(),
            unread=process.unread(self.pid) if self.pid else 0,
            stolen_s=process.stolen_s() if sys.platform == "linux" else 0.0,
            memory_kb=process.resident_kb(self.pid) if self.pid else 0,
        )

    def _missed_packets(self) -> int:
        """Return the number of packets that our own full sockets dropped. The service is not to blame for
        these.
        """
        if sys.platform != "linux":
            return 0
        return sum(
            _MEMINFO.unpack(sock.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size))[8]
            for sock in self._sockets()
        )
