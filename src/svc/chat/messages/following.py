"""Who follows which threads, and what they have not read there: counted in memory, as `marks` does it.

Holds of each followed thread the cursors of what is new to somebody. Counts beyond a bound say no
more than that bound. Stores nothing and asks nobody.
"""

from bisect import bisect_right, insort
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from svc.chat.messages.marks import MOST_KEPT, MOST_UNREAD

# Beyond it the thread that has been quiet for longest is followed no more: every page holds them all.
MAX_FOLLOWED = 200


@dataclass(slots=True)
class Follow:
    """One member's of one thread."""

    # The cursor up to which they have read.
    read_n: int
    # The cursors of messages that mention them and are not read.
    mentions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Followed:
    """A thread that somebody follows."""

    channel_id: str
    last_n: int
    follows: dict[str, Follow] = field(default_factory=dict)
    # What is newer than the mark of some follower, the oldest first.
    newest: list[int] = field(default_factory=list)


class Following:
    def __init__(self) -> None:
        self._threads: dict[str, Followed] = {}
        self._of: dict[str, set[str]] = {}

    def thread(self, thread: str) -> Followed | None:
        return self._threads.get(thread)

    def follow(self, thread: str, member_id: str) -> Follow | None:
        followed = self._threads.get(thread)
        return followed.follows.get(member_id) if followed else None

    def of(self, member_id: str) -> list[str]:
        """The threads that a member follows, that with the newest message first."""
        threads = self._of.get(member_id, ())
        return sorted(threads, key=lambda thread: self._threads[thread].last_n, reverse=True)

    def crowded_out(self, thread: str, member_ids: Iterable[str]) -> list[tuple[str, str]]:
        """What members, each with the threads, have to give up to follow one more."""
        crowded = (m for m in member_ids if len(self._of.get(m, ())) >= MAX_FOLLOWED)
        return [
            (member_id, quiet)
            for member_id in crowded
            if thread not in self._of[member_id]
            for quiet in self.of(member_id)[MAX_FOLLOWED - 1 :]
        ]

    def add(self, thread: str, channel_id: str, member_id: str, read_n: int, last_n: int) -> None:
        """Somebody follows a thread from a cursor on; a mark does not go back."""
        followed = self._threads.setdefault(thread, Followed(channel_id, last_n))
        follow = followed.follows.setdefault(member_id, Follow(read_n))
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
        if len(followed.newest) > MOST_KEPT + MOST_UNREAD:
            del followed.newest[:-MOST_KEPT]
        for member_id in mentioned:
            self.mentioned(thread, member_id, n)

    def mentioned(self, thread: str, member_id: str, n: int) -> None:
        follow = self.follow(thread, member_id)
        if follow is not None and n > follow.read_n and n not in follow.mentions:
            insort(follow.mentions, n)
            del follow.mentions[:-MOST_UNREAD]

    def read(self, thread: str, member_id: str, n: int) -> None:
        """Everything up to `n` is read; what everybody has read is forgotten."""
        followed = self._threads.get(thread)
        if followed is None or (follow := followed.follows.get(member_id)) is None:
            return
        follow.read_n = max(n, follow.read_n)
        del follow.mentions[: bisect_right(follow.mentions, n)]
        read_by_all = min(follow.read_n for follow in followed.follows.values())
        del followed.newest[: bisect_right(followed.newest, read_by_all)]

    def deleted(self, thread: str, n: int, last_n: int) -> None:
        """`last_n` is the thread's last message after it."""
        if (followed := self._threads.get(thread)) is not None:
            followed.last_n = last_n
            if n in followed.newest:
                followed.newest.remove(n)

    def unmentioned(self, thread: str, n: int, but: Collection[str] = ()) -> list[str]:
        """For whom it counted as a mention, and does no more."""
        followed = self._threads.get(thread)
        if followed is None:
            return []
        those = [m for m, follow in followed.follows.items() if n in follow.mentions and m not in but]
        for member_id in those:
            followed.follows[member_id].mentions.remove(n)
        return those

    def unread(self, thread: str, member_id: str) -> int:
        """How many messages are newer than the member's mark, at most MOST_UNREAD."""
        followed = self._threads.get(thread)
        if followed is None or (follow := followed.follows.get(member_id)) is None:
            return 0
        return min(MOST_UNREAD, len(followed.newest) - bisect_right(followed.newest, follow.read_n))

    def forget_channel(self, channel_id: str) -> None:
        for thread in [t for t, followed in self._threads.items() if followed.channel_id == channel_id]:
            self.forget(thread)

    def forget(self, thread: str) -> list[str]:
        """Nobody follows it any more; who did."""
        followed = self._threads.get(thread)
        members = list(followed.follows) if followed else []
        for member_id in members:
            self.drop(thread, member_id)
        return members

    def forget_member(self, member_id: str) -> None:
        for thread in self.of(member_id):
            self.drop(thread, member_id)
