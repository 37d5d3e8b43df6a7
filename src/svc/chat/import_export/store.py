"""Reads a community's rows from a copy of its database, and writes them to a new one. Contains only SQL."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from functools import cache
from sqlite3 import Connection

from svc.chat.import_export.record_types import KINDS, BadRecord, Record, column, defaults

# Descriptions of violated constraints for the operator.
_CONSTRAINTS = {
    sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: "refers to a record that does not exist",
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: "is there already",
    sqlite3.SQLITE_CONSTRAINT_UNIQUE: "is there already",
    sqlite3.SQLITE_CONSTRAINT_ROWID: "is there already",
}


def totals(copy: Connection) -> dict[str, int]:
    """Return the number of records of each kind."""
    return {
        kind.kind: int(copy.execute(f"SELECT count(*) FROM {kind.table}{_where(kind)}").fetchone()[0])
        for kind in KINDS.values()
    }


def records(copy: Connection) -> Iterator[dict[str, object]]:
    """Yield all records, in the order of KINDS."""
    for kind in KINDS.values():
        columns = ", ".join(f'"{column(kind, name)}"' for name in kind.__struct_fields__)
        for row in copy.execute(f"SELECT {columns} FROM {kind.table}{_where(kind)} ORDER BY {kind.order}"):
            values = dict(zip(kind.__struct_fields__, row, strict=True))
            for name in kind.json:
                values[name] = None if values[name] is None else json.loads(values[name])
            yield {"kind": kind.kind, **values}


def put(connection: Connection, kind: type[Record], record: Mapping[str, object]) -> None:
    """Store a validated record. Raises BadRecord if it conflicts with existing rows."""
    record = {**defaults(kind), **record}
    record = {**record, **{name: respell(str(record[name])) for name, respell in kind.respelt.items()}}
    values = [
        _to_json(record[name]) if name in kind.json else record[name] for name in kind.__struct_fields__
    ]
    try:
        connection.execute(_insertion(kind.kind), values)
    except sqlite3.IntegrityError as fault:
        what = _CONSTRAINTS.get(fault.sqlite_errorcode, str(fault))
        raise BadRecord(f"{kind.kind} {what}") from None


@cache
def _insertion(name: str) -> str:
    kind = KINDS[name]
    names = [f'"{column(kind, column_)}"' for column_ in kind.__struct_fields__]
    marks = ["?"] * len(names)
    if name == "object":
        names, marks = [*names, "state"], [*marks, "'stored'"]
    insert = "INSERT OR IGNORE" if kind.respelt else "INSERT"
    return f"{insert} INTO {kind.table} ({', '.join(names)}) VALUES ({', '.join(marks)})"


def delete_default_rows(connection: Connection, now_ms: int) -> None:
    """Delete a new server's default rows before an import, and prevent their re-creation."""
    for table in ("channels", "settings", "roles"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT OR IGNORE INTO facts VALUES ('channels_seeded', ?)", (str(now_ms),))


def rebuild_search_index(connection: Connection) -> None:
    """Reset the search index for a rebuild, because messages were inserted between indexed ones."""
    connection.execute("INSERT INTO message_words (message_words) VALUES ('delete-all')")
    connection.execute("DELETE FROM indexed_before")
    connection.execute("UPDATE indexed SET up_to = 0")


def hide_channel(connection: Connection, channel_id: str) -> None:
    """Hide a channel from everybody except administrators and the owner."""
    connection.execute(
        "INSERT INTO channel_overrides VALUES (?, 'role', 'admin', 'view_channel', '')", (channel_id,)
    )
    connection.executemany(
        "INSERT INTO channel_overrides VALUES (?, 'role', ?, '', 'view_channel')",
        [(channel_id, role_id) for role_id in ("member", "guest", "moderator")],
    )


def _where(kind: type[Record]) -> str:
    return f" WHERE {kind.where}" if kind.where else ""


def _to_json(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
