"""A member's own messages and reactions, for taking them along or away. No HTTP, no SQL.

Also of channels that the member may not view any more: they wrote it.
"""

from collections.abc import AsyncIterator

from svc.base.database import Connection, Database
from svc.chat.access.media_urls import MediaUrls
from svc.chat.access.tokens import Asker
from svc.chat.messages import store
from svc.chat.messages.message import Message
from svc.chat.messages.rules import Messages

_PAGE = 200
# Some milliseconds of the writer's time; others write in between.
_ERASED_AT_ONCE = 100


class OwnMessages:
    def __init__(self, database: Database, messages: Messages, urls: MediaUrls) -> None:
        self._database = database
        self._messages = messages
        self._urls = urls

    async def written(self, asker: Asker) -> AsyncIterator[object]:
        """All messages with their earlier versions, the oldest first."""
        last = 0
        while page := await store.by(self._database, asker.member_id, last, _PAGE):
            for message in sorted(await store.these(self._database, page), key=lambda one: one.n):
                yield {**_own_part(message, self._urls), "edits": await self._edits(message)}
            last = page[-1]

    async def reactions(self, asker: Asker) -> AsyncIterator[object]:
        last = (0, "")
        while page := await store.reactions_of(self._database, asker.member_id, last, _PAGE):
            for row in page:
                yield {name: row[name] for name in ("id", "channel_id", "emoji", "reacted_at_ms")}
            last = page[-1]["n"], page[-1]["emoji"]

    async def erase_some(self, member_id: str, since_ms: int = 0, until_ms: int | None = None) -> bool:
        """Delete a few of a member's messages, posted between two moments; False once there are none."""

        def remove(connection: Connection) -> list[Message]:
            some = store.some_by(connection, member_id, since_ms, until_ms, _ERASED_AT_ONCE)
            found = store.read_these(connection, some)
            gone = [self._messages.remove(connection, message) for message in found]
            store.forget_nonces_of(connection, member_id)
            return gone

        def removed(messages: list[Message]) -> None:
            for message in messages:
                self._messages.removed(message)

        gone = await self._database.write(remove, removed)
        return bool(gone)

    async def _edits(self, message: Message) -> list[object]:
        if message.edited_at_ms is None:
            return []
        edits = await store.edits(self._database, message.n)
        return [{"text": edit.text, "replaced_at_ms": edit.replaced_at_ms} for edit in edits]


def _own_part(message: Message, urls: MediaUrls) -> dict[str, object]:
    """Without what others have done to it."""
    names = ("id", "channel_id", "thread", "text", "reply_to", "attachments", "posted_at_ms", "edited_at_ms")
    described = message.described(urls)
    return {name: described[name] for name in names}
