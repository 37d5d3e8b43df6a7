"""The worker completes its jobs, no matter what happens to the files, the store or the server."""

import asyncio
import dataclasses
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import pytest
from aiohttp import ClientSession

from svc.base.control_socket import listening
from svc.chat.uploads.job_signal import JobSignal
from svc.worker import app, job_run
from svc.worker import worker as worker_module
from svc.worker.app import RunningWorker, working
from tests.kit import hostile_pictures, hostile_videos, pictures, videos
from tests.kit.wait import eventually
from tests.worker.fake_queue import DEADLINE_S, FakeQueue


@pytest.fixture
def queue(tmp_path: Path) -> FakeQueue:
    return FakeQueue(tmp_path)


@pytest.fixture
async def open_desk(queue: FakeQueue) -> AsyncIterator[FakeQueue]:
    async with queue.open():
        yield queue


@pytest.fixture
async def worker(open_desk: FakeQueue) -> AsyncIterator[RunningWorker]:
    async with working(dataclasses.replace(open_desk.config, port=0)) as running:
        yield running


def results(finished: Mapping[str, object]) -> dict[str, dict[str, object]]:
    results = finished["results"]
    assert isinstance(results, list)
    return {result["role"]: result for result in results}


async def test_an_image_is_stored_with_its_thumbnail(open_desk: FakeQueue, worker: RunningWorker) -> None:
    data = pictures.encoded(pictures.noise(800, 600), "JPEG")
    job = open_desk.put("picture", data, max_bytes=1_000_000)
    finished = await open_desk.only("job_finish")
    assert (finished["job"], finished["lease"]) == (job, "l1")
    made = results(finished)
    assert set(made) == {"original", "thumbnail"}
    original = made["original"]
    assert (original["content_type"], original["width"], original["height"]) == ("image/webp", 800, 600)
    assert original["bytes"] == len(open_desk.stored(original))
    assert pictures.decoded(open_desk.stored(original)).size == (800, 600)
    assert pictures.decoded(open_desk.stored(made["thumbnail"])).size == (400, 300)
    assert len(open_desk.reported("job_reserve")) == 2


@pytest.mark.parametrize(
    ("kind", "side", "frames"), [("avatar", 256, 1), ("icon", 512, 1), ("emoji", 128, 5), ("picture", 600, 5)]
)
async def test_every_kind_of_image_is_scaled_to_its_own_size(
    open_desk: FakeQueue, worker: RunningWorker, kind: str, side: int, frames: int
) -> None:
    open_desk.put(kind, pictures.animation(5, "GIF", size=(600, 300)))
    made = results(await open_desk.only("job_finish"))["original"]
    assert (made["width"], made["height"], made["frames"]) == (side, side // 2, frames)


async def test_a_video_is_stored_with_its_poster(open_desk: FakeQueue, worker: RunningWorker) -> None:
    open_desk.put(
        "video", videos.with_places(videos.video(size=(640, 480), metadata=True)), max_bytes=10_000_000
    )
    made = results(await open_desk.only("job_finish"))
    assert set(made) == {"original", "poster", "thumbnail"}
    film = made["original"]
    assert (film["content_type"], film["width"], film["height"]) == ("video/mp4", 640, 480)
    assert film["duration_ms"] == 2000 and len(str(film["placeholder"])) == 28
    assert b"+52.52" not in open_desk.stored(film)
    assert videos.first_frame(open_desk.stored(film)).width == 640
    assert pictures.decoded(open_desk.stored(made["poster"])).size == (640, 480)
    assert open_desk.left_behind() == []


@pytest.mark.parametrize(
    ("kind", "data", "code"),
    [
        ("picture", b"", "unsupported_type"),
        ("avatar", b"<svg/>", "unsupported_type"),
        ("picture", b"GIF89a", "invalid_image"),
        ("emoji", pictures.gif_bomb(1000, 8), "too_large"),
        ("video", b"#EXTM3U\n", "unsupported_type"),
        ("video", b"\x1a\x45\xdf\xa3", "unsupported_type"),
        ("hologram", b"", None),
    ],
)
async def test_invalid_input_is_rejected(
    open_desk: FakeQueue, worker: RunningWorker, kind: str, data: bytes, code: str | None
) -> None:
    open_desk.put(kind, data)
    open_desk.put("picture", pictures.encoded(pictures.scene(), "PNG"))
    await open_desk.only("job_finish")
    if code is None:  # No pool claims a job of an unknown kind.
        assert len(open_desk.waiting) == 1
    else:
        refused = await open_desk.only("job_refuse")
        assert (refused["job"], refused["code"]) == ("u1", code)
        assert refused["message"]


async def test_a_file_is_not_rejected_because_the_store_fails(
    open_desk: FakeQueue, worker: RunningWorker
) -> None:
    (open_desk.data_dir / "store").write_text("in the way")
    open_desk.put("picture", pictures.encoded(pictures.scene(), "PNG"))
    failed = await open_desk.only("job_fail")
    assert "StoreFailed" in str(failed["message"])


async def test_a_file_is_not_rejected_because_the_store_has_lost_it(
    open_desk: FakeQueue, worker: RunningWorker
) -> None:
    open_desk.put("picture", b"x")
    (open_desk.data_dir / "incoming/u1").unlink()
    assert "FileNotFoundError" in str((await open_desk.only("job_fail"))["message"])


async def test_progress_is_reported_and_the_lease_renewed(
    open_desk: FakeQueue, worker: RunningWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_run, "PROGRESS_EVERY_S", 0.02)
    open_desk.put("video", slow_video())
    await open_desk.only("job_finish")
    reported = [float(str(renewed["progress"])) for renewed in open_desk.reported("job_renew")]
    assert len(reported) >= 2 and reported == sorted(reported)


async def test_a_worker_that_has_lost_its_lease_abandons_the_job_silently(
    open_desk: FakeQueue, worker: RunningWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_run, "PROGRESS_EVERY_S", 0.02)
    open_desk.answers["job_renew"] = lambda _: {"error": "lease_lost", "message": ""}
    open_desk.put("video", slow_video())
    await eventually("the job's lease is lost", lambda: "lost" in metrics(worker), within_s=DEADLINE_S)
    assert not any(open_desk.reported(command) for command in ("job_finish", "job_fail", "job_refuse"))
    assert open_desk.left_behind() == []


def metrics(worker: RunningWorker) -> str:
    return worker.measurements.registry.exposition()[0].decode()


async def test_results_produced_while_the_server_is_unreachable_are_reported_later(queue: FakeQueue) -> None:
    queue.put("picture", pictures.encoded(pictures.noise(1500, 1500), "PNG"))
    async with working(dataclasses.replace(queue.config, port=0)):
        async with queue.open():
            await eventually("the job is claimed", lambda: not queue.waiting, within_s=DEADLINE_S)
        await asyncio.sleep(0.5)
        assert queue.reported("job_finish") == []
        async with queue.open():
            await queue.only("job_finish")


async def test_an_announced_job_is_claimed_without_polling(
    queue: FakeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    for interval in ("POLL_S", "VIDEO_POLL_S"):
        monkeypatch.setattr(app, interval, 3600.0)
    config = dataclasses.replace(queue.config, port=0, emoji_poll_s=0.01)
    queue.signal = JobSignal()
    async with working(config):
        async with queue.open():
            await eventually(
                "the worker waits for jobs", lambda: queue.commands["job_wait"] == 2, within_s=DEADLINE_S
            )
            claims = queue.commands["job_claim"]
            queue.put("picture", pictures.encoded(pictures.scene(), "PNG"))
            queue.signal.announce()
            await queue.only("job_finish")
            # Each pool has one pending claim and makes one more after the announcement. The job causes
            # another claim.
            assert queue.commands["job_claim"] - claims <= 2 * len(app.pools(config)) + 1
        queue.signal.announce()
        queue.signal = None
        async with queue.open():
            job = queue.put("emoji", pictures.encoded(pictures.scene(), "PNG"))
            await eventually("the job is done", lambda: job in queue.ended("job_finish"), within_s=DEADLINE_S)


async def test_a_result_is_resent_after_a_server_error(open_desk: FakeQueue, worker: RunningWorker) -> None:
    ill = iter([{"error": "storage_unavailable", "message": ""}, {"error": "internal_error", "message": ""}])
    open_desk.answers["job_finish"] = lambda _: next(ill, None)
    open_desk.put("picture", pictures.encoded(pictures.scene(), "PNG"))
    await open_desk.only("job_finish")


async def test_a_result_that_the_server_rejects_is_not_sent_again(
    open_desk: FakeQueue, worker: RunningWorker
) -> None:
    open_desk.answers["job_finish"] = lambda _: {"error": "invalid_request", "message": "no"}
    open_desk.put("picture", pictures.encoded(pictures.scene(), "PNG"))
    failed = await open_desk.only("job_fail")
    assert failed["message"] == "Declined: the server answers invalid_request: no"


def slow_video() -> bytes:
    """Return a video that takes seconds to process because it has to be re-encoded."""
    return videos.video("mpeg4", None, "mov", size=(1280, 720), frames=150)


async def test_a_running_job_is_finished_before_the_worker_exits(
    open_desk: FakeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "DRAIN_DEADLINE_S", DEADLINE_S)
    async with working(dataclasses.replace(open_desk.config, port=0)):
        open_desk.put("picture", pictures.encoded(pictures.noise(1500, 1500), "PNG"))
        await eventually("the job is claimed", lambda: not open_desk.waiting, within_s=DEADLINE_S)
    assert len(open_desk.reported("job_finish")) == 1


async def test_a_job_that_takes_too_long_is_returned_when_the_worker_exits(
    open_desk: FakeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "DRAIN_DEADLINE_S", 0.1)
    async with working(dataclasses.replace(open_desk.config, port=0)):
        open_desk.put("video", slow_video())
        await eventually("the job is claimed", lambda: not open_desk.waiting, within_s=DEADLINE_S)
    assert open_desk.reported("job_fail")[0]["message"] == "the worker ended"
    assert open_desk.left_behind() == []


async def test_the_number_of_emoji_processed_at_the_same_time_is_limited(queue: FakeQueue) -> None:
    for _ in range(6):
        queue.put("emoji", pictures.animation(30, "GIF", size=(200, 200)))
    async with queue.open(), working(dataclasses.replace(queue.config, port=0, emoji_at_once=2)):
        await eventually(
            "all jobs are done", lambda: len(queue.reported("job_finish")) == 6, within_s=DEADLINE_S
        )
    assert queue.most_in_hand == 2


async def test_the_worker_serves_its_health_and_metrics(open_desk: FakeQueue, worker: RunningWorker) -> None:
    open_desk.put("picture", pictures.encoded(pictures.scene(), "PNG"))
    await open_desk.only("job_finish")
    async with ClientSession() as session:
        async with session.get(f"{worker.address}/health") as answer:
            health = await answer.json()
        assert (answer.status, health["status"], health["service"], health["queue"]) == (
            *(200, "healthy", "worker"),
            "reached",
        )
        async with session.get(f"{worker.address}/metrics") as answer:
            text = await answer.text()
    assert 'svc_worker_jobs_total{kind="picture",outcome="finished"} 1.0' in text


async def test_files_left_by_a_dead_worker_are_deleted(queue: FakeQueue) -> None:
    folder = queue.data_dir / app.WORKING_FOLDER
    folder.mkdir()
    for name, age_s in (("old", 7200), ("young", 10)):
        (folder / name).write_text("x")
        stamp = (folder / name).stat().st_mtime - age_s
        os.utime(folder / name, (stamp, stamp))
    async with working(dataclasses.replace(queue.config, port=0)):
        assert queue.left_behind() == ["young"]


async def test_a_worker_without_storage_has_nothing_to_do(queue: FakeQueue) -> None:
    storage = dataclasses.replace(queue.config.storage, disabled=True)
    requests: list[object] = []
    async with AsyncExitStack() as stack:

        async def note(command: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
            requests.append(command)
            return {"result": {"job": None}}

        await stack.enter_async_context(listening(queue.data_dir, note))
        await stack.enter_async_context(working(dataclasses.replace(queue.config, port=0, storage=storage)))
        await asyncio.sleep(0.5)
    assert requests == []


async def test_hostile_files_neither_kill_the_worker_nor_use_up_its_memory(open_desk: FakeQueue) -> None:
    """Check that every file gets a response, and that the worker itself uses little memory."""
    corpus = {open_desk.put("picture", data): name for name, (data, _) in hostile_pictures.refused().items()}
    corpus |= {open_desk.put("video", data): name for name, (data, _) in hostile_videos.refused().items()}
    for seed in range(20):
        open_desk.put(
            "picture", hostile_pictures.mutated(pictures.picture_with_metadata("PNG"), Random(seed))
        )
    all_jobs = {str(job["id"]) for job in open_desk.waiting}
    process = await svc_worker(open_desk)
    await eventually("all jobs have ended", lambda: answered(open_desk) == all_jobs, within_s=90)
    assert open_desk.ended("job_fail") == []
    assert [corpus[job] for job in open_desk.ended("job_finish") if job in corpus] == []
    assert process.returncode is None
    assert most_memory_kb(process.pid) < 120_000
    process.terminate()
    await process.communicate()


def answered(queue: FakeQueue) -> set[str]:
    return {*queue.ended("job_refuse"), *queue.ended("job_finish")}


def most_memory_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


async def svc_worker(queue: FakeQueue) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "svc.cli", "worker", "--data-dir", str(queue.data_dir), "--port", "0"),
        env={**os.environ, "STORAGE_BACKEND": "filesystem", "S3_BUCKET": "store"},
        stderr=asyncio.subprocess.PIPE,
    )


async def test_the_worker_command_runs_and_exits_on_a_signal(open_desk: FakeQueue) -> None:
    process = await svc_worker(open_desk)
    open_desk.put("picture", pictures.encoded(pictures.scene(), "PNG"))
    await open_desk.only("job_finish")
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(DEADLINE_S):
        _, reported = await process.communicate()
    assert process.returncode == 0
    assert b"listening address=http://127.0.0.1:" in reported and b"outcome=finished" in reported
