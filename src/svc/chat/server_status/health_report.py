"""Builds the owner's health report: results of checks like those in `svc doctor`, and the connected members.

`svc doctor` also checks ports and the URL from outside, which the server cannot do. The report contains no
secrets, paths or IP addresses. The web client explains the states. This module changes nothing.
"""

import asyncio
import platform
import shutil
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Protocol

from msgspec import UNSET, Meta, UnsetType

from svc.base.config_parsing import is_loopback
from svc.base.machine import Machine
from svc.chat.config import ChatConfig
from svc.chat.schemas import Id, Natural, TimeMs

MIN_FREE_BYTES = 200 * 1024 * 1024
COMFORTABLE_FREE_BYTES = 2 * 1024 * 1024 * 1024
# The age at which the newest backup is reported as old. Restoring it would lose messages that members
# remember.
BACKUP_AFTER_MS = 30 * 24 * 3600 * 1000
# The maximum number of connected members in the report and in the web client.
MAX_LISTED = 200
Verdict = Literal["ok", "notice", "problem"]
OK: Verdict = "ok"
NOTICE: Verdict = "notice"
PROBLEM: Verdict = "problem"
CHECKS = {
    "database": ("sound", "not_kept"),
    "disk": ("roomy", "filling", "full"),
    "clock": ("kept", "adrift", "unknown"),
    "files": ("ample", "few"),
    "buffers": ("ample", "small"),
    "joining": ("possible", "impossible"),
    "address": ("reachable", "only_here", "insecure"),
    "voice": ("connected", "none", "unreachable"),
    "uploads": ("working", "off", "no_worker"),
    "backups": ("recent", "old", "none"),
}
_STATES = dict.fromkeys(state for states in CHECKS.values() for state in states)


@dataclass(frozen=True, slots=True)
class Check:
    """The result of a check.

    `bytes` is the free disk space. `waiting` is the number of uploads waiting to be processed.
    """

    check: Annotated[str, Meta(extra_json_schema={"enum": [*CHECKS]})]
    verdict: Verdict
    state: Annotated[str, Meta(extra_json_schema={"enum": [*_STATES]})]
    bytes: Natural | UnsetType = UNSET
    waiting: Natural | UnsetType = UNSET

    def __post_init__(self) -> None:
        assert self.state in CHECKS[self.check], "the description and the page list every state"


@dataclass(frozen=True, slots=True)
class Versions:
    server: str
    python: str
    sqlite: str


@dataclass(frozen=True, slots=True)
class ConnectedMember:
    member_id: Id
    pages: Annotated[int, Meta(ge=1)]


@dataclass(frozen=True, slots=True)
class ServerHealth:
    versions: Versions
    started_at_ms: TimeMs
    checks: Sequence[Check]
    connected: Annotated[Sequence[ConnectedMember], Meta(max_length=MAX_LISTED)]
    connected_members: Natural
    in_calls: Natural


class Link(Protocol):
    @property
    def synchronised(self) -> bool: ...
    @property
    def faults(self) -> Sequence[str]: ...


@dataclass(frozen=True, slots=True)
class Sources:
    """The functions and values from which the report is built.

    `pages` returns the number of clients per member, and `calls` the number of participants in calls.
    """

    works: Callable[[], Awaitable[bool]]
    database: Path
    link: Link
    uploads_enabled: bool
    # The number of jobs waiting for the worker, and whether a worker is up.
    jobs_waiting: Callable[[], int]
    worker_up: Callable[[], bool]
    # The creation times of the existing backups, in ms.
    backups: Callable[[], Sequence[int]]
    pages: Callable[[], Mapping[str, int]]
    calls: Callable[[], int]
    # Whether this server terminates TLS.
    secure: bool
    machine: Callable[[], Machine]
    # The contact URL for push services, or an empty string.
    push_contact: Callable[[], str] = lambda: ""


class HealthReport:
    def __init__(self, config: ChatConfig, sources: Sources, version: str, started_at_ms: int) -> None:
        self._config = config
        self._sources = sources
        self._version = version
        self._started_at_ms = started_at_ms
        # Whether writes to the database succeed.
        self.works = sources.works

    async def condition(self, now: float) -> ServerHealth:
        sources = self._sources
        free = (await asyncio.to_thread(shutil.disk_usage, sources.database.parent)).free
        made = await asyncio.to_thread(sources.backups)
        machine = await asyncio.to_thread(sources.machine)
        checks = [
            Check("database", *((OK, "sound") if await sources.works() else (PROBLEM, "not_kept"))),
            Check("disk", *_disk(free), bytes=free),
            Check("clock", *_clock(machine)),
            Check("files", *((NOTICE, "few") if machine.few_files else (OK, "ample"))),
            Check("buffers", *((NOTICE, "small") if machine.small_buffers else (OK, "ample"))),
            Check("joining", *self._joining()),
            Check("address", *self._address()),
            Check("voice", *self._voice()),
            Check("uploads", *self._uploads(), waiting=sources.jobs_waiting()),
            Check("backups", *_backups(made, now)),
        ]
        pages = sources.pages()
        listed = sorted(pages.items())[:MAX_LISTED]
        return ServerHealth(
            Versions(self._version, platform.python_version(), sqlite3.sqlite_version),
            self._started_at_ms,
            checks,
            [ConnectedMember(member_id, count) for member_id, count in listed],
            len(pages),
            sources.calls(),
        )

    def _joining(self) -> tuple[Verdict, str]:
        return (PROBLEM, "impossible") if self._config.identity.obstacle() else (OK, "possible")

    def _address(self) -> tuple[Verdict, str]:
        """Check whether browsers can use the server's URL. Behind a proxy, any URL is fine, because the proxy
        terminates TLS and can reach a loopback address.
        """
        if self._config.trusted_proxy_hops:
            return OK, "reachable"
        if is_loopback(self._config.host):
            return NOTICE, "only_here"
        return (OK, "reachable") if self._sources.secure else (PROBLEM, "insecure")

    def _voice(self) -> tuple[Verdict, str]:
        if not self._config.media.url:
            return NOTICE, "none"
        return (OK, "connected") if self._sources.link.synchronised else (PROBLEM, "unreachable")

    def _uploads(self) -> tuple[Verdict, str]:
        if not self._sources.uploads_enabled:
            return NOTICE, "off"
        if self._sources.worker_up():
            return OK, "working"
        return PROBLEM if self._sources.jobs_waiting() else NOTICE, "no_worker"


def _disk(free: int) -> tuple[Verdict, str]:
    if free < MIN_FREE_BYTES:
        return PROBLEM, "full"
    return (NOTICE, "filling") if free < COMFORTABLE_FREE_BYTES else (OK, "roomy")


def _clock(machine: Machine) -> tuple[Verdict, str]:
    if machine.clock_kept is None:
        return OK, "unknown"
    return (OK, "kept") if machine.clock_kept else (NOTICE, "adrift")


def _backups(made: Sequence[int], now: float) -> tuple[Verdict, str]:
    if not made:
        return NOTICE, "none"
    return (NOTICE, "old") if max(made) < now * 1000 - BACKUP_AFTER_MS else (OK, "recent")
