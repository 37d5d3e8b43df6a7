"""Reading JSON that another program wrote: a value of the right kind, or a complaint that says where.

Documents are read piece by piece, one message at a time; what must be put in order is put into a
temporary file.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import TypeVar

from svc.base.json_stream import JsonStream
from svc.chat.transfer.kinds import BadRecord

# Of one message with its reactions, or of one member. In memory it takes up to 30 times as much.
MAX_VALUE_CHARACTERS = 4 * 1024 * 1024
# Of one JSON file, unpacked. The disk and patience are the limit, not memory.
MAX_FILE_BYTES = 16 * 1024 * 1024 * 1024
_CACHE_KIB = 16 * 1024

T = TypeVar("T")


@contextmanager
def named_faults(where: str) -> Iterator[None]:
    """What is wrong with a document, with its place."""
    try:
        yield
    except ValueError as fault:
        raise BadRecord(f"{where}: this is not JSON ({fault})") from None


def stream(read: Callable[[int], bytes]) -> JsonStream:
    return JsonStream(read, MAX_VALUE_CHARACTERS)


def listed(read: Callable[[int], bytes], where: str) -> Iterator[object]:
    """The values of a document that is a list. Raises BadRecord."""
    with named_faults(where):
        document = stream(read)
        if document.peek() != "[":
            document.value()
            raise BadRecord(f"{where}: it is not a list")
        for _ in document.items():
            yield document.value()
        document.end()


def in_order(messages: Iterable[tuple[int, object, str]]) -> Iterator[tuple[object, str]]:
    """Messages with their places, sorted by their times; those of one time stay as they came."""
    with closing(sqlite3.connect("", isolation_level=None, check_same_thread=False)) as spool:
        spool.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        spool.execute("CREATE TABLE messages (at_ms INTEGER, message TEXT, place TEXT)")
        spool.execute("BEGIN")
        spool.executemany(
            "INSERT INTO messages VALUES (?, ?, ?)",
            (
                (at_ms, json.dumps(message), place.encode("utf-8", "backslashreplace").decode())
                for at_ms, message, place in messages
            ),
        )
        spool.execute("CREATE INDEX by_time ON messages (at_ms)")
        for row in spool.execute("SELECT message, place FROM messages ORDER BY at_ms, rowid"):
            yield json.loads(row[0]), row[1]


def needed(record: object, name: str, kind: type[T], where: str) -> T:
    """A field that must be there. Raises BadRecord."""
    value = record.get(name) if isinstance(record, dict) else None
    if not isinstance(value, kind):
        raise BadRecord(f"{where}: {name} is missing or not valid")
    return _clean(value)


def optional(record: object, name: str, kind: type[T], default: T) -> T:
    value = record.get(name) if isinstance(record, dict) else None
    return _clean(value) if isinstance(value, kind) else default


def _clean(value: T) -> T:
    """Without halves of characters and NUL, which nothing here can write down."""
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "replace").decode()  # type: ignore[return-value]
    return value
