"""Whether a media worker is at work: it has asked for a job lately, or says so at its address.

Only tells; uploads wait for the worker however that is. docs/configuration.md, "Chat server",
IMAGE_WORKER_URL.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NoReturn

from aiohttp import ClientError, ClientSession, ClientTimeout

# A worker asks for work every few seconds at the most.
HEARD_LATELY_S = 60.0
_ASK_EVERY_S = 15.0
_ANSWER_DEADLINE_S = 5.0

logger = logging.getLogger(__name__)


class WorkerHealth:
    """`url` is where it says how it is; empty where nobody has said. `now` gives seconds that rise."""

    def __init__(self, session: ClientSession, url: str, now: Callable[[], float]) -> None:
        self._session = session
        self._url = url
        self._now = now
        self._heard_at: float | None = None
        self._answers = False

    @property
    def watched(self) -> bool:
        return bool(self._url)

    @property
    def up(self) -> bool:
        lately = self._heard_at is not None and self._now() - self._heard_at < HEARD_LATELY_S
        return self._answers or lately

    def heard(self, worker: str) -> None:
        """A worker has asked for a job."""
        self._heard_at = self._now()

    async def run(self) -> NoReturn:
        while True:
            answers = await self.asked()
            if answers != self._answers:
                say = logger.info if answers else logger.warning
                say("media worker", extra={"answers": answers})
            self._answers = answers
            await asyncio.sleep(_ASK_EVERY_S)

    async def asked(self) -> bool:
        """Does it say that it is well?"""
        try:
            timeout = ClientTimeout(total=_ANSWER_DEADLINE_S)
            async with self._session.get(f"{self._url}/health", timeout=timeout) as response:
                return response.status == 200
        except (ClientError, OSError, TimeoutError):
            return False
