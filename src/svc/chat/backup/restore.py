"""Restores a backup into a data folder and verifies the result.

The folder appears only once it is complete. Callers must ensure that no server is using the folder. Contains
no HTTP code.
"""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from svc.base.database_file import foreign
from svc.base.migrations import Migration
from svc.base.object_store import MIN_FREE_BYTES, ObjectMissing, ObjectStore, sync_folder
from svc.base.private_files import make_private_file, make_private_folder
from svc.base.progress import report
from svc.base.snapshot import opened_copy
from svc.chat.backup.archive import (
    DATABASE,
    FILES,
    OBJECTS,
    ArchiveError,
    ArchiveMember,
    ArchiveReader,
    Header,
)
from svc.chat.backup.backups import faults_of

_CHUNK_BYTES = 256 * 1024
# The maximum number of objects listed in an error message.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Restored:
    header: Header
    files: int
    objects: int
    missing: list[str]
    # The folder for objects inside the data folder. Meaningless if the objects were stored in a bucket.
    objects_folder: str


@asynccontextmanager
async def new_folder(folder: Path) -> AsyncIterator[Path]:
    """Create a temporary folder that becomes `folder` at the end of the block. Raises OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = folder.parent / f".{folder.name}.restoring-{os.getpid()}"
    building.mkdir(mode=0o700)
    try:
        yield building
        # Renaming replaces `folder` if it is empty, and fails otherwise.
        building.replace(folder)
        sync_folder(folder.parent)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise


async def restore(
    archive: Path,
    folder: Path,
    newest_schema: int,
    database_name: str,
    objects: ObjectStore | None,
    objects_folder: str = "",
) -> Restored:
    """Unpack a backup into an empty folder. Objects are put into the store `objects` or, if it is None, into
    the same folder.

    `objects_folder` overrides the name of the folder for objects in the backup. Raises ArchiveError, OSError
    or StoreFailed.
    """
    size = (await asyncio.to_thread(archive.stat)).st_size
    with archive.open("rb") as file:
        reader = await asyncio.to_thread(ArchiveReader, file)
        header = reader.header
        objects_folder = objects_folder or header.objects_folder
        if header.schema > newest_schema:
            raise ArchiveError(
                f"it was created by a newer version (schema {header.schema}, "
                f"this one supports {newest_schema}): install that one first"
            )
        counts = {"files": 0, "objects": 0}
        members = reader.members()
        while (member := await asyncio.to_thread(next, members, None)) is not None:
            report("unpacking", file.tell(), size)
            counts["objects" if member.name.startswith(OBJECTS) else "files"] += 1
            if objects is not None and member.name.startswith(OBJECTS):
                await _put_elsewhere(member, folder, objects)
            else:
                await asyncio.to_thread(
                    _write, member, _place(member.name, folder, objects_folder, database_name)
                )
    return Restored(header, counts["files"], counts["objects"], reader.missing, objects_folder)


def refuse_foreign(database: Path, migrations: Sequence[Migration]) -> None:
    """Raise ArchiveError if the database in the backup was not created by this program."""
    try:
        with opened_copy(database) as copy:
            stranger = foreign(copy, migrations)
    except sqlite3.Error as fault:
        stranger = f"it cannot be read ({fault})"
    if stranger:
        raise ArchiveError(f"{DATABASE} is not a database of this program: {stranger}")


async def faults(database: Path, objects: ObjectStore) -> list[str]:
    """Return descriptions of the faults in a restored server. The list is empty if the server is intact.

    Raises StoreFailed.
    """
    try:
        with opened_copy(database) as copy:
            faults_found, needed = await asyncio.to_thread(_faults, copy)
    except sqlite3.Error as fault:
        return [f"the database cannot be read: {fault}"]
    lost = []
    for number, (key, size) in enumerate(needed.items()):
        report("verifying", number, len(needed))
        try:
            if await objects.size(key) != size:
                lost.append(key)
        except ObjectMissing:
            lost.append(key)
    if lost:
        lost_names = ", ".join(lost[:_NAMED]) + (", …" if len(lost) > _NAMED else "")
        faults_found.append(
            f"{len(lost)} of {len(needed)} files that are referred to are missing or another: {lost_names}"
        )
    return faults_found


def _faults(copy: sqlite3.Connection) -> tuple[list[str], dict[str, int]]:
    """Return the faults in the database, and the size of each referenced object, keyed by object."""
    if database_faults := faults_of(copy):
        return database_faults, {}
    needed = copy.execute(
        "SELECT DISTINCT o.key, o.bytes FROM objects AS o JOIN object_references AS r ON r.key = o.key"
        " WHERE o.state = 'stored' ORDER BY o.key"
    )
    return database_faults, {row["key"]: row["bytes"] for row in needed}


def _place(name: str, folder: Path, objects_folder: str, database_name: str) -> Path:
    """Return the path to restore a file to. The archive's reader has checked that no name escapes the
    folder.
    """
    if name == DATABASE:
        return folder / database_name
    if name.startswith(FILES):
        return folder / name.removeprefix(FILES)
    return folder / objects_folder / name.removeprefix(OBJECTS)


async def _put_elsewhere(member: ArchiveMember, folder: Path, objects: ObjectStore) -> None:
    spool = folder / ".object"
    await asyncio.to_thread(_write, member, spool)
    # This content type does not matter, because browsers get the type that is stored in the database.
    await objects.put(member.name.removeprefix(OBJECTS), spool, "application/octet-stream")
    spool.unlink()


def _write(member: ArchiveMember, path: Path) -> None:
    """Write a file. If the disk has too little space, raise ArchiveError before writing anything."""
    make_private_folder(path.parent)
    free = shutil.disk_usage(path.parent).free - MIN_FREE_BYTES
    if member.size > free:
        raise ArchiveError(f"{member.name} has {member.size} bytes, and the disk has room for {max(0, free)}")
    make_private_file(path)
    with path.open("wb") as file:
        while chunk := member.read(_CHUNK_BYTES):
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
