"""Defines the storage limits, and measures the space used by the object store and the database. Changes
nothing.
"""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from svc.base.database import Database
from svc.base.fair_shares import fits
from svc.chat.errors import ChatError
from svc.chat.schemas import Id, Natural

_GB = 1024 * 1024 * 1024
# The storage limit for one holder, which is enough for a few thousand images, and the limit for all holders
# together. The latter applies only if the server's disk is large enough.
MAX_BYTES_PER_MEMBER = 4 * _GB
MAX_BYTES = 256 * _GB
# The maximum number of listed members. The list shows those with the most data, and the total for all others.
MAX_LISTED = 200
# Selects each kind of use with the number and total size of its files. A file with several uses is counted
# only under the first.
_BY_KIND = """
SELECT
    coalesce((SELECT r.kind FROM object_references r WHERE r.key = o.key ORDER BY r.kind LIMIT 1), 'unused'),
    count(*), sum(bytes) FROM objects o GROUP BY 1 ORDER BY 3 DESC
"""
# Selects the members with the most data, including former members. A member's data includes the data of their
# webhooks.
_BY_MEMBER = """
SELECT m.id, m.nickname, sum(k.bytes) AS bytes FROM kept k
    JOIN members m ON m.id = replace(k.holder, 'webhooks of ', '')
    GROUP BY m.id HAVING sum(k.bytes) > 0 ORDER BY bytes DESC, m.id LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class StoredBytes:
    """The number of bytes in the object store, for one holder and for all. A holder is a member, or all
    webhooks created by one member.
    """

    own: int
    everyone: int


def require_room(kept: StoredBytes, more: int) -> None:
    """Raise ChatError if a holder may not store `more` additional bytes. The error identifies the limit."""
    if kept.own + more > MAX_BYTES_PER_MEMBER:
        raise ChatError("quota_exceeded")
    if not fits(kept.own, kept.everyone, MAX_BYTES, more):
        raise server_full(kept.own)


def server_full(own: int) -> ChatError:
    """Return the error for a server that is out of space.

    When space runs low, files from the members with the most data are rejected first, and the error says so.
    """
    if own:
        return ChatError(
            "storage_full",
            "The server is short of room, so members who have the most are refused first. "
            "Delete some of your files, or try again later",
        )
    return ChatError("storage_full", "The server has no space left for this file. Ask its operator for more")


@dataclass(frozen=True, slots=True)
class KindUsage:
    kind: str
    objects: Natural
    bytes: Natural


@dataclass(frozen=True, slots=True)
class MemberUsage:
    member_id: Id
    nickname: str
    bytes: Natural


@dataclass(frozen=True, slots=True)
class StorageUsage:
    """The storage usage in bytes.

    Lists the members who store the most. `others_bytes` is the total for all others.
    """

    bytes: Natural
    limit_bytes: Natural
    limit_of_one_bytes: Natural
    by_kind: Sequence[KindUsage]
    by_member: Annotated[Sequence[MemberUsage], Meta(max_length=MAX_LISTED)]
    others_bytes: Natural
    database_bytes: Natural
    disk_free_bytes: Natural


async def usage_now(database: Database, limit: int) -> StorageUsage:
    """Return the storage usage, listing at most `limit` members."""
    kinds = [KindUsage(*row) for row in await database.rows(_BY_KIND)]
    holders = [MemberUsage(*row) for row in await database.rows(_BY_MEMBER, (limit,))]
    total = sum(kind.bytes for kind in kinds)
    others = total - sum(holder.bytes for holder in holders)
    free, size = await asyncio.to_thread(_disk, database.path)
    limits = MAX_BYTES, MAX_BYTES_PER_MEMBER
    return StorageUsage(total, *limits, kinds, holders, others, size, free)


def _disk(database: Path) -> tuple[int, int]:
    """Return the free space on the database's disk, and the size of the database and its log."""
    files = (database, database.with_name(f"{database.name}-wal"))
    size = sum(file.stat().st_size for file in files if file.exists())
    return shutil.disk_usage(database.parent).free, size
