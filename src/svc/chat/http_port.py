"""Opens and closes the chat server's port, with or without TLS, and defines its command-line flags.

With TLS, the port also accepts plain HTTP. A connection that starts with TLS (0x16, RFC 8446 section 5.1)
goes to the server, and any other is redirected to the https:// URL. When the port closes, new connections are
refused and existing ones continue.
"""

import asyncio
import contextlib
import logging
import re
import signal
from asyncio import sslproto
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from socket import MSG_PEEK, socket
from ssl import SSLContext

from aiohttp import web

from svc.base import open_file_limit
from svc.base.acceptor import Listener
from svc.base.config_parsing import ConfigError
from svc.base.connections import MAX_PER_ADDRESS, ConnectionTable, Limits, Slot, room_for
from svc.base.http_connections import http_opener, protocol_of
from svc.base.http_server import HttpServer
from svc.base.listeners import address_of
from svc.base.tasks import cancel_and_wait
from svc.chat.tls import TlsFiles

# The timeouts for the first byte and for the TLS handshake, which can take two seconds on a slow phone.
FIRST_BYTE_DEADLINE_S = 10.0
HANDSHAKE_DEADLINE_S = 10.0
# How long to wait for a browser's response to the TLS closing message.
SHUTDOWN_DEADLINE_S = 5.0
# The size of a TLS connection's read buffer: two records (16 KiB each, RFC 8446 section 5.1). asyncio's
# default is 256 KiB, even for unfinished handshakes, so a full connection table would use 2 GB.
TLS_BUFFER_BYTES = 32 * 1024
sslproto.SSLProtocol.max_size = TLS_BUFFER_BYTES
_HANDSHAKE = b"\x16"
# Matches a name or IP address with an optional port. A request with any other Host header is not redirected.
_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")


class TlsListener:
    """A listener for connections on a TLS port.

    `server` is the HTTP server. `context` returns the SSL context with the current certificate.
    """

    def __init__(self, server: web.Server, context: Callable[[], SSLContext]) -> None:
        self._server = server
        self._context = context
        self._redirecting = HttpServer(_to_https, access_log=None)
        self._open_plain = http_opener(self._redirecting)
        self._loop = asyncio.get_running_loop()

    async def open(self, connection: socket, slot: Slot) -> None:
        """Start serving an accepted connection. Raises OSError if the connection has failed."""
        async with asyncio.timeout(FIRST_BYTE_DEADLINE_S):
            first = await self._first_byte(connection)
        if first == _HANDSHAKE:
            await self._loop.connect_accepted_socket(
                lambda: protocol_of(self._server, slot),
                connection,
                ssl=self._context(),
                ssl_handshake_timeout=HANDSHAKE_DEADLINE_S,
                ssl_shutdown_timeout=SHUTDOWN_DEADLINE_S,
            )
        elif first:
            await self._open_plain(connection, slot)
        else:
            raise ConnectionResetError("closed before it sent anything")

    async def shut(self) -> None:
        """Close the connections that are being redirected."""
        await self._redirecting.shutdown(SHUTDOWN_DEADLINE_S)

    async def _first_byte(self, connection: socket) -> bytes:
        """Return the first byte without consuming it, or empty bytes if the client has disconnected."""
        while True:
            try:
                return connection.recv(1, MSG_PEEK)
            except BlockingIOError:
                await self._readable(connection)

    async def _readable(self, connection: socket) -> None:
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
    # Copy the path unchanged, unless the client mistook this server for a proxy and sent the whole URL in the
    # request line.
    path = request.raw_path if request.raw_path.startswith("/") else request.path_qs
    if _HOST.fullmatch(host):
        answer = web.Response(status=308, headers={"Location": f"https://{host}{path}"})
    else:
        answer = web.Response(status=400, text="This server is reached at its https:// address.\n")
    answer.headers["Server"] = "svc"
    # Close the connection, so that nothing more is sent unencrypted.
    answer.force_close()
    return answer


LOOPBACK = "127.0.0.1"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Flags:
    """Command-line flags without a matching variable in docs/configuration.md."""

    admin_host: str = LOOPBACK
    # Without a key file, this file contains both the certificate and the key.
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    listen_fds: Sequence[int] = ()

    def tls_files(self) -> TlsFiles | None:
        """Return the TLS files, or None if TLS is not used. Raises ConfigError."""
        if self.tls_certificate is None:
            if self.tls_key is not None:
                raise ConfigError("--tls-key needs --tls-cert")
            return None
        return TlsFiles(self.tls_certificate, self.tls_key or self.tls_certificate)


def table_of(trusted_proxy_hops: int, *, relayed: bool = False) -> ConnectionTable:
    """Return the connection table. Behind trusted proxies, which hide clients' IP addresses, there is no
    limit per address. Proxies and cluster relays send many members' requests over one connection.
    """
    of_address = None if trusted_proxy_hops else MAX_PER_ADDRESS
    shared = relayed or trusted_proxy_hops > 0
    return ConnectionTable(Limits(room_for(open_file_limit.limit()), of_address, shared=shared))


@contextlib.asynccontextmanager
async def accept_connections(
    server: web.Server | None, sockets: Sequence[socket], files: TlsFiles | None, table: ConnectionTable
) -> AsyncIterator[str]:
    """Accept connections while the block runs. Yield the server's URL.

    `server` must belong to a runner that has been set up.
    """
    assert server is not None, "the runner has been set up"
    address = address_of(sockets[0], "https" if files else "http")
    async with contextlib.AsyncExitStack() as stack:
        if files is None:
            listener = Listener(sockets, table, http_opener(server))
        else:
            tls_listener = TlsListener(server, lambda: files.context)
            listener = Listener(sockets, table, tls_listener.open)
            await stack.enter_async_context(_reload_certificates(files))
            stack.push_async_callback(tls_listener.shut)
        listener.start()
        stack.push_async_callback(listener.stop)
        yield address


@contextlib.asynccontextmanager
async def _reload_certificates(files: TlsFiles) -> AsyncIterator[None]:
    """Reload certificates when their files change, and immediately on SIGHUP."""
    loop = asyncio.get_running_loop()
    # Tests run servers outside the main thread, where signal handlers cannot be installed.
    with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
        loop.add_signal_handler(signal.SIGHUP, files.reload)
    watching = asyncio.ensure_future(files.watch())
    try:
        yield
    finally:
        await cancel_and_wait(watching)
        with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
            loop.remove_signal_handler(signal.SIGHUP)
