"""`svc admin backup FILE`: everything of a server, running or not, in one file.

The server makes it in its own folder, which is all that it may be able to write; from there it
is taken to where it is wanted.
"""

import errno
import os
import shutil
from argparse import ArgumentParser, Namespace
from pathlib import Path

from svc.base.config import ConfigError
from svc.tools.admin.action import printed
from svc.tools.admin.bar import shown


def add(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="to write, such as backup.tar.gz")
    parser.set_defaults(run=_run)


def _run(options: Namespace) -> None:
    from svc.tools.admin.asking import answer_to

    target: Path = options.file
    if target.exists():
        raise ConfigError(f"{target} is there already")
    if not target.resolve().parent.is_dir():
        raise ConfigError(f"there is no folder {target.resolve().parent}")
    with shown() as listener:
        made = answer_to(options.data_dir, "backup", {}, options.variables, listener)
    assert isinstance(made, dict), "the command answers an object"
    _moved(options.data_dir / made.pop("path"), target)
    lines = [
        f"{target}  {made['bytes']} bytes, {made['objects']} files beside the database",
        "It holds the secrets of this server: keep it where nobody else can read it.",
    ]
    if made["missing"]:
        lines.append(f"{len(made['missing'])} files were missing from the object store.")
    printed({"file": str(target), **made}, lines, as_json=options.json)


def _moved(made: Path, target: Path) -> None:
    """Whole or not at all, also onto another disk."""
    try:
        try:
            os.link(made, target)  # Unlike a rename it replaces nothing.
        except OSError as fault:
            if fault.errno not in (errno.EXDEV, errno.EPERM, errno.ENOTSUP):
                raise
            _copied(made, target)
        made.unlink()
    except OSError as fault:
        raise ConfigError(f"{target} cannot be written: {fault.strerror}; the backup is {made}") from None


def _copied(made: Path, target: Path) -> None:
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
