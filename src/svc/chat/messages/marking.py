"""Reactions and pins: what hangs on a message that others have written. No HTTP, no SQL."""

from svc.base.database import Connection, Database
from svc.chat.access.directory import Directory
from svc.chat.access.permissions import Permission
from svc.chat.audit.rules import Audit
from svc.chat.errors import ChatError
from svc.chat.live.audience import Viewers
from svc.chat.live.hub import Hub
from svc.chat.messages import search_store, store
from svc.chat.messages.emoji import checked_emoji
from svc.chat.messages.message import Message, number_of
from svc.chat.messages.page_cache import PageCache
from svc.chat.messages.searching import Indexer

# Two rows of them under a message.
MAX_EMOJI = 20
# What a reader can take in; beyond it a pin means nothing.
MAX_PINS = 50


class Marking:
    def __init__(
        self,
        database: Database,
        directory: Directory,
        hub: Hub,
        audit: Audit,
        pages: PageCache,
        indexer: Indexer,
    ) -> None:
        self._database = database
        self._directory = directory
        self._hub = hub
        self._audit = audit
        self._pages = pages
        self._indexer = indexer

    async def react(self, member_id: str, channel_id: str, message_id: str, emoji: str, now: float) -> None:
        """Once for each member and emoji; a repetition changes nothing. Raises ChatError."""
        self._directory.require(member_id, Permission.ADD_REACTIONS, channel_id)
        emoji = checked_emoji(emoji)

        def add(connection: Connection) -> bool:
            message = _existing(connection, channel_id, message_id)
            if emoji not in message.reactions and len(message.reactions) >= MAX_EMOJI:
                raise ChatError("too_many", f"A message has at most {MAX_EMOJI} different reactions")
            if not message.reactions:
                search_store.changes(connection, message)
            return store.add_reaction(connection, message.n, emoji, member_id, int(now * 1000))

        def added(changed: bool) -> None:
            if changed:
                self._reacted(member_id, channel_id, message_id, emoji, added=True)

        await self._database.write(add, added)

    async def unreact(self, member_id: str, channel_id: str, message_id: str, emoji: str) -> None:
        """Take back one's own reaction; nothing happens where there is none. Raises ChatError."""
        self._directory.require(member_id, Permission.ADD_REACTIONS, channel_id)
        emoji = checked_emoji(emoji)

        def remove(connection: Connection) -> bool:
            message = _existing(connection, channel_id, message_id)
            if message.reactions == {emoji: [member_id]}:
                search_store.changes(connection, message)
            return store.remove_reaction(connection, message.n, emoji, member_id)

        def removed(changed: bool) -> None:
            if changed:
                self._reacted(member_id, channel_id, message_id, emoji, added=False)

        await self._database.write(remove, removed)

    async def pin(self, member_id: str, channel_id: str, message_id: str, now: float) -> None:
        self._directory.require(member_id, Permission.MANAGE_MESSAGES, channel_id)

        def add(connection: Connection) -> bool:
            message = _existing(connection, channel_id, message_id)
            if message.pinned:
                return False
            if store.count_pins(connection, channel_id) >= MAX_PINS:
                raise ChatError("too_many", f"A channel has at most {MAX_PINS} pinned messages")
            search_store.changes(connection, message)
            store.add_pin(connection, message, member_id, int(now * 1000))
            self._record(connection, member_id, "pin_add", message, now)
            return True

        await self._database.write(add, lambda changed: self._pinned(changed, channel_id, message_id, True))

    async def unpin(self, member_id: str, channel_id: str, message_id: str, now: float) -> None:
        self._directory.require(member_id, Permission.MANAGE_MESSAGES, channel_id)

        def remove(connection: Connection) -> bool:
            message = _existing(connection, channel_id, message_id)
            if message.pinned:
                search_store.changes(connection, message)
                store.remove_pin(connection, message.n)
                self._record(connection, member_id, "pin_remove", message, now)
            return message.pinned

        await self._database.write(
            remove, lambda changed: self._pinned(changed, channel_id, message_id, False)
        )

    def _record(
        self, connection: Connection, actor_id: str, action: str, message: Message, now: float
    ) -> None:
        details = {"channel_id": message.channel_id}
        self._audit.record(
            connection, actor_id=actor_id, action=action, target_id=message.id, details=details, now=now
        )

    def _written(self, channel_id: str) -> None:
        self._pages.written(channel_id)
        self._indexer.wake()

    def _reacted(self, member_id: str, channel_id: str, message_id: str, emoji: str, *, added: bool) -> None:
        self._written(channel_id)
        change = {
            "channel_id": channel_id,
            "id": message_id,
            "emoji": emoji,
            "member_id": member_id,
            "added": added,
        }
        self._hub.push("reactions_changed", change, Viewers(channel_id))

    def _pinned(self, changed: bool, channel_id: str, message_id: str, pinned: bool) -> None:
        if not changed:
            return
        self._written(channel_id)
        change = {"channel_id": channel_id, "id": message_id, "pinned": pinned}
        self._hub.push("pins_changed", change, Viewers(channel_id))


def _existing(connection: Connection, channel_id: str, message_id: str) -> Message:
    message = store.get(connection, channel_id, number_of(message_id))
    if message is None or message.id != message_id:
        raise ChatError("unknown_message")
    return message
