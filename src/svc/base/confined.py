"""What the two sides of the sandbox have in common: how they speak, and how a function refuses.

A function that is called in the sandbox takes descriptors of files, its arguments, and a way to
report progress; it returns facts and the bytes that it made, or raises Rejected. Starts nothing.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

# A job's socket, its leash, and its files.
MAX_DESCRIPTORS = 8
# Before every message.
LENGTH = struct.Struct(">I")
# How a child ended: its exit code, or the negative number of the signal.
STATUS = struct.Struct(">i")

Progress = Callable[[float], None]
Outcome = tuple[Mapping[str, object], Sequence[bytes]]
Task = Callable[[Sequence[int], Mapping[str, object], Progress], Outcome]


class Layer(StrEnum):
    """What confines a decoder besides limits of time and memory: `svc.base.layers` has the table."""

    NAMESPACES = "namespaces"
    ROOT = "root"
    USER = "user"
    DESCRIPTORS = "descriptors"
    LANDLOCK = "landlock"
    SECCOMP = "seccomp"


class Rejected(Exception):
    """The input's fault. Without a `code` it is one for which nobody has a name."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def prepare() -> None:
    """Load nothing: this module is also a decoder that decodes nothing, for asking what confines one."""


def nothing(files: Sequence[int], arguments: Mapping[str, object], progress: Progress) -> Outcome:
    return {}, []
