"""Creates, changes, orders and deletes channels. Contains no HTTP code.

`@endpoint` has already checked the permission to manage channels. To members who cannot view a channel, it
does not exist.
"""

import dataclasses
import logging
from collections.abc import Mapping, Sequence

from msgspec import structs

from svc.base.database import Connection, Database, Write
from svc.base.tables import ColumnType, Table
from svc.chat.access.checked_writes import exclusive_write
from svc.chat.access.directory import CATEGORY, VOICE, Channel, Directory
from svc.chat.access.permissions import Override, Overrides, Permission, from_store, to_store
from svc.chat.access.tokens import Session
from svc.chat.channels import overrides, responses
from svc.chat.channels.overrides import Change
from svc.chat.channels.responses import Differences, SlowMode
from svc.chat.channels.visibility import Visibility
from svc.chat.errors import ChatError
from svc.chat.live.hub import PermissionHolders, Recipients, Viewers
from svc.chat.live.responses import Managed
from svc.chat.services import Services

logger = logging.getLogger(__name__)

# The maximum number of channels. A member's welcome lists all channels that the member can view.
MAX_CHANNELS = 500
_CHANNELS = Table("channels", Channel, without=("overrides",))
_PERMISSIONS = ColumnType(to_store, from_store)
_OVERRIDES = Table(
    "channel_overrides",
    Change,
    names={"override.allow": "allow", "override.deny": "deny"},
    allow=_PERMISSIONS,
    deny=_PERMISSIONS,
)


class Channels:
    """The rules for channels."""

    def __init__(self, services: Services) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit, self._changes, self._new_id = services.audit, services.changes, services.new_id
        self._slow_mode = SlowMode()
        self.visibility = Visibility(services.directory, services.hub, services.changes)
        services.changes.member_removal.append(
            lambda c, member_id: self.forget(c, overrides.MEMBER, member_id)
        )
        services.changes.member_gone.append(
            lambda member_id: self.forget_overrides(overrides.MEMBER, member_id)
        )

    def welcome(self, session: Session) -> dict[str, object]:
        """Return the part of the welcome that lists the channels that the member can view."""
        return {
            "channels": [responses.channel(c) for c in self._directory.listed_channels(session.member_id)]
        }

    async def load(self, first: Sequence[Channel], now_ms: int) -> None:
        """Fill the directory at startup. `first` contains the channels of a new server."""
        await self._database.write(lambda connection: _seed(connection, first, now_ms))
        for channel in await load_channels(self._database):
            self._directory.put_channel(channel)
        absent = [channel.name for channel in first if channel.id not in self._directory.channels]
        if absent:
            logger.info(
                "channels in the configuration are created at the first start only", extra={"absent": absent}
            )

    def slow_mode_wait_s(self, member_id: str, channel_id: str, now: float) -> float:
        """Return how many seconds a member must wait before posting. If this is 0, record that a message is
        sent now.
        """
        if self._directory.has_permission(member_id, Permission.MANAGE_MESSAGES, channel_id):
            return 0.0
        slow_mode_s = self._directory.channels[channel_id].slow_mode_s
        # Waits are tracked per person, so that rejoining does not shorten a wait.
        person_id = self._directory.person_of(member_id)
        return self._slow_mode.wait_s(person_id, channel_id, slow_mode_s, now)

    @exclusive_write
    def create(
        self, actor_id: str | None, wanted: Channel, access: Sequence[Change], now: float
    ) -> Write[None, Channel]:
        """Create a channel like `wanted` at the end of the list. `access` contains the channel's initial
        overrides.

        The operator, who is not a member, cannot set overrides.
        """
        if len(self._directory.channels) >= MAX_CHANNELS:
            raise ChatError("too_many")
        last = max((channel.position for channel in self._directory.channels.values()), default=-1)
        channel = dataclasses.replace(wanted, id=self._new_id(), position=last + 1)
        _check(channel)
        _check_category(self._directory, actor_id, channel)
        if access:
            assert actor_id is not None, "only members with permissions override them"
            channel = overrides.with_changes(self._directory, actor_id, channel, access)

        def write(connection: Connection) -> None:
            _CHANNELS.insert(connection, channel, created_at_ms=int(now * 1000))
            for change in overrides.list_changes(channel):
                _put_override(connection, channel.id, change)
            stored_overrides = [
                structs.asdict(responses.override(change)) for change in overrides.list_changes(channel)
            ]
            details = {"name": channel.name, "type": channel.kind, "overrides": stored_overrides}
            self._record(connection, actor_id, "channel_create", channel.id, details, now)

        return Write(write, lambda _: self._on_created(channel))

    @exclusive_write
    def edit(
        self, actor_id: str | None, channel_id: str, differences: Differences, now: float
    ) -> Write[None, Channel]:
        """Change a channel's attributes. `differences` maps attribute names to new values."""
        before = self._require_manageable(actor_id, channel_id)
        after = dataclasses.replace(before, **differences)  # type: ignore[arg-type]
        _check(after)
        # Participants in a call keep the encryption that the channel had when they joined.
        if after.encrypted != before.encrypted:
            for check in self._changes.channel_sealing:
                check(channel_id)
        # The channel can stay in a category that the actor cannot view.
        if after.parent_id != before.parent_id:
            _check_category(self._directory, actor_id, after)
        event_details = {
            name: {"before": getattr(before, name), "after": value} for name, value in differences.items()
        }

        def write(connection: Connection) -> None:
            _CHANNELS.edit(connection, differences, id=channel_id)
            self._record(connection, actor_id, "channel_edit", channel_id, event_details, now)

        def apply(_: None) -> Channel:
            if before.archived == after.archived:
                return self._on_changed(channel_id, differences)
            # Archiving changes the channel's permissions, so the participants in its call must leave.
            with self.visibility.announcing_changes(channels=[channel_id]):
                return self._on_changed(channel_id, differences)

        return Write(write, apply)

    @exclusive_write
    def order(
        self, actor_id: str, channel_ids: Sequence[str], parents: Mapping[str, str | None], now: float
    ) -> Write[None, list[Channel]]:
        """Reorder the channels that the actor can view, and move some to other categories.

        Channels that the actor cannot view keep their positions, and so do archived channels that are
        omitted.
        """
        visible = [
            channel
            for channel in self._directory.visible_channels(actor_id)
            if not channel.archived or channel.id in channel_ids
        ]
        if sorted(channel_ids) != sorted(channel.id for channel in visible):
            raise ChatError("invalid_request", "channel_ids must name each channel once")
        moved = _new_positions(visible, channel_ids)
        for channel_id, parent_id in parents.items():
            channel = self._directory.channel(actor_id, channel_id)
            if channel.parent_id != parent_id:
                moved_channel = dataclasses.replace(channel, parent_id=parent_id)
                _check_category(self._directory, actor_id, moved_channel)
                moved[channel_id] = {**moved.get(channel_id, {}), "parent_id": parent_id}

        def move(connection: Connection) -> None:
            for channel_id, position in moved.items():
                _CHANNELS.edit(connection, position, id=channel_id)
                self._record(connection, actor_id, "channel_move", channel_id, position, now)

        def announce(_: None) -> list[Channel]:
            for channel_id, position in moved.items():
                self._on_changed(channel_id, position)
            return self._directory.listed_channels(actor_id)

        return Write(move, announce)

    @exclusive_write
    def delete(self, actor_id: str | None, channel_id: str, now: float) -> Write[None, None]:
        """Delete a channel and everything in it."""
        channel = self._require_manageable(actor_id, channel_id)
        readers = self._directory.holders(Permission.VIEW_AUDIT_LOG)
        known = self._directory.viewers(channel_id).issuperset(readers)
        details = {"name": channel.name, "type": channel.kind}

        def write(connection: Connection) -> None:
            for step in self._changes.channel_deletion:
                step(connection, channel_id)
            # Channels in a deleted category no longer have a category.
            connection.execute("UPDATE channels SET parent_id = NULL WHERE parent_id = ?", (channel_id,))
            _CHANNELS.delete(connection, id=channel_id)
            # After the deletion, the channel's viewers are unknown. The entry is visible to all readers of
            # the log only if all of them could view the channel.
            logged = details if known else {"channel_id": channel_id, **details}
            self._audit.record(connection, actor_id, "channel_delete", channel_id, logged, now)

        return Write(write, lambda _: self._on_deleted(channel))

    def overrides(self, actor_id: str, channel_id: str) -> list[Change]:
        return list(overrides.list_changes(self._directory.channel(actor_id, channel_id)))

    @exclusive_write
    def override(self, actor_id: str, channel_id: str, change: Change, now: float) -> Write[None, None]:
        """Change a channel's override for a role or a member."""
        channel = self._directory.channel(actor_id, channel_id)
        overrides.with_changes(self._directory, actor_id, channel, [change])

        def write(connection: Connection) -> None:
            _put_override(connection, channel_id, change)
            details = structs.asdict(responses.override(change))
            self._record(connection, actor_id, "channel_override", channel_id, details, now)

        return Write(write, lambda _: self._overridden(channel_id, change))

    # These methods are steps of write transactions that delete a role or a member.

    def forget(self, connection: Connection, kind: str, target_id: str) -> None:
        """Delete the overrides for a role or a member. Call this within a write transaction, and
        `forget_overrides` after it.
        """
        _OVERRIDES.delete(connection, kind=kind, target_id=target_id)

    def forget_overrides(self, kind: str, target_id: str) -> None:
        removal = Change(kind, target_id, Override())
        for channel in list(self._directory.channels.values()):
            if target_id in channel.overrides.roles or target_id in channel.overrides.members:
                self._directory.put_channel(overrides.with_change(channel, removal))

    # Methods that are called in commit order, after each write is durable.

    def _on_created(self, channel: Channel) -> Channel:
        self._directory.put_channel(channel)
        self._hub.push("channel_created", responses.channel(channel), Viewers(channel.id))
        for notify in self._changes.channel_added:
            notify(channel)
        return channel

    def _on_deleted(self, channel: Channel) -> None:
        viewers = self._directory.viewers(channel.id)
        for inner in [c.id for c in self._directory.channels.values() if c.parent_id == channel.id]:
            self._on_changed(inner, {"parent_id": None})
        self._directory.drop_channel(channel.id)
        self._hub.push("channel_deleted", responses.ChannelDeleted(channel.id), Recipients(viewers))
        for notify in self._changes.channel_removed:
            notify(channel)

    def _on_changed(self, channel_id: str, differences: Differences) -> Channel:
        current = self._directory.channels[channel_id]
        channel = dataclasses.replace(current, **differences)  # type: ignore[arg-type]
        self._directory.put_channel(channel)
        self._hub.push("channel_updated", responses.channel(channel), Viewers(channel_id))
        return channel

    def _overridden(self, channel_id: str, change: Change) -> None:
        current = self._directory.channels[channel_id]
        with self.visibility.announcing_changes(self._holders(change), [channel_id]):
            self._directory.put_channel(overrides.with_change(current, change))
        managers = PermissionHolders(Permission.MANAGE_CHANNELS, channel_id)
        self._hub.push("managed", Managed("overrides"), managers)

    def _require_manageable(self, actor_id: str | None, channel_id: str) -> Channel:
        """Return the channel if the actor can view it. The operator can view all channels. Raises
        ChatError.
        """
        if actor_id is not None:
            return self._directory.channel(actor_id, channel_id)
        if channel_id not in self._directory.channels:
            raise ChatError("unknown_channel")
        return self._directory.channels[channel_id]

    def _holders(self, change: Change) -> list[str]:
        if change.kind == overrides.MEMBER:
            return [change.target_id] if change.target_id in self._directory.members else []
        members = self._directory.members.values()
        return [member.id for member in members if change.target_id in member.role_ids]

    def _record(
        self,
        connection: Connection,
        actor_id: str | None,
        action: str,
        channel_id: str,
        details: Mapping[str, object],
        now: float,
    ) -> None:
        """Record an action in the audit log. Only members who may view the channel can read the entry."""
        event_details = {"channel_id": channel_id, **details}
        self._audit.record(connection, actor_id, action, channel_id, event_details, now)


async def load_channels(database: Database) -> list[Channel]:
    roles: dict[str, dict[str, Override]] = {}
    members: dict[str, dict[str, Override]] = {}
    sql = f"SELECT channel_id, {_OVERRIDES.select()} FROM channel_overrides"
    for channel_id, *row in await database.rows(sql):
        change = _OVERRIDES.read(row)
        kind = roles if change.kind == overrides.ROLE else members
        kind.setdefault(channel_id, {})[change.target_id] = change.override
    stored = await _CHANNELS.all(database)
    categories = {channel.id for channel in stored if channel.kind == CATEGORY}
    return [
        dataclasses.replace(
            channel,
            # An imported channel may have any id as its category.
            parent_id=channel.parent_id if channel.parent_id in categories else None,
            overrides=Overrides(roles.get(channel.id, {}), members.get(channel.id, {})),
        )
        for channel in stored
    ]


def _seed(connection: Connection, channels: Sequence[Channel], now_ms: int) -> None:
    """Insert the first channels, unless this was done before."""
    if connection.execute("SELECT 1 FROM facts WHERE name = 'channels_seeded'").fetchone():
        return
    for channel in channels:
        _CHANNELS.insert(connection, channel, created_at_ms=now_ms)
    connection.execute("INSERT INTO facts VALUES ('channels_seeded', ?)", (str(now_ms),))


def _put_override(connection: Connection, channel_id: str, change: Change) -> None:
    """Store an override, or delete it if it is empty."""
    if change.override == Override():
        key = {"channel_id": channel_id, "kind": change.kind, "target_id": change.target_id}
        _OVERRIDES.delete(connection, **key)
    else:
        _OVERRIDES.put(connection, change, channel_id=channel_id)


def _check(channel: Channel) -> None:
    """Raise ChatError if the channel's attributes contradict each other."""
    if channel.kind != VOICE and (channel.user_limit or channel.bitrate_kbps or channel.encrypted):
        raise ChatError("invalid_request", "Only a voice channel has user_limit, bitrate_kbps and encrypted")
    if channel.kind == CATEGORY and (channel.slow_mode_s or channel.archived):
        raise ChatError("invalid_request", "A category has no slow mode and is not archived")


def _check_category(directory: Directory, actor_id: str | None, channel: Channel) -> None:
    """Raise ChatError if the channel's parent is not a category, or the actor cannot view it."""
    if channel.parent_id is None:
        return
    if channel.kind == CATEGORY:
        raise ChatError("invalid_request", "A category cannot be in another category")
    parent = directory.channels.get(channel.parent_id)
    if parent is None or (actor_id is not None and parent not in directory.visible_channels(actor_id)):
        raise ChatError("unknown_channel", "There is no such category")
    if parent.kind != CATEGORY:
        raise ChatError("invalid_request", "parent_id must be the id of a category")


def _new_positions(visible: Sequence[Channel], wanted: Sequence[str]) -> dict[str, Differences]:
    """Return the new positions of the channels that move. `wanted` is the new order of `visible`.

    The positions in `visible` are redistributed among these channels without duplicates. All other channels
    keep their positions.
    """
    positions: list[int] = []
    for channel in visible:
        positions.append(max(channel.position, positions[-1] + 1 if positions else 0))
    before = {channel.id: channel.position for channel in visible}
    return {
        channel_id: {"position": position}
        for channel_id, position in zip(wanted, positions, strict=True)
        if before[channel_id] != position
    }
