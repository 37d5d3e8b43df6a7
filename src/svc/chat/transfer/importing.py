"""A server made of an export: all that is in the file, or nothing. For a server that does not run.

The whole file is looked through before anything is written; then the media is stored, and then
one transaction takes in the records. No HTTP; the SQL is `store`'s.
"""

import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from svc.base.database import Connection, Database
from svc.base.objects import ObjectStore
from svc.base.progress import report
from svc.chat.errors import ChatError
from svc.chat.messages.message import number_of
from svc.chat.transfer import store
from svc.chat.transfer.file import ZIP_FAULTS, Export
from svc.chat.transfer.kinds import BadRecord, Kind

_KEY = re.compile(r"uploads/[A-Za-z0-9_-]+\.[a-z0-9]{1,8}")
_CHUNK_BYTES = 256 * 1024
_RECORDS_BETWEEN = 1_000


@dataclass(frozen=True, slots=True)
class Imported:
    """How many of each kind came in, and the keys of media that the file lacked."""

    records: Mapping[str, int]
    missing: Sequence[str] = field(default_factory=list)


class Importing:
    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self._database = database
        self._objects = objects

    async def whole(self, export: Export, now: float) -> Imported:
        """Into a server that nobody has joined yet.

        Raises BadRecord, and what the database and the store fail with.
        """
        counts, keys = await asyncio.to_thread(_looked_through, export)
        present = [(key, kind) for key, kind in keys.items() if export.media(key) is not None]
        missing = frozenset(keys.keys() - dict(present).keys())
        total = sum(counts.values())
        async with Kept(self._objects) as kept:
            for number, (key, content_type) in enumerate(present):
                report("files", number, len(present))
                await kept.put(key, content_type, export)
            await self._database.write(lambda c: _taken_in(c, export, missing, total, int(now * 1000)))
            kept.stay()
        return Imported(dict(counts), sorted(missing))


class Kept:
    """Objects that are put into the store, and go again unless they are to `stay`."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._put: list[str] = []

    async def __aenter__(self) -> "Kept":
        return self

    async def __aexit__(self, *exception: object) -> None:
        for key in self._put:
            await self._objects.delete(key)

    def stay(self) -> None:
        self._put.clear()

    async def put(self, key: str, content_type: str, export: Export) -> None:
        with tempfile.NamedTemporaryFile() as spool:
            await asyncio.to_thread(_unpack, export, key, spool.name)
            await self.put_data(key, Path(spool.name), content_type)

    async def put_data(self, key: str, data: bytes | Path, content_type: str) -> None:
        self._put.append(key)
        await self._objects.put(key, data, content_type)


def _looked_through(export: Export) -> tuple[Counter[str], dict[str, str]]:
    """How many records of each kind there are, and the content types of all objects. Raises BadRecord."""
    counts: Counter[str] = Counter()
    keys: dict[str, str] = {}
    for line, kind, record in export.records():
        try:
            _check(kind, record)
        except BadRecord as fault:
            raise export.at(line, fault) from None
        counts[kind.name] += 1
        if kind.name == "object":
            keys[str(record["key"])] = str(record["content_type"])
    return counts, keys


def _check(kind: Kind, record: Mapping[str, object]) -> None:
    """What one record says twice must agree. Raises BadRecord."""
    match kind.name:
        case "message":
            try:
                agrees = number_of(str(record["id"])) == record["n"]
            except ChatError:
                agrees = False
            if not agrees:
                raise BadRecord("message: id and n do not belong together")
        case "object" if not _KEY.fullmatch(str(record["key"])):
            raise BadRecord("object: key is not what it should be")


def _taken_in(
    connection: Connection, export: Export, missing: frozenset[str], total: int, now_ms: int
) -> None:
    """The one write. Raises BadRecord."""
    if store.inhabited(connection):
        raise BadRecord("somebody has joined this server already: an export is taken in by a new one")
    store.make_way(connection, now_ms)
    for line, kind, record in export.records():
        if line % _RECORDS_BETWEEN == 0:
            report("records", line, total)
        if kind.name in ("object", "reference") and record["key"] in missing:
            continue
        try:
            store.put(connection, kind, record)
        except BadRecord as fault:
            raise export.at(line, fault) from None
    if table := store.dangling(connection):
        raise BadRecord(f"{export.path}: a record of {table} names something that is not there")
    store.index_anew(connection)


def _unpack(export: Export, key: str, path: str) -> None:
    content = export.media(key)
    assert content is not None, "looked for before"
    with content, Path(path).open("wb") as file:
        while chunk := _next_of(export, key, content):
            file.write(chunk)


def _next_of(export: Export, key: str, content: IO[bytes]) -> bytes:
    try:
        return content.read(_CHUNK_BYTES)
    except ZIP_FAULTS as fault:
        raise BadRecord(f"{export.path}: the file of {key} is damaged ({fault})") from None
