"""Handles the control socket's commands about jobs, and checks the health of the media worker.

The media worker and the operator send the commands. `queue` manages the jobs. A worker is considered up if it
has recently requested a job, or if its URL reports that it is healthy. This state appears only in reports:
uploads wait for a worker in any case. A worker that runs on demand is started by a request to its URL, and is
considered up until such a request fails. See docs/configuration.md, "Chat server", IMAGE_WORKER_URL.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Annotated, NoReturn

from aiohttp import ClientError, ClientSession, ClientTimeout
from msgspec import Meta

from svc.base.job_commands import JobClaim, JobSignalSeen, ReservedKey, WrittenFile
from svc.chat.control.commands import Commands, command
from svc.chat.errors import ChatError
from svc.chat.schemas import Id
from svc.chat.uploads.incoming_files import IncomingFiles
from svc.chat.uploads.queue import Queue
from svc.chat.uploads.responses import AllJobs
from svc.chat.uploads.upload import KINDS, ORIGINAL, ROLES

# How long a worker is considered up after its last request. It requests jobs at least every 45 s
# (`job_signal`).
RECENT_REQUEST_S = 60.0
_ASK_EVERY_S = 15.0
_ANSWER_DEADLINE_S = 5.0

logger = logging.getLogger(__name__)


class WorkerHealth:
    """The health of the media worker. `url` is its URL, or empty. `now` returns monotonic seconds.

    `on_demand` is the job queue if a request to the URL starts the worker, otherwise None.
    """

    def __init__(
        self, session: ClientSession, url: str, now: Callable[[], float], on_demand: Queue | None = None
    ) -> None:
        self._session = session
        self._url = url
        self._now = now
        self._on_demand = on_demand
        self._requested_at: float | None = None
        self._answers = on_demand is not None

    @property
    def watched(self) -> bool:
        return bool(self._url)

    @property
    def up(self) -> bool:
        recently = self._requested_at is not None and self._now() - self._requested_at < RECENT_REQUEST_S
        return self._answers or recently

    def note_request(self, worker: str) -> None:
        """Record that a worker has requested a job."""
        self._requested_at = self._now()

    async def run(self) -> NoReturn:
        while True:
            if self._on_demand is not None:
                await self._on_demand.wait_unattended()
            answers = await self.is_well()
            if answers != self._answers:
                say = logger.info if answers else logger.warning
                say("media worker", extra={"answers": answers})
            self._answers = answers
            await asyncio.sleep(_ASK_EVERY_S)

    async def is_well(self) -> bool:
        """Return whether the worker reports that it is healthy."""
        try:
            timeout = ClientTimeout(total=_ANSWER_DEADLINE_S)
            # Close the connection after the request, because both programs would check the deadlines of an
            # open connection every second.
            async with self._session.get(
                f"{self._url}/health", timeout=timeout, headers={"Connection": "close"}
            ) as response:
                return response.status == 200
        except (ClientError, OSError, TimeoutError):
            return False


_Worker = Annotated[str, Meta(min_length=1, max_length=128)]
_Kinds = Annotated[list[str], Meta(max_length=len(KINDS))]
_Share = Annotated[float, Meta(ge=0, le=1)]
_Extension = Annotated[str, Meta(pattern="^[a-z0-9]{1,8}$")]
_Results = Annotated[list[WrittenFile], Meta(min_length=1, max_length=len(ROLES))]
_Type = Annotated[str, Meta(min_length=1, max_length=64)]
_Fault = Annotated[str, Meta(max_length=1_000)]


class JobCommands(Commands):
    """The commands about jobs. `claimed` is called with a worker's name whenever it requests a job."""

    def __init__(self, queue: Queue, incoming: IncomingFiles, claimed: Callable[[str], None]) -> None:
        self._queue = queue
        self._incoming = incoming
        self._claimed = claimed

    @command("job_claim")
    async def claim(self, worker: _Worker, kinds: _Kinds | None = None, long: bool = False) -> JobClaim:
        self._claimed(worker)
        return JobClaim(await self._queue.claim(worker, kinds or [], self._incoming.source, long=long))

    @command("job_wait")
    async def wait(self, worker: _Worker, seen: int = -1) -> JobSignalSeen:
        """Respond as soon as a new job may be ready, or after a timeout."""
        self._claimed(worker)
        return JobSignalSeen(await self._queue.signal.wait(seen))

    @command("job_renew")
    async def renew(self, job: Id, lease: Id, progress: _Share = 0.0) -> None:
        await self._queue.renew(job, lease, progress)

    @command("job_reserve")
    async def reserve(self, job: Id, lease: Id, ext: _Extension) -> ReservedKey:
        return ReservedKey(await self._queue.reserve(job, lease, ext))

    @command("job_finish")
    async def finish(self, job: Id, lease: Id, results: _Results) -> None:
        roles = [file.role for file in results]
        if ORIGINAL not in roles or len(set(roles)) != len(roles):
            raise ChatError("invalid_request", "results must have one original, and each role once")
        await self._queue.finish(job, lease, results)

    @command("job_refuse")
    async def refuse(self, job: Id, lease: Id, code: _Type, message: _Fault) -> None:
        await self._queue.refuse(job, lease, code, message)

    @command("job_fail")
    async def fail(self, job: Id, lease: Id, message: _Fault) -> None:
        await self._queue.fail(job, lease, message)

    @command("job_hand_on")
    async def hand_on(self, job: Id, lease: Id) -> None:
        await self._queue.hand_on(job, lease)

    @command("job_list")
    async def list(self) -> AllJobs:
        return await self._queue.all()

    @command("job_retry")
    async def retry(self, job: Id) -> None:
        await self._queue.retry(job)
