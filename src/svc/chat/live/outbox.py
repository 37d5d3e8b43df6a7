"""Frames on their way to one page: a bounded queue and the one task that writes it.

A reader who does not keep up ends the task; frames are never dropped in silence, for
the page would show a state that is not true. Does not close the socket.
"""

import asyncio
from collections.abc import Awaitable, Callable

from svc.base.tasks import until_first_ends

# Beyond what the socket itself buffers. A page that is this far behind
# has not read for many seconds.
MAX_WAITING = 256
WRITE_DEADLINE_S = 10.0
TOO_SLOW = 4008


class Outbox:
    def __init__(self, write: Callable[[str], Awaitable[None]]) -> None:
        self._write = write
        self._waiting: asyncio.Queue[str] = asyncio.Queue(MAX_WAITING)
        self._overflowed = asyncio.Event()
        # Why the page is to be cut off, once it is.
        self.ending: tuple[int, str] | None = None

    def send(self, frame: str) -> None:
        """Queue a frame; one too many ends `drain`."""
        try:
            self._waiting.put_nowait(frame)
        except asyncio.QueueFull:
            self.cut_off(TOO_SLOW, "Too slow to keep up")

    def cut_off(self, code: int, reason: str) -> None:
        """End `drain`; the first reason counts."""
        if self.ending is None:
            self.ending = code, reason
        self._overflowed.set()

    async def drain(self) -> None:
        """Write frames until the reader proves too slow. Raises OSError when it is gone."""
        await until_first_ends(self._write_all(), self._overflowed.wait())

    async def _write_all(self) -> None:
        while True:
            frame = await self._waiting.get()
            async with asyncio.timeout(WRITE_DEADLINE_S):
                await self._write(frame)
