"""Measures how the processor time of an operation grows with its size, independently of other programs."""

import gc
import time
from collections.abc import Callable

# For eight times the input, linear work takes eight times as long, and quadratic work 64 times.
LARGER = 8
MOST_GROWTH = 24
ATTEMPTS = 5


def grows_with_its_size(work: Callable[[int], object], size: int) -> bool:
    """Check that the time of `work` grows in proportion to its size, not quadratically."""
    small, large = processor_time(work, size // LARGER), processor_time(work, size)
    return large < MOST_GROWTH * small


def processor_time(work: Callable[[int], object], size: int) -> float:
    """Measure the work several times, and return the shortest processor time of this thread in seconds.

    The garbage collector is off, because it would also visit the objects of earlier tests.
    """
    taken = []
    for _ in range(ATTEMPTS):
        gc.disable()
        try:
            since = time.thread_time()
            work(size)
            taken.append(time.thread_time() - since)
        finally:
            gc.enable()
    return min(taken)
