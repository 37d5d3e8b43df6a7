"""Manages membership and names: joining, leaving and renaming. Contains neither HTTP nor SQL code.

`roles` manages roles, and `moderation` decides on removals.
"""

import dataclasses
import logging
from collections.abc import Callable

from svc.base.database import Connection, Write
from svc.chat.access.checked_writes import exclusive_write
from svc.chat.access.directory import Member
from svc.chat.access.media_urls import MediaLink
from svc.chat.access.permissions import OWNER, Permission, names
from svc.chat.access.tokens import Session
from svc.chat.errors import ChatError
from svc.chat.live.frames import CloseCode
from svc.chat.live.hub import EVERYONE
from svc.chat.members import responses, store
from svc.chat.names import confusable_key, free_nickname, readable_nickname
from svc.chat.services import Services

# Replaces a deleted member's name.
NAMELESS = "Deleted member"

logger = logging.getLogger(__name__)


class Members:
    def __init__(
        self,
        services: Services,
        max_members: int,
        moderate_text: Callable[[str], str] = str,
        avatar: Callable[[str], MediaLink | None] = lambda key: None,
    ) -> None:
        """Create the rules.

        `moderate_text` returns the permitted form of a name or raises ChatError. `avatar` returns the URL of
        the profile picture with the given key.
        """
        self._database, self._directory, self._hub = services.database, services.directory, services.hub
        self._audit, self._changes = services.audit, services.changes
        self._max_members = max_members
        self._moderate_text = moderate_text
        self._avatar = avatar

    def welcome(self, session: Session) -> dict[str, object]:
        """Return the member's own data for their welcome."""
        return {
            "member": responses.member(self._directory.member(session.member_id)),
            "permissions": self.permissions(session.member_id),
        }

    def permissions(self, member_id: str) -> responses.MemberPermissions:
        directory = self._directory
        channels = directory.visible_channels(member_id)
        return responses.MemberPermissions(
            server=names(directory.permissions(member_id)),
            channels={c.id: names(directory.permissions(member_id, c.id)) for c in channels},
        )

    async def load(self) -> None:
        """Fill the directory with all members at startup."""
        for role in await store.ROLES.all(self._database):
            self._directory.put_role(role)
        members = await store.load_members(self._database, self._avatar)
        for member in members:
            self._directory.put_member(member)
        if members and not any(OWNER in member.role_ids for member in members):
            logger.error("this server has no owner: choose one with `svc admin member owner`")

    # Joining and leaving: methods to call within a write transaction, and methods that apply its effects
    # after it is durable.

    def insert(self, connection: Connection, member: Member) -> Member:
        """Insert and return a new member. Call this within a write transaction, and `joined` after it.

        A number is added to a name that resembles another member's. Raises ChatError if the server is full.
        """
        if store.MEMBERS.count(connection, left_at_ms=None) >= self._max_members:
            raise ChatError("server_full")
        person_id = member.person_id or member.id
        timeout_until_ms = store.timeout_of(connection, person_id)
        member = dataclasses.replace(
            member,
            nickname=free_nickname(self._moderate_text(member.nickname), self._likenesses()),
            person_id=person_id,
            timeout_until=timeout_until_ms / 1000 if timeout_until_ms > member.joined_at_ms else 0.0,
        )
        store.insert_member(connection, member)
        for step in self._changes.member_admission:
            step(connection, member)
        return member

    def person(self, connection: Connection, member_id: str) -> str:
        """Return the id of the person behind a member. Call this within a write transaction. Raises
        ChatError.
        """
        if (person_id := store.person_of(connection, member_id)) is None:
            raise ChatError("unknown_member")
        return person_id

    def exists(self, connection: Connection, member_id: str) -> bool:
        """Return whether the id belongs to a current member. Call this within a write transaction."""
        return store.is_member(connection, member_id)

    def joined(self, member: Member) -> None:
        self._directory.put_member(member)
        self._hub.push("member_joined", responses.member(member), EVERYONE)
        if member.timeout_until:
            for notify in self._changes.permissions_changed:
                notify([member.id])
        for added in self._changes.member_added:
            added(member)

    def remove(self, connection: Connection, member_id: str, now: float) -> None:
        """Remove a member and their sessions.

        Call this within a write transaction, and `removed` after it.
        """
        if not store.remove_member(connection, member_id, int(now * 1000)):
            raise ChatError("unknown_member")
        for step in self._changes.member_removal:
            step(connection, member_id)

    def owner_changes(self, connection: Connection) -> None:
        """Run other features' steps for a transfer of ownership. Call this within the write transaction."""
        for step in self._changes.owner_change:
            step(connection)

    def make_nameless(self, connection: Connection, member_id: str) -> None:
        """Delete the name, avatar and status of a leaving member. Call this within a write transaction."""
        nameless = {"nickname": NAMELESS, "avatar_key": None, "status_text": None}
        store.MEMBERS.edit(connection, nameless, id=member_id)

    def removed(self, member_id: str, reason: str) -> None:
        """Announce a removal. `reason` is sent to the member's clients."""
        self._directory.drop_member(member_id)
        self._hub.cut_off(member_id, CloseCode.SIGNED_OUT, reason)
        self._hub.push("member_left", responses.MemberLeft(member_id), EVERYONE)
        for notify in self._changes.member_gone:
            notify(member_id)

    def void_tokens(self, connection: Connection, member_id: str) -> int:
        """Invalidate a member's access tokens and return the new epoch. Call this within a write transaction,
        and `apply_token_epoch` after it.
        """
        epoch = store.raise_epoch(connection, member_id)
        if epoch is None:
            raise ChatError("unknown_member")
        return epoch

    def apply_token_epoch(self, member_id: str, epoch: int) -> None:
        """Disconnect the member's clients. They reconnect if they can still get a fresh token."""
        if member_id in self._directory.members:
            self._directory.raise_epoch(member_id, epoch)
            self._hub.cut_off(member_id, CloseCode.TOKEN_EXPIRED, "Sign in again")

    def set_avatar(self, connection: Connection, member_id: str, key: str | None) -> None:
        """Store the key of a member's profile picture. Call this within a write transaction, and
        `apply_changes` after it. Raises ChatError for an unknown member.
        """
        if not store.change(connection, member_id, "avatar_key", key):
            raise ChatError("unknown_member")

    def time_out(self, connection: Connection, member_id: str, until: float) -> bool:
        """Store a timeout for the person behind a member. Return False for an unknown member.

        Call this within a write transaction, and then `apply_changes` for all members who are the same
        person.
        """
        if not store.is_member(connection, member_id):
            return False
        # The timeout applies to all present and former memberships of the person.
        person_id = self._directory.person_of(member_id)
        return store.MEMBERS.edit(connection, {"timeout_until_ms": int(until * 1000)}, person_id=person_id)

    # Nicknames and statuses.

    def _likenesses(self, *, but: str = "") -> set[str]:
        """Return the confusable keys of the members' names."""
        members = tuple(self._directory.members.values())
        return {confusable_key(member.nickname) for member in members if member.id != but}

    @exclusive_write
    def rename(self, actor_id: str, member_id: str, nickname: str, now: float) -> Write[None, Member]:
        """Rename the acting member, or a member of lower rank."""
        if actor_id == member_id:
            self._directory.require(actor_id, Permission.CHANGE_NICKNAME)
        else:
            self._directory.require(actor_id, Permission.MANAGE_NICKNAMES)
            self._directory.require_above(actor_id, member_id)
        name = self._moderate_text(readable_nickname(nickname))
        before = self._directory.member(member_id).nickname
        if confusable_key(name) in self._likenesses(but=member_id):
            raise ChatError("nickname_taken")

        def write(connection: Connection) -> None:
            if not store.change(connection, member_id, "nickname", name):
                raise ChatError("unknown_member")
            if actor_id != member_id:
                details = {"before": before, "after": name}
                self._audit.record(connection, actor_id, "member_rename", member_id, details, now)

        return Write(write, lambda _: self.apply_changes(member_id, nickname=name))

    @exclusive_write
    def set_status(self, actor_id: str, member_id: str, text: str, now: float) -> Write[None, Member]:
        """Set the acting member's own status, or remove the status of a member of lower rank."""
        if actor_id == member_id:
            # This also rejects members in timeout, who lack this permission.
            self._directory.require(actor_id, Permission.CHANGE_NICKNAME)
        else:
            self._directory.require(actor_id, Permission.MANAGE_NICKNAMES)
            self._directory.require_above(actor_id, member_id)
            if text:
                raise ChatError("forbidden", "You can remove the status of others, but not set it")
        text = self._moderate_text(text) if text else ""
        before = self._directory.member(member_id).status_text

        def write(connection: Connection) -> None:
            if not store.change(connection, member_id, "status_text", text or None):
                raise ChatError("unknown_member")
            if actor_id != member_id:
                details = {"before": before}
                self._audit.record(connection, actor_id, "member_status_clear", member_id, details, now)

        return Write(write, lambda _: self.apply_changes(member_id, status_text=text))

    def apply_changes(self, member_id: str, **differences: object) -> Member:
        """Apply committed changes to a member's attributes."""
        member = dataclasses.replace(self._directory.member(member_id), **differences)  # type: ignore[arg-type]
        self._directory.put_member(member)
        self._hub.push("member_updated", responses.member(member), EVERYONE)
        return member
