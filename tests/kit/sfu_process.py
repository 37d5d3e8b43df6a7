"""Runs the media service in its own process, as an operator does, and the chat servers that use it.

`svc sfu` runs on loopback ports chosen by the kernel, and all its output is stored. This module does not
handle media.
"""

import asyncio
import json
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from tests.kit.cluster_network import LOOPBACK, Host
from tests.kit.fork_server import ServedProcess, shared
from tests.kit.metrics import metrics_of
from tests.kit.openssl_instructions import WITHOUT_AES

COMMAND = (str(Path(sys.executable).with_name("svc")), "sfu")
START_DEADLINE_S = 60.0
STOP_DEADLINE_S = 30.0
EVENT_DEADLINE_S = 30.0
KEPT_LINES = 2_000
SECRET = "the control secret"

_LISTENING = re.compile(r" listening http=(\d+) udp=(\d+)$")
# Matches log lines. The lines of a traceback and Python's own warnings do not start with a time.
_HARMLESS = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z (DEBUG|INFO) ")


class ControlConnection:
    """A chat server's connection to `/server`."""

    def __init__(self, socket: ClientWebSocketResponse, server_id: str, secret: str) -> None:
        self._socket = socket
        self._credentials = {"server_id": server_id, "server_password": secret}
        self.received: list[tuple[str, Any]] = []

    async def send(self, event: str, **data: object) -> None:
        """Send an event with this server's credentials, unless `data` contains others."""
        text = json.dumps(self._credentials | data)
        await self._socket.send_str(json.dumps({"event": event, "data": text}))

    async def ending(self) -> int:
        """Return the service's close code and ignore all frames before it."""
        async with asyncio.timeout(EVENT_DEADLINE_S):
            while (message := await self._socket.receive()).type is WSMsgType.TEXT:
                pass
        assert message.type is WSMsgType.CLOSE, message
        return int(message.data)

    async def sync(self) -> dict[str, list[str]]:
        """Return the users in each room, once the service has handled all earlier events."""
        await self.send("sync_request")
        rooms = (await self.hear("sync_response"))["rooms"]
        return {room["room_id"]: sorted(room["user_ids"]) for room in rooms}

    async def hear(self, event: str) -> Any:
        """Return the data of the next event with this name. Earlier events are stored in `received`."""
        async with asyncio.timeout(EVENT_DEADLINE_S):
            while True:
                frame = json.loads(await self._socket.receive_str())
                self.received.append((frame["event"], json.loads(frame["data"])))
                if frame["event"] == event:
                    return self.received[-1][1]


class SfuProcess:
    """A running `svc sfu`."""

    def __init__(self, process: Process | ServedProcess, http: ClientSession, address: str) -> None:
        self.http = http
        self._address = address
        self.url = ""
        self.http_port = 0
        self.udp_port = 0
        self._process = process
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._sockets: list[ClientWebSocketResponse] = []
        self._killed = False

    @property
    def output(self) -> str:
        return "\n".join(self._lines)

    @property
    def faults(self) -> list[str]:
        """Return the lines in the service's output that indicate a problem."""
        return [line for line in self._lines if not _HARMLESS.match(line)]

    async def connect(self, path: str = "/client") -> ClientWebSocketResponse:
        # Keep references to the client and its connection, which would otherwise be garbage-collected.
        self._sockets.append(await self.http.ws_connect(self.url + path, max_msg_size=0))
        return self._sockets[-1]

    async def control(self, *rooms: str, server_id: str = "home", secret: str = SECRET) -> ControlConnection:
        """Connect a chat server that has registered with the service."""
        control = ControlConnection(await self.connect("/server"), server_id, secret)
        for room_id in rooms:
            await control.send("server_register", room_id=room_id)
        await control.sync()
        return control

    async def metrics(self) -> dict[str, float]:
        """Return every sample of /metrics, keyed by name and labels."""
        return await metrics_of(self.http, self.url)

    async def ready(self) -> None:
        """Wait until the service has printed its address."""
        async for line in self._written():
            if match := _LISTENING.search(line):
                self.http_port, self.udp_port = int(match[1]), int(match[2])
                self.url = f"http://{self._address}:{self.http_port}"
                return
        raise AssertionError(f"svc sfu ended before it was ready:\n{self.output}")

    async def listen(self) -> None:
        """Keep reading the service's output until it ends."""
        async for _ in self._written():
            pass

    async def ended(self) -> int:
        """Wait until the service exits. Return its exit status."""
        async with asyncio.timeout(STOP_DEADLINE_S):
            return await self._process.wait()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    async def kill(self) -> None:
        """Kill the service, so that it cannot close its connections."""
        self._killed = True
        self._process.kill()
        await self._process.wait()

    async def stop(self) -> None:
        """Stop the service as a service manager would. It must exit cleanly and without warnings."""
        if self._killed:
            return
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_DEADLINE_S):
                status = await self._process.wait()
        except TimeoutError:
            self._process.kill()
            status = await self._process.wait()
        assert status == 0, f"svc sfu ended with status {status}:\n{self.output}"

    async def _written(self) -> AsyncIterator[str]:
        assert self._process.stderr is not None
        async for line in self._process.stderr:
            self._lines.append(line.decode(errors="replace").rstrip())
            yield self._lines[-1]


@asynccontextmanager
async def running_sfu(
    *flags: str, descriptors: Sequence[int] = (), host: Host = LOOPBACK, **variables: str
) -> AsyncIterator[SfuProcess]:
    """Run `svc sfu` on a host while the block runs. By default, it advertises only the host's address.

    The service inherits `descriptors`.
    """
    quiet = {"DISABLE_STUN": "true", "ICE_ADVERTISE_IP": host.address, "PYTHONUNBUFFERED": "1"}
    ports = {"SFU_PORT": "0", "ICE_UDP_MUX_PORT": "0"}
    environment = os.environ | quiet | ports | variables
    process: Process | ServedProcess
    arguments = ("--host", host.address, *flags)
    # A library detects the processor's instructions when it is loaded.
    is_plain = not descriptors and not host.inside and not variables.keys() & WITHOUT_AES.keys()
    if is_plain and (server := shared()):
        process = await server.start((*COMMAND[1:], *arguments), environment)
    else:
        process = await asyncio.create_subprocess_exec(
            *(*host.inside, *COMMAND, *arguments),
            env=environment,
            stderr=PIPE,
            start_new_session=True,
            pass_fds=descriptors,
        )
    async with ClientSession() as http:
        sfu = SfuProcess(process, http, host.address)
        try:
            async with asyncio.timeout(START_DEADLINE_S):
                await sfu.ready()
            listening = asyncio.create_task(sfu.listen())
            yield sfu
            await sfu.stop()
            await listening
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
