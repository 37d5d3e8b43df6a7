"""The table of notification levels. SQL only."""

from dataclasses import dataclass
from typing import Literal

from svc.base.database import Connection, Database
from svc.base.tables import Table
from svc.chat.fields import TimeMs

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


_LEVELS = Table("notification_levels", Choice)


async def load(database: Database) -> dict[str, dict[str, Choice]]:
    """By member and channel; the empty channel stands for all."""
    found: dict[str, dict[str, Choice]] = {}
    rows = await database.rows(f"SELECT member_id, channel_id, {_LEVELS.select()} FROM notification_levels")
    for member_id, channel_id, *choice in rows:
        found.setdefault(member_id, {})[channel_id] = _LEVELS.read(choice)
    return found


async def load_quiet(database: Database) -> set[str]:
    """Who does not want to be disturbed."""
    return {member_id for (member_id,) in await database.rows("SELECT member_id FROM do_not_disturb")}


def set_quiet(connection: Connection, member_id: str, quiet: bool) -> None:
    if quiet:
        connection.execute("INSERT OR IGNORE INTO do_not_disturb VALUES (?)", (member_id,))
    else:
        connection.execute("DELETE FROM do_not_disturb WHERE member_id = ?", (member_id,))


async def load_invisible(database: Database) -> set[str]:
    """Who does not show others that they are there."""
    return {member_id for (member_id,) in await database.rows("SELECT member_id FROM invisible")}


def set_invisible(connection: Connection, member_id: str, invisible: bool) -> None:
    if invisible:
        connection.execute("INSERT OR IGNORE INTO invisible VALUES (?)", (member_id,))
    else:
        connection.execute("DELETE FROM invisible WHERE member_id = ?", (member_id,))


def put(connection: Connection, member_id: str, channel_id: str, choice: Choice) -> None:
    _LEVELS.put(connection, choice, member_id=member_id, channel_id=channel_id)


def forget_choice(connection: Connection, member_id: str, channel_id: str) -> None:
    connection.execute(
        "DELETE FROM notification_levels WHERE member_id = ? AND channel_id = ?", (member_id, channel_id)
    )


def forget_member(connection: Connection, member_id: str) -> None:
    connection.execute("DELETE FROM notification_levels WHERE member_id = ?", (member_id,))
    set_quiet(connection, member_id, False)
    set_invisible(connection, member_id, False)


def forget_channel(connection: Connection, channel_id: str) -> None:
    connection.execute("DELETE FROM notification_levels WHERE channel_id = ?", (channel_id,))
