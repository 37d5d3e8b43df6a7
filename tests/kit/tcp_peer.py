"""Acts as the peer at the other end of a TCP connection to the media port.

It sends and receives frames in pieces that the test chooses.
"""

import socket

WITHIN_S = 30.0


class TcpPeer:
    """A connection from `source` to the service, with the interface of a connected datagram socket."""

    def __init__(
        self, server: tuple[str, int], *, source: str = "", receive_buffer: int | None = None
    ) -> None:
        family = socket.AF_INET6 if ":" in server[0] else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if source:
            self.socket.bind((source, 0))
        self.socket.settimeout(WITHIN_S)
        self.socket.connect(server)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.address: tuple[str, int] = self.socket.getsockname()[:2]
        self._read = b""

    def send(self, frame: bytes) -> None:
        self.send_raw(len(frame).to_bytes(2, "big") + frame)

    def send_raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def recv(self) -> bytes:
        """Return the next frame. Raises ConnectionError once the connection is closed."""
        size = int.from_bytes(self._exactly(2), "big")
        return self._exactly(size)

    def is_closed(self) -> bool:
        """Wait until the connection is closed. Data that arrives before then is discarded."""
        try:
            while self.socket.recv(65536):
                pass
        except ConnectionError:
            pass
        return True

    def close(self) -> None:
        self.socket.close()

    def _exactly(self, size: int) -> bytes:
        while len(self._read) < size:
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError("the service has closed the connection")
            self._read += data
        data, self._read = self._read[:size], self._read[size:]
        return data
