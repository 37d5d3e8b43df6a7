"""Exports and deletes a member's own messages and reactions. Contains no HTTP code.

Messages in channels that the member can no longer view are included.
"""

from collections.abc import AsyncIterator

from svc.base.database import Connection, Database
from svc.chat.access.media_urls import MediaUrls
from svc.chat.access.tokens import Session
from svc.chat.messages import responses, store
from svc.chat.messages.message import MEMBER, Message, first_number_at
from svc.chat.messages.rules import Messages

_PAGE = 200
# The number of messages deleted per write transaction. Each transaction takes a few milliseconds, and other
# writes can run in between.
_ERASED_AT_ONCE = 100
_WRITTEN = "SELECT n FROM messages WHERE author_id = ? AND author_kind = ? AND n > ? ORDER BY n LIMIT ?"
REACTIONS_OF = (
    "SELECT r.n, m.id, m.channel_id, r.emoji, r.reacted_at_ms FROM reactions r JOIN messages m USING (n)"
    " WHERE r.member_id = ? AND (r.n, r.emoji) > (?, ?) ORDER BY r.n, r.emoji LIMIT ?"
)
# The time in a message's cursor is never earlier than the time of posting, but may be later.
_POSTED_BETWEEN = (
    "SELECT n FROM messages WHERE author_id = ?1 AND author_kind = ?2 AND n >= ?3"
    " AND coalesce(posted_at_ms, n >> 12) BETWEEN ?4 AND coalesce(?5, 9223372036854775807) LIMIT ?6"
)


class OwnMessages:
    def __init__(self, database: Database, messages: Messages, urls: MediaUrls) -> None:
        self._database = database
        self._messages = messages
        self._urls = urls

    async def export_messages(self, session: Session) -> AsyncIterator[object]:
        """Yield all of a member's messages with their earlier versions, oldest first."""
        last = 0
        while page := await self._database.rows(_WRITTEN, (session.member_id, MEMBER, last, _PAGE)):
            messages = await store.messages_by_number(self._database, [n for (n,) in page])
            for message in reversed(messages):
                yield {**_own_part(message, self._urls), "edits": await self._edits(message)}
            last = page[-1]["n"]

    async def reactions(self, session: Session) -> AsyncIterator[object]:
        last = (0, "")
        while page := await self._database.rows(REACTIONS_OF, (session.member_id, *last, _PAGE)):
            for row in page:
                yield {name: row[name] for name in ("id", "channel_id", "emoji", "reacted_at_ms")}
            last = page[-1]["n"], page[-1]["emoji"]

    async def erase_some(self, member_id: str, since_ms: int = 0, until_ms: int | None = None) -> bool:
        """Delete a batch of the messages that a member posted between two times. Return False once none are
        left.
        """

        def remove(connection: Connection) -> list[Message]:
            which = member_id, MEMBER, first_number_at(since_ms), since_ms, until_ms, _ERASED_AT_ONCE
            some = [n for (n,) in connection.execute(_POSTED_BETWEEN, which)]
            messages = store.read_these(connection, some)
            deleted = [self._messages.remove(connection, message) for message in messages]
            connection.execute("DELETE FROM message_nonces WHERE author_id = ?", (member_id,))
            return deleted

        def removed(messages: list[Message]) -> None:
            for message in messages:
                self._messages.removed(message)

        deleted = await self._database.write(remove, removed)
        return bool(deleted)

    async def _edits(self, message: Message) -> list[object]:
        if message.edited_at_ms is None:
            return []
        edits = await store.edits(self._database, message.n)
        return list(edits)


def _own_part(message: Message, urls: MediaUrls) -> dict[str, object]:
    """Return the parts of a message that its author wrote."""
    names = ("id", "channel_id", "thread", "text", "reply_to", "attachments", "posted_at_ms", "edited_at_ms")
    shown = responses.message(message, urls)
    return {name: getattr(shown, name) for name in names}
