"""Reading JSON that another program wrote: a value of the right kind, or a complaint that says where."""

import json
from typing import TypeVar

from svc.chat.transfer.kinds import BadRecord

# Read whole: an hour's talk of a large server is a megabyte. Larger exports can be written in parts.
MAX_FILE_BYTES = 512 * 1024 * 1024

T = TypeVar("T")


def parsed(data: bytes, where: str) -> object:
    """Raises BadRecord."""
    if len(data) > MAX_FILE_BYTES:
        raise BadRecord(f"{where}: more than {MAX_FILE_BYTES // 1024 // 1024} MB; export it in parts")
    try:
        value: object = json.loads(data.decode("utf-8-sig"))
    except RecursionError:
        raise BadRecord(f"{where}: it is nested too deeply") from None
    except ValueError as fault:
        raise BadRecord(f"{where}: this is no JSON ({fault})") from None
    return value


def needed(record: object, name: str, kind: type[T], where: str) -> T:
    """A field that must be there. Raises BadRecord."""
    value = record.get(name) if isinstance(record, dict) else None
    if not isinstance(value, kind):
        raise BadRecord(f"{where}: {name} is missing, or not what it should be")
    return _clean(value)


def optional(record: object, name: str, kind: type[T], default: T) -> T:
    value = record.get(name) if isinstance(record, dict) else None
    return _clean(value) if isinstance(value, kind) else default


def _clean(value: T) -> T:
    """Without halves of characters, which nothing here can write down."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # type: ignore[return-value]
    return value
