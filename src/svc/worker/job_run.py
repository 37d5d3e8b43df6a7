"""Runs one claimed job: produces files, stores and reports them, and keeps renewing the lease.

Invalid input is rejected. Other failures are reported, and the server retries the job. A lost lease ends the
work and its child processes immediately, because another worker has the job.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from typing import NoReturn, TypeVar

from svc.base.backoff import Backoff
from svc.base.job_commands import WrittenFile
from svc.base.object_store import ObjectMissing, ObjectStore, StoreFailed
from svc.base.sandbox import Refused, SandboxFailed
from svc.base.tasks import until_first_ends
from svc.worker.encoders import LONG_KINDS, Encoders, OutputFile
from svc.worker.job_queue import Declined, Job, LeaseLost, Queue, Unreachable

# A lease lasts 60 s, so two renewals may be lost.
RENEW_EVERY_S = 15.0
# The interval at which progress is reported to the uploader.
PROGRESS_EVERY_S = 1.0
# How long to keep retrying a report while the server is down. The lease expires long before that.
REPORT_DEADLINE_S = 120.0
FIRST_RETRY_S, LAST_RETRY_S = 0.2, 5.0

FINISHED, REFUSED, FAILED, LOST, UNREPORTED = "finished", "refused", "failed", "lost", "untold"
HANDED_ON = "handed_on"
OUTCOMES = (FINISHED, REFUSED, FAILED, HANDED_ON, LOST, UNREPORTED)

T = TypeVar("T")

logger = logging.getLogger(__name__)


class JobRun:
    """One run of a job. `jitter` returns a number from 0 up to 1."""

    def __init__(
        self, job: Job, queue: Queue, objects: ObjectStore, encoders: Encoders, jitter: Callable[[], float]
    ) -> None:
        self._job = job
        self._queue = queue
        self._objects = objects
        self._encoders = encoders
        self._jitter = jitter
        self._progress = 0.0
        self._outcome = LOST

    async def run(self) -> str:
        """Run the job. Return one of OUTCOMES. Raises no exceptions except cancellation."""
        try:
            await until_first_ends(self._work(), self._keep_lease())
        except LeaseLost:
            return LOST
        except (Unreachable, Declined) as fault:
            # The lease will expire, and the job will be claimed again.
            logger.warning("result could not be reported", extra={"job": self._job.id, "fault": str(fault)})
            return UNREPORTED
        except asyncio.CancelledError:
            # The worker is shutting down, so release the job for another worker immediately.
            with suppress(Unreachable, LeaseLost, Declined):
                await self._queue.fail(self._job, "the worker ended")
            raise
        return self._outcome

    async def _work(self) -> None:
        try:
            with ExitStack() as files:
                outputs = await self._encoders.make(self._job, self._set_progress, files)
                results = [await self._store(file) for file in outputs]
            await self._report(lambda: self._queue.finish(self._job, results))
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
            await self._report(lambda: self._queue.hand_on(self._job))
            self._outcome = HANDED_ON
            return
        code, message = refused.code, str(refused)
        logger.info("job refused", extra={"job": self._job.id, "code": code, "detail": refused.detail})
        await self._report(lambda: self._queue.refuse(self._job, code, message))
        self._outcome = REFUSED

    async def _fail(self, message: str) -> None:
        logger.warning("job failed", extra={"job": self._job.id, "fault": message})
        await self._report(lambda: self._queue.fail(self._job, message))
        self._outcome = FAILED

    async def _store(self, output: OutputFile) -> WrittenFile:
        """Store a file. Reserve its key first, so that the server knows every stored object."""
        key = await self._report(lambda: self._queue.reserve(self._job, output.ext))
        await self._objects.put(key, output.data, output.content_type)
        return await output.stored_at(key)

    async def _report(self, report: Callable[[], Awaitable[T]]) -> T:
        """Repeat a report until it succeeds. Raises LeaseLost or, after a while, Unreachable."""
        clock = asyncio.get_running_loop().time
        backoff = Backoff(FIRST_RETRY_S, LAST_RETRY_S, jitter=self._jitter)
        deadline = clock() + REPORT_DEADLINE_S
        while True:
            try:
                return await report()
            except Unreachable:
                if clock() > deadline:
                    raise
            await asyncio.sleep(backoff.next_delay())

    async def _keep_lease(self) -> NoReturn:
        """Renew the lease until it is lost. Raises LeaseLost.

        A short server outage leaves the lease unchanged.
        """
        clock = asyncio.get_running_loop().time
        reported, reported_at = 0.0, clock()
        while True:
            await asyncio.sleep(PROGRESS_EVERY_S)
            if self._progress == reported and clock() - reported_at < RENEW_EVERY_S:
                continue
            with suppress(Unreachable, Declined):
                reported = self._progress
                await self._queue.renew(self._job, reported)
                reported_at = clock()

    def _set_progress(self, fraction: float) -> None:
        self._progress = fraction
