"""Response types for members and roles."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from svc.chat.access import directory, permissions
from svc.chat.access.permissions import BUILT_IN, EVERYTHING, OWNER, names
from svc.chat.names import MAX_NICKNAME_CHARACTERS
from svc.chat.schemas import Id, Response, TimeMs

MAX_ROLE_NAME_CHARACTERS = 32
# The maximum length of a status, which is displayed on one line below the name.
MAX_STATUS_CHARACTERS = 80

PermissionName = Annotated[str, Meta(extra_json_schema={"enum": [*names(EVERYTHING)]})]
Permissions = Annotated[Sequence[PermissionName], Meta(title="Permissions")]
Color = Annotated[int, Meta(ge=0, le=0xFFFFFF)]


class Member(Response):
    id: Id
    nickname: Annotated[str, Meta(max_length=MAX_NICKNAME_CHARACTERS)]
    roles: Sequence[Id]
    timeout_until_ms: TimeMs | None
    joined_at_ms: TimeMs
    avatar: str | None
    status_text: Annotated[str, Meta(max_length=MAX_STATUS_CHARACTERS)]
    bot: bool


class Role(Response):
    id: Id
    name: Annotated[str, Meta(min_length=1, max_length=MAX_ROLE_NAME_CHARACTERS)]
    rank: Annotated[int, Meta(ge=0, le=BUILT_IN[OWNER].rank)]
    permissions: Permissions
    color: Color | None
    built_in: bool


class MemberPermissions(Response):
    """A member's permissions, on the server and in each channel that they can view."""

    server: Permissions
    channels: Mapping[str, Permissions]


class MemberLeft(Response):
    member_id: Id


class RoleDeleted(Response):
    role_id: Id


def member(of: directory.Member) -> Member:
    return Member(
        id=of.id,
        nickname=of.nickname,
        roles=of.role_ids,
        timeout_until_ms=int(of.timeout_until * 1000) or None,
        joined_at_ms=of.joined_at_ms,
        avatar=of.avatar.url() if of.avatar else None,
        status_text=of.status_text,
        bot=of.bot,
    )


def role(of: permissions.Role) -> Role:
    return Role(of.id, of.name, of.rank, names(of.permissions), of.color, of.id in BUILT_IN)
