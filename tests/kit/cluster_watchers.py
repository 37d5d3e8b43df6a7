"""Members with live sockets to a cluster, whose permission to view a channel is removed and restored.

Each removal is checked in two ways. A message posted after the removal was acknowledged must not reach the
member through any relay or node. A second after the removal, no relay or node may serve the channel's
messages to the member.

After a live socket has delivered the complete state, the member must receive each later message at most once,
and in the order of the file. In the channel whose permission nobody loses, no message may be missing up to
the last one that arrived over the socket. Around a takeover, events of the next owner may come before the
complete state, which has what the previous owner stored without announcing it. So a message may be missing
before a complete state, and may arrive again after it. Repeated messages are counted.
"""

import asyncio
import json
import random
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import ClientError, ClientSession, ClientTimeout, WSMsgType

from tests.chat.people import Person
from tests.kit.chat_nodes import ClusterProcess
from tests.kit.cluster_clients import Clients

# The time limit for a removed permission to take effect everywhere.
EFFECTIVE_WITHIN_S = 1.0
_ANSWER_S = 2.0
_PAUSE_S = 0.2
# Half the lifetime of an access token.
_RENEW_S = 450.0


@dataclass
class _Session:
    """The events of a live socket between two complete states. `began` is the time of the first one."""

    socket: int
    began: float
    # The ids of the messages, in order.
    messages: list[str] = field(default_factory=list)


@dataclass
class _Watcher:
    person: Person
    sessions: list[_Session] = field(default_factory=list)
    # For each removal, the time of its acknowledgement and the time of the request that restores the
    # permission.
    denied: list[tuple[float, float]] = field(default_factory=list)


class Watchers:
    """The watching members. The first member never has permission to view the channel with the given id."""

    def __init__(
        self,
        groups: Sequence[Sequence[ClusterProcess]],
        people: Sequence[Person],
        channel_id: str,
        owner: Person,
        clients: Clients,
        seed: int,
    ) -> None:
        self._groups, self._owner, self._clients = groups, owner, clients
        self._channel, self._chance = f"/api/channels/{channel_id}", random.Random(f"watchers {seed}")
        self._watchers = [_Watcher(person) for person in people]
        self._served: list[str] = []
        # The number of sockets that were opened.
        self._sockets = 0
        self._stop = asyncio.Event()
        self._running: list[asyncio.Task[None]] = []

    @property
    def removals(self) -> int:
        return sum(len(watcher.denied) for watcher in self._watchers)

    @property
    def received(self) -> int:
        return sum(len(session.messages) for watcher in self._watchers for session in watcher.sessions)

    @property
    def repeated(self) -> int:
        """The number of messages that arrived again over the same socket after the complete state."""
        count = 0
        for watcher in self._watchers:
            known: dict[int, set[str]] = {}
            for session in watcher.sessions:
                earlier = known.setdefault(session.socket, set())
                count += len(earlier.intersection(session.messages))
                earlier.update(session.messages)
        return count

    async def start(self) -> None:
        first = self._watchers[0]
        await self._allow(first, allowed=False)
        first.denied.append((asyncio.get_running_loop().time(), float("inf")))
        self._running = [
            *(
                asyncio.create_task(self._watch(watcher, self._groups[number % len(self._groups)]))
                for number, watcher in enumerate(self._watchers)
            ),
            asyncio.create_task(self._remove_and_give()),
        ]

    async def stop(self) -> None:
        self._stop.set()
        *watching, changing = self._running
        await changing
        for task in watching:
            task.cancel()
        await asyncio.gather(*watching, return_exceptions=True)

    def faults(self, file: Path) -> list[str]:
        """Return the errors: forbidden, repeated, misordered or missing events, and servers that ignored a
        removal. `file` is a node's database.
        """
        faults = list(self._served)
        posts = self._clients.written.posts
        with closing(sqlite3.connect(file)) as connection:
            rows = connection.execute("SELECT id, channel_id, n FROM messages ORDER BY n").fetchall()
        channels = {id_: f"/api/channels/{channel}" for id_, channel, _ in rows}
        places = {id_: n for id_, _, n in rows}
        for watcher in self._watchers:
            for number, session in enumerate(watcher.sessions):
                messages, name = session.messages, watcher.person.id
                if len(messages) != len(set(messages)):
                    faults.append(f"{name} got a message twice")
                known = [posts[id_] for id_ in messages if id_ in posts]
                faults += [f"{name} got {fault} late" for fault in misordered(messages, channels, places)]
                if session.socket not in {later.socket for later in watcher.sessions[number + 1 :]}:
                    missed = self._missed(session, places)
                    faults += [f"{name} missed {id_}" for id_ in missed if channels[id_] != self._channel]
                faults += [
                    f"{watcher.person.id} got {post.count} of client {post.writer} without the permission"
                    for post in known
                    for removed, given in watcher.denied
                    if post.channel == self._channel and removed < post.began and post.acknowledged < given
                ]
        return faults

    def _missed(self, session: _Session, places: Mapping[str, int]) -> list[str]:
        """Return the messages that were posted during a session, and that it lacks although it has later
        ones.
        """
        posts = self._clients.written.posts
        received = {*session.messages}
        last = max((places[id_] for id_ in received if id_ in places), default=0)
        return [
            id_
            for id_, post in posts.items()
            if post.began > session.began and places.get(id_, last) < last and id_ not in received
        ]

    async def _remove_and_give(self) -> None:
        now = asyncio.get_running_loop().time
        renewed = now()
        while not self._stop.is_set():
            if now() - renewed > _RENEW_S:
                for each_watcher in self._watchers:
                    await self._clients.renew(each_watcher.person)
                renewed = now()
            watcher = self._chance.choice(self._watchers[1:])
            await self._allow(watcher, allowed=False)
            removed = now()
            await asyncio.sleep(EFFECTIVE_WITHIN_S)
            servers = [server for group in self._groups for server in group]
            await asyncio.gather(*(self._check(watcher, server) for server in servers))
            watcher.denied.append((removed, now()))
            await self._allow(watcher, allowed=True)

    async def _allow(self, watcher: _Watcher, *, allowed: bool) -> None:
        target = f"{self._channel}/overrides/member/{watcher.person.id}"
        body = {"allow" if allowed else "deny": ["view_channel"]}
        async with self._clients.session(self._owner) as http:
            await self._clients.until(http, 0, "PUT", target, body)

    async def _check(self, watcher: _Watcher, server: ClusterProcess) -> None:
        headers = {"Authorization": f"Bearer {watcher.person.token}"}
        try:
            async with (
                ClientSession(timeout=ClientTimeout(_ANSWER_S)) as http,
                http.get(f"{server.address}{self._channel}/messages", headers=headers) as response,
            ):
                if response.status == 200:
                    self._served.append(f"{server.name} served the channel after the permission was removed")
        except (ClientError, OSError, TimeoutError):
            pass

    async def _watch(self, watcher: _Watcher, servers: Sequence[ClusterProcess]) -> None:
        """Keep a live socket open. Whenever it closes, connect to another server."""
        chance = random.Random(watcher.person.id)
        while True:
            with suppress(ClientError, OSError, TimeoutError):
                await self._receive(watcher, chance.choice(servers))
            await asyncio.sleep(_PAUSE_S)

    async def _receive(self, watcher: _Watcher, server: ClusterProcess) -> None:
        self._sockets += 1
        socket, session = self._sockets, None
        now = asyncio.get_running_loop().time
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(_ANSWER_S):
                http = await stack.enter_async_context(ClientSession())
                opened = http.ws_connect(f"{server.address}/live", max_msg_size=0, heartbeat=_ANSWER_S)
                ws = await stack.enter_async_context(opened)
                signed = {"event": "authenticate", "id": 1, "data": {"access_token": watcher.person.token}}
                await ws.send_json(signed)
            async for message in ws:
                if message.type is not WSMsgType.TEXT:
                    break
                frame = json.loads(message.data)
                if frame["event"] == "authenticated":
                    # The complete state, at first or after a takeover. The following events belong to it.
                    session = _Session(socket, now())
                    watcher.sessions.append(session)
                elif frame["event"] == "message_posted" and session is not None:
                    session.messages.append(frame["data"]["id"])


def misordered(messages: Sequence[str], channels: Mapping[str, str], places: Mapping[str, int]) -> list[str]:
    """Return the messages that arrived after a message that follows them in the file of the same channel."""
    last: dict[str, int] = {}
    faults = []
    for id_ in messages:
        if id_ not in places:
            continue
        channel = channels[id_]
        if places[id_] < last.get(channel, 0):
            faults.append(id_)
        last[channel] = max(places[id_], last.get(channel, 0))
    return faults
