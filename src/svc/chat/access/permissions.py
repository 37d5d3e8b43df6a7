"""Defines permissions, roles with ranks, and channel overrides.

Contains only set arithmetic. The API and the database use a permission's name in lower case.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import or_

from svc.chat.errors import ChatError


class Permission(enum.Flag):
    """A permission. Permissions are stored by name, not by number, so their order may change."""

    # Permissions in text and voice channels. Overrides may change these per channel.
    VIEW_CHANNEL = enum.auto()
    SEND_MESSAGES = enum.auto()
    ATTACH_FILES = enum.auto()
    ADD_REACTIONS = enum.auto()
    MANAGE_MESSAGES = enum.auto()
    MENTION_EVERYONE = enum.auto()  # Mention roles, @everyone and @here.
    MANAGE_WEBHOOKS = enum.auto()
    JOIN_VOICE = enum.auto()
    SPEAK = enum.auto()
    SHARE_VIDEO = enum.auto()
    SHARE_SCREEN = enum.auto()
    MUTE_MEMBERS = enum.auto()
    MOVE_MEMBERS = enum.auto()
    # Permissions for the whole server.
    CHANGE_NICKNAME = enum.auto()
    CREATE_INVITES = enum.auto()
    MANAGE_INVITES = enum.auto()
    MANAGE_NICKNAMES = enum.auto()
    TIMEOUT_MEMBERS = enum.auto()
    KICK_MEMBERS = enum.auto()
    BAN_MEMBERS = enum.auto()
    VIEW_REPORTS = enum.auto()
    VIEW_AUDIT_LOG = enum.auto()
    MANAGE_EMOJI = enum.auto()
    MANAGE_CHANNELS = enum.auto()
    MANAGE_ROLES = enum.auto()
    MANAGE_BOTS = enum.auto()
    MANAGE_AUTOMOD = enum.auto()


P = Permission
NOTHING = Permission(0)
EVERYTHING = ~NOTHING
OF_A_CHANNEL = (
    P.VIEW_CHANNEL | P.SEND_MESSAGES | P.ATTACH_FILES | P.ADD_REACTIONS
    | P.MANAGE_MESSAGES | P.MENTION_EVERYONE | P.MANAGE_WEBHOOKS | P.JOIN_VOICE | P.SPEAK
    | P.SHARE_VIDEO | P.SHARE_SCREEN | P.MUTE_MEMBERS | P.MOVE_MEMBERS
)  # fmt: skip
# Permissions that remain during a timeout.
IN_TIMEOUT = P.VIEW_CHANNEL

# Permissions that remain in an archived channel: reading and moderation.
IN_ARCHIVE = P.VIEW_CHANNEL | P.MANAGE_MESSAGES

OWNER, ADMIN, MODERATOR, MEMBER, GUEST = "owner", "admin", "moderator", "member", "guest"


@dataclass(frozen=True, slots=True)
class Role:
    """A role. Members can act only on members with a lower rank. The `id` of a built-in role is its name."""

    id: str
    name: str
    rank: int
    permissions: Permission
    color: int | None = None  # 0 to 0xFFFFFF


_GUEST = P.VIEW_CHANNEL | P.SEND_MESSAGES | P.ADD_REACTIONS | P.JOIN_VOICE | P.SPEAK | P.CHANGE_NICKNAME
_MEMBER = _GUEST | P.ATTACH_FILES | P.SHARE_VIDEO | P.SHARE_SCREEN | P.CREATE_INVITES
_MODERATOR = (
    _MEMBER | P.MANAGE_MESSAGES | P.MENTION_EVERYONE | P.MUTE_MEMBERS | P.MOVE_MEMBERS | P.MANAGE_NICKNAMES
    | P.TIMEOUT_MEMBERS | P.KICK_MEMBERS | P.BAN_MEMBERS | P.VIEW_REPORTS | P.MANAGE_INVITES
)  # fmt: skip
# The roles of a new server. The owner's role has every permission, cannot be changed, and outranks all other
# roles.
BUILT_IN: Mapping[str, Role] = {
    role.id: role
    for role in (
        Role(OWNER, "Owner", 1000, EVERYTHING),
        Role(ADMIN, "Admin", 800, EVERYTHING),
        Role(MODERATOR, "Moderator", 500, _MODERATOR),
        Role(MEMBER, "Member", 100, _MEMBER),
        Role(GUEST, "Guest", 0, _GUEST),
    )
}


@dataclass(frozen=True, slots=True)
class Override:
    """Permissions that a channel grants to or removes from a role or a member."""

    allow: Permission = NOTHING
    deny: Permission = NOTHING


@dataclass(frozen=True, slots=True)
class Overrides:
    roles: Mapping[str, Override] = field(default_factory=dict)
    members: Mapping[str, Override] = field(default_factory=dict)


def of_roles(roles: Iterable[Role]) -> Permission:
    """Return the server-wide permissions of these roles."""
    return reduce(or_, (role.permissions for role in roles), NOTHING)


def in_channel(
    server_wide: Permission, role_ids: Iterable[str], member_id: str, own: Overrides
) -> Permission:
    """Return the permissions in a channel that has the overrides `own`.

    Role overrides apply first, with allow winning over deny. The member's own override applies last. Members
    who cannot view the channel have no other permissions in it.
    """
    allow, deny = NOTHING, NOTHING
    for role_id in role_ids:
        if override := own.roles.get(role_id):
            allow |= override.allow
            deny |= override.deny
    granted = server_wide & ~deny | allow
    if override := own.members.get(member_id):
        granted = granted & ~override.deny | override.allow
    return granted if P.VIEW_CHANNEL in granted else granted & ~OF_A_CHANNEL


def names(permissions: Permission) -> list[str]:
    """Return the API names of the permissions, in declaration order."""
    return list(_names(permissions))


# Cached, because a client's state contains the names for each channel, and nearly all members share a few
# sets of permissions.
@lru_cache(maxsize=1024)
def _names(permissions: Permission) -> tuple[str, ...]:
    return tuple((permission.name or "").lower() for permission in permissions)


def from_names(wanted: Iterable[object]) -> Permission:
    """Parse the permission names in a request. Raises ChatError for an unknown name."""
    together = NOTHING
    for name in wanted:
        permission = (
            isinstance(name, str) and name == name.lower() and Permission.__members__.get(name.upper())
        )
        if not permission:
            raise ChatError("invalid_request", f"{str(name)[:64]!r} is not a permission")
        together |= permission
    return together


def from_store(text: str) -> Permission:
    """Parse a database column. Unknown names are ignored."""
    permissions = (Permission.__members__.get(name.upper(), NOTHING) for name in text.split())
    return reduce(or_, permissions, NOTHING)


def to_store(permissions: Permission) -> str:
    return " ".join(names(permissions))
