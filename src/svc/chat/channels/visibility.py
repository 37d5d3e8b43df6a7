"""Tracks which members can view which channels, and announces changes.

A channel that becomes visible to a member is announced as created, and one that becomes hidden as deleted.
Neither event reveals that a hidden channel exists. This module makes no changes: code that changes roles,
members or overrides does so within `announcing_changes`.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from svc.chat.access.directory import Directory
from svc.chat.access.permissions import Permission
from svc.chat.channels import responses
from svc.chat.live.hub import Hub, Recipients
from svc.chat.services import Changes

# Up to this many members are checked one by one, which takes 5 µs per channel. For more members, comparing
# the sets of viewers is faster.
_FEW = 50


class Visibility:
    def __init__(self, directory: Directory, hub: Hub, changes: Changes) -> None:
        self._directory = directory
        self._hub = hub
        self._changes = changes
        # Timeouts also change permissions, without `announcing_changes`. Clients are notified first.
        changes.permissions_changed.insert(0, self._push_permissions_changed)

    @contextmanager
    def announcing_changes(
        self, members: Collection[str] | None = None, channels: Collection[str] | None = None
    ) -> Iterator[None]:
        """Announce how directory changes in the block affect these members and channels. None means all."""
        if members is not None:
            members = self._directory.with_their_bots(members)
        before = self._visible_channels(members, channels)
        yield
        after = self._visible_channels(members, channels)
        # Channels can share a set of viewers, so compare each pair of sets only once.
        compared: dict[tuple[int, int], tuple[frozenset[str], frozenset[str]]] = {}
        for channel_id in before.keys() & after.keys():
            was, now = before[channel_id], after[channel_id]
            pair = id(was), id(now)
            if pair not in compared:
                compared[pair] = now - was, was - now
            self.shown(channel_id, compared[pair][0])
            self._hidden(channel_id, compared[pair][1])
        everybody = self._directory.members
        affected = everybody if members is None else members
        self.permissions_changed([member_id for member_id in affected if member_id in everybody])

    def permissions_changed(self, member_ids: Collection[str]) -> None:
        """Announce that these members' permissions have changed, on the server or in a channel."""
        if member_ids:
            for notify in self._changes.permissions_changed:
                notify(member_ids)

    def _push_permissions_changed(self, member_ids: Collection[str]) -> None:
        """Prompt these members' clients to refetch their permissions."""
        self._hub.push("permissions_changed", {}, Recipients(frozenset(member_ids)))

    def shown(self, channel_id: str, member_ids: frozenset[str]) -> None:
        """Announce a channel to members who can now view it."""
        if member_ids:
            channel = self._directory.channels[channel_id]
            # Pass the channel's id, so that a client that resumes later does not learn of a channel that has
            # become hidden again.
            self._hub.push("channel_created", responses.channel(channel), Recipients(member_ids, channel_id))
            for notify in self._changes.channel_shown:
                notify(channel, member_ids)

    def _hidden(self, channel_id: str, member_ids: frozenset[str]) -> None:
        if member_ids:
            channel = self._directory.channels[channel_id]
            self._hub.push("channel_deleted", responses.ChannelDeleted(channel_id), Recipients(member_ids))
            for notify in self._changes.channel_hidden:
                notify(channel, member_ids)

    def _visible_channels(
        self, members: Collection[str] | None, channels: Collection[str] | None
    ) -> dict[str, frozenset[str]]:
        directory, view = self._directory, Permission.VIEW_CHANNEL
        concerned = list(directory.channels if channels is None else channels)
        if members is None:
            return {channel_id: directory.viewers(channel_id) for channel_id in concerned}
        if len(members) > _FEW:
            among = frozenset(members)
            viewers = {channel_id: directory.viewers(channel_id) for channel_id in concerned}
            of_these = {id(ids): ids & among for ids in {id(v): v for v in viewers.values()}.values()}
            return {channel_id: of_these[id(ids)] for channel_id, ids in viewers.items()}
        return {
            channel_id: frozenset(m for m in members if directory.has_permission(m, view, channel_id))
            for channel_id in concerned
        }
