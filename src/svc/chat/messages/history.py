"""Reads pages of history and earlier versions of messages, and stores members' read markers.

This module checks what each member may view. It changes only read markers, and contains no HTTP code. See
docs/configuration.md, "Chat server", MESSAGE_CACHE_TTL_MS.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from svc.base.database import Connection, Write
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.directory import Channel, Member
from svc.chat.access.permissions import Permission
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.live.hub import only
from svc.chat.messages import store
from svc.chat.messages.gradual_pushes import GradualPushes
from svc.chat.messages.message import MEMBER, Message, first_number_at, last_id_of, number_of
from svc.chat.messages.page_cache import HistoryPage, PageCache, PageKey
from svc.chat.messages.responses import Unread
from svc.chat.messages.unread_counts import MAX_KEPT, UnreadCounts
from svc.chat.services import Services

# Greater than any cursor: SQLite's largest integer.
_END = 2**63 - 1
# Selects the member, channel and cursor of each unread mention outside threads.
_UNREAD_MENTIONS = (
    "SELECT m.member_id, m.channel_id, m.n FROM mentions AS m JOIN messages AS s ON s.n = m.n"
    " LEFT JOIN reads AS r ON r.member_id = m.member_id AND r.channel_id = m.channel_id"
    " WHERE m.n > coalesce(r.n, 0) AND s.thread IS NULL ORDER BY m.n"
)
# Selects the newest cursors in a channel, outside threads.
_NEWEST = "SELECT n FROM messages WHERE channel_id = ? AND thread IS NULL ORDER BY n DESC LIMIT ?"
# Selects the cursors of a member's mentions after a read marker, outside threads.
_MENTIONS_AFTER = (
    "SELECT m.n FROM mentions AS m JOIN messages AS s ON s.n = m.n"
    " WHERE m.member_id = ?1 AND m.channel_id = ?2 AND m.n > ?3 AND s.thread IS NULL"
)


class History:
    def __init__(self, services: Services, pages: PageCache) -> None:
        self._database, self._directory = services.database, services.directory
        self._pages = pages

    async def page(self, member_id: str, wanted: PageKey) -> HistoryPage:
        """Return a page of messages. The cursors may belong to deleted messages. Raises ChatError."""
        self._directory.channel(member_id, wanted.channel_id)
        page = await self._pages.page(wanted, partial(self._read, wanted))
        if wanted.thread is not None and not (page.messages or page.more_before or page.more_after):
            # The thread is empty, or its root message does not exist. In the latter case, `get` raises an
            # error.
            await self.get(member_id, wanted.channel_id, wanted.thread)
        return page

    async def get(self, member_id: str, channel_id: str, message_id: str) -> Message:
        self._directory.channel(member_id, channel_id)
        message = await store.one(self._database, channel_id, number_of(message_id))
        if message is None or message.id != message_id:
            raise ChatError("unknown_message")
        return message

    async def latest_of_members(self, limit: int) -> list[Message]:
        """Return the latest messages from members, oldest first. The caller must check who may see them."""
        return await store.latest_of_members(self._database, limit)

    async def edits(self, member_id: str, channel_id: str, message_id: str) -> list[store.Edit]:
        """Return earlier versions of a message. Requires MANAGE_MESSAGES for other members' messages."""
        message = await self.get(member_id, channel_id, message_id)
        if not message.author.is_member(member_id):
            self._directory.require(member_id, Permission.MANAGE_MESSAGES, channel_id)
        return await store.edits(self._database, message.n)

    async def pins(self, member_id: str, channel_id: str) -> list[Message]:
        self._directory.channel(member_id, channel_id)
        return await store.pinned_messages(self._database, channel_id)

    async def _read(self, wanted: PageKey) -> HistoryPage:
        """Read a page, plus one message to find out whether there are more messages."""
        timeline, limit, around = (wanted.channel_id, wanted.thread), wanted.limit, wanted.around
        if wanted.at_ms is not None:
            around = await store.first_at(self._database, timeline, wanted.at_ms)
        if around is not None:
            older = limit // 2
            before, after = await asyncio.gather(
                store.before(self._database, timeline, around, older + 1),
                store.after(self._database, timeline, around - 1, limit - older + 1),
            )
            shown = (*before[-older:], *after[: limit - older]) if older else after[:limit]
            return HistoryPage(tuple(shown), len(before) > older, len(after) > limit - older)
        if wanted.after is not None:
            messages = await store.after(self._database, timeline, wanted.after, limit + 1)
            return HistoryPage(tuple(messages[:limit]), more_before=True, more_after=len(messages) > limit)
        end = _END if wanted.before is None else wanted.before
        messages = await store.before(self._database, timeline, end, limit + 1)
        return HistoryPage(
            tuple(messages[-limit:]), len(messages) > limit, more_after=wanted.before is not None
        )


@dataclass(frozen=True, slots=True)
class UnreadTotals:
    """A member's total unread counts over several channels."""

    unread: int
    mentions: int


class ReadMarks:
    """Members' read markers and unread counts."""

    def __init__(self, services: Services) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._marks = UnreadCounts()
        self._gradually = GradualPushes(self._push_counts)

    async def load(self) -> None:
        """Load the unread counts. Call this after the directory is loaded."""
        rows = self._database.rows
        for member_id, channel_id, n in await rows("SELECT member_id, channel_id, n FROM reads"):
            self._marks.read(member_id, channel_id, n)
        for (channel_id,) in await rows("SELECT id FROM channels"):
            for (n,) in reversed(await rows(_NEWEST, (channel_id, MAX_KEPT))):
                self._marks.posted(channel_id, n)
        for member_id, channel_id, n in await rows(_UNREAD_MENTIONS):
            self._marks.mentioned(channel_id, n, [member_id])

    def welcome(self, session: Session) -> dict[str, object]:
        """Return the unread counts for the member's channels, excluding archived ones."""
        channels = self._directory.listed_channels(session.member_id)
        return {"unread": [self._counts(session.member_id, channel.id) for channel in channels]}

    def totals(self, member_id: str, is_muted: Callable[[str, str], bool]) -> UnreadTotals:
        """Return the totals for the member's channels, excluding archived and muted ones."""
        channels = self._directory.listed_channels(member_id)
        counts = [
            self._counts(member_id, channel.id) for channel in channels if not is_muted(member_id, channel.id)
        ]
        return UnreadTotals(sum(count.unread for count in counts), sum(count.mentions for count in counts))

    @shared_write
    def read(self, member_id: str, channel_id: str, message_id: str) -> Write[None, Unread]:
        """Mark everything up to a message as read, even if the message has been deleted. Return the new
        counts.
        """
        self._directory.channel(member_id, channel_id)
        # A marker must not cover messages that have not been posted yet.
        n = min(number_of(message_id), self._marks.last(channel_id) or 0)

        def marked(_: None) -> Unread:
            self._marks.read(member_id, channel_id, n)
            self._push_counts(member_id, channel_id)
            return self._counts(member_id, channel_id)

        return Write(lambda connection: store.mark_read(connection, member_id, channel_id, n), marked)

    @shared_write
    def unread(self, member_id: str, channel_id: str, message_id: str) -> Write[list[int], Unread]:
        """Mark a message and everything after it as unread, even if the message has been deleted. Return the
        new counts.
        """
        self._directory.channel(member_id, channel_id)
        n = number_of(message_id) - 1
        mark = member_id, channel_id, n

        def put_back(connection: Connection) -> list[int]:
            sql = "UPDATE reads SET n = ?3 WHERE member_id = ?1 AND channel_id = ?2 AND n > ?3"
            connection.execute(sql, mark)
            return [mention for (mention,) in connection.execute(_MENTIONS_AFTER, mark)]

        def marked(mentions: list[int]) -> Unread:
            self._marks.put_back(*mark, mentions)
            self._push_counts(member_id, channel_id)
            return self._counts(member_id, channel_id)

        return Write(put_back, marked)

    # Methods that mark earlier messages as read for new members, even messages with a cursor ahead of the
    # clock.

    def admit(self, connection: Connection, member: Member) -> None:
        """Mark earlier messages as read for a new member. Call this within the write transaction that adds
        the member, and `added` after it.
        """
        connection.execute(
            "INSERT INTO reads SELECT ?, channel_id, max(n) FROM messages WHERE n > ? AND thread IS NULL"
            " GROUP BY channel_id",
            (member.id, first_number_at(member.joined_at_ms)),
        )

    def added(self, member: Member) -> None:
        for channel_id in self._directory.channels:
            last = self._marks.last(channel_id)
            if last is not None and last > first_number_at(member.joined_at_ms):
                self._marks.read(member.id, channel_id, last)

    # Methods that apply messages to the counts.

    def posted(self, message: Message) -> None:
        """Count a new message, and mark everything up to it as read for its author."""
        self._marks.posted(message.channel_id, message.n)
        if message.author.kind == MEMBER:
            self._marks.read(message.author.id, message.channel_id, message.n)
        if message.notified:
            self._marks.mentioned(message.channel_id, message.n, message.notified)

    def unmentioned(self, message: Message, member_ids: Collection[str]) -> None:
        self._marks.unmentioned(message.channel_id, message.n, member_ids)
        self._gradually.add(member_ids, message.channel_id)

    def edited(self, old: Message, new: Message) -> None:
        if not (old.groups and new.groups):
            self.unmentioned(new, self._members_to_count(old) - set(new.mentions))

    def deleted(self, message: Message) -> None:
        counted = self._members_to_count(message)
        self._marks.deleted(message.channel_id, message.n, counted)
        self._gradually.add(counted, message.channel_id)

    def _members_to_count(self, message: Message) -> set[str]:
        """Return the members for whom a message can count as an unread mention."""
        if not message.groups:
            return set(message.mentions)
        viewers = self._directory.viewers(message.channel_id)
        counts = self._marks.counts
        return {*message.mentions, *(m for m in viewers if counts(m, message.channel_id, message.n))}

    def forget_channel(self, channel: Channel) -> None:
        self._marks.forget(channel_id=channel.id)

    def forget_member(self, member_id: str) -> None:
        self._marks.forget(member_id=member_id)

    def _push_counts(self, member_id: str, channel_id: str) -> None:
        """Push all of a member's counts for a channel. This also corrects a client that missed earlier
        pushes.
        """
        if member_id in self._directory.viewers(channel_id):
            self._hub.push("unread", self._counts(member_id, channel_id), only(member_id))

    def _counts(self, member_id: str, channel_id: str) -> Unread:
        # Messages posted before the member joined count as read.
        since = first_number_at(self._directory.member(member_id).joined_at_ms)
        last = self._marks.last(channel_id)
        return Unread(
            channel_id=channel_id,
            read_up_to=last_id_of(max(since, self._marks.mark(member_id, channel_id))),
            last=None if last is None else last_id_of(last),
            unread=self._marks.unread(member_id, channel_id, since),
            mentions=self._marks.mentions(member_id, channel_id),
        )
