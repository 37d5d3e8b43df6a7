"""The machine: its clock, limits and buffers, Python and SQLite. Looks at no network and no files of ours."""

import ctypes
import ctypes.util
import os
import resource
import sqlite3
import sys
from pathlib import Path

from svc.tools.doctor.finding import Finding, Findings, notice, ok

# A socket for each open page, a few files beside them.
WANTED_FILES = 4096
# A key frame to fifty receivers is 5 MB; what the kernel holds of it need not be dropped.
WANTED_BUFFER_BYTES = 1 << 20
# sqlite.org/wal.html#walresetbug
_REPAIRED_SQLITE = (3, 51, 3)
# linux/timex.h: what adjtimex returns while nothing keeps the clock right.
_TIME_ERROR = 5
_SIZE_OF_TIMEX = 1024  # It has 208 bytes on 64-bit machines.


def examined() -> Findings:
    return [
        python_and_sqlite(),
        clock(_kernel_clock()),
        open_files(_file_limit()),
        *buffers(_kernel_buffers()),
    ]


def python_and_sqlite() -> Finding:
    versions = f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < _REPAIRED_SQLITE:
        # One process writes with one connection, so that the damage cannot be done.
        return notice(
            f"{versions}: this SQLite can damage a file that two programs write",
            "The server is made for that and is safe; never open community.sqlite3 yourself while it runs.",
        )
    return ok(versions)


def clock(state: int | None) -> Finding:
    """`state` is what adjtimex returns; None where there is no such thing."""
    if state == _TIME_ERROR:
        return notice(
            "This machine's clock is not synchronised",
            "Switch on time synchronisation (timedatectl set-ntp true): sign-ins expire by the clock.",
        )
    return ok("The clock is synchronised" if state is not None else "The clock cannot be checked here")


def open_files(limit: int) -> Finding:
    if limit < WANTED_FILES:
        return notice(
            f"The server can open {limit} files; each open page needs one",
            f"Raise the limit to {WANTED_FILES} or more (ulimit -n, or LimitNOFILE= in the unit).",
        )
    return ok(f"The server can open {limit} files")


def buffers(most: dict[str, int]) -> Findings:
    """`most` is what a socket may have, by the name of the kernel's setting, in bytes."""
    small = {name: size for name, size in most.items() if size < WANTED_BUFFER_BYTES}
    if not small:
        return [ok("The kernel's socket buffers are large enough")] if most else []
    return [
        notice(
            f"{name} is {size}: under load the kernel drops datagrams early",
            f"sysctl -w {name}={4 * WANTED_BUFFER_BYTES}, and a line in /etc/sysctl.d to keep it.",
        )
        for name, size in small.items()
    ]


def _kernel_clock() -> int | None:
    library = ctypes.util.find_library("c")
    adjtimex = getattr(ctypes.CDLL(library), "adjtimex", None) if library else None
    # All zero asks and changes nothing.
    return None if adjtimex is None else int(adjtimex(ctypes.create_string_buffer(_SIZE_OF_TIMEX)))


def _file_limit() -> int:
    # The servers raise the soft limit by themselves.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard


def _kernel_buffers() -> dict[str, int]:
    found = {}
    for name in ("net.core.rmem_max", "net.core.wmem_max"):
        path = Path("/proc/sys") / name.replace(".", os.sep)
        if path.exists():
            found[name] = int(path.read_text())
    return found
