"""Whether there is room for an upload, or for more of one: on the disk, and beside the uploads of others.

What counts is what has arrived and the little that was reserved for what is arriving. What a
member has is compared with what is free (`svc.base.shares`). No SQL.
"""

from dataclasses import dataclass

from svc.base.shares import fits
from svc.chat.errors import ChatError
from svc.chat.media import usage
from svc.chat.media.usage import Kept, server_full
from svc.chat.uploads import limits


@dataclass(frozen=True, slots=True)
class Load:
    """Uploads that are not done: how many, how much of the disk they have, how much of that is to come."""

    unfinished: int
    bytes: int
    expected: int


@dataclass(frozen=True, slots=True)
class Room:
    """What there is. `disk_bytes` are free on our disk, where `kept_here` says that files are kept too."""

    own: Load
    everyone: Load
    kept: Kept
    disk_bytes: int
    kept_here: bool


def require_place(there: Room) -> None:
    """Raises ChatError where a member may not begin another upload."""
    if there.own.unfinished >= limits.MAX_UNFINISHED_OF_A_MEMBER:
        raise ChatError(
            "too_many",
            f"You have {there.own.unfinished} unfinished uploads, which is the limit for a member. "
            "Wait until some are done, or cancel them",
        )
    if not fits(there.own.unfinished, there.everyone.unfinished, limits.MAX_UNFINISHED):
        raise ChatError(
            "storage_full",
            f"The server has {there.everyone.unfinished} unfinished uploads, so members who have the most "
            "are refused first. Wait until some of yours are done",
        )


def require_room(there: Room, more: int) -> None:
    """Raises ChatError where a member's uploads may not have so many more bytes."""
    own, everyone = there.own.bytes, there.everyone.bytes
    usage.require_room(there.kept, own + more)
    on_disk = own + (there.kept.own if there.kept_here else 0)
    free = there.disk_bytes - limits.MIN_FREE_BYTES - there.everyone.expected
    if not fits(own, everyone, limits.MAX_INCOMING_BYTES, more) or not fits(on_disk, 0, free, more):
        raise server_full(on_disk)
