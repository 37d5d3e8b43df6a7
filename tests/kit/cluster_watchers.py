"""Checks what members on a cluster receive while their permission to view a channel is removed and restored.

Each removal is checked in two ways. A message posted after the removal was acknowledged must not reach the
member through any relay or node. A second after the removal, no relay or node may serve the channel's
messages to the member.

Another channel stays visible to every member. After each complete state, the member fetches the channel's
newest messages over HTTP. Until the next complete state, each later message must arrive as an event exactly
once, and in the order of the database, even over a resumed socket or during a takeover. A message that does
not arrive in that time must be among the messages that the member fetches after the next complete state.
"""

import asyncio
import json
import random
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import ClientError, ClientSession, ClientTimeout, WSMsgType

from tests.chat.http_member import HttpMember
from tests.kit.chat_nodes import ClusterProcess
from tests.kit.cluster_clients import CHANNEL, Clients

# The time limit for a removed permission to take effect everywhere.
EFFECTIVE_WITHIN_S = 1.0
_ANSWER_S = 2.0
_PAUSE_S = 0.2
# The number of attempts to fetch the newest messages.
_FETCHES = 50
# Half the lifetime of an access token.
_RENEW_S = 450.0


@dataclass
class Session:
    """The messages from a complete state to the next one."""

    # The ids of the newest messages, fetched after the complete state. Empty if the fetch failed.
    history: list[str] = field(default_factory=list)
    # The ids of the messages that arrived as events, in order.
    messages: list[str] = field(default_factory=list)


@dataclass
class _Watcher:
    person: HttpMember
    sessions: list[Session] = field(default_factory=list)
    # The largest `seq` of an event, from which the next socket resumes.
    seq: int | None = None
    resumptions: int = 0
    # The time at which each message arrived over a socket that had resumed.
    resumed_at: dict[str, float] = field(default_factory=dict)
    # For each removal, the time of its acknowledgement and the time of the request that restores the
    # permission.
    denied: list[tuple[float, float]] = field(default_factory=list)


class Watchers:
    """The watching members. The first member never has permission to view the channel with the given id."""

    def __init__(
        self,
        groups: Sequence[Sequence[ClusterProcess]],
        people: Sequence[HttpMember],
        channel_id: str,
        owner: HttpMember,
        clients: Clients,
        seed: int,
    ) -> None:
        self._groups, self._owner, self._clients = groups, owner, clients
        self._channel, self._chance = f"/api/channels/{channel_id}", random.Random(f"watchers {seed}")
        self._watchers = [_Watcher(person) for person in people]
        self._served: list[str] = []
        self._stop = asyncio.Event()
        self._running: list[asyncio.Task[None]] = []
        self._fetching: set[asyncio.Task[None]] = set()

    @property
    def removals(self) -> int:
        return sum(len(watcher.denied) for watcher in self._watchers)

    @property
    def received(self) -> int:
        return sum(len(session.messages) for watcher in self._watchers for session in watcher.sessions)

    @property
    def states(self) -> int:
        """The number of complete states."""
        return sum(len(watcher.sessions) for watcher in self._watchers)

    @property
    def resumptions(self) -> int:
        return sum(watcher.resumptions for watcher in self._watchers)

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
        ending = [*watching, *self._fetching]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    def faults(self, file: Path) -> list[str]:
        """Return the errors: forbidden, repeated, misordered or missing messages, and servers that ignored a
        removal. `file` is a node's database.
        """
        with closing(sqlite3.connect(file)) as connection:
            rows = connection.execute("SELECT id, channel_id, n FROM messages ORDER BY n").fetchall()
        channels = {id_: f"/api/channels/{channel}" for id_, channel, _ in rows}
        places = {id_: n for id_, _, n in rows}
        visible = {id_: n for id_, n in places.items() if channels[id_] != self._channel}
        faults = list(self._served)
        for watcher in self._watchers:
            name = watcher.person.id
            times = Counter(id_ for session in watcher.sessions for id_ in session.messages)
            faults += [f"{name} got {id_} {count} times" for id_, count in times.items() if count > 1]
            for session in watcher.sessions:
                late = misordered(session.messages, channels, places)
                faults += [f"{name} got {id_} late" for id_ in late]
                faults += [f"{name} missed {id_}" for id_ in missing_events(session, visible)]
                faults += [f"{name} did not find {id_}" for id_ in gaps(session.history, visible)]
            faults += self._forbidden(watcher)
        return faults

    def _forbidden(self, watcher: _Watcher) -> list[str]:
        """Return the events of the channel that a member got without the permission."""
        posts = self._clients.written.posts
        received = (id_ for session in watcher.sessions for id_ in session.messages)
        return [
            f"{watcher.person.id} got {posts[id_].count} of client {posts[id_].writer} without the permission"
            for id_ in received
            for removed, given in watcher.denied
            if id_ in posts
            and posts[id_].channel == self._channel
            and removed < posts[id_].began
            and posts[id_].acknowledged < given
            # A member who has the permission again may catch up.
            and watcher.resumed_at.get(id_, 0.0) < given
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
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(_ANSWER_S):
                http = await stack.enter_async_context(ClientSession())
                opened = http.ws_connect(f"{server.address}/live", max_msg_size=0, heartbeat=_ANSWER_S)
                ws = await stack.enter_async_context(opened)
                await ws.send_json(_sign_in(watcher))
            has_resumed = False
            async for message in ws:
                if message.type is not WSMsgType.TEXT:
                    break
                frame = json.loads(message.data)
                if frame["event"] == "authenticated":
                    # The complete state, at first or after a takeover.
                    watcher.seq, has_resumed = frame["data"]["seq"], False
                    watcher.sessions.append(Session())
                    fetch = asyncio.create_task(self._fetch(watcher, watcher.sessions[-1], server))
                    self._fetching.add(fetch)
                    fetch.add_done_callback(self._fetching.discard)
                    continue
                if frame["event"] == "resumed":
                    has_resumed = True
                    watcher.resumptions += 1
                watcher.seq = frame.get("seq", watcher.seq)
                if frame["event"] == "message_posted":
                    watcher.sessions[-1].messages.append(frame["data"]["id"])
                    if has_resumed:
                        watcher.resumed_at[frame["data"]["id"]] = asyncio.get_running_loop().time()

    async def _fetch(self, watcher: _Watcher, session: Session, server: ClusterProcess) -> None:
        """Fetch the newest messages of the channel that everyone may view, retrying for a while."""
        headers = {"Authorization": f"Bearer {watcher.person.token}"}
        for _ in range(_FETCHES):
            with suppress(ClientError, OSError, TimeoutError):
                async with (
                    ClientSession(timeout=ClientTimeout(_ANSWER_S), headers=headers) as http,
                    http.get(f"{server.address}{CHANNEL}", params={"limit": "100"}) as response,
                ):
                    if response.status == 200:
                        messages = (await response.json())["messages"]
                        session.history = [message["id"] for message in messages]
                        return
            await asyncio.sleep(_PAUSE_S)


def _sign_in(watcher: _Watcher) -> Mapping[str, object]:
    data: dict[str, object] = {"access_token": watcher.person.token}
    if watcher.seq is None:
        return {"event": "authenticate", "id": 1, "data": data}
    return {"event": "resume", "id": 1, "data": {**data, "seq": watcher.seq}}


def missing_events(session: Session, places: Mapping[str, int]) -> list[str]:
    """Return the messages that did not arrive, although they follow the fetched messages in the file and
    precede a message that arrived.
    """
    received = {id_: places[id_] for id_ in session.messages if id_ in places}
    if not received:
        return []
    first = max((places[id_] for id_ in session.history if id_ in places), default=min(received.values()))
    last = max(received.values())
    return [id_ for id_, n in places.items() if first < n < last and id_ not in received]


def gaps(history: Sequence[str], places: Mapping[str, int]) -> list[str]:
    """Return the messages that are missing between fetched messages."""
    found = {id_: places[id_] for id_ in history if id_ in places}
    if not found:
        return []
    first, last = min(found.values()), max(found.values())
    return [id_ for id_, n in places.items() if first < n < last and id_ not in found]


def misordered(messages: Sequence[str], channels: Mapping[str, str], places: Mapping[str, int]) -> list[str]:
    """Return the messages that arrived after a message of the same channel that follows them in the file."""
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
