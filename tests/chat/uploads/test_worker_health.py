"""A media worker counts as present if its health URL responds or if it claims jobs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientSession, web

from svc.chat.uploads.worker_commands import RECENT_REQUEST_S, WorkerHealth
from tests.chat.uploads.upload_helpers import UploadServer


@asynccontextmanager
async def worker_answering(status: int) -> AsyncIterator[str]:
    async def health(_: web.Request) -> web.Response:
        return web.Response(status=status)

    application = web.Application()
    application.add_routes([web.get("/health", health)])
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def test_a_worker_whose_health_url_responds_counts_as_present() -> None:
    async with ClientSession() as session:
        async with worker_answering(200) as url:
            assert await WorkerHealth(session, url, lambda: 0.0).is_well()
        assert not await WorkerHealth(session, url, lambda: 0.0).is_well(), "the worker has stopped"
        async with worker_answering(503) as url:
            assert not await WorkerHealth(session, url, lambda: 0.0).is_well()


async def test_a_worker_that_claims_jobs_counts_as_present_without_a_health_url() -> None:
    now = [0.0]
    async with ClientSession() as session:
        health = WorkerHealth(session, "", lambda: now[0])
        assert not health.watched and not health.up
        health.note_request("one")
        assert health.up
        now[0] = RECENT_REQUEST_S
        assert not health.up


async def test_the_metrics_cover_workers_jobs_and_storage(server: UploadServer) -> None:
    assert "svc_chat_media_worker_up 0.0" in await server.chat.metrics()
    await server.done(server.members.member)
    await server.sent(server.members.member)
    await server.community.files.sweep.count()
    metrics = await server.chat.metrics()
    for line in (
        "svc_chat_media_worker_up 1.0",
        "svc_chat_upload_jobs_waiting 1.0",
        "svc_chat_upload_jobs_dead 0.0",
        'svc_chat_upload_outcomes_total{outcome="done"} 1.0',
        "svc_chat_media_objects 2.0",
        "svc_chat_media_bytes 17.0",
    ):
        assert line in metrics
