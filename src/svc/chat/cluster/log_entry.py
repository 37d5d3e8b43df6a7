"""Encodes the log's entries. An entry contains the statements of one transaction, or begins the epoch of a
new owner.

An entry larger than a message is split into parts. Such an entry counts only if all of its parts are present
and consecutive in the log. Does not depend on NATS or SQLite.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from svc.base.commit_log import Statement

# The maximum size of a part. NATS rejects messages larger than 1 MB, and a part also has headers.
PART_BYTES = 900 * 1024
# The headers of a part: the entry's id, the part's number counted from 0, and the number of parts.
ID, PART, PARTS = "Svc-Entry", "Svc-Part", "Svc-Parts"


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One committed transaction. An entry with neither statements nor a script begins an epoch."""

    epoch: int
    # The name of the node that owned the community when it appended the entry.
    node: str
    # Each statement's text, and the parameters of each execution. To save space, a repeated text is replaced
    # by the position of the earlier statement. For example, posting several messages repeats four statements.
    statements: Sequence[tuple[str | int, list[Any]]] = ()
    # The statements of a schema migration, which have no parameters.
    script: str = ""

    def executions(self) -> Iterator[tuple[str, Any]]:
        """Yield the text and the parameters for each execution of each statement."""
        for statement, executions in self.statements:
            sql = statement if isinstance(statement, str) else self.statements[statement][0]
            for parameters in executions:
                yield str(sql), parameters

    @property
    def begins_epoch(self) -> bool:
        return not self.statements and not self.script


_encoder = msgspec.msgpack.Encoder(enc_hook=str)
_decoder = msgspec.msgpack.Decoder(Entry)


def encode(entry: Entry) -> list[bytes]:
    """Return the encoded parts of an entry."""
    data = _encoder.encode(entry)
    return [data[start : start + PART_BYTES] for start in range(0, len(data), PART_BYTES)]


def statements_of(recorded: Sequence[Statement]) -> list[tuple[str | int, list[Any]]]:
    first: dict[str, int] = {}
    statements: list[tuple[str | int, list[Any]]] = []
    for position, (sql, parameters) in enumerate(recorded):
        earlier = first.setdefault(sql, position)
        statements.append((sql if earlier == position else earlier, list(parameters)))
    return statements


class Assembly:
    """A buffer that joins the parts of entries in log order. It discards incomplete entries, such as those
    left by a replaced owner.
    """

    def __init__(self) -> None:
        self._id = ""
        self._parts: list[bytes] = []

    def add(self, id_: str, part: int, parts: int, data: bytes) -> Entry | None:
        """Add the next message from the log. Return the entry if it is complete, otherwise None."""
        if id_ != self._id or part != len(self._parts):
            self._id, self._parts = id_, []
        if part != len(self._parts):
            return None
        self._parts.append(data)
        if len(self._parts) < parts:
            return None
        whole = b"".join(self._parts)
        self._id, self._parts = "", []
        return _decoder.decode(whole)
