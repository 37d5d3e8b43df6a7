"""Creates a link with a fixed rate. Data sent at a higher rate fills the sender's socket buffer.

The link leads from a test's namespace (see tests.kit.namespace) to another namespace, which exists as long as
its sockets do.
"""

import os
import socket
import subprocess
import threading

from tests.kit.namespace import Refused, unshare_network

NEAR, FAR = "198.51.100.1", "198.51.100.2"
_DEADLINE_S = 60.0


def sockets_beyond(count: int, *, rate: str) -> list[socket.socket]:
    """Open UDP sockets at FAR, the other end of a link from NEAR. `rate` is in the syntax of `tc`."""
    opened: list[socket.socket] = []
    near = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    thread = threading.Thread(target=_open_beyond, args=(count, near, opened), name="beyond")
    try:
        thread.start()
        thread.join()
    finally:
        os.close(near)
    if len(opened) < count:
        raise Refused("this sandbox cannot connect namespaces")
    try:
        _furnish_near(rate)
    except Refused:
        for beyond in opened:
            beyond.close()
        raise
    return opened


def _furnish_near(rate: str) -> None:
    _run("ip", "address", "add", f"{NEAR}/24", "dev", "near")
    _run("ip", "link", "set", "near", "up")
    # The limit of 100 MB has no effect, because the socket buffers fill first.
    _run("tc", "qdisc", "add", "dev", "near", "root", "tbf", "rate", rate, "burst", "20k", "limit", "100m")


def _open_beyond(count: int, near: int, opened: list[socket.socket]) -> None:
    """Open the sockets. This must run in a separate thread, because the thread moves to another network."""
    try:
        unshare_network()
        far = f"/proc/{os.getpid()}/fd/{near}"
        _run("ip", "link", "add", "far", "type", "veth", "peer", "name", "near", "netns", far)
        _run("ip", "address", "add", f"{FAR}/24", "dev", "far")
        _run("ip", "link", "set", "far", "up")
        for _ in range(count):
            beyond = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            beyond.bind((FAR, 0))
            opened.append(beyond)
    except Refused:
        pass


def _run(*command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_DEADLINE_S)
    except FileNotFoundError:
        raise Refused(f"{command[0]} is not installed (ci/setup installs it)") from None
    if done.returncode:
        raise Refused(f"this sandbox refuses {' '.join(command)}: {done.stderr.decode().strip()}")
