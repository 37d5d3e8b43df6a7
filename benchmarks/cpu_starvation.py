"""Measures the packet loss of a service that does not get enough CPU time.

The load is that of scenario S2: one camera and fifty receivers, 300 packets a second. There are three trials.
In the first, the service is paused every second, for longer in each row of the table. In the second, busy
programs share its core. In the third, the kernel limits its process to a quota of the core. The program
measures how many packets are lost and where, and the delay of the packets that arrive. The service should
drop packets only if a queue stays full, and never merely because they are late. Linux only. The quotas need
root and control groups (v1 or v2).
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.audio import dropped, of_drops
from benchmarks.sfu_comparison import options, silent
from svc.tools.bench.cores import on_first_core
from svc.tools.bench.room_clients import room_clients
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server

SCENARIO, PPS = Scenario(1, 50), 300
STOPS_MS = (50, 100, 200, 400)
STOP_EVERY_S = 1.0
BUSY = 6
QUOTAS_PERCENT = (50, 30, 15)
# The kernel's default period, after which a quota is refilled.
PERIOD_US = 100_000
V1, V2 = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Trial:
    what: str
    starve: Callable[[int], AbstractAsyncContextManager[None]]  # the service's process id


@asynccontextmanager
async def alone(_pid: int) -> AsyncIterator[None]:
    yield


@asynccontextmanager
async def stopped(milliseconds: int, pid: int) -> AsyncIterator[None]:
    async def again_and_again() -> None:
        try:
            while True:
                os.kill(pid, signal.SIGSTOP)
                await asyncio.sleep(milliseconds / 1000)
                os.kill(pid, signal.SIGCONT)
                await asyncio.sleep(STOP_EVERY_S - milliseconds / 1000)
        finally:
            os.kill(pid, signal.SIGCONT)

    stopping = asyncio.create_task(again_and_again())
    try:
        yield
    finally:
        stopping.cancel()
        with suppress(asyncio.CancelledError):
            await stopping


@asynccontextmanager
async def with_busy_programs(programs: int, _pid: int) -> AsyncIterator[None]:
    with on_first_core():
        busy = [
            await asyncio.create_subprocess_exec(sys.executable, "-c", "while True: pass")
            for _ in range(programs)
        ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            await process.wait()


@asynccontextmanager
async def with_quota(percent: int, pid: int) -> AsyncIterator[None]:
    quota_us = PERIOD_US * percent // 100
    root = V1 if (V1 / "cpu.cfs_quota_us").exists() else V2
    group = root / f"svc-starved-{os.getpid()}"
    group.mkdir()
    try:
        if root is V1:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota_us))
        else:
            (group / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
        before = _group_of(pid, root)
        (group / "cgroup.procs").write_text(str(pid))
        try:
            yield
        finally:
            (before / "cgroup.procs").write_text(str(pid))
    finally:
        group.rmdir()


def _group_of(pid: int, root: Path) -> Path:
    """Return the process's current control group. In /proc, a line for v1 lists the controllers, and a line
    for v2 does not.
    """
    lines = [line.split(":", 2) for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()]
    name = "cpu" if root is V1 else ""
    return root / next(path for _, names, path in lines if name in names.split(",")).lstrip("/")


def quotas_are_refused() -> str:
    if os.geteuid():
        return "only root may set quotas"
    can_be_set = (V1 / "cpu.cfs_quota_us").exists() or (V2 / "cgroup.subtree_control").exists()
    return "" if can_be_set else "there are no control groups"


def trials() -> Sequence[Trial]:
    planned = [Trial("nothing", alone)]
    planned += [
        Trial(f"stopped for {stop_ms} ms each second", partial(stopped, stop_ms)) for stop_ms in STOPS_MS
    ]
    planned.append(Trial(f"{BUSY} busy programs on its core", partial(with_busy_programs, BUSY)))
    if reason := quotas_are_refused():
        print(f"no quotas: {reason}", file=sys.stderr)
        return planned
    return planned + [Trial(f"a quota of {quota} %", partial(with_quota, quota)) for quota in QUOTAS_PERCENT]


async def main(seconds: float) -> None:
    print("| starved by | packets/s | lost % | p50 ms | p99 ms | max ms | found our socket full | dropped |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    async with (
        own_server(SCENARIO.clients) as server,
        room_clients(server.url, SCENARIO, server.pid) as everybody,
    ):
        await everybody.assemble(silent)
        for trial in trials():
            await everybody.meter.warm_up(PPS, 1.0)
            before = await dropped(server.url)
            async with trial.starve(server.pid):
                measurement = await everybody.meter.measure(PPS, seconds, silent)
            counted = await dropped(server.url) - before
            times = [
                f"{(us or 0) / 1000:.1f}"
                for us in (measurement.p50_us, measurement.p99_us, measurement.max_us)
            ]
            cells = [
                trial.what,
                f"{measurement.packets_per_s:,.0f}",
                f"{measurement.loss_percent:.3f}",
                *times,
            ]
            print(
                "| " + " | ".join([*cells, f"{measurement.unread:,}", of_drops(counted)]) + " |", flush=True
            )


if __name__ == "__main__":
    asyncio.run(main(options().seconds))
