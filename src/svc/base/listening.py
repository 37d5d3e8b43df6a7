"""The sockets that a program listens on: opened by it, or handed to it open.

A port that somebody else holds is refused: SO_REUSEPORT is never set. Reads and writes nothing,
and no environment: which descriptors were handed over is a flag's to say (`--listen-fd`; systemd
counts them from 3, sd_listen_fds(3)).
"""

import os
import socket
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from svc.base.config import ConfigError

# Connections that wait to be accepted; as many as asyncio lets wait.
BACKLOG = 128


@dataclass(frozen=True, slots=True)
class Inherited:
    """Sockets that were open before we were: for TCP, listening, and for UDP, bound."""

    tcp: Sequence[socket.socket] = ()
    udp: Sequence[socket.socket] = ()

    def close(self) -> None:
        for handed in (*self.tcp, *self.udp):
            handed.close()


def bound(host: str | None, port: int) -> list[socket.socket]:
    """Listening TCP sockets, one for each address of `host`; for None one for each family. OSError.

    Port 0 becomes one that is free, the same for all.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    with ExitStack() as undo:
        sockets: list[socket.socket] = []
        for family, address in dict.fromkeys((family, address) for family, *_, address in found):
            try:
                opened = undo.enter_context(socket.socket(family, socket.SOCK_STREAM))
            except OSError:
                # A system without IPv6 may know of such addresses all the same.
                continue
            free = sockets[0].getsockname()[1] if sockets else address[1]
            _listen(opened, (address[0], free, *address[2:]))
            sockets.append(opened)
        if not sockets:
            raise OSError(f"no address of {host} can be used")
        undo.pop_all()
    return sockets


def _listen(opened: socket.socket, address: tuple[object, ...]) -> None:
    opened.setblocking(False)
    if os.name == "posix":
        # Connections that have ended keep a port from nobody; elsewhere this would share it.
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if opened.family == socket.AF_INET6:
        opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    opened.bind(address)
    opened.listen(BACKLOG)


def inherited(descriptors: Iterable[int]) -> Inherited:
    """The sockets behind these descriptors, ours from now on. Raises ConfigError."""
    with ExitStack() as undo:
        handed = [undo.enter_context(_socket(number)) for number in descriptors]
        for one in handed:
            if one.family not in (socket.AF_INET, socket.AF_INET6):
                raise ConfigError(
                    f"--listen-fd {one.fileno()} is a socket of another kind than IPv4 and IPv6"
                )
            if not _is_open(one):
                problem = "is neither a listening TCP socket nor a bound UDP one"
                raise ConfigError(f"--listen-fd {one.fileno()} {problem}")
        undo.pop_all()
    return Inherited(
        tcp=[one for one in handed if one.type == socket.SOCK_STREAM],
        udp=[one for one in handed if one.type == socket.SOCK_DGRAM],
    )


def _is_open(handed: socket.socket) -> bool:
    if handed.type == socket.SOCK_STREAM:
        return bool(handed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    return handed.type == socket.SOCK_DGRAM and handed.getsockname()[1] > 0


def _socket(number: int) -> socket.socket:
    try:
        handed = socket.socket(fileno=number)
    except OSError as fault:
        raise ConfigError(f"--listen-fd {number} is no socket: {fault.strerror}") from None
    handed.setblocking(False)
    handed.set_inheritable(False)
    return handed
