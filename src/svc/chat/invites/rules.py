"""Creates, lists and revokes invites, and uses them when people join. Contains neither HTTP nor SQL code.

An invite gives the member role, or a role below the inviter's rank with no permissions that the inviter
lacks. An invite works only while its creator may still create it, and is deleted when its creator leaves. See
docs/http.md, "Invites" and docs/configuration.md, "Chat server".
"""

from collections.abc import Callable
from dataclasses import replace

from svc.base.database import Connection, Write
from svc.chat.access.checked_writes import shared_write
from svc.chat.access.directory import CATEGORY, Member
from svc.chat.access.permissions import GUEST, MEMBER, NOTHING, Permission
from svc.chat.authentication.join_policy import Applicant
from svc.chat.errors import ChatError
from svc.chat.invites import store
from svc.chat.invites.store import Invite, UsedInvite
from svc.chat.live.hub import PermissionHolders, only
from svc.chat.live.responses import Managed
from svc.chat.members.roles import Roles
from svc.chat.services import Services

# The maximum number of invites per member, and for the operator.
MAX_PER_MEMBER = 100
# The maximum number of invites in a list, enough for a hundred members' invites.
MAX_LISTED = 10_000
HOUR_MS = 60 * 60 * 1000
# The lifetime of the standing invite that `svc up` prints. After a link is posted in a group chat, few people
# open it later than this. The invite is replaced at startup if less than a day is left.
STANDING_MS = 7 * 24 * HOUR_MS
STANDING_LEAST_MS = 24 * HOUR_MS


class Invites:
    """The rules for creating, listing, revoking and using invites.

    `new_code` returns an unguessable code. `joins_per_hour` limits how many people can join through an invite
    per hour.
    """

    def __init__(
        self, services: Services, roles: Roles, joins_per_hour: int | None, new_code: Callable[[], str]
    ) -> None:
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit, self._new_id = services.audit, services.new_id
        self._roles = roles
        self._joins_per_hour = joins_per_hour
        self._new_code = new_code
        # A removed member must not return through their own invite.
        services.changes.member_removal.append(store.delete_of_member)
        services.changes.token_removal.append(store.delete_of_member)
        services.changes.channel_deletion.append(store.forget_channel)

    def forget(self, connection: Connection, member_id: str) -> None:
        """Delete the record of how a member joined, and remove their id from the records of the members they
        invited. Call this within a write transaction.
        """
        store.INVITED.delete(connection, member_id=member_id)
        store.INVITED.edit(connection, {"invited_by": None}, invited_by=member_id)

    async def standing(self, now: float) -> str:
        """Return the code of the standing invite at startup. Replace it if it was revoked or expires soon."""
        now_ms = int(now * 1000)
        ends = now_ms + STANDING_MS
        fresh = Invite(self._new_id(), self._new_code(), None, MEMBER, now_ms, ends)
        return await self._database.write(
            lambda connection: store.standing_invite(connection, fresh, now_ms + STANDING_LEAST_MS)
        )

    @shared_write
    def create(
        self,
        actor_id: str | None,
        role_id: str,
        max_uses: int | None,
        lifetime_s: int | None,
        now: float,
        *,
        channel_id: str | None = None,
        approval: bool = False,
    ) -> Write[None, Invite]:
        """Create an invite.

        If `actor_id` is None, the operator is the creator and may give any role except the owner's.
        """
        self._require_may_invite_as(actor_id, role_id)
        if channel_id is not None:
            self._require_landing(actor_id, channel_id)
        now_ms = int(now * 1000)
        ends = None if lifetime_s is None else now_ms + lifetime_s * 1000
        invite = Invite(
            self._new_id(),
            self._new_code(),
            actor_id,
            role_id,
            now_ms,
            ends,
            max_uses,
            channel_id=channel_id,
            approval=approval,
        )

        def write(connection: Connection) -> None:
            store.delete_spent(connection, now_ms)
            if store.INVITES.count(connection, created_by=actor_id) >= MAX_PER_MEMBER:
                raise ChatError("too_many")
            store.INVITES.insert(connection, invite)
            # The code is omitted, because readers of the audit log must not be able to use the invite.
            details: dict[str, object] = {
                "role_id": role_id,
                "max_uses": max_uses,
                "expires_at_ms": ends,
                "approval": approval,
            }
            # If the invite opens a channel, only members who may view that channel can read the entry.
            details |= {"channel_id": channel_id} if channel_id else {}
            self._audit.record(connection, actor_id, "invite_create", invite.id, details, now)

        def created(_: None) -> Invite:
            self._push_changed(actor_id)
            return invite

        return Write(write, created)

    async def visible(self, member_id: str | None, now: float) -> list[Invite]:
        """Return the invites that a member may hand out and revoke.

        These are the member's own invites and, with the permission to manage invites, others that the member
        may manage. If `member_id` is None, return all invites, for the operator.
        """
        everybody = member_id is None or self._directory.has_permission(member_id, Permission.MANAGE_INVITES)
        invites = await store.list_invites(self._database, None if everybody else member_id, MAX_LISTED)
        now_ms = int(now * 1000)
        good = [invite for invite in invites if _good(invite, now_ms)]
        if member_id is None:
            return good
        views = {channel.id for channel in self._directory.visible_channels(member_id)}
        # Do not reveal the name of a channel that the member may not view.
        return [
            invite if invite.channel_id in views else replace(invite, channel_id=None)
            for invite in good
            if self._may_manage(member_id, invite)
        ]

    @shared_write
    def revoke(self, actor_id: str | None, invite_id: str, now: float) -> Write[str | None, None]:
        def write(connection: Connection) -> str | None:
            invite = store.INVITES.get(connection, id=invite_id)
            if invite is None or not (actor_id is None or self._may_manage(actor_id, invite)):
                raise ChatError("unknown_invite")
            store.INVITES.delete(connection, id=invite_id)
            details = {"role_id": invite.role_id, "created_by": invite.created_by}
            self._audit.record(connection, actor_id, "invite_revoke", invite_id, details, now)
            return invite.created_by

        return Write(write, self._push_changed)

    async def valid(self, code: str, now: float) -> Invite | None:
        """Return the invite for a code that is currently valid, or None."""
        return self._usable(await store.INVITES.one(self._database, code=code), now)

    # These methods are steps of the write transaction that adds a member.

    def good(self, connection: Connection, code: str, now: float) -> Invite | None:
        """Return the invite for a code that is currently valid, or None. Call this within a write
        transaction.
        """
        return self._usable(store.INVITES.get(connection, code=code), now)

    def use(self, connection: Connection, invite: Invite, now: float) -> None:
        """Count a use. Raises ChatError if too many people have used the invite in the last hour."""
        now_ms = int(now * 1000)
        if self._joins_per_hour is not None:
            earlier = store.nth_last_join(connection, invite.id, self._joins_per_hour)
            if earlier is not None and earlier + HOUR_MS > now_ms:
                raise ChatError("invite_busy", more={"retry_after_ms": earlier + HOUR_MS - now_ms})
            store.note_join(connection, invite.id, now_ms, HOUR_MS)
        store.INVITES.edit(connection, {"uses": invite.uses + 1}, id=invite.id)

    def note_invited(
        self, connection: Connection, applicant: Applicant, invite_id: str, invited_by: str | None
    ) -> None:
        """Record the invite that a member used."""
        invited = UsedInvite(applicant.member_id, invite_id, invited_by, int(applicant.now * 1000))
        store.INVITED.insert(connection, invited)

    def role_now(self, role_id: str, maker_id: str | None) -> str:
        """Return the role that an invite gives now: the member role if its creator may no longer give the
        original role.
        """
        gives_role = role_id in self._directory.roles and self._may_still_give(maker_id, role_id)
        return role_id if gives_role or role_id == GUEST else MEMBER

    async def list_newcomers(self, member_id: str, invite_id: str) -> list[tuple[Member, int]]:
        """Return the current members who joined through an invite, and when, in ms since 1970. Raises
        ChatError.
        """
        invite = await store.INVITES.one(self._database, id=invite_id)
        if invite is None or not self._may_manage(member_id, invite):
            raise ChatError("unknown_invite")
        newcomers = await store.newcomers(self._database, invite_id, MAX_LISTED)
        members = self._directory.members
        return [
            (members[invited.member_id], invited.at_ms)
            for invited in newcomers
            if invited.member_id in members
        ]

    async def invitation_of(self, member_id: str) -> tuple[str, str | None] | None:
        """Return the ids of the invite that a member used and of its creator, or None if unknown."""
        invited = await store.INVITED.one(self._database, member_id=member_id)
        return (invited.invite_id, invited.invited_by) if invited else None

    def _push_changed(self, maker_id: str | None) -> None:
        """Prompt the clients of members who can see this creator's invites to reload their lists."""
        event = Managed("invites")
        self._hub.push("managed", event, PermissionHolders(Permission.MANAGE_INVITES))
        if maker_id is not None and not self._directory.has_permission(maker_id, Permission.MANAGE_INVITES):
            self._hub.push("managed", event, only(maker_id))

    def _require_landing(self, actor_id: str | None, channel_id: str) -> None:
        """Raise ChatError if the channel cannot open for new members: it is a category, or the inviter cannot
        view it.
        """
        if actor_id is not None:
            self._directory.channel(actor_id, channel_id)
        channel = self._directory.channels.get(channel_id)
        if channel is None or channel.kind == CATEGORY:
            raise ChatError("unknown_channel")

    def _require_may_invite_as(self, actor_id: str | None, role_id: str) -> None:
        if actor_id is None:
            self._roles.require_can_be_given(role_id)
        elif role_id == MEMBER:
            # Do not compare the default role's rank, because ordinary members could then not invite anybody.
            self._roles.require_holds_all_of(actor_id, role_id)
        else:
            self._roles.require_may_give(actor_id, role_id)

    def _usable(self, invite: Invite | None, now: float) -> Invite | None:
        if invite is None or not _good(invite, int(now * 1000)):
            return None
        return invite if self._may_still_give(invite.created_by, invite.role_id) else None

    def _may_still_give(self, maker_id: str | None, role_id: str) -> bool:
        """Return whether the creator of an invite may still create it with this role. Also runs on the writer
        thread.
        """
        if maker_id is None:
            return True
        held = self._directory.granted_by_roles(maker_id)
        if Permission.CREATE_INVITES not in held:
            return False
        # An invite gives the member role in place of a deleted role.
        role = self._directory.roles.get(role_id, self._directory.roles[MEMBER])
        ranks_above = role.id == MEMBER or self._directory.rank(maker_id) > role.rank
        return ranks_above and role.permissions & ~held == NOTHING

    def _may_manage(self, member_id: str, invite: Invite) -> bool:
        """Return whether a member may manage an invite.

        Members may manage their own invites. With the permission to manage invites, they may also manage
        other invites whose role is below their rank.
        """
        if invite.created_by == member_id:
            return True
        if not self._directory.has_permission(member_id, Permission.MANAGE_INVITES):
            return False
        role = self._directory.roles.get(invite.role_id)
        return invite.role_id == MEMBER or role is None or role.rank < self._directory.rank(member_id)


def _good(invite: Invite, now_ms: int) -> bool:
    expired = invite.expires_at_ms is not None and invite.expires_at_ms <= now_ms
    used_up = invite.max_uses is not None and invite.uses >= invite.max_uses
    return not expired and not used_up
