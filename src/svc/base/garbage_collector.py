"""Runs the garbage collector in small steps, and fully when idle.

With thousands of open connections, a full collection stops the process for half a second. Without this
module, Python would run one in the middle of a flood, which creates many objects. Requests leave few
reference cycles.
"""

import asyncio
import contextlib
import ctypes
import gc
import re
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

# The number of new objects that trigger a collection of the youngest generation. With the default of 700,
# collections account for a tenth of the time of a small request. With this value, each collection takes up to
# 10 ms.
AFTER = 5_000
# The number of these collections before the middle generation is collected. With the default of 10,
# collecting the middle generation would take up to 0.3 s.
AGAIN_AFTER = 2
# The number of collections of the middle generation before a full collection. A full collection therefore
# follows after about 750,000 surviving objects.
ALL_AFTER = 50
# A threshold that prevents Python from starting a full collection.
_NEVER = 1_000_000
LOOK_INTERVAL_S = 30.0
# The CPU usage below which the program counts as idle during LOOK_INTERVAL_S, as a fraction of one core.
QUIET = 0.2
# The longest delay before a full collection if the program is never idle.
MAX_DELAY_S = 3600.0
# A full collection is run immediately if the memory in use has grown by more than is still available (clamped
# to these bounds), because a few objects may keep a lot of client data in memory. A flood adds about 300 MB
# without creating any garbage.
MIN_GROWTH_BYTES = 256 * 1024 * 1024
MAX_GROWTH_BYTES = 2 * 1024 * 1024 * 1024


def collect_rarely() -> None:
    """Collect garbage now, exclude all surviving objects from later collections, and collect rarely from then
    on.
    """
    gc.collect()
    gc.freeze()
    release_memory()
    gc.set_threshold(AFTER, AGAIN_AFTER, _NEVER)


def release_memory() -> None:
    """Return free memory to the system, if the C library can do so (glibc)."""
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def memory_bytes() -> int:
    """Return this process's resident memory, or 0 if it is unknown."""
    if sys.platform != "linux":
        return 0
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def memory_left_bytes() -> int:
    """Return the memory still available to this process, or 0 if it is unknown."""
    available = re.search(r"^MemAvailable:\s+(\d+) kB$", _file_text("/proc/meminfo"), re.MULTILINE)
    left = int(available[1]) * 1024 if available else 0
    # Inside a container, the container's own cgroup appears as the root.
    for group in (*re.findall(r"^0::(/.*)$", _file_text("/proc/self/cgroup"), re.MULTILINE), ""):
        maximum = _file_text(f"/sys/fs/cgroup{group}/memory.max").strip()
        if maximum.isdecimal():
            left = min(left, max(int(maximum) - memory_bytes(), 0))
    return left


def _file_text(path: str) -> str:
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
    """Run a full collection occasionally, when the program is idle. Never returns.

    `waiting` returns the number of middle-generation collections since the last full collection, to be
    compared with `ALL_AFTER`. `used` returns the CPU time in seconds.
    """
    due_since: float | None = None
    minimum = memory()
    while True:
        began, used_before = clock(), used()
        await sleep(LOOK_INTERVAL_S)
        now, has = clock(), memory()
        minimum = min(minimum, has)
        grown = has - minimum > min(max(memory_left(), MIN_GROWTH_BYTES), MAX_GROWTH_BYTES)
        if waiting() < ALL_AFTER and not grown:
            due_since = None
            continue
        due_since = now if due_since is None else due_since
        quiet = used() - used_before < QUIET * (now - began)
        if grown or quiet or now - due_since >= MAX_DELAY_S:
            collect()
            minimum = memory()
