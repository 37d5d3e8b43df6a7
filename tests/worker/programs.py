"""Runs `svc chat` and `svc worker` as processes that share a folder, with leases short enough for tests.

Each process may be killed and restarted on the same port. Only the leases differ from the unmodified
programs.
"""

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from svc.tools.cluster_demo import free_ports

LEASE_S = 4
# These are the unmodified commands, except that leases are shorter and renewed more often.
_CODE = f"""
import sys
from svc.base import control_socket
from svc.chat.uploads import queue
from svc.worker import job_run
queue.LEASE_S = {LEASE_S}
job_run.RENEW_EVERY_S = 1.0
from svc.cli import main
sys.exit(main())
"""
START_DEADLINE_S = 30.0
_KEPT_LINES = 200


class Running:
    """One of the two processes, which can be killed and restarted."""

    def __init__(self, *arguments: str, variables: Mapping[str, str]) -> None:
        self._arguments = arguments
        self._variables = variables
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self.reported: deque[str] = deque(maxlen=_KEPT_LINES)

    async def start(self) -> None:
        """Start the process and wait until it is listening."""
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _CODE, *self._arguments),
            env={**os.environ, **self._variables},
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        listens = asyncio.Event()
        self._reading = asyncio.create_task(self._read(self._process, listens))
        async with asyncio.timeout(START_DEADLINE_S):
            await listens.wait()

    async def _read(self, process: asyncio.subprocess.Process, listens: asyncio.Event) -> None:
        assert process.stderr is not None
        while line := (await process.stderr.readline()).decode(errors="replace"):
            self.reported.append(line.rstrip())
            if " listening address=" in line:
                listens.set()

    async def kill(self) -> None:
        """Kill the process without warning. Its children are left running."""
        assert self._process is not None and self._reading is not None
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)
        await self._process.wait()
        # The decoders hold the pipe open until they notice that their parent has exited.
        async with asyncio.timeout(START_DEADLINE_S):
            await self._reading


def chat_and_worker(data_dir: Path) -> tuple[Running, Running, str]:
    """Return both processes, which have not been started yet, and the server's address."""
    port, worker_port = free_ports(2)
    both = {"DATA_DIR": str(data_dir), "STORAGE_BACKEND": "filesystem", "EMOJI_QUEUE_POLL_MS": "250"}
    server = {
        "PORT": str(port),
        "JWT_SECRET": "a secret of at least thirty-two bytes",
        "SVC_IDENTITY_TIERS": "local",
        "ADDITIONAL_CHANNELS": "general",
        "MEDIA_SWEEP_INTERVAL_MS": "1000",
    }
    chat = Running("chat", variables=both | server)
    worker = Running("worker", "--port", str(worker_port), variables=both)
    return chat, worker, f"http://127.0.0.1:{port}"
