"""Hands the ports of a running service to its successor without ever closing them.

The old process (the predecessor) listens on a Unix socket that only its user may open. The new process (the
successor) connects to it. They exchange these messages, each within a timeout:

  1 predecessor -> successor   the sockets (SCM_RIGHTS) and their number
  2 successor -> predecessor   `ready`: set up, but not reading yet
  3 predecessor                stops reading and tells its participants to join again
  4 predecessor -> successor   `yours`; the predecessor exits and the successor reads

Data that arrives between steps 3 and 4 waits in the kernel. If the successor disappears before step 2,
nothing changes. Does not deal with the participants or the traffic on the ports.
"""

import asyncio
import logging
import os
import socket as sockets
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from socket import AF_INET, AF_INET6, SOCK_STREAM, socket

from svc.base.config_parsing import ConfigError
from svc.base.listeners import Inherited
from svc.base.tasks import cancel_and_wait

# The timeout for each message. The other process is on this machine, but may be slow if it is busy.
DEADLINE_S = 10.0
# Normally there are four sockets: TCP and UDP over IPv4 and IPv6. A host name with many addresses needs more.
MAX_SOCKETS = 16
MAX_MESSAGE_BYTES = 256
READY, YOURS = b"ready\n", b"yours\n"

logger = logging.getLogger(__name__)


class HandoverFailed(ConfigError):
    """Another service is running and will not hand over its ports."""


class Succession:
    """Ports that this process owns once `complete` has returned."""

    def __init__(self, connection: socket, ports: Inherited) -> None:
        self._connection = connection
        self.ports = ports

    async def complete(self) -> None:
        """Make the predecessor stop reading, and wait until it has stopped. Raises HandoverFailed."""
        try:
            async with asyncio.timeout(DEADLINE_S):
                loop = asyncio.get_running_loop()
                await loop.sock_sendall(self._connection, READY)
                if await loop.sock_recv(self._connection, MAX_MESSAGE_BYTES) != YOURS:
                    raise HandoverFailed("the service to take over from ended without an answer")
        except OSError as fault:
            raise HandoverFailed(f"the ports were not handed over: {fault or 'no answer'}") from None
        finally:
            self._connection.close()
        logger.info("took over ports", extra={"sockets": len(self.ports.tcp) + len(self.ports.udp)})


async def take_over(path: Path) -> Succession | None:
    """Receive the sockets of the service that is listening at `path`. Return None if there is none.

    Raises HandoverFailed.
    """
    connection = socket(sockets.AF_UNIX)
    connection.settimeout(DEADLINE_S)
    try:
        connection.connect(str(path))
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except OSError as fault:
        connection.close()
        raise HandoverFailed(f"{path} cannot be used: {fault.strerror}") from None
    try:
        _require_own_user(connection)
        ports = await asyncio.to_thread(_receive, connection)
    except (OSError, ValueError) as fault:
        connection.close()
        raise HandoverFailed(f"the service at {path} did not hand its ports over: {fault}") from None
    connection.setblocking(False)
    return Succession(connection, ports)


def refuse_if_used(path: Path) -> None:
    """Raise ConfigError if a service is listening at `path`, because its successor must use `--take-over`."""
    with socket(sockets.AF_UNIX) as probe:
        probe.settimeout(DEADLINE_S)
        with suppress(OSError):
            probe.connect(str(path))
            raise ConfigError(
                f"another service is already using {path}; add --take-over to take over its ports"
            )


@asynccontextmanager
async def wait_for_successor(
    path: Path,
    descriptors: Sequence[int],
    give_up: Callable[[], Awaitable[None]],
    handed_over: Callable[[], None],
) -> AsyncIterator[None]:
    """Wait for a successor at `path` while the block runs.

    Raises ConfigError. `give_up` must stop all use of the sockets. `handed_over` is called once the successor
    owns the sockets.
    """
    listening = _bound(path)
    predecessor = _Predecessor(listening, descriptors, give_up, handed_over)
    serving = asyncio.ensure_future(predecessor.wait())
    ours = _inode(path)
    try:
        yield
    finally:
        await cancel_and_wait(serving)
        listening.close()
        _remove(path, ours)


class _Predecessor:
    def __init__(
        self,
        listening: socket,
        descriptors: Sequence[int],
        give_up: Callable[[], Awaitable[None]],
        handed_over: Callable[[], None],
    ) -> None:
        self._listening = listening
        self._descriptors = descriptors
        self._give_up = give_up
        self._handed_over = handed_over

    async def wait(self) -> None:
        """Serve one connection at a time, until the ports are handed over."""
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(self._listening)
            with connection:
                try:
                    if await self._hand_over(connection):
                        self._handed_over()
                        return
                except (OSError, ValueError) as fault:
                    logger.warning("handing over ports failed", extra={"fault": str(fault) or "no answer"})

    async def _hand_over(self, connection: socket) -> bool:
        """Serve one connection. Return whether the ports were handed over."""
        _require_own_user(connection)
        loop = asyncio.get_running_loop()
        sockets.send_fds(connection, [_count(len(self._descriptors))], list(self._descriptors))
        async with asyncio.timeout(DEADLINE_S):
            if await loop.sock_recv(connection, MAX_MESSAGE_BYTES) != READY:
                return False
        await self._give_up()
        with suppress(OSError):  # Even if the successor disconnects now, it has the sockets.
            await loop.sock_sendall(connection, YOURS)
        logger.info("handed over ports")
        return True


def _count(count: int) -> bytes:
    """Return the message to send with the sockets. It states the number of sockets, so that a missing socket
    is noticed.
    """
    return f"sockets {count}\n".encode()


def _receive(connection: socket) -> Inherited:
    """Receive the sockets that a predecessor sends. Raises OSError or ValueError."""
    message, descriptors, _, _ = sockets.recv_fds(connection, MAX_MESSAGE_BYTES, MAX_SOCKETS)
    handed = [socket(fileno=descriptor) for descriptor in descriptors]
    if message != _count(len(handed)):
        for received in handed:
            received.close()
        raise ValueError("another process is taking them over, or has another version")
    for received in handed:
        received.setblocking(False)
    usual = [received for received in handed if received.family in (AF_INET, AF_INET6)]
    return Inherited(
        tcp=[received for received in usual if received.type == SOCK_STREAM],
        udp=[received for received in usual if received.type != SOCK_STREAM],
    )


def _bound(path: Path) -> socket:
    """Return a listening socket at `path`, replacing any previous socket file. Only this user can connect to
    it.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    listening = socket(sockets.AF_UNIX)
    before = os.umask(0o177)
    try:
        listening.bind(str(temporary))
        listening.listen(1)
        temporary.replace(path)
    except OSError as fault:
        listening.close()
        raise ConfigError(f"--handover-socket {path} cannot be used: {fault.strerror or fault}") from None
    finally:
        os.umask(before)
    listening.setblocking(False)
    return listening


def _remove(path: Path, ours: int | None) -> None:
    """Remove the socket file, unless it now belongs to the successor."""
    if _inode(path) == ours:
        path.unlink(missing_ok=True)


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _require_own_user(connection: socket) -> None:
    """Raise PermissionError if the other process runs as another user.

    The file's mode already excludes other users. On Linux the kernel also reports the peer's user.
    """
    if not hasattr(sockets, "SO_PEERCRED"):
        return
    _, user, _ = struct.unpack("3i", connection.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, 12))
    if user != os.geteuid():
        raise PermissionError("the other end belongs to another user")
