"""A product that is not in use is idle: none of its programs polls or has an unnecessary timer."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.idle_programs import family, threads_of
from tests.kit.svc_up import running_svc_up

# The core's thread wakes up twice a second by design. Everything else wakes up less than once a second.
MAX_WAKEUPS_PER_S = 5.0
WINDOW_S = 3.0
# After starting, the programs clean up for a while.
WINDOWS = 20


async def test_the_programs_sleep_while_the_product_is_idle(tmp_path: Path) -> None:
    async with running_svc_up(tmp_path / "data") as product:
        rates = []
        for _ in range(WINDOWS):
            before = wakeups(product.pid)
            await asyncio.sleep(WINDOW_S)
            rates.append((wakeups(product.pid) - before) / WINDOW_S)
            if rates[-1] <= MAX_WAKEUPS_PER_S:
                return
    raise AssertionError(f"wake-ups per second: {rates}")


def wakeups(pid: int) -> int:
    return sum(thread.wakeups for process_id in family(pid) for thread in threads_of(process_id).values())


@pytest.mark.parametrize(
    ("program", "unneeded"),
    [
        ("svc.tools.up", ("aiohttp", "aiosqlite", "email", "sqlite3", "svc.chat.community")),
        ("svc.sfu.app", ("PIL", "av", "dns", "obstore", "sqlite3", "svc.chat")),
        ("svc.chat.app", ("PIL", "av", "obstore", "svc.tools.admin", "zeroconf")),
        ("svc.worker.app", ("PIL", "av", "cryptography", "obstore", "sqlite3", "svc.chat")),
    ],
)
def test_a_program_starts_without_importing_modules_that_it_may_never_need(
    program: str, unneeded: tuple[str, ...]
) -> None:
    code = f"import sys, {program}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(unneeded).isdisjoint(loaded.stdout.split())
