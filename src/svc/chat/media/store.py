"""The tables of objects and of what refers to them. SQL only."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

from svc.base.database import Connection, Database, Row
from svc.base.tables import Table, value
from svc.chat.media.facts import Facts, StoredObject

STORING, STORED, GOING = "storing", "stored", "going"


@dataclass(frozen=True, slots=True)
class _Reference:
    kind: str
    owner_id: str
    key: str


OBJECTS = Table("objects", StoredObject, names={f"facts.{fact.name}": fact.name for fact in fields(Facts)})
REFERENCES = Table("object_references", _Reference)


def insert(connection: Connection, key: str, facts: Facts, holder: str, now_ms: int) -> None:
    """Before anything is stored under the key."""
    stored = StoredObject(key, STORING, facts, now_ms)
    OBJECTS.insert(connection, stored, idle_since_ms=now_ms, holder=holder)


def kept(connection: Connection, holder: str) -> tuple[int, int]:
    """How many bytes a holder keeps, and how many all of them."""
    found = connection.execute(
        "SELECT coalesce(sum(iif(holder = ?, bytes, 0)), 0), coalesce(sum(bytes), 0) FROM kept", (holder,)
    ).fetchone()
    return found[0], found[1]


def set_stored(connection: Connection, key: str, facts: Facts, now_ms: int) -> bool:
    """Once it is stored; False where the key is not waiting for that (any more)."""
    changed = {"state": STORED, **asdict(facts), "idle_since_ms": now_ms}
    return OBJECTS.edit(connection, changed, key=key, state=STORING)


def refer(connection: Connection, key: str, kind: str, owner_id: str) -> bool:
    """False where there is no such object, or it is on its way out."""
    connection.execute(
        "INSERT OR IGNORE INTO object_references SELECT ?, ?, key FROM objects WHERE key = ? AND state != ?",
        (kind, owner_id, key, GOING),
    )
    return REFERENCES.has(connection, kind=kind, owner_id=owner_id, key=key)


def release(connection: Connection, kind: str, owner_id: str, now_ms: int) -> None:
    connection.execute(
        "UPDATE objects SET idle_since_ms = ? WHERE key IN"
        " (SELECT key FROM object_references WHERE kind = ? AND owner_id = ?)",
        (now_ms, kind, owner_id),
    )
    REFERENCES.delete(connection, kind=kind, owner_id=owner_id)


def let_go(connection: Connection, kind: str, owner_id: str, keys: Sequence[str], now_ms: int) -> None:
    for key in keys:
        OBJECTS.edit(connection, {"idle_since_ms": now_ms}, key=key)
        REFERENCES.delete(connection, kind=kind, owner_id=owner_id, key=key)


# Sweeping.

_IDLE = (
    "state != 'going' AND idle_since_ms <= ?"
    " AND NOT EXISTS (SELECT 1 FROM object_references AS r WHERE r.key = objects.key)"
)


def condemn(connection: Connection, idle_before_ms: int, spared: Sequence[str], most: int) -> list[str]:
    """Mark what nothing refers to: from now on nothing can. All that are so marked, `most` at a time."""
    found = connection.execute(
        f"SELECT key FROM objects WHERE {_IDLE} ORDER BY idle_since_ms LIMIT ?",
        (idle_before_ms, most + len(spared)),
    )
    held = set(spared)
    keys = [row["key"] for row in found if row["key"] not in held][:most]
    set_going(connection, keys)
    going = connection.execute("SELECT key FROM objects WHERE state = 'going' LIMIT ?", (most,))
    return [row["key"] for row in going]


def set_going(connection: Connection, keys: Sequence[str]) -> None:
    """From now on nobody can refer to these."""
    connection.executemany("UPDATE objects SET state = 'going' WHERE key = ?", [(key,) for key in keys])


def delete(connection: Connection, keys: Sequence[str]) -> None:
    """Of what is no longer in the store."""
    connection.executemany("DELETE FROM objects WHERE key = ? AND state = 'going'", [(key,) for key in keys])


async def totals(database: Database) -> tuple[int, int]:
    """How many objects there are, and their bytes."""
    row = await database.row("SELECT count(*) AS n, coalesce(sum(bytes), 0) AS b FROM objects")
    assert row is not None, "an aggregate has a row"
    return int(row["n"]), int(row["b"])


async def by_kind(database: Database) -> list[Row]:
    """What files are for: kind, how many, and their bytes. One that is for several counts for the first."""
    kind = "SELECT r.kind FROM object_references r WHERE r.key = o.key ORDER BY r.kind LIMIT 1"
    return await database.rows(
        f"SELECT coalesce(({kind}), 'unused') AS kind, count(*) AS objects, sum(bytes) AS bytes"
        " FROM objects o GROUP BY 1 ORDER BY 3 DESC"
    )


async def by_member(database: Database, most: int) -> list[Row]:
    """Who keeps most, with the webhooks that they have made; also who has gone."""
    return await database.rows(
        "SELECT m.id AS member_id, m.nickname, sum(k.bytes) AS bytes FROM kept k"
        " JOIN members m ON m.id = replace(k.holder, 'webhooks of ', '')"
        " GROUP BY m.id HAVING sum(k.bytes) > 0 ORDER BY bytes DESC, m.id LIMIT ?",
        (most,),
    )


# The server's icon, one of the facts that it remembers of itself.


def icon_key(connection: Connection) -> str | None:
    return value(connection.execute("SELECT value FROM facts WHERE name = 'icon_key'"), str)


def set_icon_key(connection: Connection, key: str | None) -> None:
    if key is None:
        connection.execute("DELETE FROM facts WHERE name = 'icon_key'")
    else:
        connection.execute("INSERT OR REPLACE INTO facts VALUES ('icon_key', ?)", (key,))
