"""The table of notification levels. SQL only."""

from dataclasses import dataclass
from typing import Literal

from svc.base.database import Connection, Database
from svc.base.tables import Table
from svc.chat.described import TimeMs

Level = Literal["all", "mentions", "nothing"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a member has chosen for a channel, or for all of them."""

    level: Level | None = None
    muted: bool = False
    # None while `muted`: until the member ends it.
    muted_until_ms: TimeMs | None = None

    def is_muted(self, now_ms: int) -> bool:
        return self.muted and (self.muted_until_ms is None or now_ms < self.muted_until_ms)


LEVELS = Table("notification_levels", Choice)
# Tables of members who do not want to be disturbed, and who do not show others that they are there.
QUIET, INVISIBLE = "do_not_disturb", "invisible"


async def load(database: Database) -> dict[str, dict[str, Choice]]:
    """By member and channel; the empty channel stands for all."""
    found: dict[str, dict[str, Choice]] = {}
    rows = await database.rows(f"SELECT member_id, channel_id, {LEVELS.select()} FROM notification_levels")
    for member_id, channel_id, *choice in rows:
        found.setdefault(member_id, {})[channel_id] = LEVELS.read(choice)
    return found


async def load_set(database: Database, table: str) -> set[str]:
    """The ids of members in QUIET or INVISIBLE."""
    return {member_id for (member_id,) in await database.rows(f"SELECT member_id FROM {table}")}


def set_in(connection: Connection, table: str, member_id: str, wanted: bool) -> None:
    if wanted:
        connection.execute(f"INSERT OR IGNORE INTO {table} VALUES (?)", (member_id,))
    else:
        connection.execute(f"DELETE FROM {table} WHERE member_id = ?", (member_id,))


def forget_member(connection: Connection, member_id: str) -> None:
    LEVELS.delete(connection, member_id=member_id)
    for table in (QUIET, INVISIBLE):
        set_in(connection, table, member_id, False)


def forget_channel(connection: Connection, channel_id: str) -> None:
    LEVELS.delete(connection, channel_id=channel_id)
