"""Files and folders that only their owner can read, whatever the umask is and whatever was there before.

Modes are 0600 and 0700. Knows nothing of what is in them. On Windows the folder's own access list
counts, and nothing is changed.
"""

import logging
import os
import secrets
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from svc.base.config import ConfigError

_OTHERS = 0o077

logger = logging.getLogger(__name__)


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
        raise ConfigError(f"{path} cannot be stored: {fault.strerror}") from None
    except UnicodeDecodeError:
        text = ""
    if not text.strip():
        raise ConfigError(f"{path} is damaged; restore it from a backup, or delete it")
    return text


def kept_key(path: Path, size: int) -> bytes:
    """As `kept`: a secret of so many bytes, random where there was none. The file has it in hexadecimal."""
    text = kept(path, lambda: secrets.token_hex(size) + "\n")
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != size:
        raise ConfigError(f"{path} is damaged; restore it from a backup, or delete it")
    return key


def replaced(path: Path, text: str) -> None:
    """Keep `text` there, with mode 0600, in place of what there was. Raises ConfigError."""
    try:
        _write(path, text)
    except OSError as fault:
        raise ConfigError(f"{path} cannot be stored: {fault.strerror}") from None


def make_private_folder(folder: Path) -> None:
    """Make the folder, or take away what others may do in one that is there.

    Raises ConfigError if others can read it and it is not ours to change, and OSError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    tighten(folder)


def make_private_file(path: Path) -> None:
    """Make an empty file, before anything is written to it. Raises OSError if it is there."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        set_private(handle)
    finally:
        os.close(handle)


def set_private(handle: int) -> None:
    """Mode 0600 for an open file, whatever the umask has left of it. Raises OSError."""
    if os.name != "nt":
        os.fchmod(handle, 0o600)


def tighten(path: Path) -> None:
    """Take away what others may do with a file or folder. Raises ConfigError and OSError."""
    if os.name == "nt":
        return
    found = path.stat()
    mode = stat.S_IMODE(found.st_mode)
    wanted = (0o700 if path.is_dir() else 0o600) | (mode & ~_OTHERS & 0o700)
    if mode == wanted:
        return
    ours = os.geteuid() in (0, found.st_uid)
    if not ours and mode & _OTHERS:
        raise ConfigError(
            f"{path} belongs to the user with the id {found.st_uid}, "
            f"and other users can open it (mode {mode:o}). "
            f"Give it to the user that runs this program (chown {os.geteuid()} {path}), "
            "or choose a folder inside it, which is then made with the right mode"
        )
    try:
        path.chmod(wanted)
    except OSError as fault:
        # Some file systems know no modes. What they let others do is the operator's choice.
        logger.warning("other users can open this file", extra={"path": str(path), "fault": fault.strerror})


def tighten_all(folder: Path) -> None:
    """Tighten what is at the top of a folder of ours; what belongs to others stays. Raises OSError."""
    if os.name == "nt":
        return
    for path in folder.iterdir():
        found = path.lstat()
        kept = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        if kept and found.st_uid == os.geteuid() and found.st_mode & _OTHERS:
            tighten(path)


def _read(path: Path) -> str | None:
    try:
        tighten(path)
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
