"""Wakes media workers through a counter, which is incremented when a job may have become available.

A worker keeps a request open until the counter differs from the last value it saw. The worker thus learns of
a job immediately, and causes no load while there are no jobs. `queue` manages the jobs.
"""

import asyncio
from contextlib import suppress

from svc.chat.errors import ChatError

# The longest time that a worker's request waits. It is shorter than the control socket's timeout, and shorter
# than the time after which a silent worker is considered down.
MAX_WAIT_S = 45.0
# The maximum number of waiting workers: half of the control socket's connections, to leave some for commands.
# Additional workers poll.
MAX_WAITING = 32


class JobSignal:
    def __init__(self) -> None:
        self._number = 0
        self._waiting = 0
        self._raised = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    def announce(self) -> None:
        """Wake every waiting worker."""
        self._number += 1
        self._raised.set()
        self._raised = asyncio.Event()

    def announce_after(self, wait_s: float | None) -> None:
        """Schedule an announcement, replacing any scheduled one. If `wait_s` is None, only cancel the
        scheduled one.
        """
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if wait_s is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, wait_s), self.announce)

    @property
    def has_waiting(self) -> bool:
        return self._waiting > 0

    async def wait_next(self, *, within_s: float | None) -> None:
        """Wait for the next announcement, for at most `within_s`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._raised.wait()

    async def wait(self, seen: int) -> int:
        """Return the counter as soon as it differs from `seen`, or after a timeout.

        Raises ChatError if too many workers are waiting.
        """
        if seen == self._number:
            if self._waiting >= MAX_WAITING:
                raise ChatError("too_many_connections", "Too many workers are waiting; poll instead")
            self._waiting += 1
            try:
                await self.wait_next(within_s=MAX_WAIT_S)
            finally:
                self._waiting -= 1
        return self._number
