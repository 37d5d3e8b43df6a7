"""Deletes attachments, but not their messages, when their retention period ends.

This is off unless the owner sets a number of days. The task runs every hour and whenever that number changes,
handles a few messages in each write transaction, and resumes after a restart. The sweep (`media`) then
removes the objects from the store.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import NoReturn

from msgspec import structs

from svc.base.database import Connection, Database, StorageFailed
from svc.base.tasks import continue_on_errors
from svc.chat.messages import search_store, store
from svc.chat.messages.message import Message, first_number_at
from svc.chat.messages.ports import MessagePorts
from svc.chat.messages.rules import Messages

DAY_MS = 24 * 60 * 60 * 1000
_INTERVAL_S = 3600.0
_AT_ONCE = 100
_DUE = "SELECT n FROM messages WHERE attachments IS NOT NULL AND n < ? ORDER BY n LIMIT ?"

_FAULT_MESSAGES = "old attachments could not be deleted", "deleting old attachments failed"

logger = logging.getLogger(__name__)


class Retention:
    """The task that deletes old attachments. `now` returns seconds since 1970."""

    def __init__(
        self, database: Database, messages: Messages, ports: MessagePorts, now: Callable[[], float]
    ) -> None:
        self._database = database
        self._messages = messages
        self._settings, self._files = ports.settings, ports.files
        self._now = now
        self._due = asyncio.Event()

    async def changed(self, days: object) -> None:
        """Start a run immediately. Called when the owner has changed the number of days."""
        self._due.set()

    async def run(self) -> NoReturn:
        """Delete old attachments while the server is running."""
        while True:
            async with continue_on_errors(logger, StorageFailed, *_FAULT_MESSAGES):
                await self.run_once()
            with suppress(TimeoutError):
                async with asyncio.timeout(_INTERVAL_S):
                    await self._due.wait()
            self._due.clear()

    async def run_once(self) -> int:
        """Delete all attachments that are due. Return the number of affected messages."""
        affected = 0
        # Read the setting in every iteration, because the owner may change it.
        while (days := self._settings.retention_days()) and (some := await self._some(days)):
            affected += some
        if affected:
            logger.info("old attachments deleted", extra={"messages": affected})
        return affected

    async def _some(self, days: int) -> int:
        before_ms = int(self._now() * 1000) - days * DAY_MS

        def expire(connection: Connection) -> list[Message]:
            due = connection.execute(_DUE, (first_number_at(max(0, before_ms)), _AT_ONCE))
            messages = store.read_these(connection, [n for (n,) in due])
            return [self._expire(connection, message) for message in messages]

        def expired(messages: list[Message]) -> None:
            for message in messages:
                self._messages.attachments_changed(message)

        expired_messages = await self._database.write(expire, expired)
        return len(expired_messages)

    def _expire(self, connection: Connection, message: Message) -> Message:
        search_store.changes(connection, message)
        left = structs.replace(
            message,
            attachments=(),
            expired_attachments=message.expired_attachments + len(message.attachments),
        )
        store.set_attachments(connection, left)
        self._files.release_attachments(connection, message.id, list(_keys(message.attachments)))
        return left


def _keys(value: object) -> Iterator[str]:
    """Yield the keys of all stored files in a JSON value."""
    match value:
        case Mapping():
            if isinstance(value.get("key"), str):
                yield value["key"]
            for part in value.values():
                yield from _keys(part)
        case list() | tuple():
            for part in value:
                yield from _keys(part)
