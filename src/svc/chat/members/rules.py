"""Who is a member, under what name, and how they come and go. No HTTP, no SQL.

Their roles are in `roles`; why somebody is made to go is for `moderation` to say.
"""

import dataclasses
import unicodedata
from collections.abc import Callable

from svc.base.database import Connection, Database
from svc.chat.access.changes import Changes
from svc.chat.access.directory import Avatar, Directory, Member
from svc.chat.access.permissions import MEMBER, OWNER, Permission, names
from svc.chat.access.tokens import Asker
from svc.chat.audit.rules import Audit
from svc.chat.errors import ChatError
from svc.chat.live.audience import EVERYONE
from svc.chat.live.closing import CloseCode
from svc.chat.live.hub import Hub
from svc.chat.members import store
from svc.chat.names import readable_nickname

MAX_PAGE = 200
# What is left of a member who was deleted.
NAMELESS = "Deleted member"


class Members:
    def __init__(
        self,
        database: Database,
        directory: Directory,
        hub: Hub,
        audit: Audit,
        changes: Changes,
        max_members: int,
        judged: Callable[[str], str] = str,
        avatar: Callable[[str], Avatar | None] = lambda key: None,
    ) -> None:
        """`judged` gives a name as it may be shown, or raises ChatError; `avatar` makes one of its key."""
        self._database = database
        self._directory = directory
        self._hub = hub
        self._audit = audit
        self._changes = changes
        self._max_members = max_members
        self._judged = judged
        self._avatar = avatar

    def welcome(self, asker: Asker) -> dict[str, object]:
        """What a member who signs in needs to know about themselves."""
        return {
            "member": self._directory.member(asker.member_id).described(),
            "permissions": self.permissions(asker.member_id),
        }

    def permissions(self, member_id: str) -> dict[str, object]:
        """What a member may do, on the server and in each channel that they see."""
        directory = self._directory
        channels = directory.visible_channels(member_id)
        return {
            "server": names(directory.permissions(member_id)),
            "channels": {c.id: names(directory.permissions(member_id, c.id)) for c in channels},
        }

    async def load(self) -> None:
        """Fill the directory, at start."""
        for role in await store.load_roles(self._database):
            self._directory.put_role(role)
        for member in await store.load_members(self._database, self._avatar):
            self._directory.put_member(member)

    # Coming and going: steps of a write, and what follows when it is durable.

    def insert(self, connection: Connection, member: Member) -> Member:
        """A step of a write in which somebody joins, and who they are then; `joined` follows.

        The first of all members is the owner. Raises ChatError when the server is full.
        """
        if store.count_members(connection) >= self._max_members:
            raise ChatError("server_full")
        member = dataclasses.replace(member, nickname=self._judged(member.nickname))
        if not store.had_members(connection):
            member = dataclasses.replace(member, role_ids=(MEMBER, OWNER))
        store.insert_member(connection, member)
        return member

    def exists(self, connection: Connection, member_id: str) -> bool:
        """A step of a write: is this somebody who has not left?"""
        return store.is_member(connection, member_id)

    def joined(self, member: Member) -> None:
        self._directory.put_member(member)
        self._hub.push("member_joined", member.described(), EVERYONE)

    def remove(self, connection: Connection, member_id: str, now: float) -> None:
        """A step of a write in which a member goes; `removed` follows. Their sessions end with it."""
        if not store.remove_member(connection, member_id, int(now * 1000)):
            raise ChatError("unknown_member")
        for step in self._changes.member_removal:
            step(connection, member_id)

    def make_nameless(self, connection: Connection, member_id: str) -> None:
        """A step of the write in which a member who goes is deleted."""
        store.make_nameless(connection, member_id, NAMELESS)

    def removed(self, member_id: str, close_code: int, reason: str) -> None:
        """`close_code` and `reason` are what their open pages are told."""
        self._directory.drop_member(member_id)
        self._hub.cut_off(member_id, close_code, reason)
        self._hub.push("member_left", {"member_id": member_id}, EVERYONE)
        for tell in self._changes.member_gone:
            tell(member_id)

    def void_tokens(self, connection: Connection, member_id: str) -> int:
        """A step of a write after which a member's access tokens are worthless; `tokens_voided` follows."""
        epoch = store.raise_epoch(connection, member_id)
        if epoch is None:
            raise ChatError("unknown_member")
        return epoch

    def tokens_voided(self, member_id: str, epoch: int) -> None:
        """All pages of the member come back with a fresh token, where they still get one."""
        member = self._directory.members.get(member_id)
        if member is not None:
            self._directory.put_member(dataclasses.replace(member, epoch=max(epoch, member.epoch)))
            self._hub.cut_off(member_id, CloseCode.TOKEN_EXPIRED, "Sign in again")

    def set_avatar(self, connection: Connection, member_id: str, key: str | None) -> None:
        """A step of a write; `changed` follows. Raises ChatError for somebody who is no member."""
        if not store.set_avatar(connection, member_id, key):
            raise ChatError("unknown_member")

    def time_out(self, connection: Connection, member_id: str, until: float) -> bool:
        """A step of a write; `changed` follows. False for somebody who is no member."""
        return store.set_timeout(connection, member_id, int(until * 1000))

    # Looking and naming.

    def page(self, query: str, after: str, limit: int) -> tuple[list[Member], str | None]:
        """Members in the order in which they joined, and what to ask for `after` to go on."""
        wanted = _folded(query)
        found = (
            member
            for member_id, member in sorted(self._directory.members.items())
            if member_id > after and wanted in _folded(member.nickname)
        )
        page = [member for member, _ in zip(found, range(limit + 1), strict=False)]
        return page[:limit], page[limit - 1].id if len(page) > limit else None

    async def rename(self, actor_id: str, member_id: str, nickname: str, now: float) -> Member:
        """Give a member, oneself or somebody of lower rank, another name."""
        if actor_id == member_id:
            self._directory.require(actor_id, Permission.CHANGE_NICKNAME)
        else:
            self._directory.require(actor_id, Permission.MANAGE_NICKNAMES)
            self._directory.require_above(actor_id, member_id)
        name = self._judged(readable_nickname(nickname))
        before = self._directory.member(member_id).nickname

        def write(connection: Connection) -> None:
            if not store.set_nickname(connection, member_id, name):
                raise ChatError("unknown_member")
            if actor_id != member_id:
                self._audit.record(
                    connection,
                    actor_id=actor_id,
                    action="member_rename",
                    target_id=member_id,
                    details={"before": before, "after": name},
                    now=now,
                )

        await self._database.write(write, lambda _: self.changed(member_id, nickname=name))
        return self._directory.member(member_id)

    def changed(self, member_id: str, **differences: object) -> None:
        """After a write: these attributes of a member are different now."""
        member = dataclasses.replace(self._directory.member(member_id), **differences)  # type: ignore[arg-type]
        self._directory.put_member(member)
        self._hub.push("member_updated", member.described(), EVERYONE)


def _folded(text: str) -> str:
    """As names are compared in a search: without case and compatibility forms."""
    return unicodedata.normalize("NFKC", text).casefold()
