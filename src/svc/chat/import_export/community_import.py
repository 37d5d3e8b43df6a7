"""Creates a community from an export on a stopped server, or changes nothing if this fails.

The whole file is validated before anything is written. Then our encoders rewrite the media, and a single
transaction stores the records. Contains no HTTP code.
"""

import asyncio
import re
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from svc.base.database import Connection, Database
from svc.base.file_types import PICTURE
from svc.base.ids import LATEST_MS
from svc.base.object_store import MIN_FREE_BYTES, ObjectStore
from svc.base.private_files import make_private_file
from svc.base.progress import report
from svc.base.sandbox import Refused
from svc.chat.clock_repair.repair import cap_future_times
from svc.chat.errors import ChatError
from svc.chat.import_export import record_fields, store
from svc.chat.import_export.export_file import ZIP_FAULTS, Export
from svc.chat.import_export.record_types import BadRecord, Record
from svc.chat.media.stored_media import new_key
from svc.chat.messages.message import first_number_at, number_of

_KEY = re.compile(r"uploads/[A-Za-z0-9_-]+\.[a-z0-9]{1,8}")
_CHUNK_BYTES = 256 * 1024
_RECORDS_BETWEEN = 1_000
# The maximum number of objects. Each uses about 600 bytes of memory until the end of the import.
MAX_OBJECTS = 250_000


@dataclass(frozen=True, slots=True)
class Imported:
    """The number of imported records of each kind, and the keys of missing media."""

    records: Mapping[str, int]
    missing: Sequence[str] = field(default_factory=list)
    # The number of files that could not be rewritten, keyed by error code.
    left_out: Mapping[str, int] = field(default_factory=dict)
    # The number of future timestamps that were set to the current time.
    yet_to_come: int = 0


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A file rewritten by our encoder, and its properties."""

    data: bytes | Path
    ext: str
    facts: Mapping[str, object]


# Rewrites a file in the same way as an upload. Raises Refused.
Rewrite = Callable[[Path], Awaitable[Rewritten]]
Files = dict[str, Mapping[str, object]]


async def import_whole(
    database: Database, objects: ObjectStore, rewrite: Rewrite, folder: Path, export: Export, now: float
) -> Imported:
    """Import an export into a server that nobody has joined. `folder` is for temporary files on the server's
    disk.

    Every stored file is rewritten in the same way as an upload, and gets a new key, because another server in
    the same bucket might use the export's key. Raises BadRecord, or errors from the database or the store.
    """
    _require_space(export, folder)
    counts, keys = await asyncio.to_thread(_validate, export)
    total = sum(counts.values())
    missing: list[str] = []
    left_out: Counter[str] = Counter()
    files: Files = {}
    source = folder / "source"
    async with KeptObjects(objects) as kept:
        for number, key in enumerate(keys):
            report("files", number, len(keys))
            if not await asyncio.to_thread(_unpack, export, key, source):
                missing.append(key)
                continue
            try:
                made = await rewrite(source)
            except Refused as refusal:
                left_out[refusal.code] += 1
                continue
            new = new_key(made.ext)
            await kept.put_data(new, made.data, str(made.facts["content_type"]))
            files[key] = {"key": new, **made.facts}
        yet_to_come = await database.write(lambda c: _store_records(c, export, files, total, int(now * 1000)))
        kept.stay()
    return Imported(dict(counts), sorted(missing), dict(left_out), yet_to_come)


class KeptObjects:
    """Objects that have been put into the store. They are deleted at the end of the block, unless `stay` was
    called.
    """

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._put: list[str] = []

    async def __aenter__(self) -> "KeptObjects":
        return self

    async def __aexit__(self, *exception: object) -> None:
        for key in self._put:
            await self._objects.delete(key)

    def stay(self) -> None:
        self._put.clear()

    async def put_data(self, key: str, data: bytes | Path, content_type: str) -> None:
        self._put.append(key)
        await self._objects.put(key, data, content_type)


def _require_space(export: Export, folder: Path) -> None:
    """Raise BadRecord if the disk lacks space for the records."""
    needed, free = export.unpacked_bytes(), shutil.disk_usage(folder).free - MIN_FREE_BYTES
    if needed > free:
        raise BadRecord(
            f"{export.path}: its records are {needed} bytes, and the disk has room for {max(0, free)}"
        )


def _validate(export: Export) -> tuple[Counter[str], list[str]]:
    """Validate all records. Return the number of records of each kind, and the keys of objects. Raises
    BadRecord.
    """
    counts: Counter[str] = Counter()
    keys: list[str] = []
    for line, kind, record in export.records():
        try:
            _check(kind, record)
        except BadRecord as fault:
            raise export.at(line, fault) from None
        counts[kind.kind] += 1
        if kind.kind == "object":
            keys.append(str(record["key"]))
            if len(keys) > MAX_OBJECTS:
                raise export.at(line, BadRecord(f"there are more than {MAX_OBJECTS} stored files"))
    return counts, keys


def _check(kind: type[Record], record: Mapping[str, object]) -> None:
    """Raise BadRecord if a record's fields contradict each other."""
    match kind.kind:
        case "message":
            try:
                agrees = number_of(str(record["id"])) == record["n"]
            except ChatError:
                agrees = False
            if not agrees:
                raise BadRecord("message: id and n do not match")
            if number_of(str(record["id"])) >= first_number_at(LATEST_MS):
                raise BadRecord("message: n is later than the year 9999")
        case "object" if not _KEY.fullmatch(str(record["key"])):
            raise BadRecord("object: key is not valid")


def _store_records(connection: Connection, export: Export, files: Files, total: int, now_ms: int) -> int:
    """Store all records. Return the number of future timestamps. Raises BadRecord."""
    sql = "SELECT EXISTS (SELECT 1 FROM members) OR EXISTS (SELECT 1 FROM messages)"
    if connection.execute(sql).fetchone()[0]:
        raise BadRecord("somebody has joined this server already: import into a new server")
    store.delete_default_rows(connection, now_ms)
    for line, kind, record in export.records():
        if line % _RECORDS_BETWEEN == 0:
            report("records", line, total)
        try:
            if (known := _with_files(kind, record, files)) is not None:
                store.put(connection, kind, known)
        except BadRecord as fault:
            raise export.at(line, fault) from None
    if dangling := connection.execute("PRAGMA foreign_key_check").fetchone():
        raise BadRecord(f"{export.path}: a record of {dangling[0]} refers to a record that does not exist")
    store.rebuild_search_index(connection)
    return cap_future_times(connection, now_ms)


def _with_files(
    kind: type[Record], record: Mapping[str, object], files: Files
) -> Mapping[str, object] | None:
    """Return a record with the properties of its new file, or None if its file was not imported."""
    match kind.kind:
        case "object" | "reference":
            file = files.get(str(record["key"]))
            return file and {**record, **{name: fact for name, fact in file.items() if name in record}}
        case "emoji":
            file = _picture(files, record["key"])
            return file and {**record, **{name: fact for name, fact in file.items() if name in record}}
        case "fact":
            icon = _picture(files, record["value"])
            return icon and {**record, "value": icon["key"]}
        case "member":
            return {**record, "avatar_key": (_picture(files, record["avatar_key"]) or {}).get("key")}
        case "message":
            parts = {
                name: record_fields.remap(record[name], files)
                for name in ("attachments", "cards", "previews")
            }
            return {**record, **parts, "avatar": (_picture(files, record["avatar"]) or {}).get("key")}
    return record


def _picture(files: Files, key: object) -> Mapping[str, object] | None:
    """Return an image's properties, or None if the file was not re-encoded as an image."""
    picture = files.get(str(key))
    return picture if picture is not None and picture.get("kind") == PICTURE else None


def _unpack(export: Export, key: str, path: Path) -> bool:
    """Unpack an object. Return whether the export contains it. Raises BadRecord or OSError."""
    content = export.media(key)
    if content is None:
        return False
    path.unlink(missing_ok=True)
    make_private_file(path)
    with content, path.open("wb") as file:
        try:
            shutil.copyfileobj(content, file, _CHUNK_BYTES)
        except ZIP_FAULTS as fault:
            raise BadRecord(f"{export.path}: the file of {key} is damaged ({fault})") from None
    return True
