"""Coroutines that run concurrently also end together."""

import asyncio

import pytest

from svc.base.tasks import cancel_and_wait, until_first_ends


async def forever(ended: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("stopped")


async def fail() -> None:
    raise RuntimeError("broken")


async def succeed() -> None:
    await asyncio.sleep(0)


async def test_the_other_coroutines_are_cancelled_when_the_first_returns() -> None:
    ended: list[str] = []
    await until_first_ends(forever(ended), succeed(), forever(ended))
    assert ended == ["stopped", "stopped"]


async def test_the_first_exception_is_raised() -> None:
    ended: list[str] = []
    with pytest.raises(RuntimeError, match="broken"):
        await until_first_ends(forever(ended), fail())
    assert ended == ["stopped"]


async def test_cancelling_the_caller_cancels_all_coroutines() -> None:
    ended: list[str] = []
    caller = asyncio.ensure_future(until_first_ends(forever(ended), forever(ended)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended == ["stopped", "stopped"]


async def test_a_task_that_missed_its_cancellation_is_cancelled_again() -> None:
    answer = asyncio.get_running_loop().create_future()

    async def ask_repeatedly() -> None:
        await asyncio.wait_for(answer, timeout=60)
        await asyncio.Event().wait()

    asking = asyncio.ensure_future(ask_repeatedly())
    await asyncio.sleep(0)
    answer.set_result(None)
    async with asyncio.timeout(30):
        await cancel_and_wait(asking, again_s=0.01)
    assert asking.cancelled()
