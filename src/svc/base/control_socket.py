"""Serves requests from other programs of the same user, over a Unix socket in the data folder.

A request is one line of JSON, `{command, arguments}`. The response is also one line, `{result}` or `{error,
message}`. A long-running command sends `{progress}` lines before the response, and is cancelled if the caller
disconnects. Any user who can read the folder may send any command. If Unix sockets are unavailable, or the
folder's path is too long for one, a loopback port replaces the socket, with a token in a file with mode
0600. This module does not define the commands.
"""

import asyncio
import json
import os
import secrets
import socket
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from svc.base import acceptor, progress
from svc.base.connections import ConnectionTable, Limits, Slot
from svc.base.grants import same_secret
from svc.base.listeners import BACKLOG, bound
from svc.base.progress import Listener, Progress
from svc.base.strict_json import dumps, loads_object

SOCKET_NAME = "control.sock"
# The file with the port and token that are used instead of the socket.
PORT_NAME = "control.json"
MAX_REQUEST_BYTES = 64 * 1024
# The maximum size of a response: enough for a list of all members of a large server.
MAX_ANSWER_BYTES = 64 * 1024 * 1024
# The maximum number of connections: more than the workers and commands on one machine ever use. A connection
# that has sent no request is closed to make room for a new connection.
MAX_CONNECTIONS = 64
READ_DEADLINE_S = 10.0
# The timeout for a request that makes no progress.
ANSWER_DEADLINE_S = 60.0
# The interval between progress reports.
PROGRESS_INTERVAL_S = 0.2
_CONNECT_DEADLINE_S = 5.0
# The longest path that fits in a Unix socket's address (sockaddr_un), without the terminating NUL.
_MAX_PATH_BYTES = 103

Handler = Callable[[str, Mapping[str, object]], Awaitable[Mapping[str, object]]]


class NotRunning(Exception):
    """No running program is listening on the control socket of this data folder."""


class ControlFailed(Exception):
    """The program is listening but does not respond correctly."""


@asynccontextmanager
async def listening(folder: Path, handler: Handler) -> AsyncIterator[None]:
    """Serve requests while the block runs. This process must have locked `folder`.

    `handler` takes the command and its arguments and returns the response. It must not raise.
    """
    # Remove files left behind by a killed process.
    for name in (SOCKET_NAME, PORT_NAME):
        (folder / name).unlink(missing_ok=True)
    path = folder / SOCKET_NAME
    short = len(os.fsencode(path)) <= _MAX_PATH_BYTES
    if hasattr(socket, "AF_UNIX") and short:
        token = ""
        sockets = [_bound(path)]
    else:
        path = folder / PORT_NAME
        token = secrets.token_urlsafe(32)
        sockets = bound("127.0.0.1", 0)
        _write_privately(path, {"port": sockets[0].getsockname()[1], "token": token})
    # A connection that has sent a request keeps its slot. A connection that has sent nothing is closed to
    # make room.
    limits = Limits(MAX_CONNECTIONS, of_address=None, of_owner=MAX_CONNECTIONS, shared=True)
    table = ConnectionTable(limits)
    listener = acceptor.Listener(sockets, table, _Service(handler, token).open)
    listener.start()
    try:
        yield
    finally:
        await listener.stop()
        path.unlink(missing_ok=True)


async def ask(
    folder: Path, command: str, arguments: Mapping[str, object], on_progress: Listener = lambda progress: None
) -> dict[str, object]:
    """Send a command to the program that uses a data folder. Return the response. Raises NotRunning or
    ControlFailed.
    """
    reader, writer, token = await _connect(folder)
    try:
        request = {"command": command, "arguments": dict(arguments), "token": token}
        writer.write(dumps(request) + b"\n")
        while True:
            async with asyncio.timeout(ANSWER_DEADLINE_S + READ_DEADLINE_S):
                await writer.drain()
                answer = loads_object((await reader.readline()).decode())
            match answer:
                case {"progress": [str(what), int(done), int(total)]}:
                    on_progress(Progress(what, done, total))
                case _:
                    return answer
    except (OSError, ValueError) as fault:
        raise ControlFailed(f"the server did not answer: {fault or type(fault).__name__}") from None
    finally:
        writer.close()


class _Service:
    """The server side of the control socket. If there is a `token`, requests without it are rejected."""

    def __init__(self, handler: Handler, token: str) -> None:
        self._handler = handler
        self._token = token

    async def open(self, connection: socket.socket, slot: Slot) -> None:
        """Serve an accepted connection. This is the listener's opener."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(MAX_REQUEST_BYTES, loop)

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            slot.close = writer.transport.abort
            try:
                await self._serve(reader, writer, slot)
            finally:
                slot.leave()

        await loop.connect_accepted_socket(lambda: asyncio.StreamReaderProtocol(reader, serve), connection)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, slot: Slot) -> None:
        """Read one request and send one response."""
        try:
            async with asyncio.timeout(READ_DEADLINE_S):
                line = await reader.readline()
            slot.belongs_to("a client that has sent a request")
            await _send_line(writer, await self._answer(line, writer))
        except (OSError, ValueError):
            pass  # The client has disconnected, sent too much, or sent nothing. TimeoutError is an OSError.
        finally:
            with suppress(OSError):
                writer.close()

    async def _answer(self, line: bytes, writer: asyncio.StreamWriter) -> Mapping[str, object]:
        match loads_object(line.decode()):
            case {"command": str(command), "arguments": dict(arguments), "token": str(token)}:
                if self._token and not same_secret(token, self._token):
                    return {"error": "forbidden", "message": "The token is not the right one"}
                return await self._work(command, arguments, writer)
        return {"error": "invalid_request", "message": "A request is {command, arguments, token}"}

    async def _work(
        self, command: str, arguments: Mapping[str, object], writer: asyncio.StreamWriter
    ) -> Mapping[str, object]:
        """Return the handler's response, and report the handler's progress to the caller in the meantime.
        Raises OSError.
        """
        loop = asyncio.get_running_loop()
        latest: deque[Progress] = deque(maxlen=1)
        progressed = asyncio.Event()

        def note(seen: Progress) -> None:
            # The work may report progress from another thread, even after the loop has been closed.
            latest.append(seen)
            if not progressed.is_set():
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(progressed.set)

        with progress.reports_to(note):
            working = asyncio.ensure_future(self._handler(command, arguments))
        working.add_done_callback(lambda _: progressed.set())
        try:
            while not working.done():
                async with asyncio.timeout(ANSWER_DEADLINE_S):
                    await progressed.wait()
                progressed.clear()
                if latest:
                    seen = latest.pop()
                    await _send_line(writer, {"progress": [seen.what, seen.done, seen.total]})
                    await asyncio.wait([working], timeout=PROGRESS_INTERVAL_S)
            return working.result()
        finally:
            working.cancel()


async def _send_line(writer: asyncio.StreamWriter, line: Mapping[str, object]) -> None:
    async with asyncio.timeout(READ_DEADLINE_S):
        writer.write(dumps(line) + b"\n")
        await writer.drain()


async def _connect(folder: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, str]:
    try:
        async with asyncio.timeout(_CONNECT_DEADLINE_S):
            if (folder / SOCKET_NAME).exists():
                path = str(folder / SOCKET_NAME)
                return *await asyncio.open_unix_connection(path, limit=MAX_ANSWER_BYTES), ""
            where = loads_object((folder / PORT_NAME).read_text(encoding="utf-8"))
            port, token = where.get("port"), where.get("token")
            if not isinstance(port, int) or not isinstance(token, str):
                raise NotRunning
            return *await asyncio.open_connection("127.0.0.1", port, limit=MAX_ANSWER_BYTES), token
    except (OSError, ValueError):
        raise NotRunning from None


def _bound(path: Path) -> socket.socket:
    """Return a bound socket that is never accessible to other users, not even briefly."""
    opened = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        opened.bind(str(path))
    finally:
        os.umask(before)
    opened.listen(BACKLOG)
    opened.setblocking(False)
    return opened


def _write_privately(path: Path, content: Mapping[str, object]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(content, file)
