"""Runs the worker's jobs in several pools, each with several jobs at a time, and shuts down cleanly.

The server announces new jobs on an open connection. Without this connection, each pool polls at its interval.

A job belongs to this worker while it renews the lease. If this process dies, the lease expires and the job is
claimed again. If the server dies, the worker continues and reports when the server is back. `job_run`
processes each job.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from svc.base.backoff import Backoff
from svc.base.object_store import ObjectStore
from svc.worker.encoders import Encoders
from svc.worker.job_queue import NOTHING_SEEN, Job, Queue, Unreachable
from svc.worker.job_run import FIRST_RETRY_S, LAST_RETRY_S, JobRun
from svc.worker.measurements import Measurements

# How long jobs may continue after a shutdown request. The supervisor kills the worker after 25 s.
DRAIN_DEADLINE_S = 5.0
# Shorter outages occur while programs start or restart, and are not logged.
QUIET_S = 10.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """A pool that runs several jobs of its kinds at the same time.

    `poll_s` is the polling interval while the server does not notify us. `long` selects long jobs instead of
    ordinary jobs.
    """

    kinds: Sequence[str]
    at_once: int
    poll_s: float
    long: bool = False


class Worker:
    """The worker. `jitter` returns a number from 0 up to 1."""

    def __init__(
        self,
        queue: Queue,
        objects: ObjectStore,
        encoders: Encoders,
        measurements: Measurements,
        jitter: Callable[[], float],
    ) -> None:
        self._queue = queue
        self._objects = objects
        self._encoders = encoders
        self._measurements = measurements
        self._jitter = jitter
        self._jobs: set[asyncio.Task[None]] = set()
        # Set when a job may be ready, and then replaced by a new event.
        self._announced = asyncio.Event()
        # Whether the server announces new jobs.
        self._is_notified = False
        self._unreachable_since: float | None = None
        self._warned = False
        # Set when the worker is used, so that `idle` notices.
        self._used = asyncio.Event()
        self.reachable = False

    async def run(self, pools: Sequence[WorkerPool]) -> None:
        """Process jobs until cancelled. Running jobs then get some time to finish."""
        try:
            await asyncio.gather(self._listen(), *(self._attend(pool) for pool in pools))
        finally:
            await self._drain()

    def note_use(self) -> None:
        """Record that the worker is in use, and restart its idle time."""
        self._used.set()

    async def idle(self, after_s: float | None) -> None:
        """Wait until the worker has been idle for the given time, with no job and no other use. With None,
        wait forever.
        """
        while True:
            self._used.clear()
            try:
                async with asyncio.timeout(after_s):
                    await self._used.wait()
            except TimeoutError:
                if not self._jobs:
                    return

    async def _listen(self) -> NoReturn:
        """Wake the pools when the server announces jobs, and when its announcements start or stop."""
        backoff = Backoff(FIRST_RETRY_S, LAST_RETRY_S, jitter=self._jitter)
        seen = NOTHING_SEEN
        while True:
            try:
                seen = await self._queue.wait(seen)
            except Unreachable:
                seen = NOTHING_SEEN
            was_notified, self._is_notified = self._is_notified, seen != NOTHING_SEEN
            if self._is_notified or was_notified:
                self._announced.set()
                self._announced = asyncio.Event()
            if self._is_notified:
                backoff.reset()
            else:
                await asyncio.sleep(backoff.next_delay())

    async def _attend(self, pool: WorkerPool) -> NoReturn:
        slots = asyncio.Semaphore(pool.at_once)
        backoff = Backoff(FIRST_RETRY_S, LAST_RETRY_S, jitter=self._jitter)
        while True:
            async with slots:
                pass  # Claim only jobs that can start immediately.
            # Read the announcement before the claim, so that no announcement after the claim is missed.
            announced = self._announced
            try:
                job = await self._queue.claim(pool.kinds, long=pool.long)
            except Unreachable as fault:
                self._report_reachability(fault)
                await asyncio.sleep(backoff.next_delay())
                continue
            self._report_reachability(None)
            backoff.reset()
            if job is not None:
                await slots.acquire()
                self._begin(job, slots)
            else:
                # Vary the interval, so that workers do not all poll at the same time.
                poll_s = pool.poll_s * (0.75 + 0.5 * self._jitter())
                with suppress(TimeoutError):
                    async with asyncio.timeout(None if self._is_notified else poll_s):
                        await announced.wait()

    def _begin(self, job: Job, slots: asyncio.Semaphore) -> None:
        task = asyncio.create_task(self._do(job))
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)
        task.add_done_callback(lambda _: slots.release())
        task.add_done_callback(lambda _: self.note_use())

    async def _do(self, job: Job) -> None:
        fields = {"job": job.id, "kind": job.kind, "attempt": job.attempt}
        with self._measurements.measure_job(job.kind) as measured:
            job_run = JobRun(job, self._queue, self._objects, self._encoders, self._jitter)
            measured.outcome = await job_run.run()
        logger.info("job ended", extra={**fields, "outcome": measured.outcome})

    def _report_reachability(self, fault: Exception | None) -> None:
        self.reachable = fault is None
        if fault is None:
            if self._warned:
                logger.info("queue can be reached again")
            self._unreachable_since, self._warned = None, False
            return
        now = asyncio.get_running_loop().time()
        self._unreachable_since = self._unreachable_since or now
        if not self._warned and now - self._unreachable_since >= QUIET_S:
            self._warned = True
            logger.warning("queue cannot be reached", extra={"fault": str(fault)})

    async def _drain(self) -> None:
        if not self._jobs:
            return
        _, late = await asyncio.wait(self._jobs, timeout=DRAIN_DEADLINE_S)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
