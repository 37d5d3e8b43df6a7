"""Defines how media is stored: a small interface, and its implementation in a local folder.

A key is flat, `uploads/<uuid>.<ext>`, and its object never changes. `put` returns once the object would
survive a power cut, and a crash leaves either the whole object or nothing. The store neither lists objects
nor checks their content. Callers know their keys, so several servers can share a bucket. `object_store_s3`
implements the interface for S3. See docs/configuration.md, "Chat server".
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

# The memory that one reader uses, however slow it is.
CHUNK_BYTES = 256 * 1024
# The number of threads that read and write files: enough to keep one disk busy.
_THREADS = 4
# The database writes to the same disk, so uploads must not fill it.
MIN_FREE_BYTES = 256 * 1024 * 1024
# An interrupted `put` leaves a file whose name contains this string.
_PARTIAL = ".partial-"
# Files left by an interrupted `put` are removed after this time. No `put` takes this long.
_PARTIAL_KEPT_S = 24 * 3600.0

T = TypeVar("T")


class ObjectMissing(Exception):
    """There is no object under the key."""


class StoreFailed(Exception):
    """The store failed temporarily. The message is for the operator and contains no secret."""


class ObjectDamaged(StoreFailed):
    """The stored object is shorter than the requested range."""

    def __init__(self, key: str, end: int) -> None:
        super().__init__(f"{key} is cut off: it ends before byte {end}")


class ObjectStore(Protocol):
    @property
    def readers_at_once(self) -> int:
        """The number of readers that can be active at the same time without filling memory or disk."""

    async def put(self, key: str, source: Path | bytes, content_type: str) -> None:
        """Store a file or bytes durably. Raises StoreFailed."""

    async def size(self, key: str) -> int:
        """Return an object's size. Raises ObjectMissing or StoreFailed."""

    def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        """Yield an object's bytes from `start` up to `end`, in chunks.

        Raises ObjectMissing, ObjectDamaged if the object ends before `end`, and StoreFailed.
        """

    async def delete(self, key: str) -> None:
        """Delete an object. Do nothing if it is absent. Raises StoreFailed."""

    async def tidy_up(self) -> None:
        """Remove leftovers from interrupted puts. Raises StoreFailed."""


class FileObjects:
    """A store in the local folder `folder`, which the first `put` creates."""

    # The number is limited because each reader keeps a file open.
    readers_at_once = 256

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="objects")
        # Limits the number of readers that get a new chunk in one iteration of the event loop. Writing to
        # hundreds of connections in one iteration would block the loop for a second.
        self._turns = asyncio.Semaphore(_THREADS)

    async def put(self, key: str, source: Path | bytes, content_type: str) -> None:
        await self._in_thread(lambda: _put(self._path(key), source))

    async def size(self, key: str) -> int:
        return await self._in_thread(lambda: self._path(key).stat().st_size)

    async def read(self, key: str, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes, None]:
        handle = await self._in_thread(lambda: os.open(self._path(key), os.O_RDONLY | os.O_CLOEXEC))
        try:
            at = start
            # Raise before the first chunk, while the request can still be rejected.
            if end is not None and os.fstat(handle).st_size < end:
                raise ObjectDamaged(key, end)
            while end is None or at < end:
                maximum = CHUNK_BYTES if end is None else min(CHUNK_BYTES, end - at)
                async with self._turns:
                    chunk = await self._in_thread(_reading(handle, maximum, at))
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
        """Remove leftovers from interrupted puts."""
        await self._in_thread(lambda: _remove_partial(self._folder, time.time() - _PARTIAL_KEPT_S))

    def _path(self, key: str) -> Path:
        # Only our own code generates keys. This check is the last line of defence.
        parts = key.split("/")
        if len(parts) > 2 or any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts):
            raise StoreFailed(f"{key!r} is not a key")
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


def _reading(handle: int, maximum: int, at: int) -> Callable[[], bytes]:
    return lambda: os.pread(handle, maximum, at)


def _put(path: Path, source: Path | bytes) -> None:
    """Write a file atomically: write a temporary file in the same folder, then rename it."""
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
    except FileNotFoundError as fault:  # The source file is missing, not the object.
        raise StoreFailed(str(fault)) from None


def _copy(source: Path, target: int) -> None:
    try:
        with source.open("rb") as file, os.fdopen(target, "wb", closefd=False) as out:
            shutil.copyfileobj(file, out, CHUNK_BYTES)
    except FileNotFoundError as fault:
        raise StoreFailed(str(fault)) from None


def require_free(folder: Path, more: int) -> None:
    """Raise StoreFailed if storing `more` bytes would nearly fill the disk."""
    if shutil.disk_usage(folder).free < MIN_FREE_BYTES + more:
        raise StoreFailed("the disk is almost full")


def make_folder(folder: Path) -> None:
    """Create a folder and its parents durably."""
    if not folder.is_dir():
        make_folder(folder.parent)
        make_private_folder(folder)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable. On Windows, folders cannot be opened, and the system makes names
    durable without this call.
    """
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
        except FileNotFoundError:  # The `put` has renamed the file in the meantime.
            continue
