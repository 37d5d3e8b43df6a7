"""The tables of channels and their overrides, and the note that they were seeded. SQL only."""

from collections.abc import Iterable

from svc.base.database import Connection, Database
from svc.chat.access.directory import Channel
from svc.chat.access.permissions import Override, Overrides, stored


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
