"""Backs up a running server: first a snapshot of the database, then secrets, then media.

The server keeps running. The backup appears in the data folder only once it is complete. Contains no HTTP
code.
"""

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from svc.base.database import Database
from svc.base.object_store import ObjectMissing, ObjectStore, StoreFailed, require_free
from svc.base.private_files import make_private_folder
from svc.base.progress import report
from svc.base.snapshot import opened_copy, snapshot
from svc.chat.backup.archive import (
    DATABASE,
    FILES,
    MAX_FILE_BYTES,
    MAX_MEMBERS,
    NOT_KEPT,
    OBJECTS,
    ArchiveWriter,
    Header,
)
from svc.chat.errors import ChatError

FOLDER = "backups"
# The interval between progress reports, short enough for a person who is watching.
_SIGN_S = 5.0
# The approximate number of steps that SQLite's virtual machine executes in a tenth of a second.
_STEPS_BETWEEN_SIGNS = 1_000_000
# Objects larger than this are spooled to disk.
_IN_MEMORY_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class BackupResult:
    """A finished backup. `path` is relative to the data folder."""

    path: str
    bytes: int
    objects: int
    schema: int
    # The keys of objects that are missing from the store, and of objects whose size has changed.
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    # The faults in the database, if the operator chose to back up a damaged database.
    faults: list[str] = field(default_factory=list)


class Backups:
    """The server's backups. `objects` is None if nothing can be stored. `objects_folder` is the folder where
    a restored server looks for objects.
    """

    def __init__(
        self,
        database: Database,
        data_dir: Path,
        objects: ObjectStore | None,
        objects_folder: str,
        program: str,
    ) -> None:
        self._database = database
        self._data_dir = data_dir
        self._objects = objects
        self._objects_folder = objects_folder
        self._program = program
        self._running = asyncio.Lock()

    async def faults(self) -> list[str]:
        """Return the faults in the live database. Reads the whole database."""
        return await asyncio.to_thread(faults_in, self._database.path)

    async def make(self, now: float, *, damaged: bool = False) -> BackupResult:
        """Make a backup. On failure, raise ChatError and leave nothing behind.

        A damaged database is backed up only if `damaged` is set.
        """
        if self._running.locked():
            raise ChatError("too_many", "A backup is already being created")
        folder = self._data_dir / FOLDER
        async with self._running, unfinished_folder(folder, "backup") as making:
            target = folder / f"backup-{int(now * 1000)}.tar.gz"
            return await self._make(making, target, now, damaged=damaged)

    async def _make(self, making: Path, target: Path, now: float, *, damaged: bool) -> BackupResult:
        copy, partial = making / DATABASE, making / target.name
        # There must be enough space for a copy of the database and the archive.
        require_free(making, 2 * self._database.path.stat().st_size)
        await asyncio.to_thread(snapshot, self._database.path, copy)
        faults = await asyncio.to_thread(faults_in, copy)
        if faults and not damaged:
            raise ChatError(
                "storage_unavailable",
                f"The database is damaged ({faults[0]}), and no backup was created. Keep the backups that "
                "you have, and restore the newest. --damaged creates a backup anyway",
            )
        with opened_copy(copy) as connection:
            keys, schema = _keys(connection), int(connection.execute("PRAGMA user_version").fetchone()[0])
        if keys and self._objects is None:
            raise ChatError(
                "uploads_disabled", f"{len(keys)} stored files cannot be read: uploads are disabled here"
            )
        if len(keys) > MAX_MEMBERS // 2:
            raise ChatError(
                "too_many", f"A backup holds at most {MAX_MEMBERS // 2} stored files, not {len(keys)}"
            )
        header = Header(schema, self._program, int(now * 1000), self._objects_folder)
        with partial.open("xb") as file, closing(ArchiveWriter(file, header)) as writer:
            os.fchmod(file.fileno(), 0o600)
            await asyncio.to_thread(writer.add_file, DATABASE, copy)
            for path in await asyncio.to_thread(secret_files, self._data_dir, self._database.path.name):
                await asyncio.to_thread(writer.add_file, FILES + path.name, path)
            missing, cut = await self._add_objects(writer, keys)
            await asyncio.to_thread(writer.finish, missing)
            file.flush()
            await sync_to_disk(file.fileno())
            size = file.tell()
        partial.rename(target)
        name = f"{FOLDER}/{target.name}"
        return BackupResult(name, size, len(keys) - len(missing), schema, missing, cut, faults)

    async def _add_objects(
        self, writer: ArchiveWriter, keys: Mapping[str, int]
    ) -> tuple[list[str], list[str]]:
        """Add the objects. Return the keys of missing objects, and of those whose size differs from the
        recorded size.
        """
        missing, damaged = [], []
        for number, (key, recorded) in enumerate(keys.items()):
            report("files", number, len(keys))
            assert self._objects is not None, "asked before"
            try:
                async with spool(self._objects, key, self._data_dir / FOLDER) as (file, size):
                    await asyncio.to_thread(writer.add, OBJECTS + key, file, size)
            except ObjectMissing:
                # The object was deleted after the database was copied, or lost earlier.
                missing.append(key)
            else:
                if size != recorded:
                    damaged.append(key)
        return missing, damaged


def secret_files(data_dir: Path, database: str) -> list[Path]:
    """Return the files at the top level of the data folder that belong in a backup, except the database. This
    includes secrets of future features.
    """
    return sorted(
        path
        for path in data_dir.iterdir()
        if path.is_file()
        and not path.is_symlink()
        and path.name not in NOT_KEPT
        and not path.name.startswith((".", database))
        and path.stat().st_size <= MAX_FILE_BYTES
    )


def faults_in(path: Path) -> list[str]:
    """Return the faults in a database, as described by SQLite. Reads the whole database and changes
    nothing.
    """
    with opened_copy(path) as copy:
        # A large database takes minutes, so report progress.
        copy.set_progress_handler(lambda: report("checking", 1, 1), _STEPS_BETWEEN_SIGNS)
        return faults_of(copy)


async def sync_to_disk(file: int) -> None:
    """Flush a file to disk. Report progress, because a large file takes minutes on a slow SD card."""
    storing = asyncio.ensure_future(asyncio.to_thread(os.fsync, file))
    try:
        while not (await asyncio.wait([storing], timeout=_SIGN_S))[0]:
            report("storing", 1, 1)
        await storing
    finally:
        storing.cancel()


@asynccontextmanager
async def unfinished_folder(folder: Path, what: str) -> AsyncIterator[Path]:
    """Create a temporary folder in `folder` for a backup or an export. Delete it at the end of the block.

    Errors from the disk, the database or the store are raised as ChatError.
    """
    make_private_folder(folder)
    # The prefix also identifies folders left behind by a killed server.
    prefix = f".{what}-"
    await asyncio.to_thread(remove_unfinished, folder, prefix)
    with tempfile.TemporaryDirectory(dir=folder, prefix=prefix) as making:
        try:
            yield Path(making)
        except (OSError, sqlite3.Error, StoreFailed) as fault:
            raise ChatError("storage_unavailable", f"The {what} could not be created: {fault}") from None


def remove_unfinished(folder: Path, prefix: str) -> None:
    for left in folder.glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)


@asynccontextmanager
async def spool(objects: ObjectStore, key: str, folder: Path) -> AsyncIterator[tuple[IO[bytes], int]]:
    """Yield an object's content as a file, and its size. Raises ObjectMissing."""
    with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=str(folder)) as spool:
        async for chunk in objects.read(key):
            # Uploads may arrive at the same time, and the database needs the remaining space.
            require_free(folder, len(chunk))
            spool.write(chunk)
        size = spool.tell()
        spool.seek(0)
        require_free(folder, size)
        yield spool, size


def _keys(copy: sqlite3.Connection) -> dict[str, int]:
    """Return the size of each stored object, by key."""
    rows = copy.execute("SELECT key, bytes FROM objects WHERE state = 'stored' ORDER BY key")
    return {row["key"]: row["bytes"] for row in rows}


def faults_of(copy: sqlite3.Connection) -> list[str]:
    """Return the faults in the database file, as described by SQLite."""
    try:
        results = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(10)")]
    except sqlite3.DatabaseError as fault:
        return [str(fault)]
    if results != ["ok"]:
        return [" ".join(line.split()) for line in results]
    return [f"a row of {row[0]} refers to nothing" for row in copy.execute("PRAGMA foreign_key_check")][:10]
