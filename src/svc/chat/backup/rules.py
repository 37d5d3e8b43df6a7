"""A backup of a server that runs: its database at one moment, then its secrets, then its media.

Everybody goes on meanwhile. It is written into the data folder, whole or not at all, for
whoever asked to take away. No HTTP.
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
from svc.base.objects import ObjectMissing, ObjectStore, StoreFailed, require_free
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
# Far below what whoever waits for progress has patience for.
_SIGN_S = 5.0
# Of SQLite's virtual machine: about a tenth of a second.
_STEPS_BETWEEN_SIGNS = 1_000_000
# Larger objects go over the disk.
_IN_MEMORY_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Made:
    """`path` is relative to the data folder."""

    path: str
    bytes: int
    objects: int
    schema: int
    # Objects that the store did not have, and those that are longer or shorter than they were.
    missing: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    # What is wrong with the database, where the operator wants a backup all the same.
    faults: list[str] = field(default_factory=list)


class Backups:
    """`objects` is None where nothing can be stored; `objects_folder` is where a restored server looks."""

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
        """What is wrong with the database that the server is using: all of it is read."""
        return await asyncio.to_thread(faults_in, self._database.path)

    async def make(self, now: float, *, damaged: bool = False) -> Made:
        """Raises ChatError where it cannot be made; then nothing of it remains.

        A damaged database is refused, unless it is wanted `damaged`.
        """
        if self._running.locked():
            raise ChatError("too_many", "A backup is being made already")
        folder = self._data_dir / FOLDER
        async with self._running, being_made(folder, "backup") as making:
            target = folder / f"backup-{int(now * 1000)}.tar.gz"
            return await self._make(making, target, now, damaged=damaged)

    async def _make(self, making: Path, target: Path, now: float, *, damaged: bool) -> Made:
        copy, partial = making / DATABASE, making / target.name
        # A copy, and what is packed of it.
        require_free(making, 2 * self._database.path.stat().st_size)
        await asyncio.to_thread(snapshot, self._database.path, copy)
        faults = await asyncio.to_thread(faults_in, copy)
        if faults and not damaged:
            raise ChatError(
                "storage_unavailable",
                f"The database is damaged ({faults[0]}), and no backup was made. Keep the backups that "
                "you have: restore the newest of them. With --damaged a backup is made all the same",
            )
        with opened_copy(copy) as connection:
            keys, schema = _keys(connection), int(connection.execute("PRAGMA user_version").fetchone()[0])
        if keys and self._objects is None:
            raise ChatError(
                "uploads_disabled", f"{len(keys)} stored files cannot be read: uploads are switched off here"
            )
        if len(keys) > MAX_MEMBERS // 2:
            raise ChatError(
                "too_many", f"A backup holds at most {MAX_MEMBERS // 2} stored files, not {len(keys)}"
            )
        header = Header(schema, self._program, int(now * 1000), self._objects_folder)
        with partial.open("xb") as file, closing(ArchiveWriter(file, header)) as writer:
            os.fchmod(file.fileno(), 0o600)
            await asyncio.to_thread(writer.add_file, DATABASE, copy)
            for path in await asyncio.to_thread(self._files):
                await asyncio.to_thread(writer.add_file, FILES + path.name, path)
            missing, cut = await self._add_objects(writer, keys)
            await asyncio.to_thread(writer.finish, missing)
            file.flush()
            await stored(file.fileno())
            size = file.tell()
        partial.rename(target)
        return Made(f"{FOLDER}/{target.name}", size, len(keys) - len(missing), schema, missing, cut, faults)

    def _files(self) -> list[Path]:
        """What else is at the top of the data folder: every secret, also one that a later feature keeps."""
        database = self._database.path.name
        return sorted(
            path
            for path in self._data_dir.iterdir()
            if path.is_file()
            and not path.is_symlink()
            and path.name not in NOT_KEPT
            and not path.name.startswith((".", database))
            and path.stat().st_size <= MAX_FILE_BYTES
        )

    async def _add_objects(
        self, writer: ArchiveWriter, keys: Mapping[str, int]
    ) -> tuple[list[str], list[str]]:
        """The keys of those that are missing, and of those whose size is not the one recorded."""
        missing, damaged = [], []
        for number, (key, recorded) in enumerate(keys.items()):
            report("files", number, len(keys))
            assert self._objects is not None, "asked before"
            try:
                async with spooled(self._objects, key, self._data_dir / FOLDER) as (spool, size):
                    await asyncio.to_thread(writer.add, OBJECTS + key, spool, size)
            except ObjectMissing:
                # Swept since the database was copied, or lost before.
                missing.append(key)
            else:
                if size != recorded:
                    damaged.append(key)
        return missing, damaged


def faults_in(path: Path) -> list[str]:
    """What is wrong with a database, in SQLite's words; all of it is read, and nothing is changed."""
    with opened_copy(path) as copy:
        # Minutes, for a large one: whoever waits hears that it goes on.
        copy.set_progress_handler(lambda: report("checking", 1, 1), _STEPS_BETWEEN_SIGNS)
        return faults_of(copy)


async def stored(file: int) -> None:
    """Wait for the disk, and say that it goes on: a slow card takes minutes over a large file."""
    storing = asyncio.ensure_future(asyncio.to_thread(os.fsync, file))
    try:
        while not (await asyncio.wait([storing], timeout=_SIGN_S))[0]:
            report("storing", 1, 1)
        await storing
    finally:
        storing.cancel()


@asynccontextmanager
async def being_made(folder: Path, what: str) -> AsyncIterator[Path]:
    """A folder in `folder` to make a backup or an export in, which goes at the end of the block.

    A fault of the disk, of the database or of the store in the block becomes a ChatError.
    """
    make_private_folder(folder)
    # What a killed server leaves of one begins so.
    prefix = f".{what}-"
    await asyncio.to_thread(remove_unfinished, folder, prefix)
    with tempfile.TemporaryDirectory(dir=folder, prefix=prefix) as making:
        try:
            yield Path(making)
        except (OSError, sqlite3.Error, StoreFailed) as fault:
            raise ChatError("storage_unavailable", f"The {what} could not be made: {fault}") from None


def remove_unfinished(folder: Path, prefix: str) -> None:
    for left in folder.glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)


@asynccontextmanager
async def spooled(objects: ObjectStore, key: str, folder: Path) -> AsyncIterator[tuple[IO[bytes], int]]:
    """An object's content, to be read from its beginning, and its size. Raises ObjectMissing."""
    with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=str(folder)) as spool:
        async for chunk in objects.read(key):
            # Members upload meanwhile: what is left of the disk is the database's.
            require_free(folder, len(chunk))
            spool.write(chunk)
        size = spool.tell()
        spool.seek(0)
        require_free(folder, size)
        yield spool, size


def _keys(copy: sqlite3.Connection) -> dict[str, int]:
    """Everything that is in the object store, or should be, with its size."""
    found = copy.execute("SELECT key, bytes FROM objects WHERE state = 'stored' ORDER BY key")
    return {row["key"]: row["bytes"] for row in found}


def faults_of(copy: sqlite3.Connection) -> list[str]:
    """What is wrong with the file itself, in SQLite's words."""
    try:
        found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(10)")]
    except sqlite3.DatabaseError as fault:
        return [str(fault)]
    if found != ["ok"]:
        return [" ".join(line.split()) for line in found]
    return [f"a row of {row[0]} refers to nothing" for row in copy.execute("PRAGMA foreign_key_check")][:10]
