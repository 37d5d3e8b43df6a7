"""A full garbage collection runs when the process is idle, or after the maximum delay at the latest."""

import asyncio
import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest

from svc.base.garbage_collector import (
    ALL_AFTER,
    LOOK_INTERVAL_S,
    MAX_DELAY_S,
    MAX_GROWTH_BYTES,
    MIN_GROWTH_BYTES,
    QUIET,
    collect_rarely,
    collect_when_quiet,
    memory_bytes,
    memory_left_bytes,
)


@pytest.fixture
def as_before() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


async def collected(
    intervals: list[tuple[float, int]], memory: Sequence[int] = (), left: int = 0
) -> list[int]:
    """Return the indices of the intervals after which a full collection ran.

    Each interval is a pair: the fraction of a core that was used, and the number of objects waiting for
    collection. `memory` is the process's memory use at each interval, and `left` is the memory still
    available on the machine.
    """
    now = used = 0.0
    at, collections = 0, list[int]()

    async def sleep(seconds: float) -> None:
        nonlocal now, used, at
        if at == len(intervals):
            raise asyncio.CancelledError
        now += seconds
        used += intervals[at][0] * seconds
        at += 1

    with suppress(asyncio.CancelledError):
        await collect_when_quiet(
            lambda: collections.append(at),
            lambda: intervals[at - 1][1],
            lambda: now,
            lambda: used,
            sleep,
            lambda: memory[at] if memory else 0,
            lambda: left,
        )
    return collections


async def test_a_full_collection_runs_when_the_process_is_idle_and_many_objects_exist() -> None:
    busy, quiet = (QUIET * 2, ALL_AFTER), (QUIET / 2, ALL_AFTER)
    assert await collected([(0.0, ALL_AFTER - 1), busy, busy, quiet]) == [4]


async def test_a_full_collection_runs_eventually_even_if_the_process_is_never_idle() -> None:
    intervals = int(MAX_DELAY_S / LOOK_INTERVAL_S) + 1
    assert await collected([(1.0, ALL_AFTER)] * intervals) == [intervals]


async def test_memory_growth_forces_a_full_collection() -> None:
    # A few objects may hold a lot of received data.
    much = MIN_GROWTH_BYTES + 1
    # Memory grows, keeps growing, shrinks, and grows again.
    has = [much, much, 2 * much, 2 * much, 0, much, 2 * much]
    assert await collected([(1.0, 0)] * 6, has) == [2, 5, 6]


async def test_memory_growth_is_ignored_while_the_machine_has_enough_free_memory() -> None:
    # In a flood, data for slow readers takes this much memory, and a full collection would delay every
    # member.
    grown = MIN_GROWTH_BYTES * 3
    has, busy = [0, grown, grown], [(1.0, 0)] * 2
    assert await collected(busy, has, left=grown) == []
    assert await collected(busy, has, left=grown - 1) == [1]
    assert await collected(busy, [0, MAX_GROWTH_BYTES + 1] * 2, left=MAX_GROWTH_BYTES * 4) == [1]


def test_process_and_machine_memory_can_be_read() -> None:
    assert sys.platform != "linux" or memory_left_bytes() > memory_bytes() > 1024 * 1024


@pytest.mark.usefixtures("as_before")
def test_python_never_starts_a_full_collection_on_its_own() -> None:
    collect_rarely()
    before, kept = gc.get_stats()[2]["collections"], list[object]()
    kept.extend([] for _ in range(400_000))
    assert gc.get_stats()[2]["collections"] == before
    # By default, Python runs a full collection after 10 collections of this generation.
    assert gc.get_count()[2] > 10
