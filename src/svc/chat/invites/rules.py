"""Invites: made, shown, revoked, and used by who joins. No HTTP, no SQL.

An invite makes a member, or gives a role below the inviter's rank with nothing in it that
they lack. It goes with whoever made it. Spec: chat document sections 3 and 8.2.
"""

from collections.abc import Callable

from svc.base.database import Connection, Database
from svc.chat.access.changes import Changes
from svc.chat.access.directory import Directory
from svc.chat.access.permissions import MEMBER, Permission
from svc.chat.audit.rules import Audit
from svc.chat.errors import ChatError
from svc.chat.invites import store
from svc.chat.invites.store import Invite
from svc.chat.members.roles import Roles

# More than a person hands out; the operator has as many.
MAX_OF_ONE = 100
# All that can be shown at once: those of a hundred members.
MAX_LISTED = 10_000
HOUR_MS = 60 * 60 * 1000


class Invites:
    """`new_code` makes a code that nobody guesses; `joins_per_hour` is for each invite."""

    def __init__(
        self,
        database: Database,
        directory: Directory,
        roles: Roles,
        audit: Audit,
        changes: Changes,
        joins_per_hour: int | None,
        new_id: Callable[[], str],
        new_code: Callable[[], str],
    ) -> None:
        self._database = database
        self._directory = directory
        self._roles = roles
        self._audit = audit
        self._joins_per_hour = joins_per_hour
        self._new_id = new_id
        self._new_code = new_code
        # Whoever was removed does not come back by an invite of their own.
        changes.member_removal.append(store.delete_of_member)

    async def load(self, first_code: str, now: float) -> None:
        """At start: the installation's own code, by which anybody becomes a member who has it."""
        first = Invite(self._new_id(), first_code, None, MEMBER, int(now * 1000))
        await self._database.write(lambda connection: store.seed(connection, first))

    async def create(
        self, actor_id: str | None, role_id: str, max_uses: int | None, lifetime_s: int | None, now: float
    ) -> Invite:
        """Without an actor the operator makes it, who may give any role but the owner's."""
        self._require_may_invite_as(actor_id, role_id)
        now_ms = int(now * 1000)
        ends = None if lifetime_s is None else now_ms + lifetime_s * 1000
        invite = Invite(self._new_id(), self._new_code(), actor_id, role_id, now_ms, ends, max_uses)

        def write(connection: Connection) -> None:
            store.delete_spent(connection, now_ms)
            if store.count(connection, actor_id) >= MAX_OF_ONE:
                raise ChatError("too_many")
            store.insert(connection, invite)
            # Not the code: who reads the log may not hand it out.
            details = {"role_id": role_id, "max_uses": max_uses, "expires_at_ms": ends}
            self._audit.record(
                connection,
                actor_id=actor_id,
                action="invite_create",
                target_id=invite.id,
                details=details,
                now=now,
            )

        await self._database.write(write)
        return invite

    async def visible(self, member_id: str | None, now: float) -> list[Invite]:
        """What a member may hand out and revoke: their own, or with the permission others' too.

        Without a member it is the operator who asks: all of them.
        """
        everybody = member_id is None or self._directory.may(member_id, Permission.MANAGE_INVITES)
        found = await store.listed(self._database, None if everybody else member_id, MAX_LISTED)
        now_ms = int(now * 1000)
        return [
            i for i in found if _good(i, now_ms) and (member_id is None or self._may_manage(member_id, i))
        ]

    async def revoke(self, actor_id: str | None, invite_id: str, now: float) -> None:
        invite = await store.one(self._database, invite_id)
        if invite is None or not (actor_id is None or self._may_manage(actor_id, invite)):
            raise ChatError("unknown_invite")

        def write(connection: Connection) -> None:
            if not store.delete(connection, invite_id):
                raise ChatError("unknown_invite")
            self._audit.record(
                connection,
                actor_id=actor_id,
                action="invite_revoke",
                target_id=invite_id,
                details={"role_id": invite.role_id, "created_by": invite.created_by},
                now=now,
            )

        await self._database.write(write)

    def use(self, connection: Connection, code: str, now: float) -> str | None:
        """A step of the write in which somebody joins: the role of an invite, which is used once more.

        None for a code that is not good, or not any more. Raises ChatError where too many have
        joined by it lately.
        """
        now_ms = int(now * 1000)
        invite = store.by_code(connection, code)
        if invite is None or not _good(invite, now_ms) or not self._still_given(invite):
            return None
        if self._joins_per_hour is not None:
            earlier = store.nth_last_join(connection, invite.id, self._joins_per_hour)
            if earlier is not None and earlier + HOUR_MS > now_ms:
                raise ChatError("invite_busy", more={"retry_after_ms": earlier + HOUR_MS - now_ms})
            store.note_join(connection, invite.id, now_ms, HOUR_MS)
        store.count_use(connection, invite.id)
        return invite.role_id if invite.role_id in self._directory.roles else MEMBER

    def _require_may_invite_as(self, actor_id: str | None, role_id: str) -> None:
        if actor_id is None:
            self._roles.require_can_be_given(role_id)
        elif role_id == MEMBER:
            # What most members are; they could not invite anybody otherwise.
            self._roles.require_holds_all_of(actor_id, role_id)
        else:
            self._roles.require_may_give(actor_id, role_id)

    def _still_given(self, invite: Invite) -> bool:
        """Does who made it still rank above what it gives? Also asked on the writer's thread."""
        role = self._directory.roles.get(invite.role_id)
        if invite.created_by is None or role is None or role.id == MEMBER:
            return True
        return self._directory.rank(invite.created_by) > role.rank

    def _may_manage(self, member_id: str, invite: Invite) -> bool:
        """Their own, or with the permission one that gives nothing they could not give."""
        if invite.created_by == member_id:
            return True
        if not self._directory.may(member_id, Permission.MANAGE_INVITES):
            return False
        role = self._directory.roles.get(invite.role_id)
        return invite.role_id == MEMBER or role is None or role.rank < self._directory.rank(member_id)


def _good(invite: Invite, now_ms: int) -> bool:
    expired = invite.expires_at_ms is not None and invite.expires_at_ms <= now_ms
    used_up = invite.max_uses is not None and invite.uses >= invite.max_uses
    return not expired and not used_up
