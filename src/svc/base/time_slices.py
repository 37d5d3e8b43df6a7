"""Runs expensive synchronous work in steps on the event loop, with pauses in between.

A step runs on the event loop, and callers keep it under about 10 ms. Longer work is a generator that yields
often, and is run in steps of SLICE_S. After a step, other tasks get the loop for at least as long as the step
took. However many steps are waiting, they get at most half of the loop's time, and other tasks wait for at
most one step. A step cannot be interrupted.
"""

import asyncio
import time
from collections.abc import Callable, Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")

# Work that yields after each piece of less than a millisecond, and finally returns its result.
Work: TypeAlias = Generator[None, None, T]

# There is no pause after a step shorter than this, because the pause would cost as much as the step.
SHORT_S = 0.001
# The length of a step. On a busy machine, a step takes twice as long in real time.
SLICE_S = 0.003


def run_to_end(work: Work[T]) -> T:
    """Finish work without pauses, for work that is short or does not run on the event loop."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result


class TimeSlices:
    """A scheduler for steps of work. `clock` returns the time that the event loop has spent working, in
    seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._turn = asyncio.Lock()

    async def run(self, step: Callable[[], T], deadline_s: float) -> T:
        """Run the step after the steps that are already waiting. Raises TimeoutError after waiting for
        `deadline_s`.
        """
        async with asyncio.timeout(deadline_s):
            await self._turn.acquire()
        began = self._clock()
        try:
            return step()
        finally:
            took_s = self._clock() - began
            if took_s < SHORT_S:
                self._turn.release()
            else:
                # The caller continues immediately. Only the next step waits.
                asyncio.get_running_loop().call_later(took_s, self._turn.release)

    async def finish(self, work: Work[T], deadline_s: float) -> T:
        """Finish work step by step. Raises TimeoutError if a step is still waiting after `deadline_s`.

        Short work is done immediately, without waiting for longer work.
        """
        clock = asyncio.get_running_loop().time
        end = clock() + deadline_s
        if not (results := self._slice(work, SHORT_S)):
            await asyncio.sleep(0)
        while not results:
            results = await self.run(lambda: self._slice(work, SLICE_S), max(0.0, end - clock()))
        return results[0]

    def _slice(self, work: Work[T], seconds: float) -> tuple[T, ...]:
        """Continue work for a while. Return a tuple with its result, or an empty one if it is unfinished."""
        until = self._clock() + seconds
        try:
            next(work)
            while self._clock() < until:
                next(work)
        except StopIteration as end:
            return (end.value,)
        return ()
