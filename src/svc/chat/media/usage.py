"""What the store and the database take: by what files are for, and by whose they are. Changes nothing."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from svc.base.database import Database
from svc.chat.fields import Id, Natural
from svc.chat.media import room, store

# Of whoever keeps most; the rest is one sum.
MAX_LISTED = 200


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
    """Everything in bytes. Members who keep most come first; `others_bytes` is what is not theirs."""

    bytes: Natural
    limit_bytes: Natural
    limit_of_one_bytes: Natural
    by_kind: Sequence[KindUsage]
    by_member: Annotated[Sequence[MemberUsage], Meta(max_length=MAX_LISTED)]
    others_bytes: Natural
    database_bytes: Natural
    disk_free_bytes: Natural


class Usage:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def now(self, limit: int) -> StorageUsage:
        """With `limit` members."""
        kinds = [KindUsage(*row) for row in await store.by_kind(self._database)]
        holders = [MemberUsage(*row) for row in await store.by_member(self._database, limit)]
        total = sum(kind.bytes for kind in kinds)
        others = total - sum(holder.bytes for holder in holders)
        free, size = await asyncio.to_thread(_disk, self._database.path)
        limits = room.MAX_BYTES, room.MAX_BYTES_OF_ONE
        return StorageUsage(total, *limits, kinds, holders, others, size, free)


def _disk(database: Path) -> tuple[int, int]:
    """What is free beside the database, and how large that is with what is yet to be merged into it."""
    files = (database, database.with_name(f"{database.name}-wal"))
    size = sum(file.stat().st_size for file in files if file.exists())
    return shutil.disk_usage(database.parent).free, size
