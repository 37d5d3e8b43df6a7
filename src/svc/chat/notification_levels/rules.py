"""Decides which notifications each member gets from a channel. Contains no HTTP code.

A member's level for all channels applies to each channel without a level of its own. A mute also silences
mentions. Do-not-disturb stops all notifications and is the only setting that other members can see. An
invisible member appears offline and still gets notifications.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from svc.base.database import Connection, Database, Write
from svc.base.tables import Table
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.directory import Channel
from svc.chat.access.tokens import Session
from svc.chat.live.hub import only
from svc.chat.schemas import Id, TimeMs
from svc.chat.services import Services

Level = Literal["all", "mentions", "nothing"]


@dataclass(frozen=True, slots=True)
class LevelChoice:
    """A member's setting for a channel, or for all channels."""

    level: Level | None = None
    muted: bool = False
    # The end of the mute. If None, the mute lasts until the member ends it.
    muted_until_ms: TimeMs | None = None

    def is_muted(self, now_ms: int) -> bool:
        return self.muted and (self.muted_until_ms is None or now_ms < self.muted_until_ms)


LEVELS = Table("notification_levels", LevelChoice)

# The tables of members with do-not-disturb on, and of invisible members.
QUIET, INVISIBLE = "do_not_disturb", "invisible"


DEFAULT_LEVEL: Level = "mentions"
# The maximum duration of a mute that expires.
MAX_MUTE_S = 31 * 24 * 3600
# The key of the setting for all channels.
_EVERYWHERE = ""
_UNSET = LevelChoice()


@dataclass(frozen=True, slots=True)
class Notifications:
    """A member's notification setting.

    If `channel_id` is None, the setting applies to all channels.
    """

    channel_id: Id | None
    level: Level | None
    muted: bool
    muted_until_ms: TimeMs | None


@dataclass(frozen=True, slots=True)
class DoNotDisturb:
    quiet: bool


@dataclass(frozen=True, slots=True)
class Invisible:
    invisible: bool


class NotificationLevels:
    def __init__(self, services: Services) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._chosen: dict[str, dict[str, LevelChoice]] = {}
        self._quiet, self._invisible = services.hub.quiet, services.hub.invisible
        # Called when a member turns do-not-disturb or invisibility on or off.
        self.on_presence: list[Callable[[str], None]] = []

    async def load(self) -> None:
        self._chosen = await _load(self._database)
        self._quiet |= await _load_set(self._database, QUIET)
        self._invisible |= await _load_set(self._database, INVISIBLE)

    def welcome(self, session: Session) -> dict[str, object]:
        who = session.member_id
        return {"notifications": self.of(who), "quiet": self.quiet(who), "invisible": self.invisible(who)}

    def quiet(self, member_id: str) -> bool:
        """Return whether do-not-disturb is on for the member."""
        return member_id in self._quiet

    def invisible(self, member_id: str) -> bool:
        """Return whether the member appears offline to other members."""
        return member_id in self._invisible

    def of(self, member_id: str) -> list[Notifications]:
        """Return a member's settings: first the one for all channels, then those for visible channels."""
        chosen = self._chosen.get(member_id, {})
        visible = (channel.id for channel in self._directory.visible_channels(member_id))
        keys = (key for key in (_EVERYWHERE, *visible) if key in chosen)
        return [_to_response(key, chosen[key]) for key in keys]

    def is_muted(self, member_id: str, channel_id: str, now_ms: int) -> bool:
        """Return whether the member has muted the channel, or all channels."""
        chosen = self._chosen.get(member_id, {})
        return any(chosen.get(key, _UNSET).is_muted(now_ms) for key in (_EVERYWHERE, channel_id))

    def level(self, member_id: str, channel_id: str, now_ms: int) -> Level:
        """Return the notification level that applies to a member in a channel."""
        chosen = self._chosen.get(member_id, {})
        everywhere, own = chosen.get(_EVERYWHERE, _UNSET), chosen.get(channel_id, _UNSET)
        if member_id in self._quiet or self.is_muted(member_id, channel_id, now_ms):
            return "nothing"
        return own.level or everywhere.level or DEFAULT_LEVEL

    @shared_write
    def choose(
        self, member_id: str, channel_id: str | None, choice: LevelChoice
    ) -> Write[None, Notifications]:
        """Set the member's level for a channel, or for all channels if `channel_id` is None. Raises
        ChatError.
        """
        if channel_id is not None:
            self._directory.channel(member_id, channel_id)
        key = channel_id or _EVERYWHERE

        def write(connection: Connection) -> None:
            if choice == _UNSET:
                LEVELS.delete(connection, member_id=member_id, channel_id=key)
            else:
                LEVELS.put(connection, choice, member_id=member_id, channel_id=key)

        def written(_: None) -> Notifications:
            self._keep(member_id, key, choice)
            described = _to_response(key, choice)
            self._hub.push("notifications_changed", described, only(member_id))
            return described

        return Write(write, written)

    @shared_write
    def set_quiet(self, member_id: str, quiet: bool) -> Write[None, DoNotDisturb]:
        """Turn do-not-disturb on or off for all of a member's devices."""

        def written(_: None) -> DoNotDisturb:
            self._hub.push("quiet_changed", DoNotDisturb(quiet), only(member_id))
            self._switch(self._quiet, member_id, quiet)
            return DoNotDisturb(quiet)

        return Write(lambda connection: _set_in(connection, QUIET, member_id, quiet), written)

    @shared_write
    def set_invisible(self, member_id: str, invisible: bool) -> Write[None, Invisible]:
        """Turn invisibility on or off for a member."""

        def written(_: None) -> Invisible:
            self._hub.push("invisible_changed", Invisible(invisible), only(member_id))
            self._switch(self._invisible, member_id, invisible)
            return Invisible(invisible)

        return Write(lambda connection: _set_in(connection, INVISIBLE, member_id, invisible), written)

    def _switch(self, chosen: set[str], member_id: str, wanted: bool) -> None:
        (chosen.add if wanted else chosen.discard)(member_id)
        for notify in self.on_presence:
            notify(member_id)

    # Methods to call within or after the write transaction that deletes a channel or a member.

    def forget_channel_in(self, connection: Connection, channel_id: str) -> None:
        LEVELS.delete(connection, channel_id=channel_id)

    def forget_channel(self, channel: Channel) -> None:
        for chosen in self._chosen.values():
            chosen.pop(channel.id, None)

    def forget_member_in(self, connection: Connection, member_id: str) -> None:
        LEVELS.delete(connection, member_id=member_id)
        for table in (QUIET, INVISIBLE):
            _set_in(connection, table, member_id, False)

    def forget_member(self, member_id: str) -> None:
        self._chosen.pop(member_id, None)
        self._quiet.discard(member_id)
        self._invisible.discard(member_id)

    def _keep(self, member_id: str, key: str, choice: LevelChoice) -> None:
        chosen = self._chosen.setdefault(member_id, {})
        chosen[key] = choice
        if choice == _UNSET:
            del chosen[key]
        if not chosen:
            del self._chosen[member_id]


def _to_response(key: str, choice: LevelChoice) -> Notifications:
    return Notifications(key or None, choice.level, choice.muted, choice.muted_until_ms)


async def _load(database: Database) -> dict[str, dict[str, LevelChoice]]:
    """Load the settings by member and channel. An empty channel id means all channels."""
    by_member: dict[str, dict[str, LevelChoice]] = {}
    rows = await database.rows(f"SELECT member_id, channel_id, {LEVELS.select()} FROM notification_levels")
    for member_id, channel_id, *choice in rows:
        by_member.setdefault(member_id, {})[channel_id] = LEVELS.read(choice)
    return by_member


async def _load_set(database: Database, table: str) -> set[str]:
    """Load the ids of the members in the table QUIET or INVISIBLE."""
    return {member_id for (member_id,) in await database.rows(f"SELECT member_id FROM {table}")}


def _set_in(connection: Connection, table: str, member_id: str, wanted: bool) -> None:
    if wanted:
        connection.execute(f"INSERT OR IGNORE INTO {table} VALUES (?)", (member_id,))
    else:
        connection.execute(f"DELETE FROM {table} WHERE member_id = ?", (member_id,))
