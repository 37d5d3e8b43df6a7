"""Whom a push is for. Decides by today's permissions, also when a push is replayed later."""

from dataclasses import dataclass

from svc.chat.access.directory import Directory
from svc.chat.access.permissions import Permission


@dataclass(frozen=True, slots=True)
class Everyone:
    """All members."""


@dataclass(frozen=True, slots=True)
class Viewers:
    """Who may view a channel."""

    channel_id: str


@dataclass(frozen=True, slots=True)
class Only:
    """Members by name, all their pages."""

    member_ids: frozenset[str]


@dataclass(frozen=True, slots=True)
class Holders:
    """Who has a permission: in a channel, or on the server."""

    permission: Permission
    channel_id: str | None = None


Audience = Everyone | Viewers | Only | Holders
EVERYONE = Everyone()


def only(*member_ids: str) -> Only:
    return Only(frozenset(member_ids))


def includes(audience: Audience, member_id: str, directory: Directory) -> bool:
    match audience:
        case Everyone():
            return member_id in directory.members
        case Viewers(channel_id):
            return member_id in directory.viewers(channel_id)
        case Only(member_ids):
            return member_id in member_ids
        case Holders(permission, channel_id):
            return directory.may(member_id, permission, channel_id)
