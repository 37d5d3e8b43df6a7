"""Between a test and a UdpLoop's thread: waiting until the one has done what the other has told it."""

import socket

from svc._rtp.udploop import UdpLoop

_DONE = b"\0done"


def settle(loop: UdpLoop, udp: socket.socket, server: str) -> None:
    """Return once everything posted so far is done: it is done in order, and a datagram says when.

    A packet that is sent to the loop before may be looked at in the middle. `udp` waits; what else comes is
    dropped.
    """
    loop.send_stun(_DONE, udp.getsockname()[:2], server)
    while udp.recv(2048) != _DONE:
        pass
