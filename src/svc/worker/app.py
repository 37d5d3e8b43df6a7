"""Builds the media worker from its configuration, runs it, and shuts it down.

Serves `GET /health` and `GET /metrics` at the host and port in the chat server's IMAGE_WORKER_URL. Settings
that are not variables in docs/configuration.md are flags.
"""

import asyncio
import contextlib
import logging
import os
import random
import secrets
import socket
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from svc.base import logs
from svc.base.config_parsing import ConfigError
from svc.base.file_types import FILE, VIDEO
from svc.base.http_connections import serve_http
from svc.base.http_server import Runner
from svc.base.listeners import address_of, tcp_sockets
from svc.base.pictures import picture_sandbox
from svc.base.private_files import make_private_folder
from svc.base.tasks import cancel_and_wait, stop_event, until_first_ends
from svc.worker.config import WorkerConfig
from svc.worker.encoders import LONG_KINDS, RULES, Encoders
from svc.worker.health import health_of
from svc.worker.job_queue import Queue
from svc.worker.measurements import Measurements
from svc.worker.video_job import video_sandbox
from svc.worker.worker import Worker, WorkerPool

DEFAULT_HOST = "127.0.0.1"
# Decoding an image uses a whole processor, so more decoders would only compete with each other.
PICTURES_AT_ONCE = 2
# The interval at which the worker polls for jobs while the server does not announce them.
POLL_S = 0.3
VIDEO_POLL_S = 1.0
# The folder for videos until they are stored.
WORKING_FOLDER = "working"
# No job takes this long, so older files were left by a worker that crashed.
_LEFT_BEHIND_S = 3600.0
SHUTDOWN_S = 2.0
# The maximum number of connections for monitoring.
MAX_CONNECTIONS = 32

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Flags:
    """Command-line flags, in addition to the variables in docs/configuration.md."""

    host: str = DEFAULT_HOST
    port: int | None = None
    data_dir: Path | None = None
    listen_fds: Sequence[int] = ()
    # The worker exits after this many seconds without a job or a request.
    idle_exit_s: float | None = None


@dataclass(frozen=True, slots=True)
class RunningWorker:
    """A running worker."""

    address: str
    measurements: Measurements
    task: "asyncio.Task[None]"

    async def ends(self) -> None:
        """Wait until the worker has been idle for the time given by the flag."""
        await asyncio.shield(self.task)


def run(config: WorkerConfig, flags: Flags = Flags()) -> None:
    """Work until SIGTERM or SIGINT. Raises ConfigError if the worker cannot start."""
    logs.configure(sys.stderr, debug=False)
    if flags.data_dir is not None:
        config = replace(config, data_dir=flags.data_dir)
    if flags.port is not None:
        config = replace(config, port=flags.port)
    asyncio.run(_run(config, flags))


async def _run(config: WorkerConfig, flags: Flags) -> None:
    stop = stop_event()
    async with working(config, flags) as running:
        logger.info("listening", extra={"address": running.address})
        await until_first_ends(stop.wait(), running.ends())


@contextlib.asynccontextmanager
async def working(config: WorkerConfig, flags: Flags = Flags()) -> AsyncIterator[RunningWorker]:
    """Run a worker while the block runs. Raises ConfigError."""
    folder = await asyncio.to_thread(_swept, config.data_dir / WORKING_FOLDER)
    measurements = Measurements()
    # One process more than the number of simultaneous image and emoji jobs, because an image may be slow.
    at_once = PICTURES_AT_ONCE + config.emoji_at_once + 1
    async with picture_sandbox(at_once) as pictures, video_sandbox() as videos:
        queue = Queue(config.data_dir, f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}")
        objects = config.storage.open_store(config.data_dir)
        encoders = Encoders(pictures, videos, folder)
        worker = Worker(queue, objects, encoders, measurements, random.random)
        async with _answering(worker, measurements, flags, config.port) as address:
            task = asyncio.create_task(_work(worker, config, flags.idle_exit_s))
            try:
                yield RunningWorker(address, measurements, task)
            finally:
                await cancel_and_wait(task)


async def _work(worker: Worker, config: WorkerConfig, idle_exit_s: float | None) -> None:
    if config.storage.unusable_because:
        # The chat server also refuses uploads, and logs the reason.
        logger.warning("worker has nothing to do", extra={"because": config.storage.unusable_because})
        await worker.idle(idle_exit_s)
        return
    await until_first_ends(worker.run(pools(config)), worker.idle(idle_exit_s))


def pools(config: WorkerConfig) -> list[WorkerPool]:
    """Return the worker's pools: one each for images, emoji, short videos and long jobs."""
    usual = [*(kind for kind in RULES if kind != "emoji"), FILE]
    return [
        WorkerPool(usual, PICTURES_AT_ONCE, POLL_S),
        WorkerPool(["emoji"], config.emoji_at_once, config.emoji_poll_s),
        WorkerPool([VIDEO], 1, VIDEO_POLL_S),
        WorkerPool(LONG_KINDS, 1, VIDEO_POLL_S, long=True),
    ]


@contextlib.asynccontextmanager
async def _answering(
    worker: Worker, measurements: Measurements, flags: Flags, port: int
) -> AsyncIterator[str]:
    application = health_of(lambda: worker.reachable, measurements.registry, worker.note_use)
    runner = Runner(application, shutdown_timeout=SHUTDOWN_S)
    await runner.setup()
    try:
        sockets = tcp_sockets(flags.listen_fds, flags.host, port)
        async with serve_http(runner, sockets, MAX_CONNECTIONS):
            yield address_of(sockets[0], "http")
    finally:
        await runner.cleanup()


def _swept(folder: Path) -> Path:
    """Return the folder after deleting old leftover files. Other workers may also be using it."""
    try:
        make_private_folder(folder)
        for path in folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - _LEFT_BEHIND_S:
                    path.unlink()
    except OSError as fault:
        raise ConfigError(f"DATA_DIR {folder.parent} cannot be used: {fault.strerror}") from None
    return folder
