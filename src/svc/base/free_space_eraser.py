"""Overwrites the free space of a SQLite file, where copies of deleted rows remain.

SQLite's `secure_delete` zeroes deleted rows and freed pages. However, when SQLite moves rows to other pages,
it leaves copies in the unallocated part of the old page (`rebuildPage` in btree.c). This module zeroes the
unallocated part of each page after a checkpoint has copied the page from the log, so the file contains no
such copies once the log is empty. Existing rows are never changed. See sqlite.org/fileformat2.html, sections
1.6 and 4.
"""

import os
import sqlite3
import struct
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import BinaryIO

# The log size at which a checkpoint copies the log into the file, which takes a few ms.
CHECKPOINT_BYTES = 4 * 1024 * 1024
# The writer works for one slice, then pauses four times as long while there are no writes.
_SLICE_S = 0.002
_PAUSE_S = 4 * _SLICE_S
# The delay between attempts to empty the log while readers use it.
_RETRY_S = 0.05
# The longest wait for readers, which usually finish within a millisecond. A longer wait would delay writes.
_READERS_LEAVE_MS = 5
# The maximum number of pages to overwrite without a pause, which takes 5 ms. A 4 MiB log has fewer pages. Any
# others are overwritten in slices.
_MAX_AT_ONCE = 2000
# The number of pages that a scan of the file reads at a time.
_CHUNK_PAGES = 32
_LOG_HEADER, _FRAME_HEADER = 32, 24
# The header size of each type of page that contains rows, by the page's first byte. An overflow page starts
# with the number of another page, whose first byte is smaller than these in files smaller than 128 GiB.
_HEADER_SIZES = {2: 12, 5: 12, 10: 8, 13: 8}
_MAX_PAGES = 2 << 24
_FIRST_PAGE_HEADER = 100


class FreeSpace:
    """The free space of an open database's file. Only the thread that writes and checkpoints uses it.

    The whole file is scanned once, because an earlier run may have been killed before it had finished.
    Afterwards only pages that a checkpoint has copied are overwritten.
    """

    def __init__(self, path: Path) -> None:
        # Closing the file would drop the locks that SQLite holds on it for this process, so it stays
        # open.
        self._file = path.open("r+b", buffering=0)
        self._log_path = path.with_name(path.name + "-wal")
        self._log: BinaryIO | None = None
        self._pages = Pages(self._file)
        self._next = 1
        # Pages in the log that no complete checkpoint has copied yet, and pages that have been copied.
        self._written: set[int] = set()
        self._copied: set[int] = set()
        # Pages that were free at the start and are still unused. Earlier versions of this program did not
        # zero all free pages.
        self._free = self._pages.free()
        # The salt that identifies the log's generation, and the position after its last known commit.
        self._salt, self._log_end = b"", _LOG_HEADER

    @property
    def is_due(self) -> bool:
        return bool(self._copied or self._free) or self._next <= self._pages.count

    def wait_s(self, *, emptying: bool) -> float | None:
        """Return how long to wait for a write before the next step, or None to wait without a limit."""
        return _PAUSE_S if self.is_due else _RETRY_S if emptying else None

    def step(self) -> None:
        """Overwrite pending pages for up to 2 ms."""
        until = time.perf_counter() + _SLICE_S
        while self._copied and time.perf_counter() < until:
            self._pages.erase(self._copied.pop())
        while self._free and time.perf_counter() < until:
            self._pages.clear(self._free.pop())
        while self._next <= self._pages.count and time.perf_counter() < until:
            self._pages.erase_many(self._next, _CHUNK_PAGES)
            self._next += _CHUNK_PAGES

    def checkpoint_if_large(self, connection: sqlite3.Connection) -> None:
        """Copy the log into the file once it is large. The log restarts when no reader uses it."""
        with suppress(OSError, sqlite3.Error):
            self._read_log()
            if self._log_end >= CHECKPOINT_BYTES:
                self._checkpoint(connection, "PASSIVE")

    def empty_log(self, connection: sqlite3.Connection) -> bool:
        """Empty the log and overwrite the copied pages. Return False if the caller must retry after
        `step`.
        """
        (patience_ms,) = connection.execute("PRAGMA busy_timeout").fetchone()
        connection.execute(f"PRAGMA busy_timeout={_READERS_LEAVE_MS}")
        try:
            self._read_log()
            if not self._checkpoint(connection, "TRUNCATE") or len(self._copied) > _MAX_AT_ONCE:
                return False
            while self._copied:
                self._pages.erase(self._copied.pop())
            # SQLite's page cache still contains the deleted data, and the next write would write it again.
            connection.execute("PRAGMA shrink_memory")
            os.fsync(self._file.fileno())
        except (sqlite3.Error, OSError):
            return False
        finally:
            connection.execute(f"PRAGMA busy_timeout={patience_ms}")
        return True

    def close(self, connection: sqlite3.Connection) -> None:
        """Copy the log into the file, then close both and the connection."""
        with suppress(sqlite3.Error):
            self.empty_log(connection)
        if self._log is not None:
            self._log.close()
        connection.close()
        self._file.close()

    def _checkpoint(self, connection: sqlite3.Connection, kind: str) -> bool:
        """Copy the log into the file. Return whether all of it has been copied."""
        self._free -= self._written
        busy, frames, copied = connection.execute(f"PRAGMA wal_checkpoint({kind})").fetchone()
        if busy or frames != copied:
            return False
        self._copied |= self._written
        self._written.clear()
        self._pages.measure()
        return True

    def _read_log(self) -> None:
        """Note which pages have been written since the last call."""
        if self._log is None:
            with suppress(FileNotFoundError):
                self._log = self._log_path.open("rb", buffering=0)
        if self._log is None:
            return
        self._log.seek(0)
        header = self._log.read(_LOG_HEADER)
        if len(header) < _LOG_HEADER:
            self._salt, self._log_end = b"", _LOG_HEADER
            return
        if header[16:24] != self._salt:
            self._salt, self._log_end = header[16:24], _LOG_HEADER
        size = _FRAME_HEADER + self._pages.size
        self._log.seek(self._log_end)
        # The pages of a rolled-back write are not followed by a commit and are overwritten later.
        numbers: list[int] = []
        while len(frame := self._log.read(size)) == size and frame[8:16] == self._salt:
            numbers.append(int.from_bytes(frame[:4]))
            if any(frame[4:8]):
                self._written.update(numbers)
                self._log_end += size * len(numbers)
                numbers.clear()


class Pages:
    """The pages of a database file, numbered from 1."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        file.seek(0)
        head = file.read(_FIRST_PAGE_HEADER)
        (size,) = struct.unpack_from(">H", head, 16)
        self.size = 65536 if size == 1 else size
        self._usable = self.size - head[20]
        self.count = 0
        self.measure()

    def measure(self) -> None:
        """Update the number of pages from the current size of the file."""
        count = os.fstat(self._file.fileno()).st_size // self.size
        self.count = count if count < _MAX_PAGES else 0

    def free(self) -> set[int]:
        """Return the numbers of free pages. Zero the unused part of the pages that store this list."""
        numbers: set[int] = set()
        self._file.seek(0)
        (trunk,) = struct.unpack_from(">I", self._file.read(_FIRST_PAGE_HEADER), 32)
        for _ in range(self.count):
            if not 1 < trunk <= self.count:
                break
            self._file.seek((trunk - 1) * self.size)
            page = self._file.read(self.size)
            next_trunk, length = struct.unpack_from(">II", page)
            if length > self._usable // 4 - 2:
                break
            numbers.update(struct.unpack_from(f">{length}I", page, 8))
            if any(page[8 + 4 * length :]):
                self._file.seek((trunk - 1) * self.size + 8 + 4 * length)
                self._file.write(bytes(self.size - 8 - 4 * length))
            trunk = next_trunk
        return {number for number in numbers if 1 < number <= self.count}

    def clear(self, number: int) -> None:
        """Zero an entire free page."""
        self._file.seek((number - 1) * self.size)
        if any(self._file.read(self.size)):
            self._file.seek((number - 1) * self.size)
            self._file.write(bytes(self.size))

    def erase(self, number: int) -> None:
        self.erase_many(number, 1)

    def erase_many(self, first: int, count: int) -> None:
        """Zero the free space of the given pages wherever it contains data."""
        start = (first - 1) * self.size
        self._file.seek(start)
        data = self._file.read(count * self.size)
        for at in range(0, len(data) - self.size + 1, self.size):
            page = data[at : at + self.size]
            header = _FIRST_PAGE_HEADER if start + at == 0 else 0
            if parts := _filled_free_parts(page, header, self._usable):
                for begin, end in parts:
                    self._file.seek(start + at + begin)
                    self._file.write(bytes(end - begin))


def erase_file(path: Path) -> None:
    """Zero the free space in a database file that is not open anywhere. Raises OSError."""
    with closing(path.open("r+b", buffering=0)) as file:
        pages = Pages(file)
        for number in pages.free():
            pages.clear(number)
        for number in range(1, pages.count + 1, _CHUNK_PAGES):
            pages.erase_many(number, _CHUNK_PAGES)


def _filled_free_parts(page: bytes, header: int, usable: int) -> list[tuple[int, int]]:
    """Return the non-zero parts of the free space in a page with rows, and nothing for other or damaged
    pages.
    """
    if (size := _HEADER_SIZES.get(page[header])) is None:
        return []
    block, cells, content = struct.unpack_from(">HHH", page, header + 1)
    content = content or 65536
    parts = [(header + size + 2 * cells, content)]
    # Freed blocks between the rows form a list. Each block contains the position of the next block, its own
    # size, and its free bytes.
    while block:
        if not parts[-1][1] <= block <= usable - 4:
            return []
        next_block, length = struct.unpack_from(">HH", page, block)
        parts.append((block + 4, block + length))
        if next_block and next_block <= block:
            return []
        block = next_block
    if any(not begin <= end <= usable for begin, end in parts):
        return []
    return [(begin, end) for begin, end in parts if page.count(0, begin, end) != end - begin]
