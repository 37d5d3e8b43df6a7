"""Shows a progress bar on the terminal.

Shows nothing if standard error is not a terminal. The bar is one line that is redrawn in place.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from svc.base.progress import Listener, Progress

_CELLS = 30
# The minimum interval between updates. Faster updates would only flicker.
_INTERVAL_S = 0.1


@contextmanager
def show_progress(on: TextIO | None = None) -> Iterator[Listener]:
    """Show the progress that the block reports, and erase it at the end."""
    screen = on or sys.stderr
    if not screen.isatty():
        yield lambda progress: None
        return
    bar = _Bar(screen)
    try:
        yield bar.show
    finally:
        bar.wipe()


class _Bar:
    def __init__(self, screen: TextIO) -> None:
        self._screen = screen
        self._what = ""
        self._next = 0.0

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        # Show a new phase immediately.
        if now < self._next and progress.what == self._what:
            return
        self._next, self._what = now + _INTERVAL_S, progress.what
        self._screen.write(f"\r\033[K{line(progress)}")
        self._screen.flush()

    def wipe(self) -> None:
        if self._what:
            self._screen.write("\r\033[K")
            self._screen.flush()


def line(progress: Progress) -> str:
    share = min(1.0, progress.done / progress.total) if progress.total else 0.0
    full = int(share * _CELLS)
    return f"{progress.what:<12} [{'#' * full}{'.' * (_CELLS - full)}] {share:4.0%}"
