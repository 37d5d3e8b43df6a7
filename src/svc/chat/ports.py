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

from svc.base.config import ConfigError
from svc.base.listening import bound, inherited
from svc.chat.listener import TlsListener
from svc.chat.tls import TlsFiles

LOOPBACK = "127.0.0.1"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line may add to the spec's variables."""

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


def sockets_of(flags: Flags, host: str, port: int) -> Sequence[socket]:
    """The sockets to listen on: those that were handed over, else our own. Raises ConfigError."""
    if flags.listen_fds:
        handed = inherited(flags.listen_fds)
        if handed.udp:
            raise ConfigError("--listen-fd: the chat server has no use for a UDP socket")
        return handed.tcp
    try:
        return bound(host, port)
    except OSError as fault:
        raise ConfigError(f"Cannot listen on HOST {host}, PORT {port}: {fault.strerror or fault}") from None


@contextlib.asynccontextmanager
async def opened(
    runner: web.AppRunner, sockets: Sequence[socket], files: TlsFiles | None
) -> AsyncIterator[str]:
    """Let people in for as long as the block runs; yields the address. `runner` has been set up."""
    address = _address(sockets[0], "https" if files else "http")
    if files is None:
        sites = [web.SockSite(runner, listening) for listening in sockets]
        for site in sites:
            await site.start()
        try:
            yield address
        finally:
            for site in sites:
                await site.stop()
        return
    assert runner.server is not None, "the runner has been set up"
    listener = TlsListener(sockets, runner.server, lambda: files.context)
    listener.start()
    async with _kept_fresh(files):
        try:
            yield address
        finally:
            await listener.stop()


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


def _address(listening: socket, scheme: str) -> str:
    host, port = listening.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
