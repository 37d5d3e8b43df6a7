"""Manages the backups that the owner creates, downloads and deletes on a running server.

Backups stay in the data folder until they are deleted. Creating a backup takes a long time, so it runs in the
background, and an event is sent when it ends. A backup contains every secret on the server. It is sent only
to the owner, and to anyone with a link that the owner has requested. A link works once and expires after a
minute. This module contains no HTTP code.
"""

import asyncio
import logging
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from svc.base.database import Connection, Write
from svc.base.progress import Progress, reports_to
from svc.base.tasks import cancel_and_wait
from svc.chat.access.checked_writes import exclusive_write, shared_write
from svc.chat.backup.backups import FOLDER, Backups
from svc.chat.backup.responses import AllBackups, Backup, BackupFinished, BackupProgress
from svc.chat.errors import ChatError
from svc.chat.live.hub import Recipients
from svc.chat.live.responses import Managed
from svc.chat.services import Services

# The maximum number of stored backups, each of which may be as large as all other data.
MAX_KEPT = 5
LINK_S = 60.0
# The maximum number of unused links.
MAX_LINKS = 20
_NAME = re.compile(r"backup-(\d{1,15})\.tar\.gz")

logger = logging.getLogger(__name__)


class StoredBackups:
    """The backups in the data folder. `steady` is a monotonic clock. `new_token` returns an unguessable
    token.
    """

    def __init__(
        self,
        services: Services,
        backups: Backups,
        data_dir: Path,
        new_token: Callable[[], str],
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit = services.audit
        self._backups = backups
        self._folder = data_dir / FOLDER
        self._new_token = new_token
        self._steady = steady
        self._making: asyncio.Task[None] | None = None
        self._progress = Progress("", 0, 0)
        self._fault = ""
        # Maps each link's token to the backup's name, the link's expiry and its creator.
        self._links: dict[str, tuple[str, float, str]] = {}

    def all(self) -> AllBackups:
        backups = []
        for path in self._folder.glob("backup-*.tar.gz"):
            if match := _NAME.fullmatch(path.name):
                with suppress(OSError):
                    backups.append(Backup(path.name, path.stat().st_size, int(match[1])))
        backups.sort(key=lambda backup: backup.made_at_ms, reverse=True)
        progress = self._progress
        making = BackupProgress(progress.what, progress.done, progress.total) if self._running else None
        return AllBackups(backups, making, self._fault or None)

    # Exclusive, because otherwise a second request could be accepted before the first one has started its
    # backup.
    @exclusive_write
    def begin(self, actor_id: str, now: float) -> Write[None, None]:
        """Start a backup in the background. Raises ChatError if one is running, or too many are stored."""
        if self._running:
            raise ChatError("too_many", "A backup is already being created")
        if len(self._names()) >= MAX_KEPT:
            raise ChatError("too_many", f"The server keeps {MAX_KEPT} backups. Download and delete one first")

        def write(connection: Connection) -> None:
            self._audit.record(connection, actor_id, "backup_create", None, {}, now)

        def start(_: None) -> None:
            self._fault, self._progress = "", Progress("", 0, 0)
            self._making = asyncio.create_task(self._make(now))
            self._push_changed()

        return Write(write, start)

    @shared_write
    def delete(self, actor_id: str, name: str, now: float) -> Write[None, None]:
        path = self.path(name)

        def write(connection: Connection) -> None:
            self._audit.record(connection, actor_id, "backup_delete", None, {"name": name}, now)

        def deleted(_: None) -> None:
            path.unlink(missing_ok=True)
            self._push_changed()

        return Write(write, deleted)

    @shared_write
    def link(self, actor_id: str, name: str, now: float) -> Write[None, str]:
        """Return a token that is valid for one download within `LINK_S` seconds."""
        self.path(name)

        def write(connection: Connection) -> None:
            self._audit.record(connection, actor_id, "backup_download", None, {"name": name}, now)

        def linked(_: None) -> str:
            self._drop_old()
            while len(self._links) >= MAX_LINKS:
                del self._links[next(iter(self._links))]
            token = self._new_token()
            self._links[token] = name, self._steady() + LINK_S, actor_id
            return token

        return Write(write, linked)

    def use_link(self, token: str, *, used: bool = True) -> Path:
        """Return the path of the backup that a link refers to. Consume the link unless `used` is False.
        Raises ChatError.
        """
        self._drop_old()
        name, _, maker_id = self._links.get(token, ("", 0.0, ""))
        if not self._directory.is_owner(maker_id):
            raise ChatError("unknown_backup")
        if used:
            self._links.pop(token, None)
        return self.path(name)

    def path(self, name: str) -> Path:
        """Return a backup's path. Raises ChatError if it does not exist."""
        if not _NAME.fullmatch(name) or not (self._folder / name).is_file():
            raise ChatError("unknown_backup")
        return self._folder / name

    async def close(self) -> None:
        """Cancel a running backup at shutdown. The next backup removes the unfinished files."""
        if self._making is not None:
            await cancel_and_wait(self._making)

    @property
    def _running(self) -> bool:
        return self._making is not None and not self._making.done()

    def made_at_ms(self) -> list[int]:
        """Return the creation times of the existing backups in ms since 1970."""
        return [int(match[1]) for name in self._names() if (match := _NAME.fullmatch(name))]

    def _names(self) -> list[str]:
        return [path.name for path in self._folder.glob("backup-*.tar.gz")]

    def _drop_old(self) -> None:
        now = self._steady()
        self._links = {token: link for token, link in self._links.items() if link[1] > now}

    async def _make(self, now: float) -> None:
        name = None
        with reports_to(self._hear):
            try:
                name = Path((await self._backups.make(now)).path).name
            except ChatError as refusal:
                self._fault = refusal.message
            except Exception:
                logger.exception("a backup failed")
                self._fault = "The backup could not be created; the reason has been logged"
        self._hub.push("backup_finished", BackupFinished(name, self._fault or None), self._owners())

    def _push_changed(self) -> None:
        self._hub.push("managed", Managed("backups"), self._owners())

    def _owners(self) -> Recipients:
        return Recipients(frozenset(m for m in self._directory.members if self._directory.is_owner(m)))

    def _hear(self, progress: Progress) -> None:
        self._progress = progress
