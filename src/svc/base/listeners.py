"""Opens or inherits listening sockets.

Opening a port that another program is using fails, because SO_REUSEPORT is never set. This module neither
transfers data nor reads the environment. The flag `--listen-fd` lists the inherited descriptors (systemd
counts them from 3, sd_listen_fds(3)).
"""

import errno
import os
import socket
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from svc.base.config_parsing import ConfigError

# The maximum number of connections waiting to be accepted. When the queue is full, the kernel drops a
# client's first packet, and the client retries only after a second. The queue must have room for the
# connections that arrive in one second of a flood. Linux usually allows no larger queue.
BACKLOG = 4096
# The number of kernel-chosen ports to try, because the port must be free in every address family.
FREE_PORT_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Inherited:
    """Sockets that were already open when the program started: listening for TCP, bound for UDP."""

    tcp: Sequence[socket.socket] = ()
    udp: Sequence[socket.socket] = ()

    def close(self) -> None:
        for handed in (*self.tcp, *self.udp):
            handed.close()


def bound(host: str | None, port: int) -> list[socket.socket]:
    """Open a listening TCP socket for each address of `host`, or for each address family if it is None.

    `host` may be a comma-separated list. `::` means every address of both families. For port 0, one free port
    is chosen for all of them. Raises OSError.
    """
    hosts = [None] if host is None else [part.strip() for part in host.split(",")]
    if "::" in hosts:
        hosts = ["::", "0.0.0.0"]
    addresses = [
        address
        for part in hosts
        for address in socket.getaddrinfo(part, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    ]
    wanted = dict.fromkeys((family, address) for family, *_, address in addresses)
    attempt = 1
    while True:
        try:
            return _open(wanted, host)
        except OSError as fault:
            # A port that is free in one family may be in use in the other. Ask the kernel for another port.
            if port or fault.errno != errno.EADDRINUSE or attempt == FREE_PORT_ATTEMPTS:
                raise
            attempt += 1


def _open(wanted: Iterable[tuple[int, tuple[object, ...]]], host: str | None) -> list[socket.socket]:
    with ExitStack() as undo:
        sockets: list[socket.socket] = []
        for family, address in wanted:
            try:
                opened = undo.enter_context(socket.socket(family, socket.SOCK_STREAM))
            except OSError:
                # A system without IPv6 may still list IPv6 addresses.
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
        # Closed connections must not block the port. On non-POSIX systems, this option would share the port.
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if opened.family == socket.AF_INET6:
        opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    opened.bind(address)
    opened.listen(BACKLOG)


def address_of(listening: socket.socket, scheme: str) -> str:
    """Return a listening socket's URL."""
    host, port = listening.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def inherit_sockets(descriptors: Iterable[int]) -> Inherited:
    """Return the sockets behind these descriptors and take ownership of them. Raises ConfigError."""
    with ExitStack() as undo:
        handed = [undo.enter_context(_socket(number)) for number in descriptors]
        for listener in handed:
            if listener.family not in (socket.AF_INET, socket.AF_INET6):
                raise ConfigError(f"--listen-fd {listener.fileno()} is neither an IPv4 nor an IPv6 socket")
            if not _is_open(listener):
                problem = "is neither a listening TCP socket nor a bound UDP socket"
                raise ConfigError(f"--listen-fd {listener.fileno()} {problem}")
        undo.pop_all()
    return Inherited(
        tcp=[listener for listener in handed if listener.type == socket.SOCK_STREAM],
        udp=[listener for listener in handed if listener.type == socket.SOCK_DGRAM],
    )


def tcp_sockets(descriptors: Sequence[int], host: str, port: int) -> Sequence[socket.socket]:
    """Return the sockets of a program that uses only TCP: inherited or newly opened. Raises ConfigError."""
    if descriptors:
        handed = inherit_sockets(descriptors)
        if handed.udp:
            raise ConfigError("--listen-fd: this program does not use UDP sockets")
        return handed.tcp
    try:
        return bound(host, port)
    except OSError as fault:
        raise ConfigError(f"Cannot listen on HOST {host}, PORT {port}: {fault.strerror or fault}") from None


def _is_open(handed: socket.socket) -> bool:
    if handed.type == socket.SOCK_STREAM:
        return bool(handed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    return handed.type == socket.SOCK_DGRAM and handed.getsockname()[1] > 0


def _socket(number: int) -> socket.socket:
    try:
        handed = socket.socket(fileno=number)
    except OSError as fault:
        raise ConfigError(f"--listen-fd {number} is not a socket: {fault.strerror}") from None
    handed.setblocking(False)
    handed.set_inheritable(False)
    return handed
