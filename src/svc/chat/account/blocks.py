"""Stores which members each member has blocked. Contains no HTTP code.

A block is private: the blocked member is not notified. Other modules enforce blocks: mentions by a blocked
member do not count, and the web client hides their messages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from svc.base.database import Connection, Write
from svc.base.tables import number
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.live.hub import only
from svc.chat.schemas import Id
from svc.chat.services import Services

MAX_BLOCKS = 1000
Blocked = Annotated[Sequence[Id], Meta(max_length=MAX_BLOCKS)]


@dataclass(frozen=True, slots=True)
class Block:
    member_id: Id


class Blocks:
    def __init__(self, services: Services) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._blocked: dict[str, set[str]] = {}

    async def load(self) -> None:
        for member_id, blocked_id in await self._database.rows("SELECT member_id, blocked_id FROM blocks"):
            self._blocked.setdefault(member_id, set()).add(blocked_id)

    def welcome(self, session: Session) -> dict[str, object]:
        return {"blocked": self.of(session.member_id)}

    def of(self, member_id: str) -> list[str]:
        """Return the ids of the members whom a member has blocked."""
        return sorted(self._blocked.get(member_id, ()))

    def blocks(self, member_id: str, other_id: str) -> bool:
        """Return whether the first member has blocked the second."""
        return other_id in self._blocked.get(member_id, ())

    @shared_write
    def block(self, member_id: str, other_id: str, now: float) -> Write[None, None]:
        """Block a member. Idempotent. Raises ChatError."""
        self._directory.member(other_id)
        if other_id == member_id:
            raise ChatError("invalid_request", "You cannot block yourself")

        def change(connection: Connection) -> None:
            row = member_id, other_id, int(now * 1000)
            connection.execute("INSERT OR IGNORE INTO blocks VALUES (?, ?, ?)", row)
            cursor = connection.execute("SELECT count(*) FROM blocks WHERE member_id = ?", (member_id,))
            if number(cursor) > MAX_BLOCKS:
                raise ChatError("too_many_blocks")

        def blocked(_: None) -> None:
            self._blocked.setdefault(member_id, set()).add(other_id)
            self._hub.push("member_blocked", Block(other_id), only(member_id))

        return Write(change, blocked)

    @shared_write
    def unblock(self, member_id: str, other_id: str) -> Write[None, None]:
        """Remove a block. Idempotent."""

        def change(connection: Connection) -> None:
            key = member_id, other_id
            connection.execute("DELETE FROM blocks WHERE member_id = ? AND blocked_id = ?", key)

        def unblocked(_: None) -> None:
            self._blocked.get(member_id, set()).discard(other_id)
            self._hub.push("member_unblocked", Block(other_id), only(member_id))

        return Write(change, unblocked)

    def forget_in(self, connection: Connection, member_id: str) -> None:
        """Delete all blocks by and against a leaving member. Call this within a write transaction, and
        `forget` after it.
        """
        connection.execute("DELETE FROM blocks WHERE ?1 IN (member_id, blocked_id)", (member_id,))

    def forget(self, member_id: str) -> None:
        """Forget all blocks by and against a former member."""
        self._blocked.pop(member_id, None)
        for blocked in self._blocked.values():
            blocked.discard(member_id)
