"""The watch on timeouts that end. Which end when is `rules`'; sends nothing."""

import asyncio
import time
from contextlib import suppress
from typing import NoReturn

from svc.chat.moderation.rules import Moderation

_LONGEST_WAIT_S = 60.0


class TimeoutWatch:
    """Tells when timeouts end, so that a call gives back what they took."""

    def __init__(self, moderation: Moderation) -> None:
        self._moderation = moderation
        self._changed = asyncio.Event()
        moderation.wake = self._changed.set

    async def run(self) -> NoReturn:
        seen = time.time()
        while True:
            # The clock may be set meanwhile, or the machine have slept.
            seen = min(seen, time.time())
            end = self._moderation.next_end(seen)
            with suppress(TimeoutError):
                wait_s = None if end is None else min(_LONGEST_WAIT_S, max(0.0, end - time.time()))
                async with asyncio.timeout(wait_s):
                    await self._changed.wait()
            self._changed.clear()
            now = time.time()
            self._moderation.ended(seen, now)
            seen = now
