"""Only one worker at a time can claim a job.

Jobs of dead workers return to the queue and eventually become dead letters.
"""

import asyncio
from collections.abc import Awaitable, Iterator

import pytest

from svc.base.object_store import ObjectMissing
from svc.chat.errors import ChatError
from svc.chat.uploads import job_signal
from svc.chat.uploads import queue as queue_module
from svc.chat.uploads.queue import GIVEN_UP, LEASE_S, MAX_ATTEMPTS, STORING_S, Queue
from svc.chat.uploads.store import JobCounts
from tests.chat.uploads.upload_helpers import UploadServer, result

WITHIN_S = 30.0


class Clock:
    def __init__(self, start: float) -> None:
        self.now = start

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(server: UploadServer) -> Iterator[Clock]:
    """Yield a clock that the queue, the sweep and the media store use."""
    files = server.community.files
    clock = Clock(files.queue._now())
    for part in (files.queue, files.sweep, server.community.media):
        part._now = clock
    yield clock


def queue(server: UploadServer) -> Queue:
    return server.community.files.queue


async def test_concurrent_workers_never_process_the_same_job(server: UploadServer) -> None:
    sent = {await server.sent(server.members.member) for _ in range(12)}
    claims = await asyncio.gather(*(server.claim(f"worker {n}") for n in range(15)))
    claimed = [job["id"] for job in claims if job is not None]
    assert sorted(claimed) == sorted(sent)


async def test_the_oldest_job_is_claimed_first(server: UploadServer) -> None:
    sent = [await server.sent(server.members.member) for _ in range(3)]
    assert [(await server.claim() or {})["id"] for _ in range(3)] == sent


async def test_a_worker_gets_only_jobs_of_its_own_kinds(server: UploadServer) -> None:
    await server.sent(server.members.member)
    assert await server.claim(kinds=["video", "emoji", "no such kind"]) is None
    assert await server.claim(kinds=["picture"]) is not None


async def test_the_job_of_a_dead_worker_can_be_claimed_by_another_after_a_minute(
    server: UploadServer, clock: Clock
) -> None:
    upload_id = await server.sent(server.members.member)
    first = await server.claim("first")
    clock.now += LEASE_S - 1
    assert await server.claim("second") is None
    clock.now += 1
    second = await server.claim("second")
    assert first is not None and second is not None
    assert (second["id"], second["attempt"]) == (upload_id, 2)
    assert second["lease"] != first["lease"]


async def test_a_worker_that_renews_its_lease_keeps_its_job(server: UploadServer, clock: Clock) -> None:
    await server.sent(server.members.member)
    job = await server.claim()
    assert job is not None
    for _ in range(5):
        clock.now += LEASE_S - 1
        assert await server.command("job_renew", job=job["id"], lease=job["lease"], progress=0.1) == {}
        assert await server.claim("another") is None


async def test_results_from_a_worker_without_the_lease_are_ignored(
    server: UploadServer, clock: Clock
) -> None:
    await server.sent(server.members.member)
    late = await server.claim("late")
    assert late is not None
    key = await server.store(late, b"too late")
    clock.now += LEASE_S
    current = await server.claim("current")
    assert current is not None
    results = [result("original", key, b"too late", "image/webp", 1)]
    which = {"job": late["id"], "lease": late["lease"]}
    commands: dict[str, dict[str, object]] = {
        "job_renew": {"progress": 0.5},
        "job_reserve": {"ext": "webp"},
        "job_finish": {"results": results},
        "job_refuse": {"code": "too_large", "message": "x"},
        "job_fail": {"message": "x"},
    }
    for command, more in commands.items():
        assert (await server.command(command, **which, **more))["error"] == "lease_lost", command
    # Nothing refers to the dead worker's objects. They are removed once the worker can no longer be writing.
    sweep, objects = server.community.files.sweep, server.community.media.objects
    clock.now += sweep._grace_ms / 1000
    assert await sweep.run_once() == 0
    clock.now += STORING_S
    assert await sweep.run_once() == 1
    with pytest.raises(ObjectMissing):
        await objects.size(key)


async def test_job_results_must_be_objects_that_were_reserved_for_the_job(server: UploadServer) -> None:
    for _ in range(2):
        await server.sent(server.members.member)
    one, two = await server.claim(), await server.claim()
    assert one is not None and two is not None
    key = await server.store(one, b"one")
    results = [result("original", key, b"one", "image/webp", 1)]
    answered = await server.command("job_finish", job=two["id"], lease=two["lease"], results=results)
    assert answered["error"] == "invalid_request"


@pytest.mark.parametrize(
    "results",
    [
        [],
        ["nothing"],
        [{"role": "original"}],
        [{"role": "sound", "key": "k", "content_type": "a/b", "bytes": 1}],
        [{"role": "thumbnail", "key": "k", "content_type": "a/b", "bytes": 1}],
        [{"role": "original", "key": "k", "content_type": "a/b", "bytes": -1}],
        [{"role": "original", "key": "k", "content_type": "a/b", "bytes": 1}] * 2,
    ],
)
async def test_invalid_results_are_rejected_and_the_job_continues(
    server: UploadServer, results: list[object]
) -> None:
    await server.sent(server.members.member)
    job = await server.claim()
    assert job is not None
    which = {"job": job["id"], "lease": job["lease"]}
    assert (await server.command("job_finish", **which, results=results))["error"] == "invalid_request"
    assert await server.command("job_renew", **which, progress=1) == {}


async def test_failed_jobs_are_retried_with_increasing_delays_and_finally_become_dead_letters(
    server: UploadServer, clock: Clock
) -> None:
    member = server.members.member
    upload_id = await server.sent(member)
    async with server.members.live("member") as [page]:
        for attempt in range(1, MAX_ATTEMPTS + 1):
            job = await server.claim()
            assert job is not None and job["attempt"] == attempt
            await server.command("job_fail", job=job["id"], lease=job["lease"], message="the disk is slow")
            assert await server.claim() is None
            clock.now += 2**attempt
        assert (await page.pushed("upload_refused"))["code"] == GIVEN_UP
    assert await server.claim() is None
    assert (await member.done("GET", f"/api/uploads/{upload_id}"))["refusal"]["code"] == GIVEN_UP
    [letter] = (await server.command("job_list"))["jobs"]
    assert (letter["id"], letter["state"], letter["fault"]) == (upload_id, "dead", "the disk is slow")
    assert (await server.members.owner.done("GET", "/api/jobs"))["jobs"] == [letter]
    assert (queue(server).waiting, queue(server).dead) == (0, 1)


async def test_a_job_whose_file_kills_every_worker_becomes_a_dead_letter(
    server: UploadServer, clock: Clock
) -> None:
    upload_id = await server.sent(server.members.member)
    for n in range(MAX_ATTEMPTS):
        assert await server.claim(f"victim {n}") is not None
        clock.now += LEASE_S
    assert await server.claim() is None
    [letter] = (await server.command("job_list"))["jobs"]
    assert (letter["id"], letter["state"]) == (upload_id, "dead")
    assert "victim 4" in letter["fault"]


async def test_a_dead_letter_can_be_retried(server: UploadServer, clock: Clock) -> None:
    member, owner = server.members.member, server.members.owner
    upload_id = await server.sent(member)
    for _ in range(MAX_ATTEMPTS):
        assert await server.claim() is not None
        clock.now += LEASE_S
    assert await server.claim() is None
    assert await owner.refused("POST", "/api/jobs/nothing/retry") == "unknown_job"
    await owner.done("POST", f"/api/jobs/{upload_id}/retry")
    assert (await member.done("GET", f"/api/uploads/{upload_id}"))["state"] == "waiting"
    assert await server.work() == upload_id
    assert (await member.done("GET", f"/api/uploads/{upload_id}"))["state"] == "done"
    assert (await server.command("job_retry", job=upload_id))["error"] == "unknown_job"


async def test_a_job_that_is_no_longer_needed_is_withdrawn_from_its_worker(server: UploadServer) -> None:
    member = server.members.member
    upload_id = await server.sent(member)
    job = await server.claim()
    assert job is not None
    await member.done("DELETE", f"/api/uploads/{upload_id}")
    which = {"job": job["id"], "lease": job["lease"]}
    assert (await server.command("job_renew", **which, progress=1))["error"] == "lease_lost"


async def test_emoji_are_processed_one_at_a_time(server: UploadServer, clock: Clock) -> None:
    for name in ("first", "second"):
        await server.sent(server.members.owner, f"/api/emoji?name={name}")
    await server.sent(server.members.owner)
    claims = [await server.claim() for _ in range(3)]
    assert [job and job["kind"] for job in claims] == ["emoji", "picture", None]
    clock.now += LEASE_S
    assert (await server.claim() or {})["kind"] == "emoji"


async def test_jobs_survive_a_server_restart(server: UploadServer) -> None:
    """Check that the numbers of queued jobs are loaded at startup."""
    await server.sent(server.members.member)
    queue(server).store_counts(JobCounts(0, 0, 0, None))
    await queue(server).load()
    assert (queue(server).waiting, queue(server).dead) == (1, 0)


async def test_a_waiting_worker_is_notified_of_new_jobs_and_of_jobs_that_return_to_the_queue(
    server: UploadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_signal, "MAX_WAIT_S", 3600.0)
    monkeypatch.setattr(queue_module, "_FIRST_PAUSE_S", 0.01)
    seen = await events(server, -1)

    async def next_number(cause: Awaitable[object]) -> int:
        async with asyncio.timeout(WITHIN_S):
            waiting = asyncio.create_task(events(server, seen))
            await cause
            return await waiting

    seen = await next_number(server.sent(server.members.member))
    job = await server.claim()
    assert job is not None
    # The worker is also notified when the delay after a failure ends.
    seen = await next_number(server.command("job_fail", job=job["id"], lease=job["lease"], message="no disk"))
    job = await server.claim()
    assert job is not None
    seen = await next_number(server.command("job_hand_on", job=job["id"], lease=job["lease"]))


async def test_a_worker_has_to_poll_if_too_many_others_are_waiting(
    server: UploadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_signal, "MAX_WAITING", 1)
    monkeypatch.setattr(job_signal, "MAX_WAIT_S", 0.01)
    signal = queue(server).signal
    seen = await events(server, -1)
    answers = await asyncio.gather(signal.wait(seen), signal.wait(seen), return_exceptions=True)
    assert answers[0] == seen
    assert isinstance(answers[1], ChatError)
    assert await events(server, seen) == seen


async def events(server: UploadServer, seen: int) -> int:
    return int((await server.command("job_wait", worker="waiting", seen=seen))["seen"])
