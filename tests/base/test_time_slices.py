"""Expensive steps on the event loop leave time for other work in between."""

import asyncio
from functools import partial

import pytest

from svc.base.time_slices import TimeSlices, Work
from tests.kit.programs import DEADLINE_S


class Clock:
    """A clock that advances by the same amount with every reading, so that all steps take equally long."""

    def __init__(self, step_s: float) -> None:
        self._now, self._step_s = 0.0, step_s

    def __call__(self) -> float:
        self._now += self._step_s
        return self._now


async def test_other_work_runs_between_two_steps() -> None:
    slices = TimeSlices(Clock(0.01))
    order: list[str] = []

    def step(name: str) -> None:
        order.append(name)
        asyncio.get_running_loop().call_soon(order.append, "other work")

    await asyncio.gather(*(slices.run(partial(step, name), DEADLINE_S) for name in "abc"))
    assert order[:5] == ["a", "other work", "b", "other work", "c"]


async def test_the_next_step_runs_after_a_step_fails() -> None:
    slices = TimeSlices()
    with pytest.raises(ValueError, match="no number"):
        await slices.run(lambda: int("no number"), DEADLINE_S)
    assert await slices.run(lambda: "done", DEADLINE_S) == "done"


async def test_a_step_waits_for_other_steps_only_until_its_deadline() -> None:
    slices = TimeSlices(Clock(3600))
    await slices.run(lambda: None, DEADLINE_S)
    with pytest.raises(TimeoutError):
        await slices.run(lambda: None, 0.01)


async def test_long_work_is_done_in_steps_with_other_work_in_between() -> None:
    def work() -> Work[str]:
        for piece in range(3):
            order.append(f"piece {piece}")
            asyncio.get_running_loop().call_soon(order.append, "other work")
            yield
        return "result"

    order: list[str] = []
    # Each piece of work takes longer than a step may.
    assert await TimeSlices(Clock(0.01)).finish(work(), DEADLINE_S) == "result"
    assert order[:5] == ["piece 0", "other work", "piece 1", "other work", "piece 2"]


async def test_short_work_does_not_wait_for_long_work() -> None:
    def short() -> Work[str]:
        yield
        return "result"

    clock = Clock(3600)
    slices = TimeSlices(clock)
    # After this step, the next long step has to wait for an hour.
    await slices.run(lambda: None, DEADLINE_S)
    clock._step_s = 0
    assert await slices.finish(short(), 0.01) == "result"


async def test_other_work_can_run_after_work_that_fails_or_never_ends() -> None:
    def endless() -> Work[None]:
        while True:
            yield

    def failing() -> Work[None]:
        yield
        raise ValueError("no number")

    slices = TimeSlices()
    with pytest.raises(TimeoutError):
        await slices.finish(endless(), 0.01)
    with pytest.raises(ValueError, match="no number"):
        await slices.finish(failing(), DEADLINE_S)
    assert await slices.run(lambda: "done", DEADLINE_S) == "done"
