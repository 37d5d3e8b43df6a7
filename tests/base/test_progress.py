"""Progress reaches its listener, and nobody else."""

import asyncio

from svc.base.progress import Progress, heard_by, report


def test_nothing_happens_where_nobody_listens() -> None:
    report("working", 1, 2)


async def test_what_the_work_starts_is_heard_too() -> None:
    heard: list[Progress] = []
    with heard_by(heard.append):
        task = asyncio.ensure_future(asyncio.to_thread(report, "in a thread", 1, 2))
    report("outside", 1, 2)
    await task
    assert heard == [Progress("in a thread", 1, 2)]
