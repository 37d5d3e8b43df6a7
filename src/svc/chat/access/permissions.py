"""What a member may do: the catalogue of permissions, roles with ranks, overrides of a channel.

Arithmetic on sets of permissions; keeps nobody and asks nobody. A permission's name on the
wire and in the database is its name here in lower case.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from svc.chat.errors import ChatError


class Permission(enum.Flag):
    """Stored by name, never by number: the order here may change."""

    # Text and voice channels alike; an override may change these for a channel.
    VIEW_CHANNEL = enum.auto()
    SEND_MESSAGES = enum.auto()
    ATTACH_FILES = enum.auto()
    ADD_REACTIONS = enum.auto()
    MANAGE_MESSAGES = enum.auto()
    MENTION_EVERYONE = enum.auto()  # Roles, @everyone and @here.
    MANAGE_WEBHOOKS = enum.auto()
    JOIN_VOICE = enum.auto()
    SPEAK = enum.auto()
    SHARE_VIDEO = enum.auto()
    SHARE_SCREEN = enum.auto()
    MUTE_MEMBERS = enum.auto()
    MOVE_MEMBERS = enum.auto()
    # Of the whole server.
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
# What somebody keeps who is in timeout: reading, and nothing else.
IN_TIMEOUT = P.VIEW_CHANNEL

# What is left in an archived channel: reading, and tidying up.
IN_ARCHIVE = P.VIEW_CHANNEL | P.MANAGE_MESSAGES

OWNER, ADMIN, MODERATOR, MEMBER, GUEST = "owner", "admin", "moderator", "member", "guest"


@dataclass(frozen=True, slots=True)
class Role:
    """Who has a higher rank may act on who has a lower one. `id` of a built-in role is its name."""

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
# The roles of a new server. The owner's has everything and cannot be changed; nobody
# else's rank reaches it.
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
    """What a channel allows or denies a role or a member, against what they have elsewhere."""

    allow: Permission = NOTHING
    deny: Permission = NOTHING


@dataclass(frozen=True, slots=True)
class Overrides:
    roles: Mapping[str, Override] = field(default_factory=dict)
    members: Mapping[str, Override] = field(default_factory=dict)


def of_roles(roles: Iterable[Role]) -> Permission:
    """What somebody with these roles may do on the server."""
    return reduce(or_, (role.permissions for role in roles), NOTHING)


def in_channel(
    server_wide: Permission, role_ids: Iterable[str], member_id: str, own: Overrides
) -> Permission:
    """What somebody may do in a channel with `own` overrides.

    Roles first, where one that allows wins over one that denies; then the member's own
    override. Who may not view a channel may do nothing in it.
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
    """As clients see them, in the catalogue's order."""
    return [(permission.name or "").lower() for permission in permissions]


def from_names(wanted: Iterable[object]) -> Permission:
    """The permissions of a request. Raises ChatError for a name that is none."""
    together = NOTHING
    for name in wanted:
        found = isinstance(name, str) and name == name.lower() and Permission.__members__.get(name.upper())
        if not found:
            raise ChatError("invalid_request", f"{str(name)[:64]!r} is not a permission")
        together |= found
    return together


def stored(text: str) -> Permission:
    """The permissions of a database column; what an older or newer version called otherwise is left out."""
    found = (Permission.__members__.get(name.upper(), NOTHING) for name in text.split())
    return reduce(or_, found, NOTHING)


def to_store(permissions: Permission) -> str:
    return " ".join(names(permissions))
