"""Each job is claimed by one worker at a time.

Jobs from dead workers return to the queue and eventually become dead letters.
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
from tests.chat.uploads.upload_helpers import Place, result

WITHIN_S = 30.0


class Clock:
    def __init__(self, start: float) -> None:
        self.now = start

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(place: Place) -> Iterator[Clock]:
    """Return a clock for the queue, the sweep and the stored media."""
    files = place.community.files
    clock = Clock(files.queue._now())
    for part in (files.queue, files.sweep, place.community.media):
        part._now = clock
    yield clock


def queue(place: Place) -> Queue:
    return place.community.files.queue


async def test_concurrent_workers_never_process_the_same_job(place: Place) -> None:
    sent = {await place.sent(place.folk.member) for _ in range(12)}
    claims = await asyncio.gather(*(place.claim(f"worker {n}") for n in range(15)))
    claimed = [job["id"] for job in claims if job is not None]
    assert sorted(claimed) == sorted(sent)


async def test_the_job_that_has_waited_longest_is_claimed_first(place: Place) -> None:
    sent = [await place.sent(place.folk.member) for _ in range(3)]
    assert [(await place.claim() or {})["id"] for _ in range(3)] == sent


async def test_a_worker_gets_only_jobs_of_its_own_kinds(place: Place) -> None:
    await place.sent(place.folk.member)
    assert await place.claim(kinds=["video", "emoji", "no such kind"]) is None
    assert await place.claim(kinds=["picture"]) is not None


async def test_another_worker_gets_a_dead_workers_job_after_a_minute(place: Place, clock: Clock) -> None:
    upload_id = await place.sent(place.folk.member)
    first = await place.claim("first")
    clock.now += LEASE_S - 1
    assert await place.claim("second") is None
    clock.now += 1
    second = await place.claim("second")
    assert first is not None and second is not None
    assert (second["id"], second["attempt"]) == (upload_id, 2)
    assert second["lease"] != first["lease"]


async def test_a_worker_that_renews_its_lease_keeps_its_job(place: Place, clock: Clock) -> None:
    await place.sent(place.folk.member)
    job = await place.claim()
    assert job is not None
    for _ in range(5):
        clock.now += LEASE_S - 1
        assert await place.command("job_renew", job=job["id"], lease=job["lease"], progress=0.1) == {}
        assert await place.claim("another") is None


async def test_results_from_a_worker_without_the_lease_are_ignored(place: Place, clock: Clock) -> None:
    await place.sent(place.folk.member)
    late = await place.claim("late")
    assert late is not None
    key = await place.store(late, b"too late")
    clock.now += LEASE_S
    current = await place.claim("current")
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
        assert (await place.command(command, **which, **more))["error"] == "lease_lost", command
    # The dead worker's objects are unreferenced. They are removed once the worker can no longer write.
    sweep, objects = place.community.files.sweep, place.community.media.objects
    clock.now += sweep._grace_ms / 1000
    assert await sweep.run_once() == 0
    clock.now += STORING_S
    assert await sweep.run_once() == 1
    with pytest.raises(ObjectMissing):
        await objects.size(key)


async def test_job_results_must_be_objects_that_were_reserved_for_the_job(place: Place) -> None:
    for _ in range(2):
        await place.sent(place.folk.member)
    one, two = await place.claim(), await place.claim()
    assert one is not None and two is not None
    key = await place.store(one, b"one")
    results = [result("original", key, b"one", "image/webp", 1)]
    answered = await place.command("job_finish", job=two["id"], lease=two["lease"], results=results)
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
async def test_invalid_results_are_refused_and_the_job_continues(place: Place, results: list[object]) -> None:
    await place.sent(place.folk.member)
    job = await place.claim()
    assert job is not None
    which = {"job": job["id"], "lease": job["lease"]}
    assert (await place.command("job_finish", **which, results=results))["error"] == "invalid_request"
    assert await place.command("job_renew", **which, progress=1) == {}


async def test_failed_jobs_are_retried_with_increasing_delays_and_finally_become_dead_letters(
    place: Place, clock: Clock
) -> None:
    member = place.folk.member
    upload_id = await place.sent(member)
    async with place.folk.live("member") as [page]:
        for attempt in range(1, MAX_ATTEMPTS + 1):
            job = await place.claim()
            assert job is not None and job["attempt"] == attempt
            await place.command("job_fail", job=job["id"], lease=job["lease"], message="the disk is slow")
            assert await place.claim() is None
            clock.now += 2**attempt
        assert (await page.pushed("upload_refused"))["code"] == GIVEN_UP
    assert await place.claim() is None
    assert (await member.done("GET", f"/api/uploads/{upload_id}"))["refusal"]["code"] == GIVEN_UP
    [letter] = (await place.command("job_list"))["jobs"]
    assert (letter["id"], letter["state"], letter["fault"]) == (upload_id, "dead", "the disk is slow")
    assert (await place.folk.owner.done("GET", "/api/jobs"))["jobs"] == [letter]
    assert (queue(place).waiting, queue(place).dead) == (0, 1)


async def test_a_job_whose_file_kills_every_worker_becomes_a_dead_letter(place: Place, clock: Clock) -> None:
    upload_id = await place.sent(place.folk.member)
    for n in range(MAX_ATTEMPTS):
        assert await place.claim(f"victim {n}") is not None
        clock.now += LEASE_S
    assert await place.claim() is None
    [letter] = (await place.command("job_list"))["jobs"]
    assert (letter["id"], letter["state"]) == (upload_id, "dead")
    assert "victim 4" in letter["fault"]


async def test_a_dead_letter_can_be_retried(place: Place, clock: Clock) -> None:
    member, owner = place.folk.member, place.folk.owner
    upload_id = await place.sent(member)
    for _ in range(MAX_ATTEMPTS):
        assert await place.claim() is not None
        clock.now += LEASE_S
    assert await place.claim() is None
    assert await owner.refused("POST", "/api/jobs/nothing/retry") == "unknown_job"
    await owner.done("POST", f"/api/jobs/{upload_id}/retry")
    assert (await member.done("GET", f"/api/uploads/{upload_id}"))["state"] == "waiting"
    assert await place.work() == upload_id
    assert (await member.done("GET", f"/api/uploads/{upload_id}"))["state"] == "done"
    assert (await place.command("job_retry", job=upload_id))["error"] == "unknown_job"


async def test_a_job_that_is_no_longer_needed_is_withdrawn_from_its_worker(place: Place) -> None:
    member = place.folk.member
    upload_id = await place.sent(member)
    job = await place.claim()
    assert job is not None
    await member.done("DELETE", f"/api/uploads/{upload_id}")
    which = {"job": job["id"], "lease": job["lease"]}
    assert (await place.command("job_renew", **which, progress=1))["error"] == "lease_lost"


async def test_emoji_are_processed_one_at_a_time(place: Place, clock: Clock) -> None:
    for name in ("first", "second"):
        await place.sent(place.folk.owner, f"/api/emoji?name={name}")
    await place.sent(place.folk.owner)
    claims = [await place.claim() for _ in range(3)]
    assert [job and job["kind"] for job in claims] == ["emoji", "picture", None]
    clock.now += LEASE_S
    assert (await place.claim() or {})["kind"] == "emoji"


async def test_jobs_survive_a_server_restart(place: Place) -> None:
    """Check that the numbers of stored jobs are loaded at startup."""
    await place.sent(place.folk.member)
    queue(place).store_counts(JobCounts(0, 0, 0, None))
    await queue(place).load()
    assert (queue(place).waiting, queue(place).dead) == (1, 0)


async def test_a_waiting_worker_is_notified_of_new_jobs_and_of_jobs_that_return_to_the_queue(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_signal, "MAX_WAIT_S", 3600.0)
    monkeypatch.setattr(queue_module, "_FIRST_PAUSE_S", 0.01)
    seen = await events(place, -1)

    async def next_number(cause: Awaitable[object]) -> int:
        async with asyncio.timeout(WITHIN_S):
            waiting = asyncio.create_task(events(place, seen))
            await cause
            return await waiting

    seen = await next_number(place.sent(place.folk.member))
    job = await place.claim()
    assert job is not None
    # The end of the delay after a failure is enough to notify the worker.
    seen = await next_number(place.command("job_fail", job=job["id"], lease=job["lease"], message="no disk"))
    job = await place.claim()
    assert job is not None
    seen = await next_number(place.command("job_hand_on", job=job["id"], lease=job["lease"]))


async def test_a_worker_has_to_poll_when_too_many_others_are_waiting(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_signal, "MAX_WAITING", 1)
    monkeypatch.setattr(job_signal, "MAX_WAIT_S", 0.01)
    signal = queue(place).signal
    seen = await events(place, -1)
    answers = await asyncio.gather(signal.wait(seen), signal.wait(seen), return_exceptions=True)
    assert answers[0] == seen
    assert isinstance(answers[1], ChatError)
    assert await events(place, seen) == seen


async def events(place: Place, seen: int) -> int:
    return int((await place.command("job_wait", worker="waiting", seen=seen))["seen"])
