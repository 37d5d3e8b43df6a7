"""Provides functions that misbehave in the sandbox in every way that a decoder can.

Hostile attempts are in `tests.kit.hostile_decoder`. The sandbox's zygote loads this module; tests do not.
"""

import ctypes
import os
import time
from collections.abc import Mapping, Sequence

from svc.base.sandbox_protocol import Outcome, Progress, Rejected


def prepare() -> None:
    """Prepare nothing, because these functions need no preparation."""


def echo(files: Sequence[int], arguments: Mapping[str, object], progress: Progress) -> Outcome:
    progress(0.5)
    return {"arguments": arguments, "read": [os.read(file, 100).decode() for file in files]}, [b"a" * 3, b""]


def process_state(*_: object) -> Outcome:
    return {"environment": dict(os.environ)}, []


def write(files: Sequence[int], arguments: Mapping[str, object], _: Progress) -> Outcome:
    """Write the given number of bytes into the first file."""
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
    ctypes.string_at(0)
    raise AssertionError


def raise_(*_: object) -> Outcome:
    raise KeyError("strange")


def reject(*_: object) -> Outcome:
    raise Rejected("too_ugly", "Nobody wants to see this")


def leave(*_: object) -> Outcome:
    os._exit(0)


def talk(*_: object) -> Outcome:
    return {}, [bytes(10_000_000)]


def linger(files: Sequence[int], _: Mapping[str, object], __: Progress) -> Outcome:
    """Respond immediately, but continue to write to the file."""
    answer = b'{"facts": {}, "blobs": [], "used": {}}'
    for descriptor in set(range(3, 256)) - set(files):
        try:
            os.write(descriptor, len(answer).to_bytes(4, "big") + answer)
        except OSError:
            continue
    while True:
        os.pwrite(files[0], os.urandom(16), 0)


def lie(files: Sequence[int], arguments: Mapping[str, object], _: Progress) -> Outcome:
    """Write bytes that are not a message into the sandbox's socket."""
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, bytes.fromhex(str(arguments["hex"])))
        except OSError:
            continue
    return sleep()
