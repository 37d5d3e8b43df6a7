"""Files that only their owner may read, made once and kept.

Knows nothing of what is in them.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from svc.base.config import ConfigError


def kept(path: Path, make: Callable[[], str]) -> str:
    """The text of the file; when there is none yet, what `make` returns, kept there with mode 0600.

    A folder that is missing is made with mode 0700. A crash leaves the whole file or
    none. Raises ConfigError when the file can be neither read nor made.
    """
    try:
        text = _read(path)
        if text is None:
            return _write(path, make())
    except OSError as fault:
        raise ConfigError(f"{path} cannot be kept: {fault.strerror}") from None
    except UnicodeDecodeError:
        text = ""
    if not text.strip():
        raise ConfigError(f"{path} is damaged; restore it from a backup, or delete it")
    return text


def replaced(path: Path, text: str) -> None:
    """Keep `text` there, with mode 0600, in place of what there was. Raises ConfigError."""
    try:
        _write(path, text)
    except OSError as fault:
        raise ConfigError(f"{path} cannot be kept: {fault.strerror}") from None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def _write(path: Path, text: str) -> str:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp makes files of mode 0600.
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(temporary).replace(path)
    return text
