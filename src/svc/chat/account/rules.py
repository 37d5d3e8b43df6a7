"""Lets members leave the server and deletes their data on request. Contains no HTTP code.

Members who delete their data leave immediately: their name, profile picture, identities, devices and blocks
are deleted with the membership. Their messages are deleted in the background, because there can be many, and
the deletion continues after a restart. The recent messages of a banned member are deleted in the same way.
Reactions, audit log entries and bans remain, under an id that no longer identifies anybody. The owner must
transfer ownership before leaving.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import NoReturn

from svc.base.database import Connection, Database, StorageFailed, Write
from svc.base.tables import Table
from svc.base.tasks import continue_on_errors
from svc.chat.access.checked_writes import exclusive_write
from svc.chat.access.directory import Directory
from svc.chat.errors import ChatError
from svc.chat.members.rules import Members

_FAULT_MESSAGES = "messages could not be deleted", "deleting messages failed"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Erasure:
    """A scheduled deletion of a member's messages from a period, which may be open-ended."""

    member_id: str
    since_ms: int = 0
    until_ms: int | None = None


_ERASURES = Table("erasures", Erasure)

# Deletes the data of the member with the given id. Called within a write transaction.
Forgetting = Callable[[Connection, str], None]
# Deletes a batch of a member's messages posted between two times in ms. Returns False when none remain.
EraseSome = Callable[[str, int, int | None], Awaitable[bool]]


class AccountRules:
    def __init__(
        self,
        database: Database,
        directory: Directory,
        members: Members,
        forgetting: Sequence[Forgetting],
        erase_some: EraseSome,
    ) -> None:
        self._database = database
        self._directory = directory
        self._members = members
        self._forgetting = forgetting
        self._erase_some = erase_some
        # Set at startup, because an earlier run may have left erasures unfinished.
        self._due = asyncio.Event()
        self._due.set()

    @exclusive_write
    def leave(self, member_id: str, now: float) -> Write[None, None]:
        """Leave the server. To return, the member has to join again. Raises ChatError."""
        self._require_no_owner(member_id)
        return Write(
            lambda connection: self._members.remove(connection, member_id, now),
            lambda _: self._members.removed(member_id, "You have left this server"),
        )

    @exclusive_write
    def delete(self, member_id: str, now: float) -> Write[None, None]:
        """Leave the server and delete all of the member's data. Raises ChatError."""
        self._require_no_owner(member_id)

        def change(connection: Connection) -> None:
            self._members.remove(connection, member_id, now)
            for forget in self._forgetting:
                forget(connection, member_id)
            _ERASURES.put(connection, Erasure(member_id), asked_at_ms=int(now * 1000))

        def deleted(_: None) -> None:
            self._members.removed(member_id, "Your data is being deleted")
            self._due.set()

        return Write(change, deleted)

    def erase_recent(self, connection: Connection, member_id: str, since_ms: int, now_ms: int) -> None:
        """Schedule the deletion of a member's recent messages. Call this within a write transaction, and
        `erasure_due` after it.

        An existing erasure is extended to cover both periods.
        """
        connection.execute(
            "INSERT INTO erasures (member_id, asked_at_ms, since_ms, until_ms) VALUES (?1, ?3, ?2, ?3)"
            " ON CONFLICT (member_id) DO UPDATE SET since_ms = min(since_ms, ?2),"
            " until_ms = CASE WHEN until_ms IS NULL THEN NULL ELSE ?3 END",
            (member_id, since_ms, now_ms),
        )

    def erasure_due(self) -> None:
        self._due.set()

    async def run(self) -> NoReturn:
        """Delete messages in the background while the server is running."""
        while True:
            await self._due.wait()
            async with continue_on_errors(logger, StorageFailed, *_FAULT_MESSAGES):
                await self._erase_next()

    async def _erase_next(self) -> None:
        self._due.clear()
        due = await self._database.write(lambda c: _ERASURES.find(c, "ORDER BY asked_at_ms LIMIT 1"))
        if not due:
            return
        erasure = due[0]
        # Run again, because another erasure might be due, or this one must be retried after a failure.
        self._due.set()
        while await self._erase_some(erasure.member_id, erasure.since_ms, erasure.until_ms):
            pass
        # Keep the row if the erasure has been extended.
        await self._database.write(lambda connection: _ERASURES.delete(connection, **asdict(erasure)))

    def _require_no_owner(self, member_id: str) -> None:
        if self._directory.is_owner(member_id):
            raise ChatError("owner_must_stay")
