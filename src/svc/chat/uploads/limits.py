"""How much of what is taken: of one file, of one member, of all together; and whether there is room for more.

The constants have their reasons. Of the disk, what counts is what has arrived and the little that was
reserved for what is arriving. What a member has is compared with what is free (`svc.base.shares`). No SQL.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from svc.base.contents import FILE, PICTURE, VIDEO
from svc.base.shares import fits
from svc.chat.errors import ChatError
from svc.chat.media import usage
from svc.chat.media.usage import Kept, server_full
from svc.chat.uploads.upload import ATTACHMENT, AVATAR, EMOJI, ICON

_MB = 1024 * 1024
# A few minutes from a telephone.
MAX_ATTACHMENT_BYTES = 256 * _MB
MAX_PICTURE_BYTES = 32 * _MB
MAX_AVATAR_BYTES = 8 * _MB
MAX_EMOJI_BYTES = 2 * _MB

# Begun, or waiting for the worker: of one member, and of all, whose files are all on our disk.
MAX_UNFINISHED_OF_A_MEMBER = 20
MAX_UNFINISHED = 2_000
MAX_INCOMING_BYTES = 16 * 1024 * _MB
# What an upload reserves when it begins: most pictures need no more. All unfinished uploads together
# reserve 500 MiB so.
EXPECTED_BYTES = 256 * 1024
# What it reserves beyond that, while its bytes arrive: one small write to the database for each.
RESERVED_AT_ONCE = 8 * _MB
# Received at this moment, of all members together: each holds up to 512 KiB in memory.
MAX_ARRIVING = 128
# What stays on the disk for the database and everything else.
MIN_FREE_BYTES = 512 * _MB

# An upload of which nothing has come has no page that sends it.
EMPTY_KEPT_S = 600.0
# An upload whose page has gone can be taken up again for a day.
UNFINISHED_KEPT_S = 24 * 3600.0
# For so long its member can ask why.
REFUSED_KEPT_S = 3600.0
# For so long the operator can look into what the worker has given up, and have it tried again.
DEAD_KEPT_S = 7 * 24 * 3600.0
MAX_ATTACHMENTS = 10
# Larger videos are expected to take long: they wait in a line of their own.
SHORT_VIDEO_BYTES = 16 * _MB
# For so long a job may take a place in the line of short ones. Then it moves to the other line and
# starts again there: nobody waits longer than this for one job of somebody else's.
SHORT_JOB_S = 15

SIDES = {AVATAR: 256, ICON: 512, EMOJI: 128}


@dataclass(frozen=True, slots=True)
class Limits:
    """How many bytes of each purpose are taken. `kept_here`: what is kept is on our own disk too.

    `file_bytes` is the limit of files that are kept as they came; 0 takes none. `file_extensions` are the
    endings that such a file may have; empty is all. Of emoji, `emoji_at_once` are worked on at a time.
    """

    icon_bytes: int
    kept_here: bool
    emoji_at_once: int
    file_bytes: int = 0
    file_extensions: tuple[str, ...] = ()

    def of(self, purpose: str) -> int:
        return {
            ATTACHMENT: max(MAX_ATTACHMENT_BYTES, self.file_bytes),
            AVATAR: MAX_AVATAR_BYTES,
            ICON: self.icon_bytes,
            EMOJI: MAX_EMOJI_BYTES,
        }[purpose]

    def of_kind(self, kind: str, name: str) -> int:
        """How many bytes a file of a kind and of this name may have; 0 where it is not taken."""
        if kind == FILE:
            return self.file_bytes if self._permits(name) else 0
        return {PICTURE: MAX_PICTURE_BYTES, VIDEO: MAX_ATTACHMENT_BYTES}.get(kind) or self.of(kind)

    def _permits(self, name: str) -> bool:
        ending = PurePosixPath(name).suffix.removeprefix(".").lower()
        return not self.file_extensions or ending in self.file_extensions

    def told(self, kind: str, name: str, *, long: bool) -> Mapping[str, object]:
        """What the worker is told with a job of a kind. A container of videos may turn out to be sound."""
        deadline = {} if long else {"deadline_s": SHORT_JOB_S}
        if kind in (VIDEO, FILE):
            endings = self.file_extensions if self.file_bytes else ()
            return {
                "max_bytes": MAX_ATTACHMENT_BYTES,
                "file_bytes": self.of_kind(FILE, name),
                **({"file_extensions": endings} if endings else {}),
                **deadline,
            }
        if kind == PICTURE:
            return {"max_bytes": MAX_PICTURE_BYTES, **deadline}
        return {"max_bytes": self.of(kind), "max_side": SIDES[kind], **deadline}


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
    if there.own.unfinished >= MAX_UNFINISHED_OF_A_MEMBER:
        raise ChatError(
            "too_many",
            f"You have {there.own.unfinished} unfinished uploads, which is the limit for a member. "
            "Wait until some are done, or cancel them",
        )
    if not fits(there.own.unfinished, there.everyone.unfinished, MAX_UNFINISHED):
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
    free = there.disk_bytes - MIN_FREE_BYTES - there.everyone.expected
    if not fits(own, everyone, MAX_INCOMING_BYTES, more) or not fits(on_disk, 0, free, more):
        raise server_full(on_disk)


def takes_long(kind: str, length: int) -> bool:
    """Is that to be expected of a file? What takes long against expectation is moved later."""
    return kind == VIDEO and length > SHORT_VIDEO_BYTES
