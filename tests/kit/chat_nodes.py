"""Runs the nodes of one community in separate processes that a test can kill, pause and restart."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout

from svc.tools.cluster_demo import free_ports
from tests.chat.chat_server import ChatServer
from tests.kit.cluster_network import LOOPBACK, Host
from tests.kit.device import Device
from tests.kit.fork_server import ServedProcess, shared
from tests.kit.wait import wait_until

START_DEADLINE_S = 60.0
STOP_DEADLINE_S = 15.0
_ASK_S = 2.0
_LOOK_S = 0.001
_CHUNK_BYTES = 64 * 1024


class ClusterProcess:
    """One process of a cluster. It keeps its host and port across restarts."""

    def __init__(self, name: str, arguments: Sequence[str], host: Host = LOOPBACK) -> None:
        self.name, self.arguments = name, arguments
        (self.port,) = free_ports(1)
        self.address = f"http://{host.address}:{self.port}"
        self.variables: dict[str, str] = {"HOST": host.address, "PORT": str(self.port)}
        self._inside = host.inside
        # A program that imports and runs the command line, if the process runs a different version.
        self.program = ""
        self.process: asyncio.subprocess.Process | ServedProcess | None = None
        # The output of the current process so far.
        self.written = bytearray()
        self._output: asyncio.Task[None] | None = None

    async def start(self) -> None:
        environment = {**os.environ, **self.variables}
        server = shared()
        if server is not None and not self._inside and not self.program:
            self.process = await server.start(self.arguments, environment)
        else:
            self.process = await asyncio.create_subprocess_exec(
                *(*self._inside, sys.executable),
                *(("-c", self.program) if self.program else ("-m", "svc.cli")),
                *self.arguments,
                env=environment,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        assert self.process.stderr is not None
        self.written = bytearray()
        self._output = asyncio.create_task(self._read(self.process.stderr, self.written))

    async def _read(self, output: asyncio.StreamReader, written: bytearray) -> None:
        while chunk := await output.read(_CHUNK_BYTES):
            written += chunk

    def signal(self, number: int) -> None:
        assert self.process is not None
        with suppress(ProcessLookupError):
            self.process.send_signal(number)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the process while the block runs, on Linux."""
        assert self.process is not None
        self.signal(signal.SIGSTOP)
        try:
            status = Path(f"/proc/{self.process.pid}/stat")
            while status.read_text().rpartition(")")[2].split()[0] != "T":
                time.sleep(_LOOK_S)
            yield
        finally:
            self.signal(signal.SIGCONT)

    async def ended(self) -> tuple[int, str]:
        """Wait until the process exits. Return its exit status and output."""
        assert self.process is not None and self._output is not None
        async with asyncio.timeout(START_DEADLINE_S):
            status = await self.process.wait()
            await self._output
            return status, self.written.decode()

    async def output(self) -> str:
        """Wait until the process exits. Return its output."""
        if self._output is not None:
            await self._output
        return self.written.decode()

    async def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGKILL)
            await self.ended()

    async def stop(self) -> None:
        """Stop the process: quickly, or so that it can write its results if coverage is measured."""
        if "COVERAGE_PROCESS_CONFIG" in os.environ and self.process is not None:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
            with suppress(TimeoutError):
                await asyncio.wait_for(self.process.wait(), STOP_DEADLINE_S)
        await self.kill()

    async def health(self) -> Mapping[str, Any]:
        """Return the node's own health report, or an empty report if it does not respond."""
        try:
            async with (
                ClientSession(timeout=ClientTimeout(_ASK_S)) as http,
                http.get(f"{self.address}/health") as answer,
            ):
                health: Mapping[str, Any] = await answer.json()
                return health
        except (ClientError, OSError, TimeoutError, json.JSONDecodeError):
            return {}


class ChatNode(ClusterProcess):
    """One node. It keeps its data folder across restarts."""

    def __init__(
        self, name: str, folder: Path, servers: Sequence[str], flags: Sequence[str], host: Host = LOOPBACK
    ) -> None:
        super().__init__(name, ["chat", "--cluster", ",".join(servers), "--node", name, *flags], host)
        self.data_dir = folder / f"node-{name}"
        self.variables |= {
            "JWT_SECRET": "a secret of at least thirty-two bytes",
            "DATA_DIR": str(self.data_dir),
            "DISABLE_S3": "true",
            "SVC_IDENTITY_TIERS": "local",
            "SVC_LINK_PREVIEWS": "false",
            "MAX_MEMBERS": "10000",
        }

    async def owns(self) -> bool:
        return (await self.health()).get("status") == "healthy"

    async def is_well(self) -> bool:
        return await self.follows() or await self.owns()

    async def follows(self) -> bool:
        health = await self.health()
        return health.get("status") == "follower" and health["owner"] is not None


async def owner_among(nodes: Sequence[ChatNode], *, within_s: float = 30) -> ChatNode:
    """Wait until one of the nodes owns the community."""
    owners: list[ChatNode] = []

    async def is_owned() -> bool:
        owners[:] = [node for node in nodes if await node.owns()]
        return bool(owners)

    await wait_until("a node owns the community", is_owned, within_s=within_s)
    return owners[0]


async def token_of(node: ChatNode, nickname: str) -> str:
    """Return the access token of a new member."""
    invite = (node.data_dir / "invite-code").read_text().strip()
    async with ClientSession(node.address) as http:
        server = ChatServer(node.address, http, invite)
        return str((await server.sign_in(Device(), nickname=nickname, invite_code=invite))["access_token"])


@asynccontextmanager
async def stopped_at_the_end(processes: Sequence[ClusterProcess]) -> AsyncIterator[None]:
    """Stop the processes at the end of the block. If the block fails, print their output."""
    try:
        yield
    except BaseException:
        for process in processes:
            await process.kill()
            sys.stderr.write(f"{process.name}:\n{await process.output()}\n")
        raise
    finally:
        for process in processes:
            await process.stop()


@asynccontextmanager
async def chat_nodes(
    folder: Path,
    servers: Sequence[str],
    names: str = "abc",
    flags: Sequence[str] = (),
    variables: Mapping[str, str] = {},
) -> AsyncIterator[list[ChatNode]]:
    """Run nodes. The first node creates the community."""
    nodes = [ChatNode(name, folder, servers, flags) for name in names]
    for node in nodes:
        node.variables |= variables
    async with stopped_at_the_end(nodes):
        await nodes[0].start()
        await owner_among(nodes[:1])
        for node in nodes[1:]:
            await node.start()
        for node in nodes[1:]:
            await wait_until(f"{node.name} is a follower", node.follows, within_s=30)
        yield nodes


class ChatRelay(ClusterProcess):
    """A relay of the nodes' community."""

    def __init__(self, name: str, servers: Sequence[str], *flags: str, host: Host = LOOPBACK) -> None:
        super().__init__(name, ["relay", "--cluster", ",".join(servers), "--name", name, *flags], host)

    async def is_attached(self) -> bool:
        return (await self.health()).get("status") == "healthy"


@asynccontextmanager
async def chat_relays(servers: Sequence[str], names: Sequence[str]) -> AsyncIterator[list[ChatRelay]]:
    """Start relays and wait until all of them are attached to an owner."""
    relays = [ChatRelay(name, servers) for name in names]
    async with stopped_at_the_end(relays):
        for relay in relays:
            await relay.start()
        for relay in relays:
            await wait_until(f"{relay.name} is attached", relay.is_attached, within_s=30)
        yield relays
