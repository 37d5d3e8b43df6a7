"""A backup of a server that runs: its database at one moment, then its secrets, then its media.

Everybody goes on meanwhile. It is written into the data folder, whole or not at all, for
whoever asked to take away. No HTTP, no SQL. Design: section 3.
"""

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from svc.base.database import Database
from svc.base.objects import ObjectMissing, ObjectStore, StoreFailed
from svc.base.progress import report
from svc.base.snapshot import opened_copy, snapshot
from svc.chat.backup import store
from svc.chat.backup.archive import DATABASE, FILES, OBJECTS, Header, Writer
from svc.chat.errors import ChatError

FOLDER = "backups"
# What a killed server leaves of one begins so.
_MAKING = ".backup-"
# Of the data folder: what belongs to the process that runs, and what is copied in another way.
_NOT_KEPT = frozenset({"lock", "control.sock", "control.json"})
# Secrets and ids are short; what is longer was put there by somebody else.
MAX_FILE_BYTES = 1024 * 1024
# Far below what whoever waits for progress has patience for.
_SIGN_S = 5.0
# Larger objects go over the disk.
_IN_MEMORY_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Made:
    """`path` is relative to the data folder."""

    path: str
    bytes: int
    objects: int
    schema: int
    # Objects that the store did not have.
    missing: list[str] = field(default_factory=list)


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

    async def make(self, now: float) -> Made:
        """Raises ChatError where it cannot be made; then nothing of it remains."""
        if self._running.locked():
            raise ChatError("too_many", "A backup is being made already")
        async with self._running:
            folder = self._data_dir / FOLDER
            folder.mkdir(mode=0o700, exist_ok=True)
            await asyncio.to_thread(remove_unfinished, folder, _MAKING)
            with tempfile.TemporaryDirectory(dir=folder, prefix=_MAKING) as making:
                try:
                    return await self._make(Path(making), folder / f"backup-{int(now * 1000)}.tar.gz", now)
                except (OSError, sqlite3.Error, StoreFailed) as fault:
                    raise ChatError("storage_unavailable", f"The backup could not be made: {fault}") from None

    async def _make(self, making: Path, target: Path, now: float) -> Made:
        copy, partial = making / DATABASE, making / target.name
        await asyncio.to_thread(snapshot, self._database.path, copy)
        with opened_copy(copy) as connection:
            keys, schema = store.keys(connection), store.schema(connection)
        if keys and self._objects is None:
            raise ChatError(
                "uploads_disabled", f"{len(keys)} stored files cannot be read: uploads are switched off here"
            )
        header = Header(schema, self._program, int(now * 1000), self._objects_folder)
        with partial.open("xb") as file, closing(Writer(file, header)) as writer:
            os.fchmod(file.fileno(), 0o600)
            await asyncio.to_thread(writer.add_file, DATABASE, copy)
            for path in await asyncio.to_thread(self._files):
                await asyncio.to_thread(writer.add_file, FILES + path.name, path)
            missing = await self._add_objects(writer, keys)
            await asyncio.to_thread(writer.finish, missing)
            file.flush()
            await stored(file.fileno())
            size = file.tell()
        partial.rename(target)
        return Made(f"{FOLDER}/{target.name}", size, len(keys) - len(missing), schema, missing)

    def _files(self) -> list[Path]:
        """What else is at the top of the data folder: every secret, also one that a later feature keeps."""
        database = self._database.path.name
        return sorted(
            path
            for path in self._data_dir.iterdir()
            if path.is_file()
            and not path.is_symlink()
            and path.name not in _NOT_KEPT
            and not path.name.startswith((".", database))
            and path.stat().st_size <= MAX_FILE_BYTES
        )

    async def _add_objects(self, writer: Writer, keys: Sequence[str]) -> list[str]:
        missing = []
        for number, key in enumerate(keys):
            report("files", number, len(keys))
            if not await self._add_object(writer, key):
                missing.append(key)
        return missing

    async def _add_object(self, writer: Writer, key: str) -> bool:
        """False where it is gone: swept since the database was copied, or lost before."""
        assert self._objects is not None, "asked before"
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES, dir=str(self._data_dir / FOLDER)) as spool:
            try:
                async for chunk in self._objects.read(key):
                    spool.write(chunk)
            except ObjectMissing:
                return False
            size = spool.tell()
            spool.seek(0)
            await asyncio.to_thread(writer.add, OBJECTS + key, spool, size)
        return True


async def stored(file: int) -> None:
    """Wait for the disk, and say that it goes on: a slow card takes minutes over a large file."""
    storing = asyncio.ensure_future(asyncio.to_thread(os.fsync, file))
    try:
        while not (await asyncio.wait([storing], timeout=_SIGN_S))[0]:
            report("storing", 1, 1)
        await storing
    finally:
        storing.cancel()


def remove_unfinished(folder: Path, prefix: str) -> None:
    for left in folder.glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)
