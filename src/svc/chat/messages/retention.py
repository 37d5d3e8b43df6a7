"""Attachments that were kept for as long as the owner wants go: the files, not the messages.

Off unless the owner sets a number of days. Looks every hour and at once when that number changes, takes a
few messages in each write, and goes on after a restart. What the store still holds then is the sweep's.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import NoReturn

from msgspec import structs

from svc.base.database import Connection, Database, StorageFailed
from svc.base.tasks import undeterred
from svc.chat.messages import search_store, store
from svc.chat.messages.message import Message, first_number_at
from svc.chat.messages.rules import Messages, Surroundings

DAY_MS = 24 * 60 * 60 * 1000
_INTERVAL_S = 3600.0
_AT_ONCE = 100
_DUE = "SELECT n FROM messages WHERE attachments IS NOT NULL AND n < ? ORDER BY n LIMIT ?"

_SAID = "old attachments could not be deleted", "deleting old attachments failed"

logger = logging.getLogger(__name__)


class Retention:
    """`now` gives seconds since 1970."""

    def __init__(
        self, database: Database, messages: Messages, surroundings: Surroundings, now: Callable[[], float]
    ) -> None:
        self._database = database
        self._messages = messages
        self._days, self._let_go = surroundings.retention_days, surroundings.let_go
        self._now = now
        self._due = asyncio.Event()

    async def changed(self, days: object) -> None:
        """The owner has set another number."""
        self._due.set()

    async def run(self) -> NoReturn:
        """For as long as the server runs."""
        while True:
            async with undeterred(logger, StorageFailed, *_SAID):
                await self.once()
            with suppress(TimeoutError):
                async with asyncio.timeout(_INTERVAL_S):
                    await self._due.wait()
            self._due.clear()

    async def once(self) -> int:
        """Let go of everything that is due; how many messages that were."""
        found = 0
        # Asked each time: the owner may change their mind meanwhile.
        while (days := self._days()) and (some := await self._some(days)):
            found += some
        if found:
            logger.info("old attachments deleted", extra={"messages": found})
        return found

    async def _some(self, days: int) -> int:
        before_ms = int(self._now() * 1000) - days * DAY_MS

        def expire(connection: Connection) -> list[Message]:
            due = connection.execute(_DUE, (first_number_at(max(0, before_ms)), _AT_ONCE))
            found = store.read_these(connection, [n for (n,) in due])
            return [self._expired(connection, message) for message in found]

        def expired(messages: list[Message]) -> None:
            for message in messages:
                self._messages.attachments_changed(message)

        gone = await self._database.write(expire, expired)
        return len(gone)

    def _expired(self, connection: Connection, message: Message) -> Message:
        search_store.changes(connection, message)
        left = structs.replace(
            message,
            attachments=(),
            expired_attachments=message.expired_attachments + len(message.attachments),
        )
        store.set_attachments(connection, left)
        self._let_go(connection, message.id, list(_keys(message.attachments)))
        return left


def _keys(value: object) -> Iterator[str]:
    """Of all stored files that are named in it."""
    match value:
        case Mapping():
            if isinstance(value.get("key"), str):
                yield value["key"]
            for part in value.values():
                yield from _keys(part)
        case list() | tuple():
            for part in value:
                yield from _keys(part)
