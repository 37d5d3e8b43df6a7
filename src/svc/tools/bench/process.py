"""Reads a process's CPU time, its dropped datagrams, and the time stolen by the host. Linux only.

Reads only /proc. Starts and stops nothing.
"""

import os
from contextlib import suppress
from pathlib import Path

from svc.tools.bench.errors import BenchError


def cpu_ns(pid: int) -> int:
    """Return the user and system time that all of a process's threads have used so far."""
    return _schedstat(pid, 0)


def waited_ns(pid: int) -> int:
    """Return the total time for which the process's threads were ready to run but had to wait."""
    return _schedstat(pid, 1)


def resident_kb(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def unread(pid: int) -> int:
    """Return the number of datagrams that the process's full UDP sockets dropped, or 0 if we are not
    allowed to list its open files.
    """
    files = _files(pid)
    sockets = (line.split() for name in ("udp", "udp6") for line in _table(f"/proc/{pid}/net/{name}"))
    return sum(int(columns[12]) for columns in sockets if f"socket:[{columns[9]}]" in files)


def stolen_s() -> float:
    """Return the average time per core that the host has stolen from this machine ("steal" in proc(5))."""
    ticks = int(Path("/proc/stat").read_text().split(maxsplit=9)[8])
    return ticks / os.sysconf("SC_CLK_TCK") / (os.cpu_count() or 1)


def _files(pid: int) -> set[str]:
    """Return the process's open files, named as in proc(5)."""
    files = set()
    with suppress(PermissionError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            # The process may close a file in the meantime.
            with suppress(FileNotFoundError):
                files.add(str(descriptor.readlink()))
    return files


def _table(path: str) -> list[str]:
    """Return the lines of a table in /proc, without its heading."""
    try:
        return Path(path).read_text().splitlines()[1:]
    except FileNotFoundError:
        return []  # This machine has no IPv6.


def _schedstat(pid: int, column: int) -> int:
    """Return a column of schedstat in nanoseconds, summed over all threads."""
    total = 0
    for task in _tasks(pid):
        try:
            total += int((task / "schedstat").read_text().split()[column])
        except (FileNotFoundError, ProcessLookupError):
            continue  # The thread has exited in the meantime.
    return total


def _tasks(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except FileNotFoundError:
        raise BenchError(f"no process has the id {pid}") from None
