"""Runs a caller that uses Pion, a WebRTC implementation that shares no code with any browser.

The program is in `tests/clients/pion`, and Go compiles it on first use. This module requests the grants over
a live socket in the server's own network, and passes them to the program. An outage in the caller's home
therefore affects only media and signalling.
"""

import asyncio
import json
import shutil
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import ClientSession

from tests.chat.chat_server import ChatServer
from tests.chat.live_member import LiveMember
from tests.kit.audio_arrivals import Arrival
from tests.kit.home_networks import World, origin
from tests.kit.svc_up import SvcUp

SOURCE = Path(__file__).parents[1] / "clients" / "pion"
BUILT = Path(__file__).parents[2] / "build" / "pion-caller"
BUILD_DEADLINE_S, STOP_DEADLINE_S, ASK_EVERY_S = 300.0, 10.0, 5.0


def why_not() -> str:
    """Return the reason why this machine cannot compile the program, or "" if it can."""
    return "" if BUILT.exists() or shutil.which("go") else "Go is missing, 1.24 or later"


async def built() -> Path:
    """Build the program if necessary. Go fetches modules through its module proxy."""
    sources = (SOURCE / name for name in ("main.go", "go.mod", "go.sum"))
    if not BUILT.exists() or BUILT.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        go = await asyncio.create_subprocess_exec("go", "build", "-o", str(BUILT), ".", cwd=SOURCE)
        async with asyncio.timeout(BUILD_DEADLINE_S):
            assert await go.wait() == 0, "the caller on Pion does not compile"
    return BUILT


class PionCaller:
    """A caller that records when audio arrives, as a page does in the outage tests. It shows no messages.

    `grants` counts how many times the caller has joined.
    """

    def __init__(self, process: Process, live: LiveMember) -> None:
        self._process = process
        self._live = live
        self._lock = asyncio.Lock()
        self.grants = 0
        self._sound: list[float] = []
        channels = live.welcome["channels"]
        self._channel = next(channel["id"] for channel in channels if channel["type"] == "voice")

    async def sound_since(self, begin: float) -> list[Arrival]:
        return [Arrival(at, at) for at in self._sound if at > begin]

    async def shown(self, _text: str) -> float:
        return 0.0

    async def problem_shown(self, begin: float, _end: float) -> float:
        return begin

    async def listen(self) -> None:
        """Read the caller's output until it ends, and send it a grant whenever it requests one."""
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            match line.decode().split():
                case ["sound", at]:
                    self._sound.append(int(at) / 1000)
                case ["grant"]:
                    await self._give()

    async def stay_awake(self) -> None:
        """Keep the member's live socket open, as a page does."""
        while True:
            await asyncio.sleep(ASK_EVERY_S)
            async with self._lock:
                await self._live.ask("ping")

    async def _give(self) -> None:
        async with self._lock:
            reply = await self._live.ask("voice_join", channel_id=self._channel)
        self.grants += 1
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(reply["data"]).encode() + b"\n")
        await self._process.stdin.drain()


@asynccontextmanager
async def pion_in(world: World, home: str, product: SvcUp, data_dir: Path) -> AsyncIterator[PionCaller]:
    """Run a caller in the first voice channel for the duration of the block."""
    program = await built()
    base = origin(product.url)
    async with ClientSession(base, connector=world.server.connector()) as http:
        chat = ChatServer(base, http, (data_dir / "invite-code").read_text().strip())
        async with chat.member("Pion") as live:
            inside = world.homes[home].inside
            process = await asyncio.create_subprocess_exec(
                *inside, str(program), base, stdin=PIPE, stdout=PIPE
            )
            caller = PionCaller(process, live)
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(caller.listen()), group.create_task(caller.stay_awake())]
                    yield caller
                    for task in tasks:
                        task.cancel()
            finally:
                if process.returncode is None:
                    process.kill()
                await asyncio.wait_for(process.wait(), STOP_DEADLINE_S)
