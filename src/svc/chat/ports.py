"""How the chat server's port is opened and shut, with TLS or without; and the flags that say so.

Serves nothing itself. Shutting a port lets nobody in any more; who is in goes on.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from socket import socket

from aiohttp import web

from svc.base import descriptors
from svc.base.accepting import Listener
from svc.base.config import ConfigError
from svc.base.connections import MOST_OF_ADDRESS, Limits, Table, room_for
from svc.base.http_connections import speaking_http
from svc.base.listening import address_of
from svc.chat.listener import TlsDoor
from svc.chat.tls import TlsFiles

LOOPBACK = "127.0.0.1"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line may add to the variables of docs/configuration.md."""

    admin_host: str = LOOPBACK
    # Both in one file where only the certificate is named.
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    listen_fds: Sequence[int] = ()

    def tls_files(self) -> TlsFiles | None:
        """None without TLS. Raises ConfigError."""
        if self.tls_certificate is None:
            if self.tls_key is not None:
                raise ConfigError("--tls-key needs --tls-cert beside it")
            return None
        return TlsFiles(self.tls_certificate, self.tls_key or self.tls_certificate)


def table_of(trusted_proxy_hops: int) -> Table:
    """The table of connections; behind proxies nobody's address is seen by it."""
    of_address = None if trusted_proxy_hops else MOST_OF_ADDRESS
    return Table(Limits(room_for(descriptors.limit()), of_address))


@contextlib.asynccontextmanager
async def opened(
    server: web.Server | None, sockets: Sequence[socket], files: TlsFiles | None, table: Table
) -> AsyncIterator[str]:
    """Let people in for as long as the block runs; yields the address.

    `server` is that of a runner that has been set up.
    """
    assert server is not None, "the runner has been set up"
    address = address_of(sockets[0], "https" if files else "http")
    if files is None:
        listener = Listener(sockets, table, speaking_http(server))
        listener.start()
        try:
            yield address
        finally:
            await listener.stop()
        return
    door = TlsDoor(server, lambda: files.context)
    listener = Listener(sockets, table, door.open)
    listener.start()
    async with _kept_fresh(files):
        try:
            yield address
        finally:
            await listener.stop()
            await door.shut()


@contextlib.asynccontextmanager
async def _kept_fresh(files: TlsFiles) -> AsyncIterator[None]:
    """Renewed certificates are taken when the files change, and at once on SIGHUP."""
    loop = asyncio.get_running_loop()
    # Tests run servers on a loop that is not the main thread's business.
    with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
        loop.add_signal_handler(signal.SIGHUP, files.reload)
    watching = asyncio.ensure_future(files.watch())
    try:
        yield
    finally:
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
        with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
            loop.remove_signal_handler(signal.SIGHUP)
