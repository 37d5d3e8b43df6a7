"""Where media is kept: one small interface, and what a folder of this machine makes of it.

A key is flat, `uploads/<uuid>.<ext>`, and what is stored under it never changes. `put` returns
once the object would survive a power cut; a crash leaves the whole object or none. Lists
nothing and judges nothing: whoever deletes knows which keys are theirs, so that several servers
may share a bucket. S3 is in `objects_s3`. docs/configuration.md, "Chat server".
"""

import asyncio
import os
import secrets
import shutil
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from svc.base.private_files import make_private_file, make_private_folder

# What a reader holds in memory, however slow it is.
CHUNK_BYTES = 256 * 1024
# Reading and writing files side by side: enough to keep one disk busy.
_THREADS = 4
# The database writes to the same disk: whoever may send pictures must not stop it with them.
MIN_FREE_BYTES = 256 * 1024 * 1024
# An interrupted `put` leaves a file with this in its name.
_PARTIAL = ".partial-"
# No put takes so long.
_PARTIAL_KEPT_S = 24 * 3600.0

T = TypeVar("T")


class ObjectMissing(Exception):
    """There is nothing under that key."""


class StoreFailed(Exception):
    """The store cannot do it now; the message is for the operator and holds no secret."""


class ObjectDamaged(StoreFailed):
    """What is stored ends before the bytes that were asked for."""

    def __init__(self, key: str, end: int) -> None:
        super().__init__(f"{key} is cut off: it ends before byte {end}")


class ObjectStore(Protocol):
    @property
    def readers_at_once(self) -> int:
        """So many may read without filling memory or disk."""

    async def put(self, key: str, source: Path | bytes, content_type: str) -> None:
        """Keep a file or bytes; durable when it returns. Raises StoreFailed."""

    async def size(self, key: str) -> int:
        """Raises ObjectMissing and StoreFailed."""

    def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """The bytes from `start` up to `end`, in chunks.

        All of them, or it raises: ObjectMissing, ObjectDamaged where it ends before `end`, StoreFailed.
        """

    async def delete(self, key: str) -> None:
        """Nothing happens where it is gone already. Raises StoreFailed."""

    async def tidy_up(self) -> None:
        """Remove what interrupted puts have left behind. Raises StoreFailed."""


class FileObjects:
    """Under `folder`, which is made when something is first put there."""

    # Each has a file open.
    readers_at_once = 256

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="objects")
        # Of all readers, so few have a new chunk in one turn of the event loop: writing the chunks of
        # hundreds to their connections would stop it for a second.
        self._turns = asyncio.Semaphore(_THREADS)

    async def put(self, key: str, source: Path | bytes, content_type: str) -> None:
        await self._in_thread(lambda: _put(self._path(key), source))

    async def size(self, key: str) -> int:
        return await self._in_thread(lambda: self._path(key).stat().st_size)

    async def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        handle = await self._in_thread(lambda: os.open(self._path(key), os.O_RDONLY | os.O_CLOEXEC))
        try:
            at = start
            # Said before the first chunk, while whoever asked can still be refused.
            if end is not None and os.fstat(handle).st_size < end:
                raise ObjectDamaged(key, end)
            while end is None or at < end:
                most = CHUNK_BYTES if end is None else min(CHUNK_BYTES, end - at)
                async with self._turns:
                    chunk = await self._in_thread(_reading(handle, most, at))
                if not chunk:
                    if end is not None:
                        raise ObjectDamaged(key, end)
                    return
                at += len(chunk)
                yield chunk
        finally:
            os.close(handle)

    async def delete(self, key: str) -> None:
        await self._in_thread(lambda: self._path(key).unlink(missing_ok=True))

    async def tidy_up(self) -> None:
        """Remove what interrupted puts have left behind."""
        await self._in_thread(lambda: _remove_partial(self._folder, time.time() - _PARTIAL_KEPT_S))

    def _path(self, key: str) -> Path:
        # Keys are ours and no stranger's text; this is the last line of defence.
        parts = key.split("/")
        if len(parts) > 2 or any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
            raise StoreFailed(f"{key!r} is no key")
        return self._folder.joinpath(*parts)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        with _named_faults():
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)


@contextmanager
def _named_faults() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise ObjectMissing from None
    except OSError as fault:
        raise StoreFailed(str(fault)) from None


def _reading(handle: int, most: int, at: int) -> Callable[[], bytes]:
    return lambda: os.pread(handle, most, at)


def _put(path: Path, source: Path | bytes) -> None:
    """Whole or not at all: written beside it, then renamed."""
    make_folder(path.parent)
    require_free(path.parent, len(source) if isinstance(source, bytes) else _size(source))
    partial = path.with_name(f"{_PARTIAL}{secrets.token_hex(8)}")
    try:
        make_private_file(partial)
        with partial.open("wb") as file:
            if isinstance(source, bytes):
                file.write(source)
            else:
                _copy(source, file.fileno())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _size(source: Path) -> int:
    try:
        return source.stat().st_size
    except FileNotFoundError as fault:  # Of the source: nothing is missing under the key.
        raise StoreFailed(str(fault)) from None


def _copy(source: Path, target: int) -> None:
    try:
        with source.open("rb") as file, os.fdopen(target, "wb", closefd=False) as out:
            shutil.copyfileobj(file, out, CHUNK_BYTES)
    except FileNotFoundError as fault:
        raise StoreFailed(str(fault)) from None


def require_free(folder: Path, more: int) -> None:
    """Raises StoreFailed where a file of so many bytes would take the last of the disk."""
    if shutil.disk_usage(folder).free < MIN_FREE_BYTES + more:
        raise StoreFailed("the disk is almost full")


def make_folder(folder: Path) -> None:
    """With those above it, and so that they are there after a power cut."""
    if not folder.is_dir():
        make_folder(folder.parent)
        make_private_folder(folder)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make the name durable too. Where folders cannot be opened (Windows) the system sees to it."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove_partial(folder: Path, before: float) -> None:
    for path in folder.glob(f"*/{_PARTIAL}*"):
        try:
            if path.stat().st_mtime < before:
                path.unlink()
        except FileNotFoundError:  # Renamed meanwhile, after all.
            continue
