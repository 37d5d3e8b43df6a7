"""The log's entries as bytes: one transaction's statements with their parameters, or a new owner's epoch.

An entry larger than a message is split into parts. Parts count only when all of them are present
and consecutive in the log. Does not depend on NATS or SQLite.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from svc.base.commit_log import Statement

# The maximum size of a part. NATS refuses messages of more than 1 MB, and a part also has headers.
PART_BYTES = 900 * 1024
# A part's headers: its entry's id, its number from 0, and the number of parts.
ID, PART, PARTS = "Svc-Entry", "Svc-Part", "Svc-Parts"


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """One committed transaction. An entry without statements and script begins an epoch."""

    epoch: int
    # The name of the node that owned the community.
    node: str
    # Each with its executions' parameters. A number refers to the text of an earlier statement, whose
    # position it is: a group of messages repeats four texts.
    statements: Sequence[tuple[str | int, list[Any]]] = ()
    # Statements without parameters, which a schema migration has run.
    script: str = ""

    def executions(self) -> Iterator[tuple[str, Any]]:
        """Yield each statement's text and parameters, once for each execution."""
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
    """Joins parts in the order of the log. An owner that was replaced may leave an unfinished entry."""

    def __init__(self) -> None:
        self._id = ""
        self._parts: list[bytes] = []

    def add(self, id_: str, part: int, parts: int, data: bytes) -> Entry | None:
        """Add the next message from the log. Return its entry if the entry is now complete."""
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
