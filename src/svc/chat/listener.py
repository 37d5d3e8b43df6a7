"""One port for TLS and for who forgets it: a connection's first byte says which it is.

TLS (0x16, RFC 8446 section 5.1) goes to the server, anything else is plain HTTP and is sent to the
https:// address. Reads nothing else, and knows neither certificates nor pages.
"""

import asyncio
import logging
import re
import socket
from collections.abc import Callable, Sequence
from ssl import SSLContext

from aiohttp import web

# As long as a request may take to begin; a slow phone shakes hands in two.
FIRST_BYTE_DEADLINE_S = 10.0
HANDSHAKE_DEADLINE_S = 10.0
# How long a browser may take to say that it is done as well.
SHUTDOWN_DEADLINE_S = 5.0
# Connections that have not shaken hands yet. Beyond it the one that has waited longest goes.
MAX_OPENING = 512
# As many at a time as wait in the system.
ACCEPTED_AT_ONCE = 128
# No descriptor is free: some are, in a moment.
FULL_PAUSE_S = 1.0
_HANDSHAKE = b"\x16"
# A name or an address, and a port. Whatever else a Host header holds is sent nowhere.
_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")

logger = logging.getLogger(__name__)

Protocols = Callable[[], asyncio.BaseProtocol]


class TlsListener:
    """`secured` makes the protocol of a connection, `context` gives the certificate of the moment."""

    def __init__(
        self, sockets: Sequence[socket.socket], secured: Protocols, context: Callable[[], SSLContext]
    ) -> None:
        self._sockets = sockets
        self._secured = secured
        self._context = context
        self._redirecting = web.Server(_to_https, access_log=None)
        # In the order of their coming.
        self._opening: dict[asyncio.Task[None], None] = {}
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        for listening in self._sockets:
            self._loop.add_reader(listening, self._accept, listening)

    async def stop(self) -> None:
        """Accept nobody any more. Who has shaken hands stays."""
        for listening in self._sockets:
            self._loop.remove_reader(listening)
            listening.close()
        opening = list(self._opening)
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)
        await self._redirecting.shutdown(SHUTDOWN_DEADLINE_S)

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                connection, _ = listening.accept()
            except BlockingIOError:
                return
            except ConnectionAbortedError:
                continue
            except OSError as fault:
                logger.error("connections cannot be accepted", extra={"fault": str(fault)})
                self._loop.remove_reader(listening)
                self._loop.call_later(FULL_PAUSE_S, self._accept_again, listening)
                return
            connection.setblocking(False)
            if len(self._opening) >= MAX_OPENING:
                longest = next(iter(self._opening))
                del self._opening[longest]
                longest.cancel()
            task = asyncio.ensure_future(self._open(connection))
            self._opening[task] = None
            task.add_done_callback(self._opened)

    def _accept_again(self, listening: socket.socket) -> None:
        if listening.fileno() >= 0:
            self._loop.add_reader(listening, self._accept, listening)

    def _opened(self, task: asyncio.Task[None]) -> None:
        self._opening.pop(task, None)

    async def _open(self, connection: socket.socket) -> None:
        try:
            async with asyncio.timeout(FIRST_BYTE_DEADLINE_S):
                first = await self._first_byte(connection)
            if first == _HANDSHAKE:
                await self._loop.connect_accepted_socket(
                    self._secured,
                    connection,
                    ssl=self._context(),
                    ssl_handshake_timeout=HANDSHAKE_DEADLINE_S,
                    ssl_shutdown_timeout=SHUTDOWN_DEADLINE_S,
                )
            elif first:
                await self._loop.connect_accepted_socket(self._redirecting, connection)
            else:
                connection.close()
        except OSError as fault:  # TimeoutError and ssl.SSLError are.
            logger.debug("connection not opened", extra={"fault": str(fault) or type(fault).__name__})
            connection.close()
        except asyncio.CancelledError:
            connection.close()
            raise

    async def _first_byte(self, connection: socket.socket) -> bytes:
        """It stays where it is; empty where the peer has gone."""
        while True:
            try:
                return connection.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                await self._readable(connection)

    async def _readable(self, connection: socket.socket) -> None:
        readable = self._loop.create_future()
        self._loop.add_reader(connection, _resolve, readable)
        try:
            await readable
        finally:
            self._loop.remove_reader(connection)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def _to_https(request: web.BaseRequest) -> web.StreamResponse:
    host = request.headers.get("Host", "")
    # As it came: a proxy's form of a request names the whole address.
    path = request.raw_path if request.raw_path.startswith("/") else request.path_qs
    if _HOST.fullmatch(host):
        answer = web.Response(status=308, headers={"Location": f"https://{host}{path}"})
    else:
        answer = web.Response(status=400, text="This server is reached at its https:// address.\n")
    answer.headers["Server"] = "svc"
    # Nothing more is to be said on a connection that others can read.
    answer.force_close()
    return answer
