"""Defines the code that both sides of the sandbox share: the message format, and the way to reject input.

A function that runs in the sandbox takes file descriptors, arguments, and a callback for progress. It returns
properties of the input and the bytes that it produced, or raises Rejected. This module starts no processes.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

# The maximum number of descriptors for a job: its socket, its lifeline, and its files.
MAX_DESCRIPTORS = 8
# The header that precedes every message.
LENGTH = struct.Struct(">I")
# A child's exit code, or the negated number of the signal that killed it.
STATUS = struct.Struct(">i")

Progress = Callable[[float], None]
Outcome = tuple[Mapping[str, object], Sequence[bytes]]
Task = Callable[[Sequence[int], Mapping[str, object], Progress], Outcome]


class Layer(StrEnum):
    """The layers that confine a decoder in addition to limits on time and memory. See
    `svc.base.sandbox_layers`.
    """

    NAMESPACES = "namespaces"
    ROOT = "root"
    USER = "user"
    DESCRIPTORS = "descriptors"
    LANDLOCK = "landlock"
    SECCOMP = "seccomp"


class Rejected(Exception):
    """The input was rejected. Without a `code`, the reason is unknown."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def prepare() -> None:
    """Load nothing. This module can serve as a decoder that does nothing, to test the confinement."""


def nothing(files: Sequence[int], arguments: Mapping[str, object], progress: Progress) -> Outcome:
    return {}, []
