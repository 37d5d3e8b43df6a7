"""Python's search for circles of objects that nobody holds: in short pieces, and in full when it is quiet.

To look through all objects stops everybody for half a second where thousands of connections are open, and
left alone Python does so in the middle of a flood, which makes objects. Requests leave few circles.
"""

import asyncio
import gc
import re
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

# Objects made and kept. With the usual 700, looking for circles is a tenth of a small request's time; this
# many take up to 10 ms.
AFTER = 5_000
# Of those searches, how many until those are looked through that outlived one: after 10 it takes up to 0.3 s.
AGAIN_AFTER = 2
# How many of the latter until all objects are to be looked through: 750,000 objects made and kept.
ALL_AFTER = 50
# Never by itself.
_NEVER = 1_000_000
LOOK_INTERVAL_S = 30.0
# Of a core, in that time.
QUIET = 0.2
# Where it is never quiet.
MOST_DELAY_S = 3600.0
# It is not put off where memory has grown by more than what is left of it, for a few objects may hold much of
# what a stranger has sent. In a flood it grows by some 300 MB, in which there is nothing to be found.
LEAST_GROWTH_BYTES = 256 * 1024 * 1024
MOST_GROWTH_BYTES = 2 * 1024 * 1024 * 1024


def collect_rarely() -> None:
    """Nothing of what is there by now is looked at any more."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(AFTER, AGAIN_AFTER, _NEVER)


def memory_bytes() -> int:
    """What this process has of the machine's memory; 0 where nothing says so."""
    if sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def memory_left_bytes() -> int:
    """What the machine could still give to this process; 0 where nothing says so."""
    available = re.search(r"^MemAvailable:\s+(\d+) kB$", _said("/proc/meminfo"), re.MULTILINE)
    left = int(available[1]) * 1024 if available else 0
    # In a container, its own group is the first of all.
    for group in (*re.findall(r"^0::(/.*)$", _said("/proc/self/cgroup"), re.MULTILINE), ""):
        most = _said(f"/sys/fs/cgroup{group}/memory.max").strip()
        if most.isdecimal():
            left = min(left, max(int(most) - memory_bytes(), 0))
    return left


def _said(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


async def collect_when_quiet(
    collect: Callable[[], object] = gc.collect,
    waiting: Callable[[], int] = lambda: gc.get_count()[2],
    clock: Callable[[], float] = time.monotonic,
    used: Callable[[], float] = time.process_time,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    memory: Callable[[], int] = memory_bytes,
    memory_left: Callable[[], int] = memory_left_bytes,
) -> None:
    """Look through all objects now and then, for as long as the program runs.

    `waiting` counts as `ALL_AFTER` does, `used` the processor's time, in seconds.
    """
    due_since: float | None = None
    least = memory()
    while True:
        began, used_before = clock(), used()
        await sleep(LOOK_INTERVAL_S)
        now, has = clock(), memory()
        least = min(least, has)
        grown = has - least > min(max(memory_left(), LEAST_GROWTH_BYTES), MOST_GROWTH_BYTES)
        if waiting() < ALL_AFTER and not grown:
            due_since = None
            continue
        due_since = now if due_since is None else due_since
        quiet = used() - used_before < QUIET * (now - began)
        if grown or quiet or now - due_since >= MOST_DELAY_S:
            collect()
            least = memory()
