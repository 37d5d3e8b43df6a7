"""Stores the files of unfinished uploads in `incoming/<id>` in the data folder, where the worker reads them.

Files are written in pieces on separate threads, so no file is ever completely in memory. Bytes are
acknowledged only once they are durable. The files are not served, and are examined only to determine their
kind.
"""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from svc.base.file_types import content_of
from svc.base.object_store import make_folder, sync_folder

FOLDER = "incoming"
# The size of one write, and the memory that each upload uses.
PIECE_BYTES = 512 * 1024
_THREADS = 2
# Only files older than this are removed, because a newer one may belong to an upload whose row is still being
# inserted.
_NOBODYS_AFTER_S = 3600.0

T = TypeVar("T")


class IncomingFiles:
    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._folder = data_dir / FOLDER
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="incoming")

    def source(self, upload_id: str) -> str:
        """Return the path of an upload's file relative to the data folder, for the worker."""
        return f"{FOLDER}/{upload_id}"

    async def write(self, upload_id: str, offset: int, chunks: AsyncIterator[bytes]) -> int:
        """Write chunks to an upload's file, starting at `offset`. Return the new length. Raises OSError.

        If `chunks` raises an error, the earlier chunks are still made durable, and `length_of` includes them.
        """
        handle = await self._in_thread(lambda: _open_at(self._folder, upload_id, offset))
        try:
            return await self._append(handle, offset, chunks)
        finally:
            await self._in_thread(lambda: _sync_and_close(handle))

    async def length_of(self, upload_id: str) -> int:
        """Return the length of an upload's file."""
        return await self._in_thread(lambda: (self._folder / upload_id).stat().st_size)

    async def content(self, upload_id: str, length: int) -> str:
        """Return the kind of an upload's file according to its content: an image, a video or another file."""

        def read_content() -> str:
            with (self._folder / upload_id).open("rb") as file:
                return content_of(file.fileno(), length)

        return await self._in_thread(read_content)

    async def free_bytes(self) -> int:
        return await self._in_thread(lambda: shutil.disk_usage(self._data_dir).free)

    async def remove(self, upload_id: str) -> None:
        await self._in_thread(lambda: (self._folder / upload_id).unlink(missing_ok=True))

    async def remove_but(self, wanted: Collection[str]) -> int:
        """Remove all files except those of uploads in `wanted`. Return how many were removed."""
        before = time.time() - _NOBODYS_AFTER_S
        return await self._in_thread(lambda: _remove_but(self._folder, wanted, before))

    async def _append(self, handle: int, offset: int, chunks: AsyncIterator[bytes]) -> int:
        piece = bytearray()
        try:
            async for chunk in chunks:
                piece += chunk
                if len(piece) >= PIECE_BYTES:
                    full, piece = piece, bytearray()
                    await self._in_thread(_writing(handle, full, offset))
                    offset += len(full)
        finally:
            if piece:
                tail = piece
                await self._in_thread(_writing(handle, tail, offset))
                offset += len(tail)
        return offset

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _open_at(folder: Path, upload_id: str, offset: int) -> int:
    """Open a file and truncate it at `offset`. Any data after it was not acknowledged."""
    make_folder(folder)
    handle = os.open(folder / upload_id, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.ftruncate(handle, offset)
    if offset == 0:
        sync_folder(folder)
    return handle


def _sync_and_close(handle: int) -> None:
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _writing(handle: int, piece: bytearray, offset: int) -> Callable[[], None]:
    def write() -> None:
        view, at = memoryview(piece), offset
        while view:
            done = os.pwrite(handle, view, at)
            view, at = view[done:], at + done

    return write


def _remove_but(folder: Path, wanted: Collection[str], before: float) -> int:
    removed = 0
    for path in folder.glob("*"):
        if path.name not in wanted and path.stat().st_mtime < before:
            path.unlink(missing_ok=True)
            removed += 1
    return removed
