"""Progress is reported only to the listener of the same work."""

import asyncio

from svc.base.progress import Progress, report, reports_to


def test_progress_without_a_listener_is_ignored() -> None:
    report("working", 1, 2)


async def test_progress_of_nested_work_is_also_reported() -> None:
    reports: list[Progress] = []
    with reports_to(reports.append):
        task = asyncio.ensure_future(asyncio.to_thread(report, "in a thread", 1, 2))
    report("outside", 1, 2)
    await task
    assert reports == [Progress("in a thread", 1, 2)]
