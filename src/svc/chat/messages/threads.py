"""Manages the followers of threads, their unread counts and read markers.

A thread contains the replies to one message in a channel, the thread's root. The replies do not appear in the
channel's history. Members who write in a thread, wrote its root or are mentioned in it follow the thread
until they unfollow it. Unread counts work as in `history`. This module contains no HTTP code.
"""

from collections.abc import Collection, Iterable

from msgspec import structs

from svc.base.database import Connection, Write
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.directory import Channel
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.live.hub import Viewers, only
from svc.chat.messages import store
from svc.chat.messages.gradual_pushes import GradualPushes
from svc.chat.messages.message import MEMBER, Message, ThreadSummary, last_id_of, moment_of, number_of
from svc.chat.messages.responses import ThreadState, thread_changed
from svc.chat.messages.unread_counts import ThreadFollows
from svc.chat.services import Services

# Selects the member, thread, channel, the member's read marker, and the thread's last message.
_FOLLOWS = (
    "SELECT f.member_id, f.thread, f.channel_id, f.n, t.last_n FROM thread_follows AS f"
    " JOIN threads AS t ON t.id = f.thread"
)
# Selects the cursors in each thread that at least one follower has not read, oldest first.
_UNREAD = (
    "SELECT f.thread, m.n FROM"
    " (SELECT thread, channel_id, min(n) AS n FROM thread_follows GROUP BY thread, channel_id) AS f"
    " JOIN messages AS m ON m.channel_id = f.channel_id AND m.thread = f.thread AND m.n > f.n"
    " ORDER BY m.n"
)
# Follows a thread, with the given cursor as the read marker. A read marker never moves backwards.
_FOLLOW = (
    "INSERT INTO thread_follows VALUES (?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET n = excluded.n WHERE excluded.n > thread_follows.n"
)
# Selects the member, thread and cursor of each unread mention.
_UNREAD_MENTIONS = (
    "SELECT f.member_id, f.thread, m.n FROM mentions AS m JOIN messages AS s ON s.n = m.n"
    " JOIN thread_follows AS f ON f.member_id = m.member_id AND f.thread = s.thread"
    " WHERE m.n > f.n ORDER BY m.n"
)


class Threads:
    def __init__(self, services: Services) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._following = ThreadFollows()
        self._gradually = GradualPushes(self._push_state)

    async def load(self) -> None:
        """Load the unread counts. Call this after the directory is loaded."""
        followers, channels = self._following, self._directory.channels
        for member_id, thread, channel_id, n, last_n in await self._database.rows(_FOLLOWS):
            if channel_id in channels and member_id in self._directory.members:
                followers.add(thread, channel_id, member_id, n, last_n)
        for thread, n in await self._database.rows(_UNREAD):
            followers.posted(thread, n)
        for member_id, thread, n in await self._database.rows(_UNREAD_MENTIONS):
            followers.mentioned(thread, member_id, n)

    def welcome(self, session: Session) -> dict[str, object]:
        """Return every thread that the member follows and may view."""
        return {
            "threads": [self.state(session.member_id, thread) for thread in self._visible(session.member_id)]
        }

    def follows(self, member_id: str, thread: str) -> bool:
        return self._following.follow(thread, member_id) is not None

    def state(self, member_id: str, thread: str, channel_id: str = "") -> ThreadState:
        """Return a thread's state for a member. `channel_id` is used only if the member does not follow the
        thread.
        """
        follow, followed = self._following.follow(thread, member_id), self._following.thread(thread)
        return ThreadState(
            channel_id=followed.channel_id if follow and followed else channel_id,
            thread=thread,
            following=follow is not None,
            read_up_to=last_id_of(follow.read_n) if follow else None,
            last=last_id_of(followed.last_n) if follow and followed else None,
            unread=self._following.unread(thread, member_id),
            mentions=len(follow.mentions) if follow else 0,
        )

    async def followed_threads(
        self, member_id: str, before: int | None, limit: int
    ) -> tuple[list[tuple[Message | None, ThreadState]], bool]:
        """Return the member's threads with their roots, most recently active first, and whether there are
        more.
        """
        threads = [t for t in self._visible(member_id) if before is None or self._last(t) < before]
        page = threads[:limit]
        roots = {
            m.id: m
            for m in await store.messages_by_number(self._database, [number_of(thread) for thread in page])
        }
        visible = {channel.id for channel in self._directory.visible_channels(member_id)}
        shown = []
        for thread in page:
            state, root = self.state(member_id, thread), roots.get(thread)
            if state.following and state.channel_id in visible:
                shown.append((root, state))
        return shown, len(threads) > limit

    # Requests by members who follow threads.

    @shared_write
    def follow(self, member_id: str, channel_id: str, thread: str) -> Write[ThreadSummary, ThreadState]:
        """Follow a thread. Its existing messages count as read. Raises ChatError if the thread does not
        exist.
        """
        self._directory.channel(member_id, channel_id)
        dropped = self._following.threads_to_unfollow(thread, [member_id])

        def write(connection: Connection) -> ThreadSummary:
            answers = _answers(connection, thread)
            sql = "SELECT 1 FROM messages WHERE channel_id = ? AND thread = ? LIMIT 1"
            if answers is None or not connection.execute(sql, (channel_id, thread)).fetchone():
                raise ChatError("unknown_message", "There is no thread at this message yet")
            _unfollow(connection, dropped)
            connection.execute(_FOLLOW, (member_id, thread, channel_id, answers.last_n))
            return answers

        def written(answers: ThreadSummary) -> ThreadState:
            self._drop(dropped)
            last_n = answers.last_n
            if member_id in self._directory.members:
                self._following.add(thread, channel_id, member_id, last_n, last_n)
            return self._push_state(member_id, thread, channel_id)

        return Write(write, written)

    @shared_write
    def unfollow(self, member_id: str, channel_id: str, thread: str) -> Write[None, ThreadState]:
        self._require(member_id, channel_id, thread)

        def written(_: None) -> ThreadState:
            self._following.drop(thread, member_id)
            return self._push_state(member_id, thread, channel_id)

        return Write(lambda connection: _unfollow(connection, [(member_id, thread)]), written)

    @shared_write
    def read(self, member_id: str, channel_id: str, thread: str, message_id: str) -> Write[None, ThreadState]:
        """Mark everything up to a message as read for a follower, even if the message has been deleted."""
        self._require(member_id, channel_id, thread)
        # A marker must not cover messages that have not been posted yet.
        n = min(number_of(message_id), self._last(thread))

        def marked(_: None) -> ThreadState:
            self._following.read(thread, member_id, n)
            return self._push_state(member_id, thread, channel_id)

        return Write(lambda connection: _read(connection, member_id, thread, n), marked)

    # Methods that apply messages to threads.

    def threads_to_unfollow(
        self, thread: str, author_id: str, notified: Collection[str]
    ) -> list[tuple[str, str]]:
        """Return the (member, thread) pairs to remove before these members can follow this thread."""
        return self._following.threads_to_unfollow(thread, [author_id, *notified])

    def insert(self, connection: Connection, message: Message) -> Message:
        """Store the new followers. Call this within the write transaction, after inserting the message. Call
        `posted` once it has committed.

        Raises ChatError.
        """
        thread = message.thread
        assert thread is not None, "the message is in a thread"
        _unfollow(connection, message.to_unfollow)
        # Existing followers keep their read markers.
        connection.executemany(
            "INSERT OR IGNORE INTO thread_follows VALUES (?, ?, ?, ?)",
            [(member_id, thread, message.channel_id, message.n - 1) for member_id in message.joining],
        )
        _read(connection, message.author.id, thread, message.n)
        return self.with_summary(connection, message)

    def with_summary(self, connection: Connection, message: Message) -> Message:
        """Return the message with its thread's current summary. Call this within the write transaction."""
        if message.thread is None:
            return message
        return structs.replace(message, thread_summary=_answers(connection, message.thread))

    def root(self, connection: Connection, channel_id: str, thread: str) -> Message:
        """Return a thread's root message. Call this within a write transaction. Raises ChatError."""
        root = store.existing(connection, channel_id, thread)
        if root.thread is not None:
            raise ChatError("invalid_request", "A message of a thread has no thread of its own")
        return root

    def joining(self, message: Message, root: Message) -> tuple[str, ...]:
        """Return the members who will follow the thread because of this message."""
        joining: dict[str, None] = dict.fromkeys([message.author.id, *message.notified])
        author = root.author
        viewers = self._directory.viewers(message.channel_id)
        if root.answers is None and author.kind == MEMBER and author.id in viewers:
            joining[author.id] = None
        return tuple(joining)

    def posted(self, message: Message) -> None:
        """Count a new message, and mark everything up to it as read for its author."""
        thread, followers = message.thread, self._following
        assert thread is not None, "the message is in a thread"
        self._drop(message.to_unfollow)
        new = [m for m in message.joining if not self.follows(m, thread) and m in self._directory.members]
        for member_id in new:
            followers.add(thread, message.channel_id, member_id, message.n - 1, message.n)
        followers.posted(thread, message.n, message.notified)
        followers.read(thread, message.author.id, message.n)
        self._hub.push("thread_changed", thread_changed(message), Viewers(message.channel_id))
        self._gradually.add(new, thread)

    def edited(self, old: Message, new: Message) -> None:
        if not (old.groups and new.groups) and new.thread is not None:
            counted = self._following.unmentioned(new.thread, new.n, but=new.mentions)
            self._gradually.add(counted, new.thread)

    def deleted(self, message: Message) -> None:
        thread = message.thread
        assert thread is not None, "the message is in a thread"
        counted = self._following.unmentioned(thread, message.n)
        self._hub.push("thread_changed", thread_changed(message), Viewers(message.channel_id))
        if message.thread_summary is None:
            # The thread is empty, so nobody can follow it.
            counted = self._following.forget(thread)
        else:
            self._following.deleted(thread, message.n, message.thread_summary.last_n)
        self._gradually.add(counted, thread, message.channel_id)

    # Methods that clean up after deleted channels and members.

    def forget_channel(self, channel: Channel) -> None:
        self._following.forget_channel(channel.id)

    def forget_member(self, member_id: str) -> None:
        self._following.forget_member(member_id)

    def _require(self, member_id: str, channel_id: str, thread: str) -> None:
        """Raise ChatError if the member may not view the channel, or if the thread is in another channel."""
        self._directory.channel(member_id, channel_id)
        followed = self._following.thread(thread)
        if followed is not None and followed.channel_id != channel_id:
            raise ChatError("unknown_message")

    def _visible(self, member_id: str) -> list[str]:
        visible = {channel.id for channel in self._directory.visible_channels(member_id)}
        threads = ((thread, self._following.thread(thread)) for thread in self._following.of(member_id))
        return [thread for thread, followed in threads if followed and followed.channel_id in visible]

    def _last(self, thread: str) -> int:
        followed = self._following.thread(thread)
        return followed.last_n if followed else 0

    def _drop(self, follows: Collection[tuple[str, str]]) -> None:
        for member_id, thread in follows:
            followed = self._following.thread(thread)
            self._following.drop(thread, member_id)
            if followed is not None:
                self._push_state(member_id, thread, followed.channel_id)

    def _push_state(self, member_id: str, thread: str, channel_id: str = "") -> ThreadState:
        """Push the state. This also corrects a client that missed earlier pushes."""
        state = self.state(member_id, thread, channel_id)
        if member_id in self._directory.viewers(state.channel_id):
            self._hub.push("thread_state", state, only(member_id))
        return state


def _answers(connection: Connection, thread: str) -> ThreadSummary | None:
    """Return a thread's current summary, or None if the thread is empty. Call this within the write
    transaction.
    """
    row = connection.execute(
        "SELECT t.count, l.n, l.id, l.posted_at_ms FROM threads AS t JOIN messages AS l ON l.n = t.last_n"
        " WHERE t.id = ?",
        (thread,),
    ).fetchone()
    return row and ThreadSummary(row["count"], row["n"], row["id"], moment_of(row["n"], row["posted_at_ms"]))


def _read(connection: Connection, member_id: str, thread: str, n: int) -> None:
    """Set a follower's read marker. A marker never moves backwards."""
    connection.execute(
        "UPDATE thread_follows SET n = ?3 WHERE member_id = ?1 AND thread = ?2 AND n < ?3",
        (member_id, thread, n),
    )


def _unfollow(connection: Connection, follows: Iterable[tuple[str, str]]) -> None:
    """Remove (member, thread) pairs from the followers."""
    connection.executemany("DELETE FROM thread_follows WHERE member_id = ? AND thread = ?", follows)
