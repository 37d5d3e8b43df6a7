"""Synchronises a test with the thread of a UdpLoop."""

import socket

from svc._rtp.udploop import UdpLoop

_DONE = b"\0done"


def settle(loop: UdpLoop, udp: socket.socket, server: str) -> None:
    """Wait until the loop has run all commands that were posted before this call.

    Commands run in order, and a datagram marks the end. Packets that were sent to the loop earlier may be
    processed before the datagram. `udp` receives the datagram, and drops all others.
    """
    loop.send_stun(_DONE, udp.getsockname()[:2], server)
    while udp.recv(2048) != _DONE:
        pass
