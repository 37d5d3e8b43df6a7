"""The signal that wakes media workers: a number that rises when a job might have become ready to claim.

A worker keeps one request open until the number differs from the last one it saw. It thereby learns of a job
at once, and costs nothing while there is none. Knows no jobs, and claims nothing.
"""

import asyncio
from contextlib import suppress

from svc.chat.errors import ChatError

# The timeout of a wait, shorter than the control socket's timeout and the time after which a worker counts as
# silent.
MAX_WAIT_S = 45.0
# The maximum number of waiting workers: half of the control socket's connections, so that commands always get
# one. Workers beyond this number poll.
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
        """Set the time of the next announcement. None cancels it."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if wait_s is not None:
            self._timer = asyncio.get_running_loop().call_later(max(0.0, wait_s), self.announce)

    @property
    def has_waiting(self) -> bool:
        return self._waiting > 0

    async def raised(self, *, within_s: float | None) -> None:
        """Wait for the next announcement, or for this many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._raised.wait()

    async def wait(self, seen: int) -> int:
        """Return the number once it differs from `seen`, or the unchanged number after a while.

        Raises ChatError.
        """
        if seen == self._number:
            if self._waiting >= MAX_WAITING:
                raise ChatError("too_many_connections", "Enough workers are waiting already; poll instead")
            self._waiting += 1
            try:
                await self.raised(within_s=MAX_WAIT_S)
            finally:
                self._waiting -= 1
        return self._number
