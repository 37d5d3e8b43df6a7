"""Clients that write to a cluster until stopped, and a comparison of their writes with the file.

A client repeats each write until it is acknowledged. Messages have a nonce, so a repeated message is stored
once. Each message is edited at most once, so an earlier attempt that arrives late changes nothing.
"""

import asyncio
import base64
import json
import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

from aiohttp import ClientError, ClientSession, ClientTimeout

from tests.kit.chat_nodes import ClusterProcess
from tests.kit.waiting import wait_until

CHANNEL = "/api/channels/general/messages"
EMOJI = "👍"
_ATTEMPT_S = 2.0
_PAUSE_S = 0.05
_LAST_WRITES_S = 120.0


class Clients:
    """Members who write concurrently, distributed over the groups of servers in rotation.

    When a server does not respond, its clients try another one of its group.
    """

    def __init__(self, groups: Sequence[Sequence[ClusterProcess]], tokens: Sequence[str], seed: int) -> None:
        self._groups, self._tokens, self._seed = groups, tokens, seed
        self._stop = False
        # For each group: the server that acknowledged the latest write, and the times of all
        # acknowledgements.
        self._responding = [group[0] for group in groups]
        self._acknowledged_at: list[list[float]] = [[] for _ in groups]
        # By message id: the last acknowledged text, and whether a reaction was acknowledged.
        self.texts: dict[str, str] = {}
        # By message id: the number of the client that posted the message, and the number of its write.
        self.places: dict[str, tuple[int, int]] = {}
        self.reactions: set[str] = set()
        # Whether each member has the role, as last acknowledged.
        self.roles: dict[str, bool] = {}
        self.role = ""
        self._writing: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start all clients. The first token must be the community owner's."""
        headers = {"Authorization": f"Bearer {self._tokens[0]}"}
        async with ClientSession(headers=headers, timeout=ClientTimeout(_ATTEMPT_S)) as http:
            self.role = await self._until(http, 0, "POST", "/api/roles", {"name": "Tested"})
        self._writing = [
            asyncio.create_task(self._write(number, token)) for number, token in enumerate(self._tokens)
        ]

    async def stop(self) -> None:
        """Stop each client after its current write."""
        self._stop = True
        async with asyncio.timeout(_LAST_WRITES_S):
            await asyncio.gather(*self._writing)

    async def next_acknowledgement(self, within_s: float) -> None:
        """Wait for an acknowledged write in each group."""
        counts = [len(times) for times in self._acknowledged_at]

        async def have_more() -> bool:
            return all(len(times) > count for times, count in zip(self._acknowledged_at, counts, strict=True))

        await wait_until("a write is acknowledged", have_more, within_s=within_s)

    @property
    def acknowledged(self) -> int:
        return sum(map(len, self._acknowledged_at))

    def longest_silence_since(self, moment: float) -> float:
        """Return the longest time without an acknowledged write in any group, in seconds."""
        return max(
            later - earlier
            for group in self._acknowledged_at
            for earlier, later in pairwise([moment, *(time for time in group if time > moment)])
        )

    async def _write(self, number: int, token: str) -> None:
        chance = random.Random(f"{self._seed}-{number}")
        own: list[str] = []
        unedited: list[str] = []
        count, group = 0, number % len(self._groups)
        headers = {"Authorization": f"Bearer {token}"}
        async with ClientSession(headers=headers, timeout=ClientTimeout(_ATTEMPT_S)) as http:
            while not self._stop:
                count += 1
                kind = chance.random()
                if number == 0 and kind < 0.5:
                    await self._change_role(http, chance)
                elif not own or kind < 0.6:
                    text = f"{number}/{count}"
                    body = {"text": text, "nonce": f"nonce-{text}"}
                    message = await self._until(http, group, "POST", CHANNEL, body)
                    own.append(message)
                    unedited.append(message)
                    self.texts[message] = text
                    self.places[message] = number, count
                elif kind < 0.8 and unedited:
                    message, text = unedited.pop(chance.randrange(len(unedited))), f"{number}/{count} edited"
                    await self._until(http, group, "PATCH", f"{CHANNEL}/{message}", {"text": text})
                    self.texts[message] = text
                else:
                    message = chance.choice(own)
                    await self._until(http, group, "PUT", f"{CHANNEL}/{message}/reactions/{EMOJI}", None)
                    self.reactions.add(message)
                self._acknowledged_at[group].append(asyncio.get_running_loop().time())
                # Members may write ten times a second.
                await asyncio.sleep(chance.uniform(0.1, 0.3))

    async def _change_role(self, http: ClientSession, chance: random.Random) -> None:
        """Give a member the role, or remove it. Only the community's owner calls this."""
        member_id = _member_of(chance.choice(self._tokens))
        is_given = not self.roles.get(member_id, False)
        path = f"/api/members/{member_id}/roles/{self.role}"
        await self._until(http, 0, "PUT" if is_given else "DELETE", path, None)
        self.roles[member_id] = is_given

    async def _until(self, http: ClientSession, group: int, method: str, path: str, body: object) -> str:
        """Repeat a request until it is acknowledged. Return the id in the response, if any."""
        server = self._responding[group]
        while True:
            try:
                async with http.request(method, server.address + path, json=body) as response:
                    if response.status in (200, 201, 204):
                        self._responding[group] = server
                        answer = await response.json() if response.status != 204 else None
                        return str((answer or {}).get("id", ""))
                    assert response.status in (429, 503), (response.status, await response.text())
            except (ClientError, OSError, TimeoutError):
                pass
            others = [other for other in self._groups[group] if other is not server]
            responding = self._responding[group]
            server = random.choice(others) if responding is server else responding
            await asyncio.sleep(_PAUSE_S)


def _member_of(token: str) -> str:
    payload = token.split(".")[1]
    return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["sub"])


def faults_in(path: Path, clients: Clients) -> list[str]:
    """Return lost writes, messages stored twice, and messages of a client that are out of order."""
    with closing(sqlite3.connect(path)) as connection:
        texts = dict(
            connection.execute("SELECT id, text FROM messages WHERE channel_id = 'general' ORDER BY n")
        )
        given = {
            id_
            for (id_,) in connection.execute(
                "SELECT member_id FROM member_roles WHERE role_id = ?", (clients.role,)
            )
        }
        reacted = connection.execute(
            "SELECT m.id FROM reactions AS r JOIN messages AS m ON m.n = r.n"
        ).fetchall()
    lost = [f"{text} of {id_}" for id_, text in clients.texts.items() if texts.get(id_) != text]
    lost += [f"reaction of {id_}" for id_ in clients.reactions - {id_ for (id_,) in reacted}]
    lost += [f"role of {id_}" for id_, is_given in clients.roles.items() if (id_ in given) != is_given]
    last: dict[int, int] = {}
    disorder = []
    for id_ in filter(clients.places.__contains__, texts):
        client, count = clients.places[id_]
        if count < last.get(client, 0):
            disorder.append(f"{count} of client {client}")
        last[client] = count
    # Every client repeated its last write until it was acknowledged.
    twice = [text for id_, text in texts.items() if id_ not in clients.texts]
    return [
        *(f"lost: {each}" for each in lost),
        *(f"twice: {each}" for each in twice),
        *(f"order: {each}" for each in disorder),
    ]
