"""The tables of channels and their overrides, and the note that they were seeded. SQL only."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from svc.base.database import Connection, Database
from svc.base.tables import Form, Table
from svc.chat.access.directory import CATEGORY, Channel
from svc.chat.access.permissions import Override, Overrides, stored, to_store
from svc.chat.channels.overrides import ROLE, Change

_CHANNELS = Table("channels", Channel, without=("overrides",))
_PERMISSIONS = Form(to_store, stored)
_OVERRIDES = Table(
    "channel_overrides",
    Change,
    names={"override.allow": "allow", "override.deny": "deny"},
    allow=_PERMISSIONS,
    deny=_PERMISSIONS,
)


async def load(database: Database) -> list[Channel]:
    roles: dict[str, dict[str, Override]] = {}
    members: dict[str, dict[str, Override]] = {}
    sql = f"SELECT channel_id, {_OVERRIDES.select()} FROM channel_overrides"
    for channel_id, *row in await database.rows(sql):
        change = _OVERRIDES.read(row)
        kind = roles if change.kind == ROLE else members
        kind.setdefault(channel_id, {})[change.target_id] = change.override
    found = await _CHANNELS.all(database)
    categories = {channel.id for channel in found if channel.kind == CATEGORY}
    return [
        replace(
            channel,
            # An import may name anything.
            parent_id=channel.parent_id if channel.parent_id in categories else None,
            overrides=Overrides(roles.get(channel.id, {}), members.get(channel.id, {})),
        )
        for channel in found
    ]


def seed(connection: Connection, channels: Iterable[Channel], now_ms: int) -> None:
    """Insert the first channels, unless that has been done before."""
    if connection.execute("SELECT 1 FROM facts WHERE name = 'channels_seeded'").fetchone():
        return
    for channel in channels:
        insert(connection, channel, now_ms)
    connection.execute("INSERT INTO facts VALUES ('channels_seeded', ?)", (str(now_ms),))


def insert(connection: Connection, channel: Channel, now_ms: int) -> None:
    _CHANNELS.insert(connection, channel, created_at_ms=now_ms)


def edit(connection: Connection, channel_id: str, values: Mapping[str, str | int | None]) -> None:
    """Set columns by name, which are the caller's own."""
    _CHANNELS.edit(connection, values, id=channel_id)


def delete(connection: Connection, channel_id: str) -> None:
    """What was in it, where it is a category, is in none then."""
    connection.execute("UPDATE channels SET parent_id = NULL WHERE parent_id = ?", (channel_id,))
    connection.execute("DELETE FROM channels WHERE id = ?", (channel_id,))


def put_override(connection: Connection, channel_id: str, change: Change) -> None:
    """Write an override down; an empty one is none."""
    if change.override == Override():
        key = {"channel_id": channel_id, "kind": change.kind, "target_id": change.target_id}
        _OVERRIDES.delete(connection, **key)
    else:
        _OVERRIDES.put(connection, change, channel_id=channel_id)


def delete_overrides(connection: Connection, kind: str, target_id: str) -> None:
    _OVERRIDES.delete(connection, kind=kind, target_id=target_id)
