"""Manages the media worker's jobs: claims with a lease, retries with increasing delays, and dead letters.

Members take turns, no matter how many jobs each has waiting. Jobs that are known to be slow have a separate
queue, so that short jobs never wait for them. Each step is one write transaction, and only one thread writes,
so no two workers can claim the same job. If a worker loses its lease because it is too slow or has crashed,
its results are ignored and the sweep removes its stored objects. The worker, not this module, decides whether
a file is acceptable. This module contains neither SQL nor socket code. See ARCHITECTURE.md, "Life of an
upload".
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import convert

from svc.base.database import Connection, Write
from svc.base.job_commands import ClaimedJob, WrittenFile
from svc.chat.access.checked_writes import exclusive_write, shared_write
from svc.chat.errors import ChatError
from svc.chat.live.hub import only
from svc.chat.media.stored_media import JOB, Media, ObjectInfo, new_key
from svc.chat.services import Services
from svc.chat.uploads import responses, store
from svc.chat.uploads.job_signal import MAX_WAIT_S, JobSignal
from svc.chat.uploads.limits import Limits
from svc.chat.uploads.responses import AllJobs, JobStatus, UploadProgress, UploadRefused
from svc.chat.uploads.store import Job, JobCounts, WaitingJob
from svc.chat.uploads.upload import (
    ATTACHMENT,
    EMOJI,
    KINDS,
    USED,
    WAITING,
    Upload,
    result_of,
)

# A worker that does not renew its lease within this time is considered dead.
LEASE_S = 60.0
# A job is abandoned after this many attempts, because the cause is probably not temporary.
MAX_ATTEMPTS = 5
_FIRST_PAUSE_S = 2.0
# The longest time for storing a large object. A worker may still be storing it after losing its lease.
STORING_S = 900.0
MAX_LISTED = 500
# The number of members whose last turn in the queue is remembered. A forgotten member goes first.
_MAX_REMEMBERED = 10_000
GIVEN_UP = "processing_failed"
_GIVEN_UP_MESSAGE = "The server could not work on this file; try again later"


@dataclass(frozen=True, slots=True)
class UploadPurpose:
    """The use of a finished upload. `use` is called within the write transaction that finishes the upload,
    and `used` once the transaction is durable.
    """

    # Raises ChatError if the upload can no longer be used. The result is passed to `used`.
    use: Callable[[Connection, Upload, Mapping[str, object]], object]
    used: Callable[[object], None]


@dataclass(frozen=True, slots=True)
class _Finished:
    upload: Upload
    counts: JobCounts
    outcome: object


@dataclass(frozen=True, slots=True)
class _Claimed:
    job: Job | None
    upload: Upload | None
    given_up: Sequence[Upload]
    counts: JobCounts


class MemberTurns:
    """The sequence number of each member's last turn."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._turn = 0

    def next_of(self, waiting: Iterable[WaitingJob], in_hand: Mapping[str, int]) -> WaitingJob | None:
        """Choose the job of the member with the fewest claimed jobs. Among equals, choose the member who was
        served least recently.
        """

        def order(job: WaitingJob) -> tuple[int, int, int, str]:
            last = self._last.get(job.member_id, -1)
            return in_hand.get(job.member_id, 0), last, job.due_at_ms, job.job_id

        return min(waiting, key=order, default=None)

    def note_turn(self, member_id: str) -> None:
        """Record that one of the member's jobs has begun."""
        self._turn += 1
        self._last.pop(member_id, None)
        self._last[member_id] = self._turn
        if len(self._last) > _MAX_REMEMBERED:
            del self._last[next(iter(self._last))]


class Queue:
    """The queue of jobs. `uses` maps each purpose except attachments to its use. `now` returns seconds since
    1970.
    """

    def __init__(
        self,
        services: Services,
        media: Media,
        bounds: Limits,
        uses: Mapping[str, UploadPurpose],
        new_lease: Callable[[], str],
        now: Callable[[], float],
    ) -> None:
        self._database, self._hub = services.database, services.hub
        self._media = media
        self._bounds = bounds
        self._new_lease = new_lease
        self._now = now
        self._uses = uses
        # Called with the id of each upload whose file is no longer needed.
        self.on_used_up: list[Callable[[str], None]] = []
        self._turns = MemberTurns()
        self.signal = JobSignal()
        self._counts = JobCounts(0, 0, 0, None)
        self.outcomes: Counter[tuple[str, ...]] = Counter()

    async def load(self) -> None:
        self.store_counts(await self._database.write(self.count))

    def count(self, connection: Connection) -> JobCounts:
        """Count the jobs. Call this within a write transaction."""
        return store.count_jobs(connection, self.now_ms())

    def store_counts(self, counts: JobCounts) -> None:
        """Store the counts from a write transaction, and wake the workers if they may be able to claim more
        jobs.
        """
        before, self._counts = self._counts, counts
        # Only a few emoji jobs run at a time, so a finished one may allow another to start.
        if counts.ready > before.ready or (counts.ready and counts.waiting < before.waiting):
            self.signal.announce()
        next_at_ms = counts.next_at_ms
        self.signal.announce_after(None if next_at_ms is None else (next_at_ms - self.now_ms()) / 1000)

    async def wait_unattended(self) -> None:
        """Wait until there are jobs but no worker is waiting for an announcement."""
        while self.signal.has_waiting or not self.waiting:
            # Check again after a while, because a worker that has exited may still be counted as waiting.
            await self.signal.wait_next(within_s=MAX_WAIT_S if self.waiting else None)

    @property
    def waiting(self) -> int:
        return self._counts.waiting

    @property
    def dead(self) -> int:
        return self._counts.dead

    # Methods for requests from a worker.

    async def claim(
        self, worker: str, kinds: Sequence[str], source: Callable[[str], str], *, long: bool
    ) -> ClaimedJob | None:
        """Return the next job of the given kinds, or None if there is none.

        `source` returns the path of a job's file. `long` selects the queue of long jobs.
        """
        lease_id = self._new_lease()
        wanted = [kind for kind in kinds if kind in KINDS]

        def take(connection: Connection) -> _Claimed:
            now_ms, given_up = self.now_ms(), []
            while (job := self._next(connection, wanted, now_ms, long=long)) is not None:
                # The previous worker's lease has ended, so release the keys that it reserved.
                self._release(connection, job.id)
                if job.attempt < MAX_ATTEMPTS:
                    until_ms = now_ms + int(LEASE_S * 1000)
                    taken_by = {"lease": lease_id, "worker": worker, "lease_until_ms": until_ms}
                    store.JOBS.edit(connection, {**taken_by, "attempt": job.attempt + 1}, id=job.id)
                    break
                fault = job.fault or f"worker {job.worker} did not come back from it"
                given_up.append(self._give_up_job(connection, job, fault))
            upload = store.UPLOADS.get(connection, id=job.id) if job is not None else None
            return _Claimed(job, upload, given_up, self.count(connection))

        def taken(claimed: _Claimed) -> None:
            self.store_counts(claimed.counts)
            if claimed.upload is not None:
                self._turns.note_turn(claimed.upload.member_id)
            for upload in claimed.given_up:
                self._refused(upload, GIVEN_UP, _GIVEN_UP_MESSAGE)

        claimed = await self._database.write(take, taken)
        job = claimed.job
        if job is None:
            return None
        name = claimed.upload.name if claimed.upload else ""
        limits = self._bounds.for_worker(job.kind, name, long=job.long)
        return ClaimedJob(job.id, lease_id, job.kind, job.long, source(job.id), job.attempt + 1, limits)

    async def renew(self, job_id: str, lease_id: str, progress: float) -> None:
        """Extend the lease on a job. Raises ChatError if the worker has lost the job."""

        def hold(connection: Connection) -> Upload:
            upload = self._require_lease(connection, job_id, lease_id)
            until_ms = self.now_ms() + int(LEASE_S * 1000)
            store.JOBS.edit(connection, {"lease_until_ms": until_ms}, id=job_id)
            return upload

        def held(upload: Upload) -> None:
            event = UploadProgress(job_id, "working", progress)
            self._hub.push("upload_progress", event, only(upload.member_id), kept=False)

        await self._database.write(hold, held)

    async def reserve(self, job_id: str, lease_id: str, ext: str) -> str:
        """Reserve a key under which the worker may store an object for this job."""
        key = new_key(ext)

        def note(connection: Connection) -> None:
            holder = self._require_lease(connection, job_id, lease_id).member_id
            self._media.reserve(connection, key, ObjectInfo("application/octet-stream"), holder)
            self._media.refer(connection, key, JOB, job_id)

        await self._database.write(note)
        return key

    async def finish(self, job_id: str, lease_id: str, written: Sequence[WrittenFile]) -> None:
        """Finish an upload with the files stored by the worker, and use it. Raises ChatError."""
        try:
            await self._complete(job_id, lease_id, written)
        except ChatError as refusal:
            if refusal.code in ("lease_lost", "invalid_request", "media_gone"):
                raise
            # The upload can no longer be used, for example because its member has left or the name is taken.
            await self.refuse(job_id, lease_id, refusal.code, refusal.message)

    @exclusive_write
    def _complete(self, job_id: str, lease_id: str, written: Sequence[WrittenFile]) -> Write[_Finished, None]:
        """Finish a job. The write transaction is exclusive, because it may change a member's avatar."""
        return Write(lambda c: self._finish(c, job_id, lease_id, written), self._on_finished)

    @shared_write
    def refuse(self, job_id: str, lease_id: str, code: str, message: str) -> Write[Any, None]:
        """Reject a file permanently, because the file itself is unacceptable."""

        def end(connection: Connection) -> tuple[Upload, JobCounts]:
            upload = self._require_lease(connection, job_id, lease_id)
            self._end(connection, job_id)
            store.set_refused(connection, job_id, {"code": code, "message": message}, self.now_ms())
            return upload, self.count(connection)

        def ended(result: tuple[Upload, JobCounts]) -> None:
            self.store_counts(result[1])
            self._notify_used_up(job_id)
            self._refused(result[0], code, message)

        return Write(end, ended)

    async def fail(self, job_id: str, lease_id: str, fault: str) -> None:
        """Retry a job after a delay, or abandon it after too many attempts. This is for failures that the
        file did not cause.
        """

        def put_back(connection: Connection) -> tuple[Upload | None, JobCounts]:
            self._require_lease(connection, job_id, lease_id)
            self._release(connection, job_id)
            job = store.JOBS.get(connection, id=job_id)
            assert job is not None, "it is held"
            if job.attempt >= MAX_ATTEMPTS:
                return self._give_up_job(connection, job, fault), self.count(connection)
            pause_ms = int(_FIRST_PAUSE_S * 1000) * 2 ** (job.attempt - 1)
            again = {**store.NOBODYS, "fault": fault, "due_at_ms": self.now_ms() + pause_ms}
            store.JOBS.edit(connection, again, id=job_id)
            return None, self.count(connection)

        def done(result: tuple[Upload | None, JobCounts]) -> None:
            self.store_counts(result[1])
            self.outcomes[("failed",)] += 1
            if result[0] is not None:
                self._refused(result[0], GIVEN_UP, _GIVEN_UP_MESSAGE)

        await self._database.write(put_back, done)

    async def hand_on(self, job_id: str, lease_id: str) -> None:
        """Move a slow job to the queue of long jobs, where it starts again."""

        def move(connection: Connection) -> JobCounts:
            self._require_lease(connection, job_id, lease_id)
            self._release(connection, job_id)
            store.move_to_long_queue(connection, job_id, self.now_ms())
            return self.count(connection)

        await self._database.write(move, self.store_counts)

    # Methods for requests from the operator and the owner.

    async def all(self) -> AllJobs:
        return AllJobs([_job_status(job) for job in await store.jobs(self._database, MAX_LISTED)])

    @shared_write
    def retry(self, job_id: str) -> Write[JobCounts, None]:
        """Retry an abandoned job. Raises ChatError."""

        def revive(connection: Connection) -> JobCounts:
            job = store.JOBS.get(connection, id=job_id)
            if job is None or not job.dead:
                raise ChatError("unknown_job")
            now_ms = self.now_ms()
            store.JOBS.edit(connection, {"dead": 0, "attempt": 0, "due_at_ms": now_ms}, id=job_id)
            waiting = {"state": WAITING, "refusal": None, "changed_at_ms": now_ms}
            store.UPLOADS.edit(connection, waiting, id=job_id)
            return self.count(connection)

        return Write(revive, self.store_counts)

    # Methods to call within a write transaction.

    def drop(self, connection: Connection, job_id: str) -> None:
        """Delete a job that is no longer needed, and release its reserved keys."""
        self._release(connection, job_id)
        store.JOBS.delete(connection, id=job_id)

    def _end(self, connection: Connection, job_id: str) -> None:
        """Delete a job whose worker has finished and will not store another object."""
        self._media.release(connection, JOB, job_id)
        store.JOBS.delete(connection, id=job_id)

    def _next(self, connection: Connection, kinds: Sequence[str], now_ms: int, *, long: bool) -> Job | None:
        """Choose the next job. The number of emoji processed at a time is limited, regardless of the number
        of workers.
        """
        if store.leased_count(connection, EMOJI, now_ms) >= self._bounds.emoji_at_once:
            kinds = [kind for kind in kinds if kind != EMOJI]
        waiting = store.due(connection, kinds, now_ms, long=long)
        if not waiting:
            return None
        chosen = self._turns.next_of(waiting, store.claimed_counts(connection, kinds, now_ms, long=long))
        return store.JOBS.get(connection, id=chosen.job_id) if chosen is not None else None

    def _require_lease(self, connection: Connection, job_id: str, lease_id: str) -> Upload:
        job, upload = store.JOBS.get(connection, id=job_id), store.UPLOADS.get(connection, id=job_id)
        if job is None or upload is None or job.dead or job.lease != lease_id:
            raise ChatError("lease_lost")
        return upload

    def _release(self, connection: Connection, job_id: str) -> None:
        self._media.release(connection, JOB, job_id, late_s=STORING_S)

    def _give_up_job(self, connection: Connection, job: Job, fault: str) -> Upload:
        store.JOBS.edit(connection, {**store.NOBODYS, "dead": 1, "fault": fault}, id=job.id)
        refusal = {"code": GIVEN_UP, "message": _GIVEN_UP_MESSAGE}
        store.set_refused(connection, job.id, refusal, self.now_ms())
        upload = store.UPLOADS.get(connection, id=job.id)
        assert upload is not None, "a job has an upload"
        return upload

    def _finish(
        self, connection: Connection, job_id: str, lease_id: str, written: Sequence[WrittenFile]
    ) -> _Finished:
        upload = self._require_lease(connection, job_id, lease_id)
        reserved = self._media.referenced_keys(connection, JOB, job_id)
        if not {file.key for file in written} <= set(reserved):
            raise ChatError("invalid_request", "A key was not reserved for this job")
        for file in written:
            self._media.mark_stored(connection, file.key, convert(file, ObjectInfo, from_attributes=True))
        result = result_of(upload.id, upload.name, written)
        store.set_done(connection, job_id, result, self.now_ms())
        outcome = None
        if upload.purpose != ATTACHMENT:
            outcome = self._uses[upload.purpose].use(connection, upload, result)
            store.UPLOADS.edit(connection, {"state": USED}, id=job_id)
        # The sweep removes unused reservations later.
        self._end(connection, job_id)
        done = store.UPLOADS.get(connection, id=job_id)
        assert done is not None, "it is held"
        return _Finished(done, self.count(connection), outcome)

    def _on_finished(self, finished: _Finished) -> None:
        upload = finished.upload
        self.store_counts(finished.counts)
        self.outcomes[("done",)] += 1
        self._notify_used_up(upload.id)
        if upload.purpose != ATTACHMENT:
            self._uses[upload.purpose].used(finished.outcome)
        self._hub.push("upload_done", responses.upload(upload, self._media.urls), only(upload.member_id))

    def _notify_used_up(self, upload_id: str) -> None:
        for notify in self.on_used_up:
            notify(upload_id)

    def _refused(self, upload: Upload, code: str, message: str) -> None:
        self.outcomes[("refused",)] += 1
        event = UploadRefused(upload.id, code, message)
        self._hub.push("upload_refused", event, only(upload.member_id))

    def now_ms(self) -> int:
        return int(self._now() * 1000)


def _job_status(job: Job) -> JobStatus:
    return JobStatus(
        job.id,
        job.kind,
        job.attempt,
        "dead" if job.dead else "working" if job.lease is not None else "waiting",
        job.worker,
        job.fault,
        job.due_at_ms,
        job.created_at_ms,
    )
