"""Leaving, and deleting what there is of oneself. No HTTP.

Who deletes their data leaves at once: name, picture, identities, devices and blocks go with
the membership. Their messages, which may be very many, follow bit by bit; a server that is
stopped meanwhile goes on where it was. The last messages of somebody who is banned go in the
same way. What stays knows them by a number only: reactions, the audit log, bans. The owner does
neither before somebody else is the owner.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from typing import NoReturn

from svc.base.database import Act, Connection, Database, StorageFailed
from svc.base.tables import Table
from svc.base.tasks import undeterred
from svc.chat.access.acts import changes_rules
from svc.chat.access.directory import Directory
from svc.chat.errors import ChatError
from svc.chat.members.rules import Members

_SAID = "messages could not be deleted", "deleting messages failed"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Erasure:
    """Messages of a member that are to go: those posted from one moment to another, or to no end."""

    member_id: str
    since_ms: int = 0
    until_ms: int | None = None


_ERASURES = Table("erasures", Erasure)

# Steps of the write in which a member's data is deleted, by their id.
Forgetting = Callable[[Connection, str], None]
# Deletes some of a member's messages, posted between two moments in ms; False once there are none.
EraseSome = Callable[[str, int, int | None], Awaitable[bool]]


class OwnAffairs:
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
        # What a former run has left undone comes first.
        self._due = asyncio.Event()
        self._due.set()

    @changes_rules
    def leave(self, member_id: str, now: float) -> Act[None, None]:
        """Stop being a member; coming back takes what it takes anybody. Raises ChatError."""
        self._require_no_owner(member_id)
        return Act(
            lambda connection: self._members.remove(connection, member_id, now),
            lambda _: self._members.removed(member_id, "You have left this server"),
        )

    @changes_rules
    def delete(self, member_id: str, now: float) -> Act[None, None]:
        """Leave, and have everything of oneself deleted. Raises ChatError."""
        self._require_no_owner(member_id)

        def change(connection: Connection) -> None:
            self._members.remove(connection, member_id, now)
            for forget in self._forgetting:
                forget(connection, member_id)
            _ERASURES.put(connection, Erasure(member_id), asked_at_ms=int(now * 1000))

        def deleted(_: None) -> None:
            self._members.removed(member_id, "Your data is being deleted")
            self._due.set()

        return Act(change, deleted)

    def erase_recent(self, connection: Connection, member_id: str, since_ms: int, now_ms: int) -> None:
        """A step of the write in which somebody's last messages are taken away; `erasure_due` follows.

        An erasure that is there already reaches as far as both.
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
        """Delete the messages that are to go, for as long as the server runs."""
        while True:
            await self._due.wait()
            async with undeterred(logger, StorageFailed, *_SAID):
                await self._erase_next()

    async def _erase_next(self) -> None:
        self._due.clear()
        due = await self._database.write(lambda c: _ERASURES.found(c, "ORDER BY asked_at_ms LIMIT 1"))
        if not due:
            return
        erasure = due[0]
        # There may be another, or this one not be done when something fails.
        self._due.set()
        while await self._erase_some(erasure.member_id, erasure.since_ms, erasure.until_ms):
            pass
        # Unless it has come to reach further meanwhile.
        await self._database.write(lambda connection: _ERASURES.delete(connection, **asdict(erasure)))

    def _require_no_owner(self, member_id: str) -> None:
        if self._directory.is_owner(member_id):
            raise ChatError("owner_must_stay")
