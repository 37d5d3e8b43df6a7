"""Functions for the sandbox that try what a decoder must not be able to do.

Loaded by the sandbox's zygote, not by tests. Each says in its facts how far it got.
"""

import os
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from svc.base.confined import Outcome, Progress, Rejected


def prepare() -> None:
    """Nothing is loaded later."""


def echo(files: Sequence[int], arguments: Mapping[str, object], progress: Progress) -> Outcome:
    progress(0.5)
    return {"arguments": arguments, "read": [os.read(file, 100).decode() for file in files]}, [b"a" * 3, b""]


def surroundings(_: Sequence[int], arguments: Mapping[str, object], __: Progress) -> Outcome:
    """What it sees, and what came of trying to do more."""
    tried = {
        "open a file": _tried(lambda: Path("/etc/passwd").read_bytes()),
        "make a socket": _tried(lambda: socket.socket().close()),
        "make a pipe": _tried(os.pipe),
        "start a process": _tried(_fork),
        "signal the caller": _tried(lambda: os.kill(int(str(arguments["caller"])), 0)),
    }
    return {"environment": dict(os.environ), "tried": tried, "nice": os.nice(0)}, []


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _tried(what: Callable[[], object]) -> str:
    try:
        what()
    except OSError as fault:
        return type(fault).__name__
    return "done"


def write(files: Sequence[int], arguments: Mapping[str, object], _: Progress) -> Outcome:
    """Into the first file, as much as it is told."""
    try:
        written = 0
        while written < int(str(arguments["size"])):
            written += os.write(files[0], bytes(1000))
    except OSError as fault:
        return {"error": fault.strerror}, []
    return {"error": None}, []


def allocate(_: Sequence[int], arguments: Mapping[str, object], __: Progress) -> Outcome:
    return {"length": len(bytearray(int(str(arguments["size"]))))}, []


def spin(*_: object) -> Outcome:
    while True:
        pass


def sleep(*_: object) -> Outcome:
    time.sleep(60)
    return {}, []


def die(*_: object) -> Outcome:
    os.kill(os.getpid(), signal.SIGSEGV)
    raise AssertionError


def be_killed(*_: object) -> Outcome:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def raise_(*_: object) -> Outcome:
    raise KeyError("strange")


def reject(*_: object) -> Outcome:
    raise Rejected("too_ugly", "Nobody wants to see this")


def leave(*_: object) -> Outcome:
    os._exit(0)


def talk(*_: object) -> Outcome:
    return {}, [bytes(10_000_000)]


def lie(files: Sequence[int], arguments: Mapping[str, object], _: Progress) -> Outcome:
    """Write what is no message of the sandbox's into the socket, whichever it is."""
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, bytes.fromhex(str(arguments["hex"])))
        except OSError:
            continue
    return sleep()


def zygote_dies(*_: object) -> Outcome:
    os.kill(os.getppid(), signal.SIGKILL)
    return sleep()
