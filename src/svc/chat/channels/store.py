"""The tables of channels and their overrides, and the note that they were seeded. SQL only."""

from collections.abc import Iterable, Mapping

from svc.base.database import Connection, Database
from svc.chat.access.directory import Channel
from svc.chat.access.permissions import Override, Overrides, stored, to_store


async def load(database: Database) -> list[Channel]:
    roles: dict[str, dict[str, Override]] = {}
    members: dict[str, dict[str, Override]] = {}
    for row in await database.rows("SELECT * FROM channel_overrides"):
        kind = roles if row["kind"] == "role" else members
        override = Override(stored(row["allow"]), stored(row["deny"]))
        kind.setdefault(row["channel_id"], {})[row["target_id"]] = override
    return [
        Channel(
            id=row["id"],
            name=row["name"],
            kind=row["kind"],
            position=row["position"],
            topic=row["topic"],
            slow_mode_s=row["slow_mode_s"],
            overrides=Overrides(roles.get(row["id"], {}), members.get(row["id"], {})),
        )
        for row in await database.rows("SELECT * FROM channels")
    ]


def seed(connection: Connection, channels: Iterable[Channel], now_ms: int) -> None:
    """Insert the first channels, unless that has been done before."""
    if connection.execute("SELECT 1 FROM facts WHERE name = 'channels_seeded'").fetchone():
        return
    for channel in channels:
        insert(connection, channel, now_ms)
    connection.execute("INSERT INTO facts VALUES ('channels_seeded', ?)", (str(now_ms),))


def insert(connection: Connection, channel: Channel, now_ms: int) -> None:
    connection.execute(
        "INSERT INTO channels (id, name, kind, position, topic, slow_mode_s, created_at_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            channel.id,
            channel.name,
            channel.kind,
            channel.position,
            channel.topic,
            channel.slow_mode_s,
            now_ms,
        ),
    )


def exists(connection: Connection, channel_id: str) -> bool:
    return connection.execute("SELECT 1 FROM channels WHERE id = ?", (channel_id,)).fetchone() is not None


def edit(connection: Connection, channel_id: str, values: Mapping[str, str | int]) -> bool:
    """Set columns by name, which are the caller's own; False when there is no such channel."""
    columns = ", ".join(f"{name} = ?" for name in values)
    changed = connection.execute(
        f"UPDATE channels SET {columns} WHERE id = ?", (*values.values(), channel_id)
    )
    return changed.rowcount == 1


def delete(connection: Connection, channel_id: str) -> bool:
    return connection.execute("DELETE FROM channels WHERE id = ?", (channel_id,)).rowcount == 1


def put_override(
    connection: Connection, channel_id: str, kind: str, target_id: str, override: Override
) -> None:
    """Write an override down; an empty one is none."""
    key = (channel_id, kind, target_id)
    if override == Override():
        connection.execute(
            "DELETE FROM channel_overrides WHERE channel_id = ? AND kind = ? AND target_id = ?", key
        )
        return
    connection.execute(
        "INSERT OR REPLACE INTO channel_overrides VALUES (?, ?, ?, ?, ?)",
        (*key, to_store(override.allow), to_store(override.deny)),
    )


def delete_overrides(connection: Connection, kind: str, target_id: str) -> None:
    connection.execute("DELETE FROM channel_overrides WHERE kind = ? AND target_id = ?", (kind, target_id))
