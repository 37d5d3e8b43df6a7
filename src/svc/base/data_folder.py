"""Makes an installation's data folder private (mode 0700) and locks it for one process at a time.

The operating system releases the lock when the process exits, for any reason. This module does not interpret
the folder's contents.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from svc.base.config_parsing import ConfigError
from svc.base.private_files import make_all_private, make_private_folder, set_private

LOCK_NAME = "lock"


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Lock `folder` while the block runs. Raises ConfigError if another process has locked it."""
    try:
        make_private_folder(folder)
        handle = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as fault:
        raise ConfigError(f"DATA_DIR {folder} cannot be used: {fault.strerror}") from None
    try:
        if not _lock(handle):
            owner = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
            raise ConfigError(f"DATA_DIR {folder} is in use by another server (process {owner or 'unknown'})")
        try:
            set_private(handle)
            make_all_private(folder)
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        except OSError as fault:
            raise ConfigError(f"DATA_DIR {folder} cannot be written: {fault.strerror}") from None
        yield
    finally:
        os.close(handle)


def is_held(folder: Path) -> bool:
    """Return whether a process has locked the folder. Works on a read-only file system. Raises OSError."""
    try:
        handle = os.open(folder / LOCK_NAME, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _lock(handle, shared=True)
    finally:
        os.close(handle)


if os.name == "nt":
    import msvcrt

    def _lock(handle: int, *, shared: bool = False) -> bool:
        try:
            # Lock a byte far beyond the process id, so that the id stays readable.
            os.lseek(handle, 1 << 20, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(handle: int, *, shared: bool = False) -> bool:
        try:
            # NFS grants an exclusive lock only to a file that is open for writing.
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
