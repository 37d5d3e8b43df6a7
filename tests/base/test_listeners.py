"""Listening sockets are opened or inherited. Unusable sockets are rejected with a message."""

import os
import socket

import pytest

from svc.base.config_parsing import ConfigError
from svc.base.listeners import bound, inherit_sockets


def test_all_addresses_of_a_host_name_are_bound_on_one_port() -> None:
    opened = bound("localhost", 0)
    assert len({listening.getsockname()[1] for listening in opened}) == 1
    for listening in opened:
        assert listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        assert not listening.getblocking()
        with socket.create_connection(listening.getsockname()[:2]):
            pass
        listening.close()


def test_without_a_host_every_address_family_is_bound() -> None:
    opened = bound(None, 0)
    assert {listening.getsockname()[0] for listening in opened} <= {"0.0.0.0", "::"}
    assert len(opened) == len({listening.family for listening in opened})
    for listening in opened:
        listening.close()


@pytest.mark.parametrize("host", ["::", "0.0.0.0,::", "127.0.0.1, ::1"])
def test_both_address_families_are_bound_to_the_same_port(host: str) -> None:
    opened = bound(host, 0)
    families = {listening.family for listening in opened}
    ports = {listening.getsockname()[1] for listening in opened}
    for listening in opened:
        listening.close()
    assert families == {socket.AF_INET, socket.AF_INET6}
    assert len(ports) == 1


def test_opening_a_port_in_use_fails_instead_of_sharing_the_port() -> None:
    (holder,) = bound("127.0.0.1", 0)
    with holder:
        assert not holder.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT)
        with pytest.raises(OSError, match="in use"):
            bound("127.0.0.1", holder.getsockname()[1])


def test_a_host_that_belongs_to_another_machine_is_rejected() -> None:
    with pytest.raises(OSError):
        bound("192.0.2.250", 0)


def handed(opened: socket.socket) -> int:
    """Return a new, inheritable descriptor for the socket, as if it came from a parent process."""
    number = os.dup(opened.fileno())
    os.set_inheritable(number, True)
    return number


def test_inherited_sockets_are_distinguished_by_kind() -> None:
    (tcp,) = bound("127.0.0.1", 0)
    with tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        given = inherit_sockets([handed(udp), handed(tcp)])
        assert [sock.getsockname() for sock in given.tcp] == [tcp.getsockname()]
        assert [sock.getsockname() for sock in given.udp] == [udp.getsockname()]
        # Both sockets are non-blocking, and child processes inherit neither.
        assert not any(sock.getblocking() or sock.get_inheritable() for sock in (*given.tcp, *given.udp))
        given.close()


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_an_inherited_socket_that_is_not_listening_is_rejected(kind: socket.SocketKind) -> None:
    with socket.socket(socket.AF_INET, kind) as opened:
        number = handed(opened)
        with pytest.raises(ConfigError, match=f"--listen-fd {number} is neither a listening TCP socket"):
            inherit_sockets([number])


def test_an_inherited_descriptor_that_is_not_an_ip_socket_is_rejected() -> None:
    read, write = os.pipe()
    with pytest.raises(ConfigError, match=f"--listen-fd {read} is not a socket: "):
        inherit_sockets([read])
    os.close(read)
    os.close(write)
    with pytest.raises(ConfigError, match="--listen-fd 999 is not a socket: Bad file descriptor"):
        inherit_sockets([999])
    ours, theirs = socket.socketpair()
    with theirs, pytest.raises(ConfigError, match="neither an IPv4 nor an IPv6 socket"):
        inherit_sockets([ours.detach()])
