"""Clients that write to a cluster until stopped, and a comparison of their writes with the file.

A client repeats each write until it is acknowledged. Messages have a nonce, so a repeated message is stored
once; edits and reactions are idempotent.
"""

import asyncio
import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from aiohttp import ClientError, ClientSession, ClientTimeout

from tests.kit.chat_nodes import ChatNode
from tests.kit.waiting import wait_until

CHANNEL = "/api/channels/general/messages"
EMOJI = "👍"
_ATTEMPT_S = 2.0
_PAUSE_S = 0.05
_LAST_WRITES_S = 120.0


class Clients:
    """Members that write concurrently. `acknowledged_at` has the time of each acknowledged write."""

    def __init__(self, nodes: Sequence[ChatNode], tokens: Sequence[str], seed: int) -> None:
        self._nodes, self._tokens, self._seed = nodes, tokens, seed
        self._stop = False
        # The node that acknowledged the latest write.
        self._owner = nodes[0]
        # By message id: the last acknowledged text, and whether a reaction was acknowledged.
        self.texts: dict[str, str] = {}
        self.reactions: set[str] = set()
        self.acknowledged_at: list[float] = []
        self._writing: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._writing = [
            asyncio.create_task(self._write(number, token)) for number, token in enumerate(self._tokens)
        ]

    async def stop(self) -> None:
        """Stop each client after its current write."""
        self._stop = True
        async with asyncio.timeout(_LAST_WRITES_S):
            await asyncio.gather(*self._writing)

    async def next_acknowledgement(self, within_s: float) -> None:
        """Wait for an acknowledged write."""
        count = len(self.acknowledged_at)
        await wait_until("a write is acknowledged", lambda: self._has_more_than(count), within_s=within_s)

    async def _has_more_than(self, count: int) -> bool:
        return len(self.acknowledged_at) > count

    def longest_silence_since(self, moment: float) -> float:
        """Return the longest time without an acknowledged write, in seconds."""
        times = [moment, *(time for time in self.acknowledged_at if time > moment)]
        return max(later - earlier for earlier, later in pairwise(times))

    async def _write(self, number: int, token: str) -> None:
        chance = random.Random(f"{self._seed}-{number}")
        own: list[str] = []
        count = 0
        headers = {"Authorization": f"Bearer {token}"}
        async with ClientSession(headers=headers, timeout=ClientTimeout(_ATTEMPT_S)) as http:
            while not self._stop:
                count += 1
                kind = chance.random()
                if not own or kind < 0.6:
                    text = f"{number}/{count}"
                    body = {"text": text, "nonce": f"nonce-{text}"}
                    message = await self._until(http, "POST", CHANNEL, body)
                    own.append(message)
                    self.texts[message] = text
                elif kind < 0.8:
                    message, text = chance.choice(own), f"{number}/{count} edited"
                    await self._until(http, "PATCH", f"{CHANNEL}/{message}", {"text": text})
                    self.texts[message] = text
                else:
                    message = chance.choice(own)
                    await self._until(http, "PUT", f"{CHANNEL}/{message}/reactions/{EMOJI}", None)
                    self.reactions.add(message)
                self.acknowledged_at.append(asyncio.get_running_loop().time())
                # Members may write ten times a second.
                await asyncio.sleep(chance.uniform(0.1, 0.3))

    async def _until(self, http: ClientSession, method: str, path: str, body: object) -> str:
        """Repeat a request until it is acknowledged. Return the id in the response, if any."""
        node = self._owner
        while True:
            try:
                async with http.request(method, node.address + path, json=body) as response:
                    if response.status in (200, 201, 204):
                        self._owner = node
                        answer = await response.json() if response.status != 204 else None
                        return str((answer or {}).get("id", ""))
                    assert response.status in (429, 503), (response.status, await response.text())
            except (ClientError, OSError, TimeoutError):
                pass
            others = [other for other in self._nodes if other is not node]
            node = random.choice(others) if self._owner is node else self._owner
            await asyncio.sleep(_PAUSE_S)


def faults_in(path: Path, clients: Clients) -> list[str]:
    """Return acknowledged writes that the file lacks, and messages that it contains twice."""
    with closing(sqlite3.connect(path)) as connection:
        texts = dict(connection.execute("SELECT id, text FROM messages WHERE channel_id = 'general'"))
        reacted = connection.execute(
            "SELECT m.id FROM reactions AS r JOIN messages AS m ON m.n = r.n"
        ).fetchall()
    lost = [f"{text} of {id_}" for id_, text in clients.texts.items() if texts.get(id_) != text]
    lost += [f"reaction of {id_}" for id_ in clients.reactions - {id_ for (id_,) in reacted}]
    # Every client repeated its last write until it was acknowledged.
    twice = [text for id_, text in texts.items() if id_ not in clients.texts]
    return [*(f"lost: {each}" for each in lost), *(f"twice: {each}" for each in twice)]
