"""What the store and the database take: by what files are for, and by whose they are. Changes nothing."""

import asyncio
import shutil
from pathlib import Path

from svc.base.database import Database
from svc.chat.media import room, store

# Of whoever keeps most; the rest is one sum.
MAX_LISTED = 200


class Usage:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def described(self, limit: int) -> dict[str, object]:
        """Everything in bytes. Members who keep most come first, `limit` of them."""
        kinds = await store.by_kind(self._database)
        holders = await store.by_member(self._database, limit)
        total = sum(kind["bytes"] for kind in kinds)
        free, size = await asyncio.to_thread(_disk, self._database.path)
        return {
            "bytes": total,
            "limit_bytes": room.MAX_BYTES,
            "limit_of_one_bytes": room.MAX_BYTES_OF_ONE,
            "by_kind": [dict(kind) for kind in kinds],
            "by_member": [dict(holder) for holder in holders],
            "others_bytes": total - sum(holder["bytes"] for holder in holders),
            "database_bytes": size,
            "disk_free_bytes": free,
        }


def _disk(database: Path) -> tuple[int, int]:
    """What is free beside the database, and how large that is with what is yet to be merged into it."""
    files = (database, database.with_name(f"{database.name}-wal"))
    size = sum(file.stat().st_size for file in files if file.exists())
    return shutil.disk_usage(database.parent).free, size
