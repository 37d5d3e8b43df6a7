"""A member delays another member's job by at most one short job, however many files they send."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.chat.uploads import limits
from svc.chat.uploads.limits import takes_long
from svc.chat.uploads.queue import MemberTurns
from svc.chat.uploads.store import WaitingJob
from svc.worker.app import working
from svc.worker.config import read
from svc.worker.job_run import HANDED_ON
from tests.chat.http_member import HttpMember
from tests.chat.uploads.upload_helpers import ALL_KINDS, UploadServer
from tests.kit import pictures, videos
from tests.kit.wait import eventually
from tests.worker.fake_queue import DEADLINE_S, FakeQueue

FILM = b"\0\0\0\x20ftypisom" + bytes(100)


async def claimed(server: UploadServer, *, long: bool = False) -> dict[str, Any] | None:
    answer = await server.command("job_claim", worker="one", kinds=ALL_KINDS, long=long)
    job: dict[str, Any] | None = answer["job"]
    return job


async def done(server: UploadServer, job: dict[str, Any] | None) -> str:
    """Reject the job's file, which ends the job like any other result. Return the job's id."""
    assert job is not None
    which = {"job": job["id"], "lease": job["lease"]}
    assert await server.command("job_refuse", **which, code="invalid_image", message="x") == {}
    return str(job["id"])


async def sent_in_this_order(server: UploadServer, *who: HttpMember, content: bytes = FILM) -> dict[str, str]:
    """Upload one file for each member, in the given order. Return the uploader of each file."""
    return {await server.sent(person, content=content): person.id for person in who}


async def test_members_with_many_files_take_turns_with_others(server: UploadServer) -> None:
    many, few, few_files = server.members.member, server.members.moderator, server.members.admin
    sent = await sent_in_this_order(server, many, many, many, many, few, few, few_files)
    order = [sent[await done(server, await claimed(server))] for _ in range(7)]
    assert order == [many.id, few.id, few_files.id, many.id, few.id, many.id, many.id]


async def test_the_next_free_slot_goes_to_a_member_without_a_running_job(server: UploadServer) -> None:
    many, other = server.members.member, server.members.moderator
    sent = await sent_in_this_order(server, many, many, many)
    held = [await claimed(server), await claimed(server)]
    sent |= await sent_in_this_order(server, other, other)
    assert sent[await done(server, await claimed(server))] == other.id
    assert sent[await done(server, await claimed(server))] == other.id
    assert all(job is not None and sent[job["id"]] == many.id for job in held)


async def test_a_member_who_sends_file_after_file_does_not_starve_others(server: UploadServer) -> None:
    waits, busy = server.members.member, server.members.moderator
    sent = await sent_in_this_order(server, busy, waits, waits)
    order = []
    for _ in range(4):
        order.append(sent[await done(server, await claimed(server))])
        sent |= await sent_in_this_order(server, busy)
    assert order == [busy.id, waits.id, busy.id, waits.id]


async def test_jobs_that_are_expected_to_be_long_have_their_own_queue(
    server: UploadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHORT_VIDEO_BYTES", 1_000)
    large = FILM + bytes(1_000)
    sent = await sent_in_this_order(server, *[server.members.member] * 3, content=large)
    sent |= await sent_in_this_order(server, server.members.moderator)
    assert sent[await done(server, await claimed(server))] == server.members.moderator.id
    assert await claimed(server) is None
    job = await claimed(server, long=True)
    assert job is not None and "deadline_s" not in job["limits"]


async def test_a_job_that_takes_too_long_moves_to_the_other_queue_once(server: UploadServer) -> None:
    await server.sent(server.members.member, content=FILM)
    job = await claimed(server)
    assert job is not None and job["limits"]["deadline_s"] == limits.SHORT_JOB_S
    which = {"job": job["id"], "lease": job["lease"]}
    assert await server.command("job_hand_on", **which) == {}
    assert (await server.command("job_hand_on", **which))["error"] == "lease_lost"
    assert await claimed(server) is None
    again = await claimed(server, long=True)
    assert again is not None and (again["id"], again["attempt"]) == (job["id"], 1)


async def test_a_short_clip_is_processed_alongside_long_clips_of_another_member(
    server: UploadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a case in which three long 4K clips once delayed another member's one-second clip by 44 s."""
    slow = videos.video("mpeg4", None, "mov", size=(1280, 720), frames=150)
    monkeypatch.setattr(limits, "SHORT_VIDEO_BYTES", len(slow) - 1)
    greedy, other = server.members.member, server.members.moderator
    async with AsyncExitStack() as stack:
        page = await stack.enter_async_context(server.chat.member("", other.token))
        first = await stack.enter_async_context(server.chat.member("", greedy.token))
        long = [await server.sent(greedy, content=slow) for _ in range(3)]
        await stack.enter_async_context(working(dataclasses.replace(read(server.variables), port=0)))
        while (await first.pushed("upload_progress"))["state"] != "working":
            pass
        clip = await server.sent(other, content=videos.video(frames=25))
        assert (await page.pushed("upload_done"))["id"] == clip
        states = Counter([(await greedy.done("GET", f"/api/uploads/{id_}"))["state"] for id_ in long])
        assert states["waiting"] >= 1, "the clip waited for all of the long jobs"


async def test_a_file_that_takes_too_long_for_its_queue_moves_to_the_other_queue(tmp_path: Path) -> None:
    queue = FakeQueue(tmp_path)
    queue.put("video", videos.video("mpeg4", None, "mov", size=(1280, 720), frames=250), deadline_s=1)
    queue.put("emoji", pictures.gif_bomb(1000, 8), deadline_s=15)
    async with queue.open(), working(dataclasses.replace(queue.config, port=0)) as worker:
        assert (await queue.only("job_hand_on"))["job"] == "u1"
        assert (await queue.only("job_refuse"))["job"] == "u2", "there is no other queue for emoji"
        text = worker.measurements.registry.exposition()[0].decode
        await eventually(
            "the job is counted as handed on",
            lambda: f'outcome="{HANDED_ON}"}} 1.0' in text(),
            within_s=DEADLINE_S,
        )


# Scheduling rule


@given(st.lists(st.integers(0, 5), min_size=2, max_size=6))
def test_a_member_waits_for_at_most_one_job_from_each_other_member(jobs: Sequence[int]) -> None:
    turns, left = MemberTurns(), {f"member {n}": count for n, count in enumerate(jobs)}
    served: list[str] = []
    while waiting := [WaitingJob(f"{who} {left[who]}", who, 0) for who in left if left[who]]:
        chosen = turns.next_of(waiting, {})
        assert chosen is not None
        turns.note_turn(chosen.member_id)
        left[chosen.member_id] -= 1
        served.append(chosen.member_id)
    for who in set(served):
        at = [number for number, served_ in enumerate(served) if served_ == who]
        for before, after in zip([-1, *at], at, strict=False):
            between = Counter(served[before + 1 : after])
            assert all(count == 1 for count in between.values())


@pytest.mark.parametrize(
    ("kind", "length", "long"),
    [
        ("video", limits.SHORT_VIDEO_BYTES, False),
        ("video", limits.SHORT_VIDEO_BYTES + 1, True),
        ("picture", limits.MAX_PICTURE_BYTES, False),
    ],
)
def test_only_large_videos_are_expected_to_be_slow(kind: str, length: int, long: bool) -> None:
    assert takes_long(kind, length) is long
