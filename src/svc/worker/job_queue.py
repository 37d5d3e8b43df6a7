"""Fetches jobs from one chat server and reports their results, over the server's control socket.

The queue is in the server's database, and only the server writes to it. The server decides which worker has a
job and until when, how many times a job is retried, and when it is abandoned. This module does not process
the files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from msgspec import Struct, ValidationError, convert, structs, to_builtins

from svc.base.control_socket import ControlFailed, NotRunning, ask
from svc.base.job_commands import JobClaim, JobLimits, JobSignalSeen, ReservedKey, WrittenFile

T = TypeVar("T", bound=Struct)

# The number to pass to `Queue.wait` before the first signal.
NOTHING_SEEN = -1
# Errors meaning that this worker does not have the job's lease, or has lost it.
_LOST = frozenset({"lease_lost", "not_found", "media_gone"})
# Errors after which the same request may be repeated.
_FOR_NOW = frozenset({"storage_unavailable", "internal_error", "unknown_event"})
# The maximum length of an error message for users.
_MAX_MESSAGE_CHARACTERS = 500


class Unreachable(Exception):
    """Raised if the server is absent or temporarily unable to respond. Retry later."""


class Declined(Exception):
    """Raised if the server rejects the request. The server or the worker has a bug, so a retry is useless."""


class LeaseLost(Exception):
    """Raised if another worker has the job, or if the job is no longer needed. Stop working on it."""


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed job. `source` is the path of its file."""

    id: str
    lease: str
    kind: str
    # Whether the job may be slow. If not, a job that turns out to be slow is handed on.
    long: bool
    source: Path
    attempt: int
    limits: JobLimits


class Queue:
    """The server's queue of jobs. `worker` is this worker's name, which the operator sees."""

    def __init__(self, data_dir: Path, worker: str) -> None:
        self._data_dir = data_dir
        self._worker = worker

    async def claim(self, kinds: Sequence[str], *, long: bool) -> Job | None:
        """Return the next job of these kinds, or None. Raises Unreachable."""
        arguments = {"worker": self._worker, "kinds": list(kinds), "long": long}
        try:
            answer = await self._ask("job_claim", arguments, JobClaim)
        except (Declined, LeaseLost) as fault:
            raise Unreachable(str(fault)) from None
        job = answer.job
        if job is None:
            return None
        return Job(**structs.asdict(job) | {"source": self._data_dir / job.source})

    async def wait(self, seen: int) -> int:
        """Wait until the counter of the server's job signal differs from `seen`, or until a timeout. Return
        the counter.

        Raises Unreachable.
        """
        try:
            arguments = {"worker": self._worker, "seen": seen}
            return (await self._ask("job_wait", arguments, JobSignalSeen)).seen
        except (Declined, LeaseLost) as fault:
            raise Unreachable(str(fault)) from None

    async def renew(self, job: Job, progress: float) -> None:
        """Renew the lease. Raises LeaseLost, Unreachable or Declined, as do all methods below."""
        await self._ask("job_renew", {**_lease_of(job), "progress": round(progress, 3)}, Struct)

    async def reserve(self, job: Job, ext: str) -> str:
        """Reserve a key for storing a file and return it."""
        return (await self._ask("job_reserve", {**_lease_of(job), "ext": ext}, ReservedKey)).key

    async def finish(self, job: Job, results: Sequence[WrittenFile]) -> None:
        """Report that all results are stored."""
        await self._ask("job_finish", {**_lease_of(job), "results": to_builtins(results)}, Struct)

    async def refuse(self, job: Job, code: str, message: str) -> None:
        """Reject the job because of its input. The server does not retry the job."""
        message = message[:_MAX_MESSAGE_CHARACTERS]
        await self._ask("job_refuse", {**_lease_of(job), "code": code, "message": message}, Struct)

    async def fail(self, job: Job, message: str) -> None:
        """Report a failure of this worker. The server decides whether and when to retry the job."""
        await self._ask("job_fail", {**_lease_of(job), "message": message[:_MAX_MESSAGE_CHARACTERS]}, Struct)

    async def hand_on(self, job: Job) -> None:
        """Move a job that takes too long for its queue to the queue for long jobs."""
        await self._ask("job_hand_on", _lease_of(job), Struct)

    async def _ask(self, command: str, arguments: Mapping[str, object], kind: type[T]) -> T:
        try:
            answer = await ask(self._data_dir, command, arguments)
        except NotRunning:
            raise Unreachable("no chat server runs on this folder") from None
        except ControlFailed as fault:
            raise Unreachable(str(fault)) from None
        if (error := answer.get("error")) is not None:
            if error in _LOST:
                raise LeaseLost(str(error))
            reported = f"the server answers {error}: {answer.get('message')}"
            raise Unreachable(reported) if error in _FOR_NOW else Declined(reported)
        try:
            return convert(answer.get("result"), kind)
        except ValidationError as fault:
            raise Unreachable(f"the server's answer to {command} is invalid: {fault}") from None


def _lease_of(job: Job) -> dict[str, object]:
    return {"job": job.id, "lease": job.lease}
