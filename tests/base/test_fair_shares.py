"""No holder can use up a shared resource: a new holder can get as much as the largest one has."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.base.fair_shares import FairQueue, FairShares, fits


@given(maximum=st.integers(1, 10_000), greedy=st.integers(1, 50), piece=st.integers(1, 20))
def test_greedy_holders_leave_as_much_free_as_the_largest_holder_has(
    maximum: int, greedy: int, piece: int
) -> None:
    shares, held = FairShares(maximum), [0] * greedy
    wants = set(range(greedy))
    while wants:
        for holder in sorted(wants):
            if shares.take(str(holder), piece):
                held[holder] += piece
            else:
                wants.discard(holder)
    free = maximum - shares.taken
    # A holder stops before it has more than it leaves free. The holders' shares differ by at most one piece.
    assert max(held) <= free + piece
    assert shares.taken <= maximum
    assert max(held) - min(held) <= piece
    assert free >= maximum // (greedy + 1) - piece
    assert shares.take("newcomer", free)


def test_released_shares_can_be_taken_again() -> None:
    shares = FairShares(10)
    assert shares.take("one", 5) and not shares.take("one", 1)
    assert shares.take("two", 5) and not shares.take("three", 1)
    shares.give_back("one", 5)
    shares.give_back("two", 5)
    assert shares.take("three", 10)
    assert fits(0, 0, 10, 10) and not fits(6, 6, 10)


async def test_a_holder_that_has_used_up_its_share_waits_while_others_get_slots() -> None:
    turns, began = FairQueue(4), []
    started, end = ({name: asyncio.Event() for name in ("greedy", "other")} for _ in range(2))

    async def work(holder: str) -> None:
        async with turns.turn(holder):
            began.append(holder)
            started[holder].set()
            await end[holder].wait()

    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(work("greedy"))
        other = group.create_task(work("other"))
        await started["other"].wait()
        assert began.count("greedy") == 2
        end["other"].set()
        await other
        end["greedy"].set()
    assert began.count("greedy") == 5


async def test_a_cancelled_waiter_does_not_take_a_slot() -> None:
    turns = FairQueue(1)
    async with turns.turn("first"):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0), turns.turn("second"):
                raise AssertionError("there is no free slot")
    async with turns.turn("third"):
        pass
