"""Reads values of the expected types from another program's JSON. Errors include their position in the file.

Documents are streamed, one message at a time. Sorting uses a temporary file.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import TypeVar

from svc.base.incremental_json import JsonStream
from svc.chat.import_export.record_types import BadRecord

# The size limit for one message with its reactions, or for one member. Parsing takes up to 30 times as much
# memory.
MAX_VALUE_CHARACTERS = 4 * 1024 * 1024
# The size limit for one JSON file, uncompressed. The limit is set by disk space and processing time, not by
# memory.
MAX_FILE_BYTES = 16 * 1024 * 1024 * 1024
_CACHE_KIB = 16 * 1024

T = TypeVar("T")


@contextmanager
def locate_faults(where: str) -> Iterator[None]:
    """Convert JSON errors to BadRecord with the error's position."""
    try:
        yield
    except ValueError as fault:
        raise BadRecord(f"{where}: this is not JSON ({fault})") from None


def stream(read: Callable[[int], bytes]) -> JsonStream:
    return JsonStream(read, MAX_VALUE_CHARACTERS)


def list_items(read: Callable[[int], bytes], where: str) -> Iterator[object]:
    """Yield the items of a document that is a list. Raises BadRecord."""
    with locate_faults(where):
        document = stream(read)
        if document.peek() != "[":
            document.value()
            raise BadRecord(f"{where}: it is not a list")
        for _ in document.items():
            yield document.value()
        document.end()


def in_order(messages: Iterable[tuple[int, object, str]]) -> Iterator[tuple[object, str]]:
    """Sort messages by time. Messages with the same time keep their order."""
    with closing(sqlite3.connect("", isolation_level=None, check_same_thread=False)) as spool:
        spool.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        spool.execute("CREATE TABLE messages (at_ms INTEGER, message TEXT, location TEXT)")
        spool.execute("BEGIN")
        spool.executemany(
            "INSERT INTO messages VALUES (?, ?, ?)",
            (
                (at_ms, json.dumps(message), location.encode("utf-8", "backslashreplace").decode())
                for at_ms, message, location in messages
            ),
        )
        spool.execute("CREATE INDEX by_time ON messages (at_ms)")
        for row in spool.execute("SELECT message, location FROM messages ORDER BY at_ms, rowid"):
            yield json.loads(row[0]), row[1]


def require(record: object, name: str, kind: type[T], where: str) -> T:
    """Return a required field. Raises BadRecord."""
    value = record.get(name) if isinstance(record, dict) else None
    if not isinstance(value, kind):
        raise BadRecord(f"{where}: {name} is missing or not valid")
    return _clean(value)


def optional(record: object, name: str, kind: type[T], default: T) -> T:
    value = record.get(name) if isinstance(record, dict) else None
    return _clean(value) if isinstance(value, kind) else default


def _clean(value: T) -> T:
    """Remove NUL and lone surrogates, which cannot be stored."""
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "replace").decode()  # type: ignore[return-value]
    return value
