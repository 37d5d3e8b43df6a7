"""Creates files and folders that only their owner can read, regardless of the umask and earlier modes.

Modes are 0600 and 0700. This module does not interpret the contents. On Windows the folder's own access list
applies, and nothing is changed.
"""

import logging
import os
import secrets
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from svc.base.config_parsing import ConfigError

_OTHERS = 0o077

logger = logging.getLogger(__name__)


def read_or_create(path: Path, make: Callable[[], str]) -> str:
    """Return the text of a file. If it is missing, store the text that `make` returns, with mode 0600.

    Creates a missing folder with mode 0700. After a crash, the file is either complete or missing. Raises
    ConfigError if the file can be neither read nor created.
    """
    try:
        text = _read(path)
        if text is None:
            return _write(path, make())
    except OSError as fault:
        raise ConfigError(f"{path} cannot be stored: {fault.strerror}") from None
    except UnicodeDecodeError:
        text = ""
    if not text.strip():
        raise ConfigError(f"{path} is damaged; restore it from a backup, or delete it")
    return text


def read_or_create_key(path: Path, size: int) -> bytes:
    """Return a secret of `size` bytes from a file, as `read_or_create` does. A new secret is random.

    The file contains the secret in hexadecimal.
    """
    text = read_or_create(path, lambda: secrets.token_hex(size) + "\n")
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != size:
        raise ConfigError(f"{path} is damaged; restore it from a backup, or delete it")
    return key


def replace_text(path: Path, text: str) -> None:
    """Replace a file's text, with mode 0600. Raises ConfigError."""
    try:
        _write(path, text)
    except OSError as fault:
        raise ConfigError(f"{path} cannot be stored: {fault.strerror}") from None


def make_private_folder(folder: Path) -> None:
    """Create a folder, or remove other users' permissions from an existing folder.

    Raises ConfigError if others can read it and we are not allowed to change that. Also raises OSError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_private(folder)


def make_private_file(path: Path) -> None:
    """Create an empty private file, for a later write. Raises OSError if it exists."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        set_private(handle)
    finally:
        os.close(handle)


def set_private(handle: int) -> None:
    """Set mode 0600 on an open file, regardless of the umask. Raises OSError."""
    if os.name != "nt":
        os.fchmod(handle, 0o600)


def make_private(path: Path) -> None:
    """Remove other users' permissions on a file or folder. Raises ConfigError or OSError."""
    if os.name == "nt":
        return
    status = path.stat()
    mode = stat.S_IMODE(status.st_mode)
    wanted = (0o700 if path.is_dir() else 0o600) | (mode & ~_OTHERS & 0o700)
    if mode == wanted:
        return
    ours = os.geteuid() in (0, status.st_uid)
    if not ours and mode & _OTHERS:
        raise ConfigError(
            f"{path} belongs to the user with the id {status.st_uid}, "
            f"and other users can open it (mode {mode:o}). "
            f"Give it to the user that runs this program (chown {os.geteuid()} {path}), "
            "or choose a folder inside it, which is then made with the right mode"
        )
    try:
        path.chmod(wanted)
    except OSError as fault:
        # Some file systems have no modes. On these, the operator must restrict access.
        logger.warning("other users can open this file", extra={"path": str(path), "fault": fault.strerror})


def make_all_private(folder: Path) -> None:
    """Make our files at the top level of a folder private, but skip other users' files. Raises OSError."""
    if os.name == "nt":
        return
    for path in folder.iterdir():
        status = path.lstat()
        kept = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        if kept and status.st_uid == os.geteuid() and status.st_mode & _OTHERS:
            make_private(path)


def _read(path: Path) -> str | None:
    try:
        make_private(path)
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def _write(path: Path, text: str) -> str:
    make_private_folder(path.parent)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    set_private(handle)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(temporary).replace(path)
    return text
