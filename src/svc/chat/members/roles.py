"""Creates, changes, gives and removes roles, and transfers ownership. Contains neither HTTP nor SQL code.

Actors can change only roles below their rank, and cannot give a permission that they lack. The owner's role
cannot be changed. Other built-in roles can be changed but not deleted. `@endpoint` has already checked the
permission to manage roles.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import asdict

from svc.base.database import Connection, Write
from svc.chat.access.checked_writes import exclusive_write
from svc.chat.access.directory import Member
from svc.chat.access.permissions import ADMIN, BUILT_IN, NOTHING, OWNER, Permission, Role
from svc.chat.access.tokens import Session
from svc.chat.channels.overrides import ROLE
from svc.chat.channels.rules import Channels
from svc.chat.errors import ChatError
from svc.chat.live.hub import EVERYONE
from svc.chat.members import responses, store
from svc.chat.members.rules import Members
from svc.chat.services import Services

# The maximum number of roles. Every member's welcome lists all roles.
MAX_ROLES = 250
# The highest rank below the owner's.
MAX_RANK = BUILT_IN[OWNER].rank - 1


@dataclass(frozen=True, slots=True)
class RoleChanges:
    """Changes to a role. None leaves a value unchanged. A `color` of -1 removes the color."""

    name: str | None = None
    rank: int | None = None
    permissions: Permission | None = None
    color: int | None = None

    def apply(self, role: Role) -> Role:
        return Role(
            role.id,
            role.name if self.name is None else self.name,
            role.rank if self.rank is None else self.rank,
            role.permissions if self.permissions is None else self.permissions,
            role.color if self.color is None else None if self.color < 0 else self.color,
        )


class Roles:
    def __init__(self, services: Services, channels: Channels, members: Members) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit, self._new_id = services.audit, services.new_id
        self._channels = channels
        self._members = members

    def welcome(self, session: Session) -> dict[str, object]:
        return {"roles": [responses.role(role) for role in self.all()]}

    def all(self) -> list[Role]:
        """Return all roles, highest rank first."""
        return sorted(self._directory.roles.values(), key=lambda role: (-role.rank, role.id))

    def require_can_be_given(self, role_id: str) -> Role:
        """Return the role. Raises ChatError if it does not exist or is the owner's role."""
        if (role := self._directory.roles.get(role_id)) is None:
            raise ChatError("unknown_role")
        if role_id == OWNER:
            raise ChatError("rank_too_low")
        return role

    def require_holds_all_of(self, actor_id: str, role_id: str) -> None:
        """Raise ChatError if the actor lacks one of the role's permissions."""
        self._require_holds(actor_id, self._directory.roles[role_id].permissions)

    def require_may_give(self, actor_id: str, role_id: str) -> Role:
        """Return the role. Raises ChatError if the actor may not give it to members."""
        role = self._below(actor_id, role_id)
        self._require_holds(actor_id, role.permissions)
        return role

    @exclusive_write
    def create(self, actor_id: str, changes: RoleChanges, now: float) -> Write[None, Role]:
        if len(self._directory.roles) >= MAX_ROLES:
            raise ChatError("too_many")
        role = changes.apply(Role(self._new_id(), "", 0, NOTHING))
        self._require_possible(actor_id, Role(role.id, "", 0, NOTHING), role)

        def write(connection: Connection) -> None:
            store.ROLES.put(connection, role)
            self._audit.record(
                connection, actor_id, "role_create", role.id, asdict(responses.role(role)), now
            )

        return Write(write, lambda _: self._on_created(role))

    @exclusive_write
    def edit(self, actor_id: str, role_id: str, changes: RoleChanges, now: float) -> Write[None, Role]:
        before = self._below(actor_id, role_id)
        after = changes.apply(before)
        self._require_possible(actor_id, before, after)
        rewrite = self._rewrite(actor_id, [after], "role_edit", now)
        return Write(rewrite.apply, lambda _: rewrite.on_commit(None)[0])

    @exclusive_write
    def order(self, actor_id: str, ranks: Mapping[str, int], now: float) -> Write[None, list[Role]]:
        """Change the ranks of several roles in one transaction."""
        moved = []
        for role_id, rank in ranks.items():
            before = self._below(actor_id, role_id)
            moved.append(dataclasses.replace(before, rank=rank))
            self._require_possible(actor_id, before, moved[-1])
        rewrite = self._rewrite(actor_id, moved, "role_move", now)

        def then(_: None) -> list[Role]:
            rewrite.on_commit(None)
            return self.all()

        return Write(rewrite.apply, then)

    @exclusive_write
    def delete(self, actor_id: str, role_id: str, now: float) -> Write[None, None]:
        """Delete a role and remove it from all members."""
        role = self._below(actor_id, role_id)
        if role_id in BUILT_IN:
            raise ChatError("forbidden", "A built-in role cannot be deleted")

        def write(connection: Connection) -> None:
            if not store.delete_role(connection, role_id):
                raise ChatError("unknown_role")
            self._channels.forget(connection, ROLE, role_id)
            self._audit.record(connection, actor_id, "role_delete", role_id, {"name": role.name}, now)

        return Write(write, lambda _: self._on_deleted(role_id))

    @exclusive_write
    def give(self, actor_id: str | None, member_id: str, role_id: str, now: float) -> Write[None, Member]:
        """Give a role to the actor or to a member of lower rank. An `actor_id` of None means the operator."""
        role = (
            self._below(actor_id, role_id) if actor_id is None else self.require_may_give(actor_id, role_id)
        )
        self._require_below(actor_id, member_id)

        def write(connection: Connection) -> None:
            store.give_role(connection, member_id, role_id)
            details = {"role_id": role_id, "name": role.name}
            self._audit.record(connection, actor_id, "member_role_give", member_id, details, now)

        return Write(write, lambda _: self._apply_roles(member_id, add=role_id))

    @exclusive_write
    def take(self, actor_id: str | None, member_id: str, role_id: str, now: float) -> Write[None, Member]:
        """Remove a role from the actor or a member of lower rank. An `actor_id` of None means the
        operator.
        """
        role = self._below(actor_id, role_id)
        self._require_below(actor_id, member_id)

        def write(connection: Connection) -> None:
            if store.take_role(connection, member_id, role_id):
                details = {"role_id": role_id, "name": role.name}
                self._audit.record(connection, actor_id, "member_role_take", member_id, details, now)

        return Write(write, lambda _: self._apply_roles(member_id, drop=role_id))

    @exclusive_write
    def hand_over(self, actor_id: str | None, member_id: str, now: float) -> Write[None, Member]:
        """Make another member the owner. The former owner becomes an admin.

        An `actor_id` of None means the operator, who can do this even without a former owner.
        """
        if actor_id is not None and not self._directory.is_owner(actor_id):
            raise ChatError("forbidden")
        self._directory.member(member_id)
        if self._directory.is_owner(member_id):
            raise ChatError("invalid_request", "This member already owns the server")
        if self._directory.members[member_id].bot:
            raise ChatError("invalid_request", "A bot cannot own the server")
        former = self._holders(OWNER)

        def write(connection: Connection) -> None:
            for former_id in former:
                store.take_role(connection, former_id, OWNER)
                store.give_role(connection, former_id, ADMIN)
            store.give_role(connection, member_id, OWNER)
            self._members.owner_changes(connection)
            self._audit.record(connection, actor_id, "owner_transfer", member_id, {}, now)

        return Write(write, lambda _: self._handed_over(former, member_id))

    # Helpers that check roles and permissions.

    def _below(self, actor_id: str | None, role_id: str) -> Role:
        """Return the role. Raises ChatError unless it ranks below the actor. The operator outranks all
        roles.
        """
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
            raise ChatError("forbidden", "You cannot grant a permission that you do not have")

    def _require_possible(self, actor_id: str, before: Role, after: Role) -> None:
        if not after.name:
            raise ChatError("invalid_request", "name is missing")
        if after.rank >= self._directory.rank(actor_id) or after.rank > MAX_RANK:
            raise ChatError("rank_too_low")
        self._require_holds(actor_id, before.permissions ^ after.permissions)

    # Helpers that apply changes.

    def _rewrite(self, actor_id: str, roles: list[Role], action: str, now: float) -> Write[None, list[Role]]:
        """Store and announce several changed roles. Show or hide channels for the members who have these
        roles.
        """
        known = self._directory.roles
        details = {
            role.id: {"before": asdict(responses.role(known[role.id])), "after": asdict(responses.role(role))}
            for role in roles
        }

        def write(connection: Connection) -> None:
            for role in roles:
                store.ROLES.put(connection, role)
                self._audit.record(connection, actor_id, action, role.id, details[role.id], now)

        return Write(write, lambda _: self._rewritten(roles))

    # Methods that are called in commit order, after each transaction is durable.

    def _on_created(self, role: Role) -> Role:
        self._directory.put_role(role)
        self._hub.push("role_created", responses.role(role), EVERYONE)
        return role

    def _rewritten(self, roles: list[Role]) -> list[Role]:
        concerned = {member_id for role in roles for member_id in self._holders(role.id)}
        view = Permission.VIEW_CHANNEL
        shows = any(view in self._directory.roles[role.id].permissions ^ role.permissions for role in roles)
        # Only VIEW_CHANNEL makes channels visible. If it is unchanged, do not compare channels.
        with self._channels.visibility.announcing_changes(concerned, None if shows else ()):
            for role in roles:
                self._directory.put_role(role)
                self._hub.push("role_updated", responses.role(role), EVERYONE)
        return roles

    def _on_deleted(self, role_id: str) -> None:
        with self._channels.visibility.announcing_changes(self._holders(role_id)):
            self._directory.drop_role(role_id)
            self._channels.forget_overrides(ROLE, role_id)
        self._hub.push("role_deleted", responses.RoleDeleted(role_id), EVERYONE)

    def _handed_over(self, former: list[str], owner_id: str) -> Member:
        for former_id in former:
            self._apply_roles(former_id, add=ADMIN, drop=OWNER)
        return self._apply_roles(owner_id, add=OWNER)

    def _apply_roles(self, member_id: str, *, add: str = "", drop: str = "") -> Member:
        """Add a role to a member, remove a role, or both, after the transaction has committed."""
        held = set(self._directory.member(member_id).role_ids)
        role_ids = tuple(sorted((held | ({add} if add else set())) - {drop}))
        with self._channels.visibility.announcing_changes([member_id]):
            return self._members.apply_changes(member_id, role_ids=role_ids)

    def _holders(self, role_id: str) -> list[str]:
        return [member.id for member in self._directory.members.values() if role_id in member.role_ids]
