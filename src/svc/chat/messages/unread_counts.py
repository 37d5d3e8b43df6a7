"""Counts unread messages and mentions, by channel and by followed thread.

The counts are kept in memory, so a welcome never waits for them. This module holds the newest cursors in each
channel, members' read markers and unread mentions, and for each followed thread the cursors that at least one
follower has not read. Counts are capped. Nothing is stored in the database.
"""

from bisect import bisect_right, insort
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

# The highest count. 500 means 500 or more, because nobody needs the exact number.
MAX_UNREAD = 500
Count = Annotated[int, Meta(ge=0, le=MAX_UNREAD)]
# Lists of cursors are trimmed to this length. It exceeds the cap, so deleting some messages does not lower a
# capped count.
MAX_KEPT = 2 * MAX_UNREAD


class UnreadCounts:
    def __init__(self) -> None:
        self._newest: dict[str, list[int]] = {}
        self._marks: dict[tuple[str, str], int] = {}
        self._mentions: dict[tuple[str, str], list[int]] = {}

    def posted(self, channel_id: str, n: int) -> None:
        newest = self._newest.setdefault(channel_id, [])
        insort(newest, n)
        if len(newest) > MAX_KEPT + MAX_UNREAD:
            del newest[:-MAX_KEPT]

    def mentioned(self, channel_id: str, n: int, member_ids: Iterable[str]) -> None:
        for member_id in member_ids:
            waiting = self._mentions.setdefault((member_id, channel_id), [])
            if n > self.mark(member_id, channel_id) and n not in waiting:
                insort(waiting, n)
                del waiting[:-MAX_UNREAD]

    def unmentioned(self, channel_id: str, n: int, member_ids: Iterable[str]) -> None:
        for member_id in member_ids:
            waiting = self._mentions.get((member_id, channel_id), [])
            if n in waiting:
                waiting.remove(n)

    def deleted(self, channel_id: str, n: int, member_ids: Iterable[str]) -> None:
        """Forget a message. `member_ids` are the members whom it mentioned."""
        newest = self._newest.get(channel_id, [])
        position = bisect_right(newest, n) - 1
        if position >= 0 and newest[position] == n:
            del newest[position]
        self.unmentioned(channel_id, n, member_ids)

    def read(self, member_id: str, channel_id: str, n: int) -> None:
        """Mark everything up to `n` as read. A marker never moves backwards."""
        key = member_id, channel_id
        self._marks[key] = max(n, self._marks.get(key, 0))
        if waiting := self._mentions.get(key):
            del waiting[: bisect_right(waiting, n)]

    def put_back(self, member_id: str, channel_id: str, n: int, mentions: Iterable[int]) -> None:
        """Mark everything after `n` as unread. `mentions` are the cursors after `n` of messages that mention
        the member.
        """
        key = member_id, channel_id
        self._marks[key] = min(n, self._marks.get(key, 0))
        waiting = {*mentions, *self._mentions.get(key, ())}
        self._mentions[key] = sorted(waiting)[-MAX_UNREAD:]

    def mark(self, member_id: str, channel_id: str) -> int:
        return self._marks.get((member_id, channel_id), 0)

    def unread(self, member_id: str, channel_id: str, since: int = 0) -> int:
        """Return the number of messages newer than both the read marker and `since`, at most MAX_UNREAD."""
        newest = self._newest.get(channel_id, [])
        mark = max(since, self.mark(member_id, channel_id))
        return min(MAX_UNREAD, len(newest) - bisect_right(newest, mark))

    def mentions(self, member_id: str, channel_id: str) -> int:
        return len(self._mentions.get((member_id, channel_id), ()))

    def counts(self, member_id: str, channel_id: str, n: int) -> bool:
        """Return whether message `n` is an unread mention of the member."""
        return n in self._mentions.get((member_id, channel_id), ())

    def last(self, channel_id: str) -> int | None:
        newest = self._newest.get(channel_id)
        return newest[-1] if newest else None

    def forget(self, *, member_id: str | None = None, channel_id: str | None = None) -> None:
        """Forget everything about a member, or about a channel."""
        if channel_id is not None:
            self._newest.pop(channel_id, None)
        for key in [
            key for key in (*self._marks, *self._mentions) if member_id == key[0] or channel_id == key[1]
        ]:
            self._marks.pop(key, None)
            self._mentions.pop(key, None)


# The maximum number of threads that a member can follow. There is a limit because every client loads all of
# them. Above the limit, the least recently active thread is unfollowed.
MAX_FOLLOWED = 200


@dataclass(slots=True)
class ThreadFollow:
    """One member's state in a thread that they follow."""

    # The cursor up to which the member has read.
    read_n: int
    # The cursors of unread messages that mention the member.
    mentions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class ThreadUnread:
    """A thread with at least one follower."""

    channel_id: str
    last_n: int
    follows: dict[str, ThreadFollow] = field(default_factory=dict)
    # The cursors of messages that at least one follower has not read, oldest first.
    newest: list[int] = field(default_factory=list)


class ThreadFollows:
    def __init__(self) -> None:
        self._threads: dict[str, ThreadUnread] = {}
        self._of: dict[str, set[str]] = {}

    def thread(self, thread: str) -> ThreadUnread | None:
        return self._threads.get(thread)

    def follow(self, thread: str, member_id: str) -> ThreadFollow | None:
        followed = self._threads.get(thread)
        return followed.follows.get(member_id) if followed else None

    def of(self, member_id: str) -> list[str]:
        """Return the threads that a member follows, most recently active first."""
        threads = self._of.get(member_id, ())
        return sorted(threads, key=lambda thread: self._threads[thread].last_n, reverse=True)

    def threads_to_unfollow(self, thread: str, member_ids: Iterable[str]) -> list[tuple[str, str]]:
        """Return the (member, thread) pairs to remove before these members can follow this thread."""
        crowded = (m for m in member_ids if len(self._of.get(m, ())) >= MAX_FOLLOWED)
        return [
            (member_id, quiet)
            for member_id in crowded
            if thread not in self._of[member_id]
            for quiet in self.of(member_id)[MAX_FOLLOWED - 1 :]
        ]

    def add(self, thread: str, channel_id: str, member_id: str, read_n: int, last_n: int) -> None:
        """Follow a thread, with the given read marker. A marker never moves backwards."""
        followed = self._threads.setdefault(thread, ThreadUnread(channel_id, last_n))
        follow = followed.follows.setdefault(member_id, ThreadFollow(read_n))
        follow.read_n = max(follow.read_n, read_n)
        self._of.setdefault(member_id, set()).add(thread)

    def drop(self, thread: str, member_id: str) -> None:
        followed = self._threads.get(thread)
        if followed is None or followed.follows.pop(member_id, None) is None:
            return
        self._of[member_id].discard(thread)
        if not self._of[member_id]:
            del self._of[member_id]
        if not followed.follows:
            del self._threads[thread]

    def posted(self, thread: str, n: int, mentioned: Collection[str] = ()) -> None:
        followed = self._threads.get(thread)
        if followed is None:
            return
        followed.last_n = max(followed.last_n, n)
        insort(followed.newest, n)
        if len(followed.newest) > MAX_KEPT + MAX_UNREAD:
            del followed.newest[:-MAX_KEPT]
        for member_id in mentioned:
            self.mentioned(thread, member_id, n)

    def mentioned(self, thread: str, member_id: str, n: int) -> None:
        follow = self.follow(thread, member_id)
        if follow is not None and n > follow.read_n and n not in follow.mentions:
            insort(follow.mentions, n)
            del follow.mentions[:-MAX_UNREAD]

    def read(self, thread: str, member_id: str, n: int) -> None:
        """Mark everything up to `n` as read, and forget the cursors that every follower has read."""
        followed = self._threads.get(thread)
        if followed is None or (follow := followed.follows.get(member_id)) is None:
            return
        follow.read_n = max(n, follow.read_n)
        del follow.mentions[: bisect_right(follow.mentions, n)]
        read_by_all = min(follow.read_n for follow in followed.follows.values())
        del followed.newest[: bisect_right(followed.newest, read_by_all)]

    def deleted(self, thread: str, n: int, last_n: int) -> None:
        """Forget a message. `last_n` is the thread's last message after the deletion."""
        if (followed := self._threads.get(thread)) is not None:
            followed.last_n = last_n
            if n in followed.newest:
                followed.newest.remove(n)

    def unmentioned(self, thread: str, n: int, but: Collection[str] = ()) -> list[str]:
        """Remove a message from the unread mentions. Return the members for whom it counted."""
        followed = self._threads.get(thread)
        if followed is None:
            return []
        counted = [m for m, follow in followed.follows.items() if n in follow.mentions and m not in but]
        for member_id in counted:
            followed.follows[member_id].mentions.remove(n)
        return counted

    def unread(self, thread: str, member_id: str) -> int:
        """Return the number of messages newer than the member's read marker, at most MAX_UNREAD."""
        followed = self._threads.get(thread)
        if followed is None or (follow := followed.follows.get(member_id)) is None:
            return 0
        return min(MAX_UNREAD, len(followed.newest) - bisect_right(followed.newest, follow.read_n))

    def forget_channel(self, channel_id: str) -> None:
        for thread in [t for t, followed in self._threads.items() if followed.channel_id == channel_id]:
            self.forget(thread)

    def forget(self, thread: str) -> list[str]:
        """Remove all of a thread's followers. Return their ids."""
        followed = self._threads.get(thread)
        members = list(followed.follows) if followed else []
        for member_id in members:
            self.drop(thread, member_id)
        return members

    def forget_member(self, member_id: str) -> None:
        for thread in self.of(member_id):
            self.drop(thread, member_id)
