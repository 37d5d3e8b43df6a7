"""What a running process costs, what it left unread, and what the host took from it. Linux only.

Reads /proc and nothing else; starts and stops nobody.
"""

import os
from contextlib import suppress
from pathlib import Path

from svc.tools.bench.errors import BenchError


def cpu_ns(pid: int) -> int:
    """User and system time of all its threads so far."""
    return _schedstat(pid, 0)


def waited_ns(pid: int) -> int:
    """For how long its threads were ready so far, and others ran."""
    return _schedstat(pid, 1)


def resident_kb(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def unread(pid: int) -> int:
    """Datagrams so far that found its UDP sockets full; 0 where we may not look at another's files."""
    files = _files(pid)
    sockets = (line.split() for name in ("udp", "udp6") for line in _table(f"/proc/{pid}/net/{name}"))
    return sum(int(columns[12]) for columns in sockets if f"socket:[{columns[9]}]" in files)


def stolen_s() -> float:
    """How long the host has let each core of ours wait so far, on average: "steal" in proc(5)."""
    ticks = int(Path("/proc/stat").read_text().split(maxsplit=9)[8])
    return ticks / os.sysconf("SC_CLK_TCK") / (os.cpu_count() or 1)


def _files(pid: int) -> set[str]:
    """What it has open, by the names of proc(5)."""
    found = set()
    with suppress(PermissionError):
        for each in Path(f"/proc/{pid}/fd").iterdir():
            # It may close one meanwhile.
            with suppress(FileNotFoundError):
                found.add(str(each.readlink()))
    return found


def _table(path: str) -> list[str]:
    """The lines below the heading."""
    try:
        return Path(path).read_text().splitlines()[1:]
    except FileNotFoundError:
        return []  # There is no IPv6.


def _schedstat(pid: int, column: int) -> int:
    """Nanoseconds of all its threads."""
    total = 0
    for task in _tasks(pid):
        try:
            total += int((task / "schedstat").read_text().split()[column])
        except (FileNotFoundError, ProcessLookupError):
            continue  # The thread has ended meanwhile.
    return total


def _tasks(pid: int) -> list[Path]:
    try:
        return list(Path(f"/proc/{pid}/task").iterdir())
    except FileNotFoundError:
        raise BenchError(f"there is no process {pid} to be measured") from None
