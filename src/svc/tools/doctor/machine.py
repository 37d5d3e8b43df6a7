"""Checks the machine: its clock, limits, buffers, Python and SQLite. Uses neither the network nor our
files.
"""

import resource
import sqlite3
import sys

from svc.base.machine import WANTED_BUFFER_BYTES, WANTED_FILES, Machine, examine
from svc.tools.doctor.check_result import Finding, Findings, notice, ok

# SQLite versions without the WAL-reset bug: sqlite.org/wal.html#walresetbug
_REPAIRED_SQLITE = (3, 51, 3)


def diagnose() -> Findings:
    return [python_and_sqlite(), *findings(examine(_file_limit()))]


def python_and_sqlite() -> Finding:
    versions = f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < _REPAIRED_SQLITE:
        # The server writes only over one connection in one process, so the bug cannot occur.
        return notice(
            f"{versions}: this SQLite can damage a file that two programs write",
            "The server is made for that and is safe; never open community.sqlite3 yourself while it runs.",
        )
    return ok(versions)


def findings(machine: Machine) -> Findings:
    return [_clock(machine), _files(machine), *_buffers(machine)]


def _clock(machine: Machine) -> Finding:
    if machine.clock_kept is None:
        return ok("The clock cannot be checked here")
    if machine.clock_kept:
        return ok("The clock is synchronised")
    return notice(
        "This machine's clock is not synchronised",
        "Turn on time synchronisation (timedatectl set-ntp true). Sign-ins expire by the clock.",
    )


def _files(machine: Machine) -> Finding:
    if machine.few_files:
        return notice(
            f"The server can open {machine.files} files; each open page needs one",
            f"Raise the limit to {WANTED_FILES} or more (ulimit -n, or LimitNOFILE= in the unit).",
        )
    return ok(f"The server can open {machine.files} files")


def _buffers(machine: Machine) -> Findings:
    if not machine.small_buffers:
        return [ok("The kernel's socket buffers are large enough")] if machine.buffers else []
    return [
        notice(
            f"{name} is {size}: under load the kernel drops datagrams early",
            f"sysctl -w {name}={4 * WANTED_BUFFER_BYTES}, and a line in /etc/sysctl.d to keep it.",
        )
        for name, size in machine.small_buffers.items()
    ]


def _file_limit() -> int:
    # The servers raise the soft limit themselves.
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard
