"""Kicks, bans and timeouts: by whom, of whom, and what follows. No HTTP, no SQL.

Each acts on lower ranks only; whether somebody may do it at all, the catalogue has asked.
Without an actor it is the operator, who ranks above everybody but the owner. A
ban is of the person: whoever proves one of the identities that the member had here is turned
away at the door. Spec: chat document section 3; the moderation of the design.
"""

from collections.abc import Callable

from svc.base.database import Connection, Database
from svc.chat.access.changes import Changes
from svc.chat.access.directory import Directory, Member
from svc.chat.audit.rules import Audit
from svc.chat.errors import ChatError
from svc.chat.live.closing import CloseCode
from svc.chat.members.rules import Members
from svc.chat.moderation import store
from svc.chat.moderation.store import Ban

# Longer than anybody remembers what it was for.
MAX_TIMEOUT_S = 28 * 24 * 60 * 60


class Moderation:
    """`wake` is called when the time at which the next timeout ends has changed."""

    def __init__(
        self, database: Database, directory: Directory, members: Members, audit: Audit, changes: Changes
    ) -> None:
        self._database = database
        self._directory = directory
        self._members = members
        self._audit = audit
        self._changes = changes
        self.wake: Callable[[], None] = lambda: None

    async def kick(self, actor_id: str | None, member_id: str, reason: str, now: float) -> None:
        """A member goes; nothing keeps them from coming back with an invite."""
        self._require_above(actor_id, member_id)
        nickname = self._directory.member(member_id).nickname

        def write(connection: Connection) -> None:
            self._members.remove(connection, member_id, now)
            details = {"nickname": nickname, "reason": reason}
            self._audit.record(connection, actor_id, "member_kick", member_id, details, now)

        await self._database.write(write, lambda _: self._gone(member_id, "Removed from this server"))

    async def ban(self, actor_id: str | None, member_id: str, reason: str, now: float) -> None:
        """A member goes and may not come back; also somebody who has gone already."""
        here = member_id in self._directory.members
        if here:
            self._require_above(actor_id, member_id)

        def write(connection: Connection) -> bool:
            nickname = store.nickname(connection, member_id)
            if nickname is None:
                raise ChatError("unknown_member")
            # Whoever left in the meantime is banned all the same.
            still_here = here and store.is_member(connection, member_id)
            if still_here:
                self._members.remove(connection, member_id, now)
            store.ban(connection, Ban(member_id, nickname, reason, actor_id, int(now * 1000)))
            details = {"nickname": nickname, "reason": reason}
            self._audit.record(connection, actor_id, "member_ban", member_id, details, now)
            return still_here

        def banned(was_here: bool) -> None:
            if was_here:
                self._gone(member_id, "Banned from this server")

        await self._database.write(write, banned)

    async def unban(self, actor_id: str | None, member_id: str, now: float) -> None:
        def write(connection: Connection) -> None:
            if not store.unban(connection, member_id):
                raise ChatError("unknown_ban")
            self._audit.record(connection, actor_id, "member_unban", member_id, {}, now)

        await self._database.write(write)

    async def bans(self, after: str, limit: int) -> tuple[list[Ban], str | None]:
        """Bans in the order in which the members joined, and what to ask for `after` to go on."""
        found = await store.bans(self._database, after, limit + 1)
        page = found[:limit]
        return page, page[-1].member_id if len(found) > limit else None

    def refuse_banned(self, connection: Connection, former_id: str) -> None:
        """A step of the write in which somebody joins who was a member before. Raises ChatError."""
        if store.is_banned(connection, former_id):
            raise ChatError("banned")

    # Timeouts.

    async def time_out(
        self, actor_id: str, member_id: str, duration_s: int, reason: str, now: float
    ) -> Member:
        """For so long a member only reads; 0 ends it."""
        self._directory.require_above(actor_id, member_id)
        until = now + duration_s if duration_s else 0.0

        def write(connection: Connection) -> None:
            if not self._members.time_out(connection, member_id, until):
                raise ChatError("unknown_member")
            action = "member_timeout" if duration_s else "member_timeout_end"
            details = {"until_ms": int(until * 1000), "reason": reason}
            self._audit.record(connection, actor_id, action, member_id, details, now)

        await self._database.write(write, lambda _: self._timed_out(member_id, until))
        return self._directory.member(member_id)

    def next_end(self, now: float) -> float | None:
        """When the next timeout ends, if there is any."""
        ends = (member.timeout_until for member in self._directory.members.values())
        return min((end for end in ends if end > now), default=None)

    def ended(self, since: float, now: float) -> None:
        """Timeouts that have ended meanwhile give back what they took."""
        members = self._directory.members.values()
        if free := [member.id for member in members if since < member.timeout_until <= now]:
            for tell in self._changes.permissions_changed:
                tell(free)

    def _timed_out(self, member_id: str, until: float) -> None:
        self._members.changed(member_id, timeout_until=until)
        for tell in self._changes.permissions_changed:
            tell([member_id])
        self.wake()

    def _require_above(self, actor_id: str | None, member_id: str) -> None:
        if actor_id is not None:
            self._directory.require_above(actor_id, member_id)
        else:
            self._directory.member(member_id)
            if self._directory.is_owner(member_id):
                raise ChatError("rank_too_low", "Nobody sends the owner away")

    def _gone(self, member_id: str, reason: str) -> None:
        self._members.removed(member_id, CloseCode.SIGNED_OUT, reason)
