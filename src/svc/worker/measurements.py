"""Defines the worker's metrics. docs/configuration.md describes them."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from svc.base.metrics import Registry

# Buckets for the durations of jobs in seconds. An emoji is the shortest job, and a long video the longest.
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1200)


@dataclass(slots=True)
class Measured:
    outcome: str = "ended"


class Measurements:
    """The worker's metrics. `clock` returns monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.registry = Registry()
        self._clock = clock
        self._ended = self.registry.counter(
            "svc_worker_jobs", "Jobs that have ended, by kind and outcome.", ("kind", "outcome")
        )
        self._seconds = self.registry.histogram(
            "svc_worker_job_seconds", "How long jobs took, from claim to end.", _SECONDS, ("kind",)
        )
        self._running = self.registry.gauge("svc_worker_running_jobs", "Jobs in hand now.", ("kind",))

    @contextmanager
    def measure_job(self, kind: str) -> Iterator[Measured]:
        """Measure the job that the block runs. The block must set the outcome."""
        measured = Measured()
        began = self._clock()
        self._running.labels(kind).inc()
        try:
            yield measured
        finally:
            self._running.labels(kind).dec()
            self._ended.labels(kind, measured.outcome).inc()
            self._seconds.labels(kind).observe(self._clock() - began)
