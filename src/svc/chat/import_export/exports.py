"""Exports a consistent snapshot of a running server's data. Contains neither HTTP nor SQL code.

Secrets are not exported, so sessions, invites and webhooks are omitted. The audit log is omitted too.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from svc.base.database import Database
from svc.base.object_store import ObjectMissing, ObjectStore, require_free
from svc.base.progress import report
from svc.base.snapshot import opened_copy, snapshot
from svc.chat.backup.backups import FOLDER, spool, sync_to_disk, unfinished_folder
from svc.chat.control.commands import Commands, command
from svc.chat.errors import ChatError
from svc.chat.import_export import store
from svc.chat.import_export.export_file import Writer

# The number of records between progress reports.
_RECORDS_BETWEEN = 1_000


@dataclass(frozen=True, slots=True)
class ExportResult:
    """A finished export. `path` is relative to the data folder."""

    path: str
    records: int
    objects: int
    missing: list[str] = field(default_factory=list)


class Exports:
    """The server's exports. `objects` is None if nothing can be stored. `facts` returns the server's name and
    id.
    """

    def __init__(
        self,
        database: Database,
        data_dir: Path,
        objects: ObjectStore | None,
        facts: Callable[[], dict[str, object]],
    ) -> None:
        self._database = database
        self._folder = data_dir / FOLDER
        self._objects = objects
        self._facts = facts
        self._running = asyncio.Lock()

    async def make(self, now: float) -> ExportResult:
        """Make an export. On failure, raise ChatError and leave nothing behind."""
        if self._running.locked():
            raise ChatError("export_running")
        async with self._running, unfinished_folder(self._folder, "export") as making:
            target = self._folder / f"export-{int(now * 1000)}.zip"
            return await self._make(making, target, int(now * 1000))

    async def _make(self, making: Path, target: Path, now_ms: int) -> ExportResult:
        copy, partial = making / "copy.sqlite3", making / target.name
        # There must be enough space for a copy of the database and the archive.
        require_free(making, 2 * self._database.path.stat().st_size)
        await asyncio.to_thread(snapshot, self._database.path, copy)
        facts = {**self._facts(), "exported_at_ms": now_ms}
        with partial.open("xb") as file, closing(Writer(file, facts)) as writer:
            os.fchmod(file.fileno(), 0o600)
            count, keys = await asyncio.to_thread(_add_records, writer, copy)
            missing = await self._add_objects(writer, keys)
            await asyncio.to_thread(writer.finish)
            file.flush()
            await sync_to_disk(file.fileno())
        partial.rename(target)
        return ExportResult(f"{FOLDER}/{target.name}", count, len(keys) - len(missing), missing)

    async def _add_objects(self, writer: Writer, keys: Sequence[str]) -> list[str]:
        if self._objects is None:
            return list(keys)
        missing = []
        for number, key in enumerate(keys):
            report("files", number, len(keys))
            try:
                async with spool(self._objects, key, self._folder) as (file, _):
                    await asyncio.to_thread(writer.add_object, key, file)
            except ObjectMissing:
                missing.append(key)
        return missing


def _add_records(writer: Writer, path: Path) -> tuple[int, list[str]]:
    """Write the records. Return their number, and the keys of stored objects."""
    keys: list[str] = []
    with opened_copy(path) as copy:
        total = sum(store.totals(copy).values())

        def reported_records() -> Iterator[dict[str, object]]:
            for number, record in enumerate(store.records(copy)):
                if number % _RECORDS_BETWEEN == 0:
                    report("records", number, total)
                if record["kind"] == "object":
                    keys.append(str(record["key"]))
                yield record

        return writer.add_records(reported_records()), keys


class TransferCommands(Commands):
    def __init__(self, exports: Exports) -> None:
        self._exports = exports

    @command("export")
    async def export(self) -> ExportResult:
        return await self._exports.make(time.time())
