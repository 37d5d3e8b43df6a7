"""Moves a file from the server's own folder to its target, completely or not at all."""

import errno
import os
import shutil
from pathlib import Path

from svc.base.config_parsing import ConfigError


def require_free(target: Path) -> Path:
    """Return `target`. Raises ConfigError unless a new file can be created there."""
    if target.exists():
        raise ConfigError(f"{target} already exists")
    if not target.resolve().parent.is_dir():
        raise ConfigError(f"there is no folder {target.resolve().parent}")
    return target


def take(made: Path, target: Path) -> None:
    """Move the file. Raises ConfigError with the path where the file remains."""
    try:
        try:
            os.link(made, target)  # Unlike renaming, hard-linking never replaces a file.
        except OSError as fault:
            if fault.errno not in (errno.EXDEV, errno.EPERM, errno.ENOTSUP):
                raise
            _copy(made, target)
        made.unlink()
    except OSError as fault:
        raise ConfigError(
            f"{target} cannot be written: {fault.strerror}; the finished file is {made}"
        ) from None


def _copy(made: Path, target: Path) -> None:
    """Copy the file to another disk."""
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file, made.open("rb") as source:
            shutil.copyfileobj(source, file)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
