"""Measures how the CPU time of an operation grows with its size, independently of other programs."""

import gc
import time
from collections.abc import Callable

# With eight times the input, linear work takes eight times as long, and quadratic work takes 64 times as
# long.
LARGER = 8
MAX_GROWTH = 24
MIN_ATTEMPTS, MAX_ATTEMPTS = 5, 40


def grows_with_its_size(work: Callable[[int], object], size: int) -> bool:
    """Return whether the time of `work` grows in proportion to its size rather than quadratically.

    Compares the shortest times, because other programs can only make the work slower. A noisy machine needs
    more attempts.
    """
    small = large = float("inf")
    for attempt in range(MAX_ATTEMPTS):
        small = min(small, processor_time(work, size // LARGER))
        large = min(large, processor_time(work, size))
        if attempt + 1 >= MIN_ATTEMPTS and large < MAX_GROWTH * small:
            return True
    return False


def processor_time(work: Callable[[int], object], size: int) -> float:
    """Return the CPU time of this thread for the work, in seconds.

    The garbage collector is off, because it would also visit the objects of earlier tests.
    """
    gc.disable()
    try:
        since = time.thread_time()
        work(size)
        return time.thread_time() - since
    finally:
        gc.enable()
