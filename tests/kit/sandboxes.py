"""Starts sandboxes as the programs do, but with decoders, layers and a user that the tests choose."""

import ctypes
import errno
import platform
import struct
import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from svc.base.sandbox_protocol import Layer

REPOSITORY = Path(__file__).parents[2]
_CODE = """
import os, sys
sys.path.append({repository!r})
from svc.base.sandbox_layers import Layers
from svc.base.zygote import main
import {module}
from tests.kit.sandboxes import refuse
if {refused!r}:
    refuse({refused!r})
user = {user!r}
if user is not None:
    # Change the user only here, because this user may be unable to read the interpreter's files.
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
main(Layers({layers!r}))
"""

Start = Callable[[int, str], "subprocess.Popen[bytes]"]


def starting(
    layers: Collection[Layer] = tuple(Layer), user: int | None = None, refused: Sequence[str] = ()
) -> Start:
    """Replace `svc.base.sandbox._start_zygote`. The system calls in `refused` fail, as they do in a
    container.
    """

    def started(control: int, module: str) -> "subprocess.Popen[bytes]":
        # Imported inside the function, because the decoder process also imports this module.
        from svc.base import sandbox

        names = [str(layer) for layer in layers]
        code = _CODE.format(
            repository=str(REPOSITORY), module=module, user=user, layers=names, refused=refused
        )
        command = (sys.executable, "-I", "-c", code, str(control), module, str(sandbox.NICENESS))
        return subprocess.Popen(
            command, env={}, stdin=subprocess.DEVNULL, pass_fds=(control,), start_new_session=True
        )

    return started


# The system call numbers on x86-64 and aarch64.
_NUMBERS = {
    "unshare": (272, 97),
    "chroot": (161, 51),
    "setresuid": (117, 147),
    "landlock_create_ruleset": (444, 444),
    "prctl": (157, 167),
}


def refuse(names: Sequence[str]) -> None:
    """Make the system calls with the given names fail with EPERM in this process from now on."""
    column = ("x86_64", "aarch64").index(platform.machine())
    steps = [(0x20, 0, 0, 0)]
    for name in names:
        steps += [(0x15, 0, 1, _NUMBERS[name][column]), (0x06, 0, 0, 0x00050000 | errno.EPERM)]
    steps.append((0x06, 0, 0, 0x7FFF0000))
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    program = ctypes.create_string_buffer(code, len(code))
    filter_ = struct.pack("@HxxxxxxP", len(steps), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = (ctypes.c_int, *(ctypes.c_void_p,) * 4)
    for arguments in ((38, 1, None, 0, 0), (22, 2, filter_, 0, 0)):
        if libc.prctl(*arguments) != 0:
            raise OSError(ctypes.get_errno(), "the filter was refused")
