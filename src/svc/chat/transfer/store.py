"""The rows of all features that make a community: read from a copy, written into a database. SQL only."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from functools import cache
from sqlite3 import Connection

from svc.chat.transfer.kinds import KINDS, BadRecord, Kind, column

# In words, for who reads what is wrong with a file.
_CONSTRAINTS = {
    sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: "names something that is not there",
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: "is there already",
    sqlite3.SQLITE_CONSTRAINT_UNIQUE: "is there already",
    sqlite3.SQLITE_CONSTRAINT_ROWID: "is there already",
}


def totals(copy: Connection) -> dict[str, int]:
    """How many records of each kind there are."""
    return {
        kind.name: int(copy.execute(f"SELECT count(*) FROM {kind.table}{_where(kind)}").fetchone()[0])
        for kind in KINDS.values()
    }


def records(copy: Connection) -> Iterator[dict[str, object]]:
    """All of them, in the order of the kinds."""
    for kind in KINDS.values():
        columns = ", ".join(f'"{column(kind, name)}"' for name in kind.columns)
        for row in copy.execute(f"SELECT {columns} FROM {kind.table}{_where(kind)} ORDER BY {kind.order}"):
            values = dict(zip(kind.columns, row, strict=True))
            for name in kind.json:
                values[name] = None if values[name] is None else json.loads(values[name])
            yield {"kind": kind.name, **values}


def put(connection: Connection, kind: Kind, record: Mapping[str, object]) -> None:
    """One that has been checked. Raises BadRecord where it does not fit to what is there."""
    record = {**kind.newer, **record}
    values = [_written(record[name]) if name in kind.json else record[name] for name in kind.columns]
    try:
        connection.execute(_insertion(kind.name), values)
    except sqlite3.IntegrityError as fault:
        what = _CONSTRAINTS.get(fault.sqlite_errorcode, str(fault))
        raise BadRecord(f"{kind.name} {what}") from None


@cache
def _insertion(name: str) -> str:
    kind = KINDS[name]
    names = [f'"{column(kind, column_)}"' for column_ in kind.columns]
    marks = ["?"] * len(names)
    if name == "object":
        names, marks = [*names, "state"], [*marks, "'stored'"]
    return f"INSERT INTO {kind.table} ({', '.join(names)}) VALUES ({', '.join(marks)})"


def inhabited(connection: Connection) -> bool:
    """Has anybody ever joined, or said anything?"""
    sql = "SELECT EXISTS (SELECT 1 FROM members) OR EXISTS (SELECT 1 FROM messages)"
    return bool(connection.execute(sql).fetchone()[0])


def has_owner(connection: Connection) -> bool:
    found = connection.execute("SELECT 1 FROM member_roles WHERE role_id = 'owner' LIMIT 1")
    return found.fetchone() is not None


def make_way(connection: Connection, now_ms: int) -> None:
    """Before a whole community comes in: what a new server has been given, and will not be given again."""
    for table in ("channels", "settings", "roles"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT OR IGNORE INTO facts VALUES ('channels_seeded', ?)", (str(now_ms),))


def index_anew(connection: Connection) -> None:
    """Messages have come in between those that the index has: it is filled from its beginning."""
    connection.execute("INSERT INTO message_words (message_words) VALUES ('delete-all')")
    connection.execute("DELETE FROM indexed_before")
    connection.execute("UPDATE indexed SET up_to = 0")


def dangling(connection: Connection) -> str:
    """A table in which a row names something that is not there; empty where none does."""
    found = connection.execute("PRAGMA foreign_key_check").fetchone()
    return str(found[0]) if found else ""


def number_taken(connection: Connection, n: int) -> bool:
    return connection.execute("SELECT 1 FROM messages WHERE n = ?", (n,)).fetchone() is not None


def note_fact(connection: Connection, name: str, value: str) -> bool:
    """False where it is noted already."""
    return connection.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (name, value)).rowcount > 0


def forget_placed(connection: Connection) -> None:
    """Begin with the posts of another channel. They are in a file, for there may be millions."""
    connection.execute(
        "CREATE TEMP TABLE IF NOT EXISTS placed (post TEXT PRIMARY KEY, message_id TEXT) WITHOUT ROWID"
    )
    connection.execute("DELETE FROM temp.placed")


def note_placed(connection: Connection, post: str, message_id: str) -> None:
    connection.execute("INSERT OR REPLACE INTO temp.placed VALUES (?, ?)", (post, message_id))


def placed(connection: Connection, post: str) -> str | None:
    """The message that a post of this channel has become."""
    found = connection.execute("SELECT message_id FROM temp.placed WHERE post = ?", (post,)).fetchone()
    return None if found is None else str(found[0])


def put_gone_member(connection: Connection, member_id: str, nickname: str, now_ms: int) -> None:
    """Somebody who was never here, as one who has left; whoever is known already stays what they are."""
    connection.execute(
        "INSERT OR IGNORE INTO members (id, nickname, joined_at_ms, left_at_ms) VALUES (?, ?, ?, ?)",
        (member_id, nickname, now_ms, now_ms),
    )


def hide_channel(connection: Connection, channel_id: str) -> None:
    """From everybody but administrators and the owner."""
    connection.execute(
        "INSERT INTO channel_overrides VALUES (?, 'role', 'admin', 'view_channel', '')", (channel_id,)
    )
    connection.executemany(
        "INSERT INTO channel_overrides VALUES (?, 'role', ?, '', 'view_channel')",
        [(channel_id, role_id) for role_id in ("member", "guest", "moderator")],
    )


def read_by_all(connection: Connection, channel_id: str, n: int) -> None:
    """Nobody has to read years of messages first."""
    connection.execute(
        "INSERT INTO reads SELECT id, ?, ? FROM members WHERE left_at_ms IS NULL", (channel_id, n)
    )


def last_position(connection: Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(position), -1) FROM channels").fetchone()[0])


def count_channels(connection: Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM channels").fetchone()[0])


def _where(kind: Kind) -> str:
    return f" WHERE {kind.where}" if kind.where else ""


def _written(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
