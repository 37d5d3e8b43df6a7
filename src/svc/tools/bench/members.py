"""Simulates members under load. Each member sends and receives on its own live socket, and records the
arrival and the delay of each message. Members neither track the community's state nor print anything.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence

from svc.tools.bench.errors import BenchError
from svc.tools.bench.websocket import WebSocket, connect

REPLY_DEADLINE_S = 30.0
_POSTED = b'{"event":"message_posted"'
_STAMP = b'"bench '
# The text that pads messages to the requested size.
_FILLING = "the quick brown fox jumps over the lazy dog "


class Tally:
    """The totals of all members."""

    def __init__(self) -> None:
        self.sent = 0
        self.delivered = 0
        self.refused: Counter[str] = Counter()
        # Seconds from sending a message until each receiver has it, and until the reply arrives.
        self.delays_s: list[float] = []
        self.replies_s: list[float] = []

    def clear(self) -> None:
        self.sent = self.delivered = 0
        self.refused.clear()
        self.delays_s.clear()
        self.replies_s.clear()


class Member:
    """A simulated member. `ask` returns the reply to a request, whereas `post` only records it."""

    def __init__(self, tally: Tally) -> None:
        self.welcome: dict[str, object] = {}
        self._tally = tally
        self._socket: WebSocket | None = None
        self._last_id = 0
        self._waiting: dict[int, asyncio.Future[dict[str, object]]] = {}

    @property
    def received_bytes(self) -> int:
        return self._socket.received_bytes if self._socket else 0

    @property
    def close_code(self) -> int | None:
        return self._socket.close_code if self._socket else None

    async def sign_in(self, url: str, token: str) -> None:
        """Connect and authenticate. Raises BenchError."""
        self._socket = await connect(url, self._take, f"svc.live, svc.token.{token}")
        reply = await self.ask("authenticate", {"access_token": token})
        if reply["event"] != "authenticated":
            raise BenchError(f"the server refused a member: {reply['data']}")
        data = reply["data"]
        assert isinstance(data, dict)
        self.welcome = data

    async def ask(self, event: str, data: object) -> dict[str, object]:
        async with asyncio.timeout(REPLY_DEADLINE_S):
            return await self._send(event, data)

    async def post(self, channel_id: str, size: int) -> None:
        """Send a message of about `size` characters and record when it was accepted."""
        self._tally.sent += 1
        started = time.perf_counter()
        text = (f"bench {started:.7f} " + _FILLING * (size // len(_FILLING) + 1))[:size]
        reply = await self.ask("message_send", {"channel_id": channel_id, "text": text})
        if reply["event"] == "error":
            problem = reply["data"]
            assert isinstance(problem, dict)
            self._tally.refused[str(problem["error"])] += 1
        else:
            self._tally.replies_s.append(time.perf_counter() - started)

    def leave(self) -> None:
        if self._socket is not None:
            self._socket.abort()

    def _send(self, event: str, data: object) -> asyncio.Future[dict[str, object]]:
        assert self._socket is not None
        self._last_id += 1
        frame = {"event": event, "id": self._last_id, "data": data}
        self._socket.send(json.dumps(frame, separators=(",", ":")).encode())
        reply: asyncio.Future[dict[str, object]] = asyncio.get_running_loop().create_future()
        self._waiting[self._last_id] = reply
        return reply

    def _take(self, text: bytes) -> None:
        if text.startswith(_POSTED):
            self._tally.delivered += 1
            at = text.find(_STAMP)
            if at >= 0:
                sent_at = float(text[at + len(_STAMP) : text.index(b" ", at + len(_STAMP))])
                self._tally.delays_s.append(time.perf_counter() - sent_at)
        elif b'"id":' in text[:200]:
            frame = json.loads(text)
            reply = self._waiting.pop(frame.get("id"), None)
            if reply is not None and not reply.done():
                reply.set_result(frame)


def text_channel(member: Member) -> str:
    """Return the id of the first text channel. Raises BenchError."""
    channels = member.welcome.get("channels")
    for channel in channels if isinstance(channels, Sequence) else ():
        if channel["type"] == "text":
            return str(channel["id"])
    raise BenchError("the community has no text channel")
