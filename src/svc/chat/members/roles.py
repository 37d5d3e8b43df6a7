"""Roles: made, changed, given and taken, and the server handed to another owner. No HTTP, no SQL.

Everything here is done below one's own rank, and nobody gives a permission that they lack.
The owner's role is the owner's alone and never changes; the other built-in roles may be
changed and not deleted. Whether somebody may manage roles at all, the catalogue has asked.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from svc.base.database import Connection, Database
from svc.chat.access.directory import Directory, Member
from svc.chat.access.permissions import ADMIN, BUILT_IN, NOTHING, OWNER, Permission, Role, names
from svc.chat.access.tokens import Asker
from svc.chat.audit.rules import Audit
from svc.chat.channels.overrides import ROLE
from svc.chat.channels.rules import Channels
from svc.chat.errors import ChatError
from svc.chat.live.audience import EVERYONE
from svc.chat.live.hub import Hub
from svc.chat.members import store
from svc.chat.members.rules import Members

# Each has a line in every member's welcome.
MAX_ROLES = 250
# Below the owner's.
MAX_RANK = BUILT_IN[OWNER].rank - 1


@dataclass(frozen=True, slots=True)
class Wish:
    """How a role shall be; None leaves it as it is. A `color` of -1 takes the color away."""

    name: str | None = None
    rank: int | None = None
    permissions: Permission | None = None
    color: int | None = None

    def applied(self, role: Role) -> Role:
        return Role(
            role.id,
            role.name if self.name is None else self.name,
            role.rank if self.rank is None else self.rank,
            role.permissions if self.permissions is None else self.permissions,
            role.color if self.color is None else None if self.color < 0 else self.color,
        )


def described(role: Role) -> dict[str, object]:
    """As clients see it."""
    return {
        "id": role.id,
        "name": role.name,
        "rank": role.rank,
        "permissions": names(role.permissions),
        "color": role.color,
        "built_in": role.id in BUILT_IN,
    }


class Roles:
    """`new_id` makes the id of a new role."""

    def __init__(
        self,
        database: Database,
        directory: Directory,
        hub: Hub,
        audit: Audit,
        channels: Channels,
        members: Members,
        new_id: Callable[[], str],
    ) -> None:
        self._database = database
        self._directory = directory
        self._hub = hub
        self._audit = audit
        self._channels = channels
        self._members = members
        self._new_id = new_id

    def welcome(self, asker: Asker) -> dict[str, object]:
        return {"roles": [described(role) for role in self.all()]}

    def all(self) -> list[Role]:
        """The highest first."""
        return sorted(self._directory.roles.values(), key=lambda role: (-role.rank, role.id))

    def require_can_be_given(self, role_id: str) -> Role:
        """A role that there is and that is not the owner's. Raises ChatError."""
        if (role := self._directory.roles.get(role_id)) is None:
            raise ChatError("unknown_role")
        if role_id == OWNER:
            raise ChatError("rank_too_low")
        return role

    def require_holds_all_of(self, actor_id: str, role_id: str) -> None:
        """Nobody gives a permission that they lack. Raises ChatError."""
        self._require_holds(actor_id, self._directory.roles[role_id].permissions)

    def require_may_give(self, actor_id: str, role_id: str) -> Role:
        """The role, if the actor may hand it out. Raises ChatError."""
        role = self._below(actor_id, role_id)
        self._require_holds(actor_id, role.permissions)
        return role

    async def create(self, actor_id: str, wish: Wish, now: float) -> Role:
        if len(self._directory.roles) >= MAX_ROLES:
            raise ChatError("too_many")
        role = wish.applied(Role(self._new_id(), "", 0, NOTHING))
        self._require_possible(actor_id, Role(role.id, "", 0, NOTHING), role)

        def write(connection: Connection) -> None:
            store.put_role(connection, role)
            self._audit.record(connection, actor_id, "role_create", role.id, described(role), now)

        await self._database.write(write, lambda _: self._created(role))
        return role

    async def edit(self, actor_id: str, role_id: str, wish: Wish, now: float) -> Role:
        before = self._below(actor_id, role_id)
        self._require_possible(actor_id, before, wish.applied(before))
        [role] = await self._rewrite(actor_id, {role_id: wish}, "role_edit", now)
        return role

    async def order(self, actor_id: str, ranks: Mapping[str, int], now: float) -> list[Role]:
        """Give several roles other ranks at once."""
        for role_id, rank in ranks.items():
            before = self._below(actor_id, role_id)
            self._require_possible(actor_id, before, dataclasses.replace(before, rank=rank))
        wishes = {role_id: Wish(rank=rank) for role_id, rank in ranks.items()}
        await self._rewrite(actor_id, wishes, "role_move", now)
        return self.all()

    async def delete(self, actor_id: str, role_id: str, now: float) -> None:
        """Everybody who has the role loses it."""
        role = self._below(actor_id, role_id)
        if role_id in BUILT_IN:
            raise ChatError("forbidden", "A built-in role cannot be deleted")

        def write(connection: Connection) -> None:
            if not store.delete_role(connection, role_id):
                raise ChatError("unknown_role")
            self._channels.forget(connection, ROLE, role_id)
            self._audit.record(connection, actor_id, "role_delete", role_id, {"name": role.name}, now)

        await self._database.write(write, lambda _: self._deleted(role_id))

    async def give(self, actor_id: str | None, member_id: str, role_id: str, now: float) -> Member:
        """Give a member of lower rank, or oneself, a role. Without an actor it is the operator."""
        role = (
            self._below(actor_id, role_id) if actor_id is None else self.require_may_give(actor_id, role_id)
        )
        self._require_below(actor_id, member_id)

        def write(connection: Connection) -> None:
            if not store.exists(connection, member_id):
                raise ChatError("unknown_member")
            if role_id not in BUILT_IN and store.role(connection, role_id) is None:
                raise ChatError("unknown_role")
            store.give_role(connection, member_id, role_id)
            details = {"role_id": role_id, "name": role.name}
            self._audit.record(connection, actor_id, "member_role_give", member_id, details, now)

        await self._database.write(write, lambda _: self._moved(member_id, add=role_id))
        return self._directory.member(member_id)

    async def take(self, actor_id: str | None, member_id: str, role_id: str, now: float) -> Member:
        """Take a role from a member of lower rank, or from oneself. Without an actor it is the operator."""
        role = self._below(actor_id, role_id)
        self._require_below(actor_id, member_id)

        def write(connection: Connection) -> None:
            if not store.exists(connection, member_id):
                raise ChatError("unknown_member")
            if store.take_role(connection, member_id, role_id):
                details = {"role_id": role_id, "name": role.name}
                self._audit.record(connection, actor_id, "member_role_take", member_id, details, now)

        await self._database.write(write, lambda _: self._moved(member_id, drop=role_id))
        return self._directory.member(member_id)

    async def hand_over(self, actor_id: str | None, member_id: str, now: float) -> Member:
        """Make another member the owner; who was it becomes an admin. Without an actor it is the operator."""
        former_id = self._owner() if actor_id is None else actor_id
        if not self._directory.is_owner(former_id):
            raise ChatError("forbidden")
        self._directory.member(member_id)
        if member_id == former_id:
            raise ChatError("invalid_request", "The owner has the server already")

        def write(connection: Connection) -> None:
            # There is one owner: of two transfers at once, the second finds nothing to give.
            if not store.take_role(connection, former_id, OWNER):
                raise ChatError("forbidden")
            if not store.exists(connection, member_id):
                raise ChatError("unknown_member")
            store.give_role(connection, former_id, ADMIN)
            store.give_role(connection, member_id, OWNER)
            self._audit.record(connection, actor_id, "owner_transfer", member_id, {}, now)

        await self._database.write(write, lambda _: self._handed_over(former_id, member_id))
        return self._directory.member(member_id)

    # What is allowed.

    def _below(self, actor_id: str | None, role_id: str) -> Role:
        """A role that ranks below the actor; the operator's rank is above all. Raises ChatError."""
        role = self.require_can_be_given(role_id)
        if actor_id is not None and role.rank >= self._directory.rank(actor_id):
            raise ChatError("rank_too_low")
        return role

    def _require_below(self, actor_id: str | None, member_id: str) -> None:
        if actor_id is None:
            self._directory.member(member_id)
        elif actor_id != member_id:
            self._directory.require_above(actor_id, member_id)

    def _require_holds(self, actor_id: str, permissions: Permission) -> None:
        if permissions & ~self._directory.permissions(actor_id):
            raise ChatError("forbidden", "Nobody gives a permission that they lack")

    def _require_possible(self, actor_id: str, before: Role, after: Role) -> None:
        if not after.name:
            raise ChatError("invalid_request", "name is missing")
        if after.rank >= self._directory.rank(actor_id) or after.rank > MAX_RANK:
            raise ChatError("rank_too_low")
        self._require_holds(actor_id, before.permissions ^ after.permissions)

    # What happens.

    async def _rewrite(
        self, actor_id: str, wishes: Mapping[str, Wish], action: str, now: float
    ) -> list[Role]:
        """Write several roles down, tell everybody, and show and hide channels to their holders."""

        def write(connection: Connection) -> list[Role]:
            return [self._write_one(connection, actor_id, *item, action, now) for item in wishes.items()]

        return await self._database.write(write, self._rewritten)

    def _write_one(
        self, connection: Connection, actor_id: str, role_id: str, wish: Wish, action: str, now: float
    ) -> Role:
        """A step of a write: the role as it is now, whatever else has been changed meanwhile."""
        before = store.role(connection, role_id) or BUILT_IN.get(role_id)
        if before is None:
            raise ChatError("unknown_role")
        after = wish.applied(before)
        store.put_role(connection, after)
        details = {"before": described(before), "after": described(after)}
        self._audit.record(connection, actor_id, action, role_id, details, now)
        return after

    # Once a write is durable, in the order of the writes.

    def _created(self, role: Role) -> None:
        self._directory.put_role(role)
        self._hub.push("role_created", described(role), EVERYONE)

    def _rewritten(self, roles: list[Role]) -> None:
        concerned = {member_id for role in roles for member_id in self._holders(role.id)}
        with self._channels.sight.watched(concerned):
            for role in roles:
                self._directory.put_role(role)
                self._hub.push("role_updated", described(role), EVERYONE)

    def _deleted(self, role_id: str) -> None:
        with self._channels.sight.watched(self._holders(role_id)):
            self._directory.drop_role(role_id)
            self._channels.forgotten(ROLE, role_id)
        self._hub.push("role_deleted", {"role_id": role_id}, EVERYONE)

    def _handed_over(self, former_id: str, owner_id: str) -> None:
        self._moved(former_id, add=ADMIN, drop=OWNER)
        self._moved(owner_id, add=OWNER)

    def _moved(self, member_id: str, *, add: str = "", drop: str = "") -> None:
        """After a write: a member has one role more, or one less, or both."""
        held = set(self._directory.member(member_id).role_ids)
        role_ids = tuple(sorted((held | ({add} if add else set())) - {drop}))
        with self._channels.sight.watched([member_id]):
            self._members.changed(member_id, role_ids=role_ids)

    def _owner(self) -> str:
        """Empty where nobody has joined."""
        return next(iter(self._holders(OWNER)), "")

    def _holders(self, role_id: str) -> list[str]:
        return [member.id for member in self._directory.members.values() if role_id in member.role_ids]
