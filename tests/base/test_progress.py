"""Progress reaches its listener, and nobody else."""

import asyncio

from svc.base.progress import Progress, heard_by, report


def test_progress_without_a_listener_is_ignored() -> None:
    report("working", 1, 2)


async def test_progress_of_nested_work_is_reported_too() -> None:
    heard: list[Progress] = []
    with heard_by(heard.append):
        task = asyncio.ensure_future(asyncio.to_thread(report, "in a thread", 1, 2))
    report("outside", 1, 2)
    await task
    assert heard == [Progress("in a thread", 1, 2)]
