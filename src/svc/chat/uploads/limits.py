"""Limits uploads per file, per member and for the server, and checks for free space.

The disk space in use consists of the bytes that have arrived, and of small reservations for bytes that have
not arrived yet. A member's share is compared with the free space (`svc.base.fair_shares`). This module
contains no SQL.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath

from svc.base.fair_shares import fits
from svc.base.file_types import FILE, PICTURE, VIDEO
from svc.base.job_commands import JobLimits
from svc.chat.errors import ChatError
from svc.chat.media import usage
from svc.chat.media.usage import StoredBytes, server_full
from svc.chat.uploads.upload import ATTACHMENT, AVATAR, EMOJI, ICON

_MB = 1024 * 1024
# The maximum size of an attachment, enough for a few minutes of video from a phone.
MAX_ATTACHMENT_BYTES = 256 * _MB
MAX_PICTURE_BYTES = 32 * _MB
MAX_AVATAR_BYTES = 8 * _MB
MAX_EMOJI_BYTES = 2 * _MB

# The maximum number of uploads that are unfinished or waiting for the worker, per member and in total, and
# the maximum total size of their files. All these files are on the server's disk.
MAX_UNFINISHED_PER_MEMBER = 20
MAX_UNFINISHED = 2_000
MAX_INCOMING_BYTES = 16 * 1024 * _MB
# The disk space that an upload reserves when it begins, enough for most images. All unfinished uploads
# together reserve at most 500 MiB in this way.
EXPECTED_BYTES = 256 * 1024
# The size of each later reservation of disk space as bytes arrive. Each reservation is a small database
# write.
RESERVED_AT_ONCE = 8 * _MB
# The maximum number of uploads to receive at the same time. Each uses up to 512 KiB of memory.
MAX_ARRIVING = 128
# The disk space to keep free for the database and everything else.
MIN_FREE_BYTES = 512 * _MB

# An upload that has received nothing within this time is deleted, because its client is gone.
EMPTY_KEPT_S = 600.0
# An interrupted upload can be resumed for a day.
UNFINISHED_KEPT_S = 24 * 3600.0
# How long a member can see why an upload was rejected.
REFUSED_KEPT_S = 3600.0
# How long the operator can examine and retry jobs that have been abandoned.
DEAD_KEPT_S = 7 * 24 * 3600.0
MAX_ATTACHMENTS = 10
# The maximum size of a video in the queue of short jobs. Larger ones are expected to be slow and have a
# separate queue.
SHORT_VIDEO_BYTES = 16 * _MB
# The maximum time for a job in the queue of short jobs, and therefore the longest delay for the next one. A
# job that takes longer starts again in the queue of long jobs.
SHORT_JOB_S = 15

SIDES = {AVATAR: 256, ICON: 512, EMOJI: 128}


@dataclass(frozen=True, slots=True)
class Limits:
    """The maximum size in bytes for each purpose.

    `kept_here` means that finished files are also on the server's disk. `file_bytes` is the limit for files
    that are stored unprocessed. If it is 0, such files are rejected. `file_extensions` lists their permitted
    extensions, and permits all if empty. `emoji_at_once` is the maximum number of emoji processed at the same
    time.
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
        """Return the maximum size of a file with the given kind and name, or 0 if such files are rejected."""
        if kind == FILE:
            return self.file_bytes if self._permits(name) else 0
        return {PICTURE: MAX_PICTURE_BYTES, VIDEO: MAX_ATTACHMENT_BYTES}.get(kind) or self.of(kind)

    def _permits(self, name: str) -> bool:
        ending = PurePosixPath(name).suffix.removeprefix(".").lower()
        return not self.file_extensions or ending in self.file_extensions

    def for_worker(self, kind: str, name: str, *, long: bool) -> JobLimits:
        """Return a worker's limits for a job. The file in a video job may turn out to contain only audio."""
        deadline_s = 0 if long else SHORT_JOB_S
        if kind in (VIDEO, FILE):
            return JobLimits(
                max_bytes=MAX_ATTACHMENT_BYTES,
                file_bytes=self.of_kind(FILE, name),
                file_extensions=self.file_extensions if self.file_bytes else (),
                deadline_s=deadline_s,
            )
        if kind == PICTURE:
            return JobLimits(max_bytes=MAX_PICTURE_BYTES, deadline_s=deadline_s)
        return JobLimits(max_bytes=self.of(kind), max_side=SIDES[kind], deadline_s=deadline_s)


@dataclass(frozen=True, slots=True)
class Load:
    """The number of unfinished uploads, the disk space that they use or have reserved, and how much of it is
    reserved for bytes that have not arrived yet.
    """

    unfinished: int
    bytes: int
    expected: int


@dataclass(frozen=True, slots=True)
class SpaceUsed:
    """The storage space in use and the free space.

    `disk_bytes` is the free space on the server's disk. `kept_here` means that finished files are also there.
    """

    own: Load
    everyone: Load
    kept: StoredBytes
    disk_bytes: int
    kept_here: bool


def require_place(used: SpaceUsed) -> None:
    """Raise ChatError if the member may not begin another upload."""
    if used.own.unfinished >= MAX_UNFINISHED_PER_MEMBER:
        raise ChatError(
            "too_many",
            f"You have {used.own.unfinished} unfinished uploads, which is the limit for a member. "
            "Wait until some are done, or cancel them",
        )
    if not fits(used.own.unfinished, used.everyone.unfinished, MAX_UNFINISHED):
        raise ChatError(
            "storage_full",
            f"The server has {used.everyone.unfinished} unfinished uploads, so members who have the most "
            "are refused first. Wait until some of yours are done",
        )


def require_room(used: SpaceUsed, more: int) -> None:
    """Raise ChatError if the member's uploads may not grow by `more` bytes."""
    own, everyone = used.own.bytes, used.everyone.bytes
    usage.require_room(used.kept, own + more)
    on_disk = own + (used.kept.own if used.kept_here else 0)
    free = used.disk_bytes - MIN_FREE_BYTES - used.everyone.expected
    if not fits(own, everyone, MAX_INCOMING_BYTES, more) or not fits(on_disk, 0, free, more):
        raise server_full(on_disk)


def takes_long(kind: str, length: int) -> bool:
    """Return whether a file is expected to take a long time to process.

    Jobs that turn out to be slow are moved to the queue of long jobs.
    """
    return kind == VIDEO and length > SHORT_VIDEO_BYTES
