"""Applies the rules for kicks, bans and timeouts. Contains no HTTP code.

The actor must outrank the target. `@endpoint` has already checked the actor's permission. An actor of None
means the operator, who outranks everyone except the owner. Bans and timeouts apply to the person, even if
they return as a new member. A person is recognised by any key or account that they have ever proved to be
theirs. See docs/http.md, "Moderation".
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from svc.base.database import Connection, Write
from svc.base.tables import Table, value
from svc.chat.access.checked_writes import exclusive_write
from svc.chat.access.directory import Member
from svc.chat.access.permissions import Permission
from svc.chat.errors import ChatError
from svc.chat.live.hub import PermissionHolders
from svc.chat.live.responses import Managed
from svc.chat.members.rules import Members
from svc.chat.schemas import Id, TimeMs
from svc.chat.services import Services

# The longest timeout. After a longer one, nobody would remember the reason.
MAX_TIMEOUT_S = 28 * 24 * 60 * 60
# The maximum age of the messages that a ban can delete. Older ones were evidently tolerated.
MAX_DELETED_S = 30 * 24 * 60 * 60
_MAX_WAIT_S = 60.0
_SAME_PERSON = "person_id = (SELECT person_id FROM members WHERE id = ?)"


@dataclass(frozen=True, slots=True)
class Ban:
    member_id: Id
    nickname: str
    reason: str
    banned_by: Id | None
    banned_at_ms: TimeMs


_BANS = Table("bans", Ban)


class Moderation:
    def __init__(self, services: Services, members: Members) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit, self._changes = services.audit, services.changes
        self._members = members
        # Set when timeouts have changed, because a different timeout may now be the next to end.
        self._ends_changed = asyncio.Event()
        # This hook also runs when a person in timeout rejoins.
        services.changes.permissions_changed.append(lambda _: self._ends_changed.set())

    @exclusive_write
    def kick(self, actor_id: str | None, member_id: str, reason: str, now: float) -> Write[None, None]:
        """Kick a member. They can rejoin with an invite."""
        self._require_above(actor_id, member_id)
        nickname = self._directory.member(member_id).nickname

        def write(connection: Connection) -> None:
            self._members.remove(connection, member_id, now)
            details = {"nickname": nickname, "reason": reason}
            self._audit.record(connection, actor_id, "member_kick", member_id, details, now)

        return Write(write, lambda _: self._members.removed(member_id, "Removed from this server"))

    @exclusive_write
    def ban(
        self, actor_id: str | None, member_id: str, reason: str, now: float, delete_messages_s: int = 0
    ) -> Write[list[str], None]:
        """Ban a person in all their present and former memberships.

        Also deletes their messages from the last `delete_messages_s` seconds.
        """
        now_ms = int(now * 1000)

        def write(connection: Connection) -> list[str]:
            nickname = _nickname(connection, member_id)
            if nickname is None:
                raise ChatError("unknown_member")
            sql = f"SELECT id, left_at_ms IS NULL FROM members WHERE {_SAME_PERSON} ORDER BY id"
            same_person = connection.execute(sql, (member_id,)).fetchall()
            present = [same_id for same_id, is_here in same_person if is_here]
            for present_id in present:
                self._require_above(actor_id, present_id)
                self._members.remove(connection, present_id, now)
            # Banning a member again replaces the reason.
            _BANS.put(connection, Ban(member_id, nickname, reason, actor_id, now_ms))
            details: dict[str, object] = {"nickname": nickname, "reason": reason}
            if delete_messages_s:
                details["delete_messages_s"] = delete_messages_s
                for same_id, _ in same_person:
                    for step in self._changes.messages_removal:
                        step(connection, same_id, now_ms - delete_messages_s * 1000, now_ms)
            self._audit.record(connection, actor_id, "member_ban", member_id, details, now)
            return present

        def banned(present: list[str]) -> None:
            for present_id in present:
                self._members.removed(present_id, "Banned from this server")
            self._bans_changed()
            if delete_messages_s:
                for notify in self._changes.messages_gone:
                    notify()

        return Write(write, banned)

    @exclusive_write
    def unban(self, actor_id: str | None, member_id: str, reason: str, now: float) -> Write[None, None]:
        def write(connection: Connection) -> None:
            # The same person may have been banned as another member.
            sql = f"DELETE FROM bans WHERE member_id IN (SELECT id FROM members WHERE {_SAME_PERSON})"
            if not connection.execute(sql, (member_id,)).rowcount:
                raise ChatError("unknown_ban")
            details = {"nickname": _nickname(connection, member_id), "reason": reason}
            self._audit.record(connection, actor_id, "member_unban", member_id, details, now)

        return Write(write, lambda _: self._bans_changed())

    async def bans(self, after: str, limit: int) -> tuple[list[Ban], str | None]:
        """Return a page of bans in join order, and the `after` value for the next page."""
        which = "WHERE member_id > ? ORDER BY member_id LIMIT ?"
        bans = await _BANS.all(self._database, which, after, limit + 1)
        page = bans[:limit]
        return page, page[-1].member_id if len(bans) > limit else None

    def refuse_banned(self, connection: Connection, person_id: str) -> None:
        """Raise ChatError if a returning person is banned. Call this within the write transaction that adds
        them.
        """
        reason = _ban_reason(connection, person_id)
        if reason is not None:
            raise ChatError("banned", more={"reason": reason} if reason else None)

    def punishes(self, connection: Connection, person_id: str, now_ms: int) -> bool:
        """Return whether a person is banned or in timeout. Call this within a write transaction."""
        sql = "SELECT 1 FROM members WHERE person_id = ? AND timeout_until_ms > ?"
        timed_out = connection.execute(sql, (person_id, now_ms)).fetchone() is not None
        return timed_out or _ban_reason(connection, person_id) is not None

    # Methods that start and end timeouts.

    @exclusive_write
    def time_out(
        self, actor_id: str, member_id: str, duration_s: int, reason: str, now: float
    ) -> Write[None, Member]:
        """Put a member in timeout, during which they can only read. A duration of 0 ends the timeout."""
        self._directory.member(member_id)
        for same_id in self._directory.same_person(member_id):
            self._directory.require_above(actor_id, same_id)
        return self._time_out(actor_id, member_id, duration_s, {"reason": reason}, now)

    def timing_out_by_rule(
        self, member_id: str, duration_s: int, rule: str, now: float
    ) -> Write[None, Member]:
        """Return a `Write` that puts a member in timeout because of a rule, without shortening a current
        timeout.
        """
        until = max(now + duration_s, self._directory.member(member_id).timeout_until)
        return self._time_out(None, member_id, until - now, {"rule": rule, "reason": ""}, now)

    def _time_out(
        self,
        actor_id: str | None,
        member_id: str,
        duration_s: float,
        extra_details: Mapping[str, object],
        now: float,
    ) -> Write[None, Member]:
        until = now + duration_s if duration_s else 0.0

        def write(connection: Connection) -> None:
            if not self._members.time_out(connection, member_id, until):
                raise ChatError("unknown_member")
            action = "member_timeout" if duration_s else "member_timeout_end"
            details = {"until_ms": int(until * 1000), **extra_details}
            self._audit.record(connection, actor_id, action, member_id, details, now)

        return Write(write, lambda _: self._apply_timeout(member_id, until))

    async def run(self) -> NoReturn:
        """Announce the end of each timeout, so that the member regains their permissions in calls."""
        seen = time.time()
        while True:
            # If the clock was set back, `seen` would be in the future.
            seen = min(seen, time.time())
            end = self.next_end(seen)
            with suppress(TimeoutError):
                wait_s = None if end is None else min(_MAX_WAIT_S, max(0.0, end - time.time()))
                async with asyncio.timeout(wait_s):
                    await self._ends_changed.wait()
            self._ends_changed.clear()
            now = time.time()
            self.ended(seen, now)
            seen = now

    def next_end(self, now: float) -> float | None:
        """Return the time at which the next timeout ends, or None if nobody is in timeout."""
        ends = (member.timeout_until for member in self._directory.members.values())
        return min((end for end in ends if end > now), default=None)

    def ended(self, since: float, now: float) -> None:
        """Restore the permissions of members whose timeout ended after `since` and no later than `now`."""
        members = self._directory.members.values()
        if free := [member.id for member in members if since < member.timeout_until <= now]:
            for notify in self._changes.permissions_changed:
                notify(self._directory.with_their_bots(free))

    def _apply_timeout(self, member_id: str, until: float) -> Member:
        same_person = self._directory.same_person(member_id)
        for same_id in same_person:
            self._members.apply_changes(same_id, timeout_until=until)
        for notify in self._changes.permissions_changed:
            notify(self._directory.with_their_bots(same_person))
        return self._directory.member(member_id)

    def _require_above(self, actor_id: str | None, member_id: str) -> None:
        if actor_id is not None:
            self._directory.require_above(actor_id, member_id)
        else:
            self._directory.member(member_id)
            if self._directory.is_owner(member_id):
                raise ChatError("rank_too_low", "This cannot be done to the owner")

    def _bans_changed(self) -> None:
        self._hub.push("managed", Managed("bans"), PermissionHolders(Permission.BAN_MEMBERS))


def _nickname(connection: Connection, member_id: str) -> str | None:
    """Return a present or former member's nickname."""
    return value(connection.execute("SELECT nickname FROM members WHERE id = ?", (member_id,)), str)


def _ban_reason(connection: Connection, person_id: str) -> str | None:
    """Return the reason for a person's ban (empty if none was given), or None if the person is not banned."""
    cursor = connection.execute(
        "SELECT b.reason FROM bans b JOIN members m ON m.id = b.member_id WHERE m.person_id = ?"
        " ORDER BY b.banned_at_ms DESC",
        (person_id,),
    )
    return value(cursor, str)
