"""Who has read how far, and what that leaves unread: counted in memory, so that a welcome
waits for nothing.

Holds the newest cursors of each channel, the marks of members, and who was mentioned where.
Counts beyond a bound say no more than that bound. Stores nothing and asks nobody.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

# "500" means that or more: nobody reads the exact number, and a channel keeps as many cursors.
MOST_UNREAD = 500
Count = Annotated[int, Meta(ge=0, le=MOST_UNREAD)]
# Trimmed in one go from twice as many, so that deletions do not eat into the count.
MOST_KEPT = 2 * MOST_UNREAD


class Marks:
    def __init__(self) -> None:
        self._newest: dict[str, list[int]] = {}
        self._marks: dict[tuple[str, str], int] = {}
        self._mentions: dict[tuple[str, str], list[int]] = {}

    def posted(self, channel_id: str, n: int) -> None:
        newest = self._newest.setdefault(channel_id, [])
        insort(newest, n)
        if len(newest) > MOST_KEPT + MOST_UNREAD:
            del newest[:-MOST_KEPT]

    def mentioned(self, channel_id: str, n: int, member_ids: Iterable[str]) -> None:
        for member_id in member_ids:
            waiting = self._mentions.setdefault((member_id, channel_id), [])
            if n > self.mark(member_id, channel_id) and n not in waiting:
                insort(waiting, n)
                del waiting[:-MOST_UNREAD]

    def unmentioned(self, channel_id: str, n: int, member_ids: Iterable[str]) -> None:
        for member_id in member_ids:
            waiting = self._mentions.get((member_id, channel_id), [])
            if n in waiting:
                waiting.remove(n)

    def deleted(self, channel_id: str, n: int, member_ids: Iterable[str]) -> None:
        """`member_ids` are those whom the message mentioned."""
        newest = self._newest.get(channel_id, [])
        position = bisect_right(newest, n) - 1
        if position >= 0 and newest[position] == n:
            del newest[position]
        self.unmentioned(channel_id, n, member_ids)

    def read(self, member_id: str, channel_id: str, n: int) -> None:
        """Everything up to `n` is read; a mark does not go back."""
        key = member_id, channel_id
        self._marks[key] = max(n, self._marks.get(key, 0))
        if waiting := self._mentions.get(key):
            del waiting[: bisect_right(waiting, n)]

    def put_back(self, member_id: str, channel_id: str, n: int, mentions: Iterable[int]) -> None:
        """Everything after `n` is unread again; `mentions` are those of the member in it."""
        key = member_id, channel_id
        self._marks[key] = min(n, self._marks.get(key, 0))
        waiting = {*mentions, *self._mentions.get(key, ())}
        self._mentions[key] = sorted(waiting)[-MOST_UNREAD:]

    def mark(self, member_id: str, channel_id: str) -> int:
        return self._marks.get((member_id, channel_id), 0)

    def unread(self, member_id: str, channel_id: str, since: int = 0) -> int:
        """How many messages are newer than the mark and than `since`, at most MOST_UNREAD."""
        newest = self._newest.get(channel_id, [])
        mark = max(since, self.mark(member_id, channel_id))
        return min(MOST_UNREAD, len(newest) - bisect_right(newest, mark))

    def mentions(self, member_id: str, channel_id: str) -> int:
        return len(self._mentions.get((member_id, channel_id), ()))

    def counts(self, member_id: str, channel_id: str, n: int) -> bool:
        """Is `n` a mention that the member has not read?"""
        return n in self._mentions.get((member_id, channel_id), ())

    def last(self, channel_id: str) -> int | None:
        newest = self._newest.get(channel_id)
        return newest[-1] if newest else None

    def forget(self, *, member_id: str | None = None, channel_id: str | None = None) -> None:
        """What there is of a member, or of a channel."""
        if channel_id is not None:
            self._newest.pop(channel_id, None)
        for key in [
            key for key in (*self._marks, *self._mentions) if member_id == key[0] or channel_id == key[1]
        ]:
            self._marks.pop(key, None)
            self._mentions.pop(key, None)
