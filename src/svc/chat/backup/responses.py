"""Response and event types for backups."""

from collections.abc import Sequence

from svc.chat.schemas import Natural, Response, TimeMs


class Backup(Response):
    name: str
    bytes: Natural
    made_at_ms: TimeMs


class BackupProgress(Response):
    """The progress of a backup. `what` is the current phase. `done` and `total` count bytes or files."""

    what: str
    done: Natural
    total: Natural


class AllBackups(Response):
    """All backups, newest first. `making` is the backup in progress. `fault` is the reason why the last
    backup failed.
    """

    backups: Sequence[Backup]
    making: BackupProgress | None
    fault: str | None


class BackupFinished(Response):
    name: str | None
    fault: str | None
