"""Run one job from claim to end: produce files, store and report them, and keep the lease meanwhile.

Faulty input is refused. Other failures are reported, and the server retries the job. A lost lease ends the
work and its child processes at once, because another worker has the job.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from typing import NoReturn, TypeVar

from svc.base.backoff import Backoff
from svc.base.objects import ObjectMissing, ObjectStore, StoreFailed
from svc.base.sandbox import Refused, SandboxFailed
from svc.base.tasks import until_first_ends
from svc.worker.making import LONG_KINDS, Made, Studio
from svc.worker.queue import Declined, Job, LeaseLost, Queue, Unreachable

# A lease lasts 60 s, so two renewals may be lost.
RENEW_EVERY_S = 15.0
# How often progress is reported to the uploader.
PROGRESS_EVERY_S = 1.0
# How long to keep reporting a result while the server is away. The lease expires long before.
TELL_DEADLINE_S = 120.0
FIRST_RETRY_S, LAST_RETRY_S = 0.2, 5.0

FINISHED, REFUSED, FAILED, LOST, UNTOLD = "finished", "refused", "failed", "lost", "untold"
HANDED_ON = "handed_on"
OUTCOMES = (FINISHED, REFUSED, FAILED, HANDED_ON, LOST, UNTOLD)

T = TypeVar("T")

logger = logging.getLogger(__name__)


class Errand:
    """One run of a job. `jitter` returns a number from 0 up to 1."""

    def __init__(
        self, job: Job, queue: Queue, objects: ObjectStore, studio: Studio, jitter: Callable[[], float]
    ) -> None:
        self._job = job
        self._queue = queue
        self._objects = objects
        self._studio = studio
        self._jitter = jitter
        self._progress = 0.0
        self._outcome = LOST

    async def run(self) -> str:
        """Return the outcome, one of OUTCOMES. Raises nothing but its own cancellation."""
        try:
            await until_first_ends(self._work(), self._keep_lease())
        except LeaseLost:
            return LOST
        except (Unreachable, Declined) as fault:
            # The lease expires, and the job is claimed again.
            logger.warning("result could not be reported", extra={"job": self._job.id, "fault": str(fault)})
            return UNTOLD
        except asyncio.CancelledError:
            # The worker is shutting down, so release the job to another worker at once.
            with suppress(Unreachable, LeaseLost, Declined):
                await self._queue.fail(self._job, "the worker ended")
            raise
        return self._outcome

    async def _work(self) -> None:
        try:
            with ExitStack() as files:
                made = await self._studio.make(self._job, self._set_progress, files)
                results = [await self._stored(file) for file in made]
            await self._told(lambda: self._queue.finish(self._job, results))
            self._outcome = FINISHED
        except Refused as refused:
            await self._refuse(refused)
        except (SandboxFailed, StoreFailed, ObjectMissing, OSError, Declined) as fault:
            await self._fail(f"{type(fault).__name__}: {fault}")
        except (LeaseLost, Unreachable):
            raise
        except Exception as fault:
            logger.exception("job crashed", extra={"job": self._job.id})
            await self._fail(type(fault).__name__)

    async def _refuse(self, refused: Refused) -> None:
        if refused.code == "timeout" and not self._job.long and self._job.kind in LONG_KINDS:
            await self._told(lambda: self._queue.hand_on(self._job))
            self._outcome = HANDED_ON
            return
        code, message = refused.code, str(refused)
        logger.info("job refused", extra={"job": self._job.id, "code": code, "detail": refused.detail})
        await self._told(lambda: self._queue.refuse(self._job, code, message))
        self._outcome = REFUSED

    async def _fail(self, message: str) -> None:
        logger.warning("job failed", extra={"job": self._job.id, "fault": message})
        await self._told(lambda: self._queue.fail(self._job, message))
        self._outcome = FAILED

    async def _stored(self, made: Made) -> Mapping[str, object]:
        """Reserve the key first, so that the server knows every stored object."""
        key = await self._told(lambda: self._queue.reserve(self._job, made.ext))
        await self._objects.put(key, made.data, made.content_type)
        return await made.described(key)

    async def _told(self, say: Callable[[], Awaitable[T]]) -> T:
        """Repeat a report until it succeeds. Raises LeaseLost, and Unreachable after a while."""
        clock = asyncio.get_running_loop().time
        backoff = Backoff(FIRST_RETRY_S, LAST_RETRY_S, jitter=self._jitter)
        deadline = clock() + TELL_DEADLINE_S
        while True:
            try:
                return await say()
            except Unreachable:
                if clock() > deadline:
                    raise
            await asyncio.sleep(backoff.next_delay())

    async def _keep_lease(self) -> NoReturn:
        """Renew the lease until it is lost. Raises LeaseLost.

        A short outage of the server leaves the lease unchanged.
        """
        clock = asyncio.get_running_loop().time
        said, said_at = 0.0, clock()
        while True:
            await asyncio.sleep(PROGRESS_EVERY_S)
            if self._progress == said and clock() - said_at < RENEW_EVERY_S:
                continue
            with suppress(Unreachable, Declined):
                said = self._progress
                await self._queue.renew(self._job, said)
                said_at = clock()

    def _set_progress(self, fraction: float) -> None:
        self._progress = fraction
