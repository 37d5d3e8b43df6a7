"""One open page: its WebSocket, what is on the way to it, who has signed in on it, and its end.

Asks and answers nothing; `socket` does.
"""

import asyncio

from svc.chat.access.tokens import Asker
from svc.chat.live.closing import CloseCode
from svc.chat.live.outbox import Outbox, Rounds
from svc.chat.live.websocket import WebSocket


class Page:
    def __init__(self, ws: WebSocket, rounds: Rounds) -> None:
        self.ws = ws
        # Who asks; None until somebody has signed in.
        self.asker: Asker | None = None
        self.outbox = Outbox(ws.transport, rounds, self._too_slow)
        self.send = self.outbox.send
        self._rounds = rounds
        self._ending: asyncio.Future[None] | None = None

    @property
    def session_id(self) -> str:
        return self.asker.session_id if self.asker else ""

    @property
    def is_ending(self) -> bool:
        return self._ending is not None

    def cut_off(self, code: int, reason: str) -> None:
        """Close, after what was said before. The first reason counts."""
        if self._ending is None:
            self._rounds.write()
            self._ending = asyncio.ensure_future(self.ws.end(code, reason))

    async def ended(self) -> None:
        """Return when a close that was begun is over."""
        if self._ending is not None:
            await self._ending

    def check(self, monotonic_s: float, now: float) -> None:
        """To be called every second or so: does the page still read, and is it still signed in?"""
        self.outbox.check(monotonic_s)
        if self.asker is not None and now >= self.asker.expires_at:
            self.cut_off(CloseCode.TOKEN_EXPIRED, "The access token has expired")

    def _too_slow(self) -> None:
        self.cut_off(CloseCode.TOO_SLOW, "Too slow to keep up")
