"""Stores snapshots of a community in NATS for nodes that are new or too far behind the log.

A snapshot is a backup without media (see `chat.backup.archive`). It contains the database file, which
includes its log position, and the keys in the data folder. The methods block, so call them in a thread.
"""

import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from nats.errors import Error as NatsError
from nats.js.api import ObjectStoreConfig
from nats.js.errors import BucketNotFoundError, NotFoundError
from nats.js.object_store import ObjectStore

from svc.base import commit_log
from svc.base.object_store_config import DEFAULT_FOLDER
from svc.base.package_version import package_version
from svc.base.private_files import make_private_file, make_private_folder
from svc.base.snapshot import opened_copy, snapshot
from svc.chat.backup.archive import DATABASE, FILES, ArchiveError, ArchiveReader, ArchiveWriter, Header
from svc.chat.backup.backups import FOLDER, remove_unfinished, secret_files
from svc.chat.cluster.nats_connection import ClusterError, fault_of
from svc.chat.cluster.nats_log import RETENTION_S, NatsLog
from svc.chat.cluster.stored_streams import refuse_weak_stream

# The number of recent snapshots to keep, in case the newest one is damaged. In addition, the first snapshot
# of each day is kept for as long as the log, so that the community can be restored to any second in the log.
_KEPT_SNAPSHOTS = 3
_DAY_S = 24 * 3600.0
# The timeout for a transfer, long enough for a snapshot of many gigabytes on a slow network.
_TRANSFER_S = 3600.0
_PREFIX = ".snapshot-"
_REQUEST_S = 5.0
_CHUNK_BYTES = 256 * 1024
_FAULTS = (NatsError, TimeoutError, OSError)


class Snapshots:
    """The snapshots of one community.

    `replicas` is the number of NATS servers that store each snapshot. The log keeps entries for `kept_s`
    seconds.
    """

    def __init__(self, log: NatsLog, name: str, replicas: int, kept_s: float = RETENTION_S) -> None:
        self._log, self._bucket, self._replicas, self._kept_s = log, f"{name}-snapshots", replicas, kept_s

    def check(self) -> None:
        """Raise ClusterError if the bucket exists and is less durable than the log."""
        self._log.run_with_retries(self._check)

    async def _check(self) -> None:
        try:
            stream = self._log.client.jetstream(timeout=_REQUEST_S)
            status = await (await stream.object_store(self._bucket)).status()
        except (BucketNotFoundError, NotFoundError):
            return
        except (NatsError, TimeoutError) as fault:
            raise fault_of(f"the bucket {self._bucket} cannot be used", fault) from None
        what, config = f"the bucket {self._bucket}", status.stream_info.config
        refuse_weak_stream(what, config, self._replicas, self._kept_s, may_fill_up=True)

    def put(self, data_dir: Path, database: Path) -> int:
        """Store a snapshot of the live database. Return its log position. Raises ClusterError."""
        try:
            with _temporary_folder(data_dir / FOLDER) as making:
                copy, archive = making / DATABASE, making / "snapshot.tar.gz"
                snapshot(database, copy)
                with opened_copy(copy) as connection:
                    position = commit_log.position_in(connection)
                    schema = int(connection.execute("PRAGMA user_version").fetchone()[0])
                assert position is not None, "only a database with a log has snapshots"
                header = Header(schema, package_version(), int(time.time() * 1000), DEFAULT_FOLDER)
                with archive.open("xb") as file, closing(ArchiveWriter(file, header)) as writer:
                    writer.add_file(DATABASE, copy)
                    for path in secret_files(data_dir, database.name):
                        writer.add_file(FILES + path.name, path)
                    writer.finish([])
                with archive.open("rb") as whole:
                    self._log.run(self._put(f"{position[1]:020}", whole))
                return position[1]
        except (sqlite3.Error, *_FAULTS) as fault:
            raise ClusterError(f"a snapshot could not be stored: {fault or type(fault).__name__}") from None

    def age_s(self) -> float | None:
        """Return the age of the newest snapshot in seconds, or None if there is no snapshot. Raises
        ClusterError.
        """
        try:
            newest = self._log.run(self._newest())
        except _FAULTS as fault:
            raise ClusterError(f"the snapshots cannot be read: {type(fault).__name__}") from None
        return None if newest is None else time.time() - newest[1]

    def restore(self, data_dir: Path, database: Path, community: str, *, at: int | None = None) -> int:
        """Replace the database with the newest snapshot, and add missing files.

        If `at` is given, use the newest snapshot that contains no log entry after that position. Return the
        snapshot's log position. If there is no usable snapshot of this community, raise ClusterError and
        change nothing.
        """
        try:
            newest = self._log.run(self._newest(at))
            if newest is None:
                raise ClusterError("there is no snapshot yet" if at is None else "no snapshot is that old")
            with _temporary_folder(data_dir / FOLDER) as making:
                archive = making / "snapshot.tar.gz"
                with archive.open("xb") as file:
                    self._log.run(self._get(newest[0], file))
                files = _unpack(archive, making)
                with opened_copy(making / DATABASE) as connection:
                    position = commit_log.position_in(connection)
                if position is None or position[0] != community:
                    raise ClusterError("the snapshot belongs to another community")
                for path in files:
                    if not (data_dir / path.name).exists():
                        path.rename(data_dir / path.name)
                for ending in ("-wal", "-shm"):
                    database.with_name(database.name + ending).unlink(missing_ok=True)
                (making / DATABASE).rename(database)
                return position[1]
        except (sqlite3.Error, ArchiveError, *_FAULTS) as fault:
            raise ClusterError(f"the snapshot cannot be used: {fault or type(fault).__name__}") from None

    async def _store(self) -> ObjectStore:
        stream = self._log.client.jetstream(timeout=_REQUEST_S)
        try:
            return await stream.object_store(self._bucket)
        except BucketNotFoundError:
            config = ObjectStoreConfig(replicas=self._replicas)
            return await stream.create_object_store(self._bucket, config)

    async def _put(self, name: str, file: IO[bytes]) -> None:
        async with asyncio.timeout(_TRANSFER_S):
            store = await self._store()
            await store.put(name, file)  # type: ignore[arg-type]
            for old in superfluous(await self._names(), time.time(), self._kept_s):
                with suppress(NatsError):
                    await store.delete(old)

    async def _get(self, name: str, file: IO[bytes]) -> None:
        async with asyncio.timeout(_TRANSFER_S):
            await (await self._store()).get(name, file)  # type: ignore[arg-type]

    async def _newest(self, at: int | None = None) -> tuple[str, float] | None:
        async with asyncio.timeout(4 * _REQUEST_S):
            return next(
                (snapshot for snapshot in await self._names() if at is None or int(snapshot[0]) <= at), None
            )

    async def _names(self) -> list[tuple[str, float]]:
        """Return the names and times of the snapshots, newest first."""
        try:
            infos = await (await self._store()).list()
        except NotFoundError:
            return []
        times = {info.name: datetime.fromisoformat(info.mtime).timestamp() for info in infos if info.mtime}
        return sorted(times.items(), reverse=True)


def superfluous(stored: Sequence[tuple[str, float]], now: float, kept_s: float = RETENTION_S) -> list[str]:
    """Return the names of snapshots to delete. `stored` lists names and Unix times, newest first."""
    newest, day = {name for name, _ in stored[:_KEPT_SNAPSHOTS]}, None
    for name, made_at in reversed(stored):
        if made_at // _DAY_S != day and made_at > now - kept_s:
            day = made_at // _DAY_S
            newest.add(name)
    return [name for name, _ in stored if name not in newest]


@contextmanager
def _temporary_folder(folder: Path) -> Iterator[Path]:
    """Create a temporary folder, and delete those left behind by killed processes."""
    make_private_folder(folder)
    remove_unfinished(folder, _PREFIX)
    with tempfile.TemporaryDirectory(dir=folder, prefix=_PREFIX) as making:
        yield Path(making)


def _unpack(archive: Path, folder: Path) -> list[Path]:
    """Unpack a snapshot. Return its files other than the database. Raises ArchiveError."""
    files = []
    with archive.open("rb") as file:
        for member in ArchiveReader(file).members():
            if member.name == DATABASE:
                path = folder / DATABASE
            else:
                (folder / FILES).mkdir(mode=0o700, exist_ok=True)
                path = folder / FILES / Path(member.name).name
                files.append(path)
            make_private_file(path)
            with path.open("wb") as target:
                while chunk := member.read(_CHUNK_BYTES):
                    target.write(chunk)
                target.flush()
                os.fsync(target.fileno())
    return files
