"""Checks whether a member may change a channel's overrides. Makes no changes.

Members can neither grant nor revoke permissions that they lack. A change must not take a permission from a
member of the same or higher rank. Neither rule applies to the owner, and overrides do not affect the owner.
"""

import dataclasses
from collections.abc import Iterable, Iterator

from svc.chat.access.directory import Channel, Directory
from svc.chat.access.permissions import NOTHING, OF_A_CHANNEL, Override, Overrides, Permission
from svc.chat.errors import ChatError

ROLE, MEMBER = "role", "member"
_NONE = Override()


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """A new override for a role or a member. An empty override removes the existing one."""

    kind: str  # ROLE or MEMBER
    target_id: str
    override: Override


def list_changes(channel: Channel) -> Iterator[Change]:
    """Yield a channel's overrides as the changes that would create them."""
    for kind, overrides in ((ROLE, channel.overrides.roles), (MEMBER, channel.overrides.members)):
        for target_id, override in sorted(overrides.items()):
            yield Change(kind, target_id, override)


def with_change(channel: Channel, change: Change) -> Channel:
    """Return the channel with the change applied."""
    of_roles, of_members = dict(channel.overrides.roles), dict(channel.overrides.members)
    kind = of_roles if change.kind == ROLE else of_members
    if change.override == _NONE:
        kind.pop(change.target_id, None)
    else:
        kind[change.target_id] = change.override
    return dataclasses.replace(channel, overrides=Overrides(of_roles, of_members))


def with_changes(directory: Directory, actor_id: str, channel: Channel, changes: Iterable[Change]) -> Channel:
    """Return the channel with the changes applied. Raises ChatError if `actor_id` may not make them.

    The check for lost permissions runs once for all changes, because it examines every member.
    """
    after = channel
    for change in changes:
        _check(directory, actor_id, after, change)
        after = with_change(after, change)
    if not directory.is_owner(actor_id):
        _require_no_loss(directory, actor_id, channel, after)
    return after


def _check(directory: Directory, actor_id: str, channel: Channel, change: Change) -> None:
    before = _current(channel, change)
    touched = (before.allow ^ change.override.allow) | (before.deny ^ change.override.deny)
    if (change.override.allow | change.override.deny) & ~OF_A_CHANNEL:
        raise ChatError("invalid_request", "Only permissions that apply in channels can be overridden there")
    if change.override.allow & change.override.deny:
        raise ChatError("invalid_request", "An override cannot both allow and deny a permission")
    # An override for a former member can still be removed.
    if change.override != _NONE:
        _require_target(directory, change)
    if directory.is_owner(actor_id):
        return
    if touched & ~directory.would_have(actor_id, channel):
        raise ChatError("forbidden", "You can only override permissions that you have yourself")
    role = directory.roles.get(change.target_id) if change.kind == ROLE else None
    if role is not None and role.rank >= directory.rank(actor_id) and _takes(before, change.override):
        raise ChatError("rank_too_low")


def _current(channel: Channel, change: Change) -> Override:
    kind = channel.overrides.roles if change.kind == ROLE else channel.overrides.members
    return kind.get(change.target_id, _NONE)


def _require_target(directory: Directory, change: Change) -> None:
    if change.kind == MEMBER:
        directory.member(change.target_id)
    elif change.target_id not in directory.roles:
        raise ChatError("unknown_role")


def _require_no_loss(directory: Directory, actor_id: str, before: Channel, after: Channel) -> None:
    """Raise ChatError if the changes take a permission from another member of the actor's rank or higher."""
    rank = directory.rank(actor_id)
    for member_id in directory.representatives(before, after, but_not=actor_id):
        if directory.rank(member_id) >= rank:
            lost = directory.would_have(member_id, before) & ~directory.would_have(member_id, after)
            if lost != NOTHING:
                raise ChatError("rank_too_low")


def _takes(before: Override, after: Override) -> Permission:
    return (before.allow & ~after.allow) | (after.deny & ~before.deny)
