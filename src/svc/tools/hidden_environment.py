"""Keeps the operator's environment variables out of the memory of `svc up` until it has forked its first
programs.

A fork inherits its parent's memory, including the environment with which the parent was executed. `svc up`
therefore executes itself again with only the harmless variables. All variables are stored in a memory file,
which the supervisor reads after the fork. This module does not fork.
"""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

# The variable that contains the descriptor of the memory file.
_DESCRIPTOR = "SVC_HIDDEN_ENVIRONMENT_FD"
# Harmless variables that any program on this system may need.
_SYSTEM = frozenset({"HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV"})


def is_harmless(name: str) -> bool:
    """Return whether every program may see this variable."""
    return name in _SYSTEM or name.startswith(("PYTHON", "COVERAGE_", "LC_"))


def can_fork() -> bool:
    """Return whether this system can hide a process's environment variables from its forks, and can wait for
    a fork in an event loop.
    """
    if sys.platform != "linux" or not hasattr(os, "memfd_create"):
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
        os.close(os.memfd_create("environment"))
    except OSError:  # The kernel is older than 5.3, or a container forbids the call.
        return False
    return Path("/proc/self/fd").exists()


def descriptor() -> int:
    """Return the descriptor for `read`. If the environment is not hidden yet, execute this program again."""
    if _DESCRIPTOR not in os.environ:
        _reexecute()
    return int(os.environ.pop(_DESCRIPTOR))


def _reexecute() -> NoReturn:
    """Execute this program again with only the harmless variables, and with the descriptor of a file that
    contains all variables.
    """
    hidden = os.memfd_create("environment", 0)
    with os.fdopen(hidden, "wb", closefd=False) as file:
        file.write(json.dumps(dict(os.environ)).encode())
    harmless = {name: value for name, value in os.environ.items() if is_harmless(name)}
    # -P prevents modules in the working directory from being imported.
    command = (sys.executable, "-P", *sys.orig_argv[1:])
    os.execve(sys.executable, command, harmless | {_DESCRIPTOR: str(hidden)})


def read(hidden: int) -> Mapping[str, str]:
    """Return all variables from the memory file and close it."""
    with os.fdopen(hidden, "rb") as file:
        file.seek(0)
        variables: Mapping[str, str] = json.loads(file.read())
    return variables
