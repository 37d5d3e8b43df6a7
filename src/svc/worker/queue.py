"""The jobs of one chat server, asked for over its control socket.

The queue is in the server's database, and the server alone writes it: who has a job, until when,
how often it was tried and when it is given up is decided there. Knows no picture and no video.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from svc.base.control_socket import ControlFailed, NobodyThere, ask

# The number of a worker that has not seen any, for `Queue.wait`.
NOTHING_SEEN = -1
# Answers that say that the job is not, or no longer, ours.
_LOST = frozenset({"lease_lost", "not_found", "media_gone"})
# Answers after which the same question may be asked again.
_FOR_NOW = frozenset({"storage_unavailable", "internal_error", "unknown_event"})
# A message for people; nobody needs more of it.
_MAX_MESSAGE_CHARACTERS = 500


class Unreachable(Exception):
    """The server is not there, or cannot do it now: try again."""


class Declined(Exception):
    """The server does not take what we say. That is a mistake of ours or its, and stays one."""


class LeaseLost(Exception):
    """Somebody else has the job, or nobody needs it any more: drop it."""


@dataclass(frozen=True, slots=True)
class Job:
    """What was claimed. `source` is where its file is."""

    id: str
    lease: str
    kind: str
    # Whether it may take as long as it takes. Another that does is handed on.
    long: bool
    source: Path
    attempt: int
    limits: Mapping[str, object]


class Queue:
    """`worker` is our name there, for the operator to see who has what."""

    def __init__(self, data_dir: Path, worker: str) -> None:
        self._data_dir = data_dir
        self._worker = worker

    async def claim(self, kinds: Sequence[str], *, long: bool) -> Job | None:
        """The next job of these kinds, if there is one. Raises Unreachable."""
        asked = {"worker": self._worker, "kinds": list(kinds), "long": long}
        try:
            answer = await self._ask("job_claim", asked)
        except (Declined, LeaseLost) as fault:
            raise Unreachable(str(fault)) from None
        match answer.get("job"):
            case {
                "id": str(id_),
                "lease": str(lease),
                "kind": str(kind),
                "long": bool(long_),
                "source": str(source),
                "attempt": int(attempt),
                "limits": dict(limits),
            }:
                return Job(id_, lease, kind, long_, self._data_dir / source, attempt, limits)
            case None:
                return None
        raise Unreachable("the server's answer is no job")

    async def wait(self, seen: int) -> int:
        """Return the number of the server's job signal, once it differs from `seen` or after a while.

        Raises Unreachable.
        """
        try:
            answer = await self._ask("job_wait", {"worker": self._worker, "seen": seen})
        except (Declined, LeaseLost) as fault:
            raise Unreachable(str(fault)) from None
        match answer.get("seen"):
            case int(number):
                return number
        raise Unreachable("the server's answer is no number")

    async def renew(self, job: Job, progress: float) -> None:
        """It is still ours for a while. Raises LeaseLost, Unreachable and Declined, as all that follow."""
        await self._ask("job_renew", {**_whose(job), "progress": round(progress, 3)})

    async def reserve(self, job: Job, ext: str) -> str:
        """A key under which something may be stored now."""
        key = (await self._ask("job_reserve", {**_whose(job), "ext": ext})).get("key")
        if not isinstance(key, str):
            raise Unreachable("the server's answer is no key")
        return key

    async def finish(self, job: Job, results: Sequence[Mapping[str, object]]) -> None:
        """All of it is stored."""
        await self._ask("job_finish", {**_whose(job), "results": list(results)})

    async def refuse(self, job: Job, code: str, message: str) -> None:
        """The input's fault: nobody tries it again."""
        message = message[:_MAX_MESSAGE_CHARACTERS]
        await self._ask("job_refuse", {**_whose(job), "code": code, "message": message})

    async def fail(self, job: Job, message: str) -> None:
        """Ours: the server decides when it is tried again, and when no more."""
        await self._ask("job_fail", {**_whose(job), "message": message[:_MAX_MESSAGE_CHARACTERS]})

    async def hand_on(self, job: Job) -> None:
        """It takes too long for its line; it is done among those that take long."""
        await self._ask("job_hand_on", _whose(job))

    async def _ask(self, command: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        try:
            answer = await ask(self._data_dir, command, arguments)
        except NobodyThere:
            raise Unreachable("no chat server runs on this folder") from None
        except ControlFailed as fault:
            raise Unreachable(str(fault)) from None
        if (error := answer.get("error")) is not None:
            if error in _LOST:
                raise LeaseLost(str(error))
            said = f"the server answers {error}: {answer.get('message')}"
            raise Unreachable(said) if error in _FOR_NOW else Declined(said)
        result = answer.get("result")
        return result if isinstance(result, dict) else {}


def _whose(job: Job) -> dict[str, object]:
    return {"job": job.id, "lease": job.lease}
