"""Runs a test in a private network: a thread in new namespaces, where this machine can have any address.

Programs inside cannot connect to anything outside, and nothing outside sees their addresses, their ports, or
the files that replace the machine's. It needs Linux and root (`unshare -Urnm` is enough). Elsewhere, tests
are skipped with a reason.
"""

import asyncio
import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import pytest

_CLONE_NEWNS, _CLONE_NEWNET = 0x00020000, 0x40000000
DEADLINE_S = 60.0


class Refused(Exception):
    """Raised if this machine does not permit the test to create namespaces."""


def in_namespace(
    body: Callable[[], Awaitable[None]],
    addresses: Sequence[str],
    files: Mapping[str, Path],
    within_s: float = DEADLINE_S,
) -> None:
    """Run a coroutine on a new event loop, in a namespace where this machine has the given addresses and
    `files` replace the originals.
    """
    outcome: list[BaseException] = []

    def run() -> None:
        try:
            _enter()
            _furnish(addresses, files)
            asyncio.run(_bounded(body, within_s))
        except BaseException as fault:
            outcome.append(fault)

    thread = threading.Thread(target=run, name="namespace")
    thread.start()
    thread.join()
    for fault in outcome:
        if isinstance(fault, Refused):
            pytest.skip(str(fault))
        raise fault


async def _bounded(body: Callable[[], Awaitable[None]], within_s: float) -> None:
    async with asyncio.timeout(within_s):
        await body()


def _enter() -> None:
    """Move only this thread into a namespace. The threads and processes that it starts inherit it."""
    if sys.platform != "linux":
        raise Refused("there are no network namespaces")
    if os.geteuid():
        raise Refused("only root may create namespaces; run these tests with `unshare -Urnm`")
    _unshare(_CLONE_NEWNS | _CLONE_NEWNET)


def unshare_network() -> None:
    """Move only this thread to a new network."""
    _unshare(_CLONE_NEWNET)


def _unshare(what: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(what):
        raise Refused(f"this sandbox cannot create namespaces: {os.strerror(ctypes.get_errno())}")


def _furnish(addresses: Sequence[str], files: Mapping[str, Path]) -> None:
    # No other host exists here, so the addresses need no duplicate address detection (DAD).
    links = ["link set lo up", *(f"address add {address} dev lo nodad" for address in addresses)]
    commands: list[tuple[str, ...]] = [("mount", "--make-rprivate", "/"), ("ip", "-batch", "-")]
    commands += [("mount", "--bind", str(file), over) for over, file in files.items() if Path(over).exists()]
    for command in commands:
        try:
            done = subprocess.run(
                command, input="\n".join(links).encode(), capture_output=True, check=False, timeout=10
            )
        except FileNotFoundError:
            raise Refused(f"{command[0]} is not installed (ci/setup installs it)") from None
        if done.returncode:
            raise Refused(f"this sandbox refuses {' '.join(command)}: {done.stderr.decode().strip()}")
