"""Closes a TCP connection so that the last bytes arrive, even if the peer is still sending.

Closing a socket with unread input resets the connection. The reset overtakes the last output, such as a close
frame or an error response. This module therefore shuts down the output, then reads and discards input until
the peer has closed or the deadline has passed. It does not write any data. See RFC 7230 section 6.6, RFC 6455
section 7.1.1.
"""

import asyncio


async def linger(transport: asyncio.Transport, deadline_s: float, most_bytes: int | None = None) -> None:
    """Discard input until the peer closes, the deadline passes, or the peer has sent too much. The caller
    must then close the transport.
    """
    if transport.is_closing():
        return
    discarding = _Discarding(transport.get_protocol(), most_bytes)
    transport.set_protocol(discarding)
    transport.resume_reading()
    if transport.can_write_eof():
        transport.write_eof()
    try:
        async with asyncio.timeout(deadline_s):
            await discarding.ended.wait()
    except TimeoutError:
        pass


def abort_unsent(transport: asyncio.Transport) -> None:
    """Abort a connection whose peer has still not read all output and probably never will."""
    try:
        if transport.get_write_buffer_size():
            transport.abort()
    except AttributeError:
        # After being closed twice, asyncio's TLS transport no longer refers to the transport that owns the
        # buffer.
        return


class _Discarding(asyncio.Protocol):
    """A protocol that discards input. It replaces `owner`, and notifies it when the connection is closed."""

    def __init__(self, owner: asyncio.BaseProtocol, most_bytes: int | None) -> None:
        self.ended = asyncio.Event()
        self._left = most_bytes
        self._owner = owner

    def data_received(self, data: bytes) -> None:
        if self._left is not None:
            self._left -= len(data)
            if self._left < 0:
                self.ended.set()

    def eof_received(self) -> None:
        self.ended.set()

    def connection_lost(self, error: Exception | None) -> None:
        self.ended.set()
        self._owner.connection_lost(error)

    def pause_writing(self) -> None:
        self._owner.pause_writing()

    def resume_writing(self) -> None:
        self._owner.resume_writing()
