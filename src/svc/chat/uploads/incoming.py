"""The files of uploads that are not done: `incoming/<id>` in the data folder, which the worker reads.

Written piece by piece on threads of their own, never whole in memory, and durable before
anybody is told how far they have come. Nothing here is ever served. Judges no content.
"""

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from svc.base.contents import content_of
from svc.base.objects import make_folder, sync_folder

FOLDER = "incoming"
# Written at once; what each upload holds in memory.
PIECE_BYTES = 512 * 1024
_THREADS = 2
# A file whose row is being made at this moment is not nobody's.
_NOBODYS_AFTER_S = 3600.0

T = TypeVar("T")


class Incoming:
    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._folder = data_dir / FOLDER
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="incoming")

    def source(self, upload_id: str) -> str:
        """The path as the worker is told it, relative to the data folder."""
        return f"{FOLDER}/{upload_id}"

    async def write(self, upload_id: str, offset: int, chunks: AsyncIterator[bytes]) -> int:
        """Append what comes, behind `offset`; how far it has come. Raises OSError.

        What `chunks` raises is raised here, once what came before it is durable: `written`
        says how much that was.
        """
        handle = await self._in_thread(lambda: _opened(self._folder, upload_id, offset))
        try:
            return await self._append(handle, offset, chunks)
        finally:
            await self._in_thread(lambda: _closed(handle))

    async def written(self, upload_id: str) -> int:
        """The length of what is there."""
        return await self._in_thread(lambda: (self._folder / upload_id).stat().st_size)

    async def content(self, upload_id: str, length: int) -> str:
        """Return what it is by what has come of it: a picture, a video or another file."""

        def begins() -> str:
            with (self._folder / upload_id).open("rb") as file:
                return content_of(file.fileno(), length)

        return await self._in_thread(begins)

    async def free_bytes(self) -> int:
        return await self._in_thread(lambda: shutil.disk_usage(self._data_dir).free)

    async def remove(self, upload_id: str) -> None:
        await self._in_thread(lambda: (self._folder / upload_id).unlink(missing_ok=True))

    async def remove_but(self, wanted: Collection[str]) -> int:
        """Remove the files that nobody wants any more; how many those were."""
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
                rest = piece
                await self._in_thread(_writing(handle, rest, offset))
                offset += len(rest)
        return offset

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _opened(folder: Path, upload_id: str, offset: int) -> int:
    """What is behind `offset` was never acknowledged, and goes."""
    make_folder(folder)
    handle = os.open(folder / upload_id, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.ftruncate(handle, offset)
    if offset == 0:
        sync_folder(folder)
    return handle


def _closed(handle: int) -> None:
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
