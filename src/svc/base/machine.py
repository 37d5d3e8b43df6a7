"""Determines properties of the machine: clock synchronisation, file descriptors, and socket buffers.

`svc doctor` and the server's health page evaluate them. Examines neither the network nor our files.
"""

import ctypes
import sys
from dataclasses import dataclass
from pathlib import Path

# The number of descriptors that a server needs: a socket for each connected client, plus a few files.
WANTED_FILES = 4096
# The socket buffer size that a server needs. Sending a keyframe to fifty receivers requires 5 MB, and packets
# that fit in the kernel's buffers are not dropped.
WANTED_BUFFER_BYTES = 1 << 20
# The result of adjtimex while the clock is not synchronised (linux/timex.h).
_TIME_ERROR = 5
_SIZE_OF_TIMEX = 1024  # At least as large as the kernel's structure: 208 bytes on 64-bit machines.
_SYSCTL = Path("/proc/sys/net/core")


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine's properties.

    `clock_kept` is None if unknown. `files` is the number of files that may be open at the same time.
    `buffers` maps each kernel setting for the maximum size of a socket's buffer to its value in bytes. It is
    empty on systems without such settings.
    """

    clock_kept: bool | None
    files: int
    buffers: dict[str, int]

    @property
    def few_files(self) -> bool:
        return self.files < WANTED_FILES

    @property
    def small_buffers(self) -> dict[str, int]:
        return {name: size for name, size in self.buffers.items() if size < WANTED_BUFFER_BYTES}


def examine(files: int) -> Machine:
    """Return the machine's properties. `files` is the number of files that the process may have open."""
    return Machine(_is_clock_synchronised(), files, _buffers())


def _is_clock_synchronised() -> bool | None:
    if sys.platform != "linux":
        return None
    # A zeroed structure only reads the state.
    state = int(ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(_SIZE_OF_TIMEX)))
    return None if state < 0 else state != _TIME_ERROR


def _buffers() -> dict[str, int]:
    paths = [_SYSCTL / name for name in ("rmem_max", "wmem_max")]
    return {f"net.core.{path.name}": int(path.read_text()) for path in paths if path.exists()}
