"""Implements the layers that confine a decoder. Each layer is used only if the machine supports it.

| layer | takes away | needs |
|---|---|---|
| namespaces | the network, other processes, shared memory | user namespaces, or CAP_SYS_ADMIN |
| root | every path: the file system is empty and read-only | the same, or CAP_SYS_CHROOT |
| user | the rights of the user who started the server, and every capability | to be started as root |
| descriptors | opening files, sockets and pipes | nothing |
| landlock | files by path, TCP, abstract sockets, signals | Linux 5.13; 6.12 for all of it |
| seccomp | system calls that no decoder makes (`svc.base.system_calls`) | x86-64 or aarch64 |

The process enters namespaces before it loads the decoder, because a process with threads cannot enter them.
The layers root and user follow, because the decoder is loaded from files. Each job applies the others. On
systems other than Linux, only the limit on descriptors applies. `svc.base.zygote` sets a job's other limits.

See pivot_root(2), user_namespaces(7), capabilities(7), and landlock(7).
"""

import ctypes
import os
import resource
import signal
import struct
import sys
import tempfile
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from svc.base import system_calls
from svc.base.sandbox_protocol import Layer

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_CLONE_NEWIPC, _CLONE_NEWPID, _CLONE_NEWNET = 0x08000000, 0x20000000, 0x40000000
_APART = (_CLONE_NEWNET, _CLONE_NEWPID, _CLONE_NEWIPC)

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_PRIVATE = 1, 2, 4, 8, 0x4000, 0x40000
_MNT_DETACH = 2
# The mount point of the new root. It is hidden once the root has been entered. Every Linux system has this
# folder.
_ANY_FOLDER = b"/dev"
# The new root has one inode, for the root folder.
_TMPFS_OPTIONS = b"size=4k,nr_inodes=1,mode=555"

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_LINUX_CAPABILITY_VERSION_3 = 0x20080522
# Capabilities are numbered from 0. The kernel rejects the first number that it does not recognise.
_MAX_CAPABILITIES = 64
# The first user id for jobs, above the ranges that distributions, systemd and containers assign. The process
# number is added, so that two servers on one machine do not share a user.
_FIRST_UID = 2_000_000_000
_NOBODY = 65_534

# These numbers are the same on every architecture.
_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446
_LANDLOCK_CREATE_RULESET_VERSION = 1
# The rights that each version of Landlock can remove: files, TCP ports, signals and abstract sockets
# (bits of linux/landlock.h). The last row also applies to later versions.
_LANDLOCK_RIGHTS = (
    ((1 << 13) - 1, 0, 0),
    ((1 << 14) - 1, 0, 0),  # 2: linking and renaming across folders
    ((1 << 15) - 1, 0, 0),  # 3: truncating
    ((1 << 15) - 1, 3, 0),  # 4: TCP bind and connect
    ((1 << 16) - 1, 3, 0),  # 5: ioctl on devices
    ((1 << 16) - 1, 3, 3),  # 6: abstract sockets and signals
)

# The zygote's limit on descriptors: enough for its jobs, and few enough to close them one by one.
DESCRIPTORS = 256

_ON_LINUX = sys.platform == "linux"
_libc = ctypes.CDLL(None)
if _ON_LINUX:
    # Without these types, ctypes would pass numbers as 32 bits, but the kernel reads 64.
    _libc.prctl.argtypes = (ctypes.c_int, *(ctypes.c_void_p,) * 4)
    _libc.syscall.argtypes = (ctypes.c_long, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
    _libc.mount.argtypes = (*(ctypes.c_char_p,) * 3, ctypes.c_ulong, ctypes.c_char_p)


class Layers:
    """The requested layers (`wanted`), and the layers that are in effect after each step (`held`)."""

    def __init__(self, wanted: Collection[Layer] = tuple(Layer)) -> None:
        self.wanted = frozenset(wanted) if _ON_LINUX else frozenset(wanted) & {Layer.DESCRIPTORS}
        self.held: set[Layer] = set()
        self._own_mounts = False
        # Read the process number before entering namespaces, because their numbers begin at 1.
        self._process = os.getpid()

    def enter_namespaces(self) -> None:
        """Enter new namespaces and give up the ability to gain privileges. Call this first.

        Returns in the process inside the namespaces. The calling process waits for that process and exits
        with its status.
        """
        if not _ON_LINUX:
            return
        _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        flags = [*(_APART if Layer.NAMESPACES in self.wanted else ())]
        flags += [_CLONE_NEWNS] if Layer.ROOT in self.wanted else []
        missing = [flag for flag in flags if _libc.unshare(flag) != 0]
        # A process that enters a new user namespace has every capability inside the namespace.
        if missing and _libc.unshare(_CLONE_NEWUSER) == 0:
            missing = [flag for flag in missing if _libc.unshare(flag) != 0]
        got = set(flags) - set(missing)
        self._own_mounts = _CLONE_NEWNS in got
        if got.issuperset(_APART):
            self.held.add(Layer.NAMESPACES)
        if _CLONE_NEWPID in got:
            # The next child is the first process in the namespace. It becomes the zygote, and this process
            # waits for it.
            if (pid := os.fork()) != 0:
                os.closerange(3, DESCRIPTORS)
                os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 0xFF)
            die_with_parent()

    def settle(self) -> None:
        """Give up the file system, the user and every capability. No file can be loaded afterwards."""
        # A hostile decoder must not learn where the server was started.
        os.chdir("/")
        if Layer.ROOT in self.wanted and ((self._own_mounts and _pivot_root()) or _chroot()):
            self.held.add(Layer.ROOT)
        if Layer.USER in self.wanted and _became_another(_FIRST_UID + self._process):
            self.held.add(Layer.USER)
        # Changing the user has reset this setting.
        die_with_parent()

    def confine(self, *, threads: bool) -> None:
        """Apply the last layers to the calling job."""
        if Layer.LANDLOCK in self.wanted and _apply_landlock():
            self.held.add(Layer.LANDLOCK)
        # Landlock needs a descriptor, so the limit on descriptors comes after it. Seccomp forbids changing
        # limits, so it comes last.
        if Layer.DESCRIPTORS in self.wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
            self.held.add(Layer.DESCRIPTORS)
        if Layer.SECCOMP in self.wanted and system_calls.install(_libc, threads=threads):
            self.held.add(Layer.SECCOMP)


def die_with_parent() -> None:
    """Make the kernel kill this process when its parent exits."""
    if _ON_LINUX:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _pivot_root() -> bool:
    """Enter an empty file system and unmount the old one. Needs our own mount namespace."""
    flags = _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    return not (
        _libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
        or _libc.mount(b"none", _ANY_FOLDER, b"tmpfs", flags, _TMPFS_OPTIONS)
        or _libc.chdir(_ANY_FOLDER)
        # The old root and the new root are mounted at the same path. The old root covers the new root until
        # it is unmounted.
        or _libc.pivot_root(b".", b".")
        or _libc.umount2(b".", _MNT_DETACH)
        or _libc.chdir(b"/")
    )


def _chroot() -> bool:
    """Enter a deleted folder: it is empty, and nothing can be created in it."""
    root = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    try:
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        Path(folder).rmdir()
        os.chroot(".")
    except OSError:
        os.fchdir(root)
        return False
    finally:
        os.close(root)
    return True


def _became_another(user: int) -> bool:
    """Change the user and drop all capabilities permanently. Return whether the user changed."""
    for number in range(_MAX_CAPABILITIES):
        _libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    changed = os.geteuid() == 0 and any(map(_set_user, (user, _NOBODY)))
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = struct.pack("=Ii", _LINUX_CAPABILITY_VERSION_3, 0)
    _libc.capset(header, struct.pack("=6I", 0, 0, 0, 0, 0, 0))
    # Keep other processes of the same user from reading the job's memory or attaching to it.
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    return changed


def _set_user(number: int) -> bool:
    """Change the user. Return False if the user namespace lacks this user id or the change is forbidden."""
    with suppress(OSError):
        os.setgroups([])
        os.setresgid(number, number, number)
        os.setresuid(number, number, number)
        return True
    return False


def landlock_version() -> int:
    """Return the kernel's Landlock version, or a number below 1 if Landlock is not available."""
    return int(_libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_CREATE_RULESET_VERSION))


def _apply_landlock() -> bool:
    """Apply Landlock without any rules, so that everything it controls is forbidden."""
    if (version := landlock_version()) < 1:
        return False
    rights = _LANDLOCK_RIGHTS[min(version, len(_LANDLOCK_RIGHTS)) - 1]
    # Older kernels accept the longer structure if the fields unknown to them are zero.
    attributes = struct.pack("=3Q", *rights)
    ruleset = _libc.syscall(_LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    refused = _libc.syscall(_LANDLOCK_RESTRICT_SELF, ruleset, 0, 0)
    os.close(ruleset)
    return not refused
