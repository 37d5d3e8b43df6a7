"""What a running process costs: the CPU time of all its threads, and its memory. Linux only.

Reads /proc and nothing else; starts and stops nobody.
"""

import os
from pathlib import Path

from svc.tools.bench.errors import BenchError


def cpu_ns(pid: int) -> int:
    """User and system time of all its threads so far, to the nanosecond (schedstat)."""
    total = 0
    for task in _tasks(pid):
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue  # The thread has ended meanwhile.
    return total


def resident_kb(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def pin(pid: int, cores: set[int]) -> None:
    """Run every thread of a process on these cores only."""
    for task in _tasks(pid):
        os.sched_setaffinity(int(task.name), cores)


def _tasks(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except FileNotFoundError:
        raise BenchError(f"there is no process {pid} to be measured") from None
