"""The state of threads is the same on the server, after a restart, and on a client that applies pushed
events.
"""

import json
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.json import encode

from svc.base.database import Database
from svc.base.migrations import migrations_in
from svc.chat.access.tokens import Session
from svc.chat.community import SCHEMA_FOLDER
from svc.chat.live.hub import Audience, Hub, includes
from svc.chat.messages import unread_counts
from svc.chat.messages.feature import MessagesFeature
from svc.chat.messages.page_cache import PageKey
from svc.chat.messages.rules import Draft
from svc.chat.messages.threads import Threads
from tests.chat.messages.test_message_model import BLOCKS, MANAGER, MEMBERS, URLS, directory, insert_channels
from tests.kit.message_ports import message_ports
from tests.kit.services import services_on

CHANNEL = "open"
STEPS = 150
DEEDS = [*["answer"] * 8, *["delete", "edit", "read", "follow", "root"] * 2, "unroot"]
State = dict[str, Any]


class Client:
    """A client that knows only the thread states pushed to it."""

    def __init__(self, member_id: str) -> None:
        self.member_id = member_id
        self.threads: dict[str, State] = {}

    def fold(self, event: str, data: State) -> None:
        if event == "thread_state":
            self.threads.pop(data["thread"], None)
            if data["following"]:
                self.threads[data["thread"]] = data
            return
        state = self.threads.get(data.get("thread") or "")
        if state is None:
            return
        if event == "message_posted":
            author_id = data["author"]["id"]
            state["last"] = data["id"]
            if author_id == self.member_id:
                state.update(read_up_to=data["id"], unread=0, mentions=0)
            else:
                state["unread"] += 1
                blocked = (self.member_id, author_id) in BLOCKS
                state["mentions"] += self.member_id in data["mentions"] and not blocked
        elif event == "message_deleted":
            state["unread"] -= data["id"] > state["read_up_to"]


class RecordingHub(Hub):
    def __init__(self, clients: dict[str, Client]) -> None:
        super().__init__(directory(), lambda: 0.0)
        self._recorders = clients

    def push(
        self, event: str, data: object, to: Audience, *, but_not: str | None = None, kept: bool = True
    ) -> None:
        for member_id, client in self._recorders.items():
            if includes(to, member_id, self.directory):
                client.fold(event, json.loads(encode(data)))


class Play:
    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self.chance = chance
        self.clients = {member_id: Client(member_id) for member_id in MEMBERS}
        self.now = time.time()
        self.roots: list[str] = []
        self.answers: list[tuple[str, str, str]] = []

    @asynccontextmanager
    async def server(self) -> AsyncIterator[None]:
        path = self.folder / "model.sqlite3"
        self.database = await Database.open(path, migrations_in(SCHEMA_FOLDER), self.folder)
        self.directory, hub = directory(), RecordingHub(self.clients)
        ports = message_ports(URLS, BLOCKS)
        services = services_on(
            self.database, self.directory, lambda: self.now, hub=hub, random_bits=self.chance.getrandbits
        )
        self.feature = MessagesFeature(services, 30_000, ports)
        try:
            await self.database.write(insert_channels)
            await self.feature.load()
            for client in self.clients.values():
                client.threads = {state["thread"]: state for state in self.welcome(client.member_id)}
            yield
        finally:
            await self.database.close()

    def welcome(self, member_id: str, threads: Threads | None = None) -> list[State]:
        welcome = (threads or self.feature.threads).welcome(Session(member_id, "s"))
        states: list[State] = json.loads(encode(welcome))["threads"]
        return states

    async def step(self) -> None:
        self.now += self.chance.random()
        member_id, messages = self.chance.choice(MEMBERS), self.feature.messages
        deed = self.chance.choice(
            [*["answer"] * 8, *["delete", "edit", "read", "follow", "root"] * 2, "unroot"]
        )
        if deed == "root" or not self.roots:
            self.roots.append((await messages.send(member_id, Draft(CHANNEL, "root"), self.now)).id)
        elif deed == "unroot":
            # The manager may delete anyone's root message. Its followers keep the thread.
            await messages.delete(MANAGER, CHANNEL, self.roots.pop(0), self.now)
        elif deed == "answer" or not self.answers:
            thread = self.chance.choice(self.roots)
            answer = await messages.send(member_id, Draft(CHANNEL, self.text(), thread=thread), self.now)
            self.answers.append((member_id, thread, answer.id))
        elif deed == "follow":
            _, thread, _ = self.chance.choice(self.answers)
            threads = self.feature.threads
            follow = threads.unfollow if threads.follows(member_id, thread) else threads.follow
            await follow(member_id, CHANNEL, thread)
        else:
            author_id, thread, message_id = self.chance.choice(self.answers)
            if deed == "edit":
                await messages.edit(author_id, CHANNEL, message_id, self.text(), self.now)
            elif deed == "read":
                await self.feature.threads.read(member_id, CHANNEL, thread, message_id)
            else:
                await messages.delete(author_id, CHANNEL, message_id, self.now)
                self.answers.remove((author_id, thread, message_id))

    def text(self) -> str:
        return " ".join(["x", *(f"[x](mention:{m})" for m in MEMBERS if self.chance.random() < 0.2)])

    async def compare(self) -> None:
        fresh = Threads(services_on(self.database, self.directory, lambda: self.now))
        await fresh.load()
        for member_id in MEMBERS:
            states = self.welcome(member_id)
            assert self.welcome(member_id, fresh) == states
            folded = self.clients[member_id].threads
            assert folded.keys() == {state["thread"] for state in states}
            for state in states:
                known = folded[state["thread"]]
                counts = ("unread", "mentions")
                assert [known[name] for name in counts] == [state[name] for name in counts]
                await self.count(member_id, state)

    async def count(self, member_id: str, state: State) -> None:
        """Compare the counts in a thread's state with the thread's history."""
        page = await self.feature.history.page(member_id, PageKey(CHANNEL, 100, thread=state["thread"]))
        unread = [message for message in page.messages if message.id > state["read_up_to"]]
        assert len(unread) == state["unread"]
        assert state["mentions"] <= sum(member_id in message.mentions for message in unread)


@pytest.mark.parametrize("seed", range(4))
async def test_thread_counts_match_the_model(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread_counts, "MAX_FOLLOWED", 6)
    play = Play(tmp_path, random.Random(seed))
    for _ in range(2):
        async with play.server():
            await play.compare()
            for number in range(STEPS):
                await play.step()
                if number % 10 == 0:
                    await play.compare()
            await play.compare()
        # After the restart, the server's clock is a minute behind.
        play.now -= 60.0
