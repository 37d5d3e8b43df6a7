"""Takes a measurement of Traffic that flows already, and of the process that forwards it.

Does not know where the clients came from, or whether a media service is at the other end.
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

# Nothing more is under way when for so long nothing has come. A service beyond its limit may keep packets for
# longer than a second; one that never falls silent is not waited for.
SETTLING_S = 0.3
MAX_SETTLING_S = 5.0

_SO_MEMINFO = 55
_MEMINFO = struct.Struct("9I")  # linux/sock_diag.h; the last is what the socket had to drop


class Meter:
    """`sockets` are Traffic's, as many as there are when it is asked."""

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
        self.pid = pid

    async def warm_up(self, pps: int, seconds: float) -> None:
        """Send, and look at nothing: the first second of a room is like no other."""
        self._traffic.set_rate(pps)
        await asyncio.sleep(seconds)

    async def measure(
        self, pps: int, seconds: float, progress: Callable[[str], None], *, settled_s: float = 0.0
    ) -> Measurement:
        """All that is under way at either end of it is waited for.

        With `settled_s`, it has flowed for so long when it begins: what the first moments did to
        latency is not in it, and what was under way then is.
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

    async def follow(self, pps: int, seconds: float) -> Measurement:
        """The next seconds of what flows already, at the rate that `warm_up` has set."""
        before = self._reading()
        await asyncio.sleep(seconds)
        after = self._reading()
        return Measurement.of(self._scenario, pps, before, after, settled=after)

    async def _silence(self) -> None:
        """Stop sending, and wait until all has arrived."""
        self._traffic.set_rate(0)
        end = asyncio.get_running_loop().time() + MAX_SETTLING_S
        received = -1
        while (now := self._traffic.totals()["received"]) != received:
            received = now
            if asyncio.get_running_loop().time() > end:
                return
            await asyncio.sleep(SETTLING_S)

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
        now = asyncio.get_running_loop().time()
        cpu = process.cpu_ns(self.pid) if self.pid else 0
        memory = process.resident_kb(self.pid) if self.pid else 0
        return Reading(now, self._traffic.totals(), self._traffic.latencies(), self._missed(), cpu, memory)

    def _missed(self) -> int:
        """Packets that reached our sockets and found them full: the generator's fault, not the service's."""
        if sys.platform != "linux":
            return 0
        return sum(
            _MEMINFO.unpack(each.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size))[8]
            for each in self._sockets()
        )
