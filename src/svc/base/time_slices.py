"""Runs expensive synchronous work in steps on the event loop, with pauses in between.

A step runs on the event loop, and its caller limits it to about 10 ms. Longer work is a generator that yields
often, and each of its steps ends after SLICE_S. After a step, everything else has the loop for at least as
long. However many steps wait, they get at most half of the loop, and other tasks wait for at most one step. A
step cannot be interrupted.
"""

import asyncio
import time
from collections.abc import Callable, Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")

# Work that yields after each piece, which takes less than a millisecond, and finally returns its result.
Work: TypeAlias = Generator[None, None, T]

# A step shorter than this costs no more than a pause would.
SHORT_S = 0.001
# On a busy machine this takes twice as long in real time.
SLICE_S = 0.003


def run_to_end(work: Work[T]) -> T:
    """Finish work at once, if it is short or does not run on the event loop."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: T = end.value
            return result


class TimeSlices:
    """Turns for steps of work. `clock` counts seconds of the event loop's work."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._turn = asyncio.Lock()

    async def run(self, step: Callable[[], T], deadline_s: float) -> T:
        """Run the step when its turn comes. Raises TimeoutError after `deadline_s` of waiting."""
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
                # The caller continues at once. Only the next step waits.
                asyncio.get_running_loop().call_later(took_s, self._turn.release)

    async def finish(self, work: Work[T], deadline_s: float) -> T:
        """Finish work step by step. Raises TimeoutError if its turns come too late.

        Short work is done at once, without waiting for longer work.
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
