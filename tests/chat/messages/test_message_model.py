"""After any sequence of requests, the server matches a slow model and a client that applies pushed events.

The rules run on a real database. Some requests are cancelled while their write is waiting, and the server is
restarted midway.
"""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.json import encode

from svc.base.database import Connection, Database
from svc.base.migrations import migrations_in
from svc.chat.access.directory import TEXT, Channel, Directory, Member
from svc.chat.access.media_urls import MediaUrls
from svc.chat.access.permissions import Override, Overrides, Permission
from svc.chat.access.tokens import Session
from svc.chat.community import SCHEMA_FOLDER
from svc.chat.errors import ChatError
from svc.chat.live.hub import Audience, Hub, includes
from svc.chat.messages import responses
from svc.chat.messages.feature import MessagesFeature
from svc.chat.messages.message import Message, number_of
from svc.chat.messages.page_cache import PageKey
from svc.chat.messages.rules import Draft
from tests.kit.message_ports import message_ports
from tests.kit.services import services_on

ADA, BEN, CY, DEE = MEMBERS = ("ada", "ben", "cy", "dee")
MANAGER = ADA
CHANNELS = ("open", "closed")
# Cy has blocked Ben. Dee may not view the closed channel.
BLOCKS = {(CY, BEN)}
URLS = MediaUrls("secret", lambda: 0.0)
WORDS = ("apple", "bread", "cheese", "dates")
EMOJI = ("👍", "🎉", ":own:")
STEPS = 120


@dataclass
class Client:
    """A client that knows only what the server has pushed to it."""

    member_id: str
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    counts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def fold(self, event: str, data: dict[str, Any]) -> None:
        message = self.messages.get(data.get("id", ""), {})
        match event:
            case "message_posted":
                data.pop("nonce", None)
                self.messages[data["id"]] = data
                self._count(data)
            case "message_edited":
                message.update(data)
            case "message_deleted":
                del self.messages[data["id"]]
                counts = self.counts[data["channel_id"]]
                counts["unread"] -= data["id"] > counts["read_up_to"]
            case "reactions_changed":
                react(message, data["emoji"], data["member_id"], added=data["added"])
            case "pins_changed":
                message["pinned"] = data["pinned"]
            case "unread":
                self.counts[data["channel_id"]] = data

    def _count(self, message: dict[str, Any]) -> None:
        counts, author_id = self.counts[message["channel_id"]], message["author"]["id"]
        if author_id == self.member_id:
            counts.update(read_up_to=message["id"], unread=0, mentions=0)
        else:
            counts["unread"] += 1
            blocked = (self.member_id, author_id) in BLOCKS
            counts["mentions"] += self.member_id in message["mentions"] and not blocked


def react(message: dict[str, Any], emoji: str, member_id: str, *, added: bool) -> None:
    """Add or remove a reaction in a message in wire format. Emoji are in code-point order."""
    listed = {reaction["emoji"]: reaction["member_ids"] for reaction in message["reactions"]}
    if added:
        listed.setdefault(emoji, []).append(member_id)
    else:
        listed[emoji].remove(member_id)
    message["reactions"] = [{"emoji": e, "member_ids": ids} for e, ids in sorted(listed.items()) if ids]


class Model:
    """A single list of all messages, and each member's read marker in each channel."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.notified: dict[str, set[str]] = {}
        self.read: dict[tuple[str, str], str] = {}

    def of(self, channel_id: str) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["channel_id"] == channel_id]

    def posted(self, message: dict[str, Any]) -> None:
        author_id = message["author"]["id"]
        self.messages.append(message)
        self.notified[message["id"]] = {
            m for m in message["mentions"] if m != author_id and (m, author_id) not in BLOCKS
        }
        self.read[author_id, message["channel_id"]] = message["id"]

    def counts(self, member_id: str, channel_id: str) -> tuple[int, int]:
        since = self.read.get((member_id, channel_id), "")
        unread = [message["id"] for message in self.of(channel_id) if message["id"] > since]
        return len(unread), sum(member_id in self.notified[message_id] for message_id in unread)


def shown(message: Message) -> dict[str, Any]:
    """Return a message as a client receives it."""
    read: dict[str, Any] = json.loads(encode(responses.message(message, URLS)))
    return read


class RecordingHub(Hub):
    """A hub that pushes to in-memory clients. Like the real hub, it encodes data as JSON."""

    def __init__(self, directory: Directory, clients: dict[str, Client]) -> None:
        super().__init__(directory, lambda: 0.0)
        self._recorders = clients

    def push(
        self, event: str, data: object, to: Audience, *, but_not: str | None = None, kept: bool = True
    ) -> None:
        for member_id, client in self._recorders.items():
            if member_id != but_not and includes(to, member_id, self.directory):
                client.fold(event, json.loads(encode(data)))


def directory() -> Directory:
    known = Directory(lambda: 1_000_000.0)
    for member_id in MEMBERS:
        roles = ("moderator",) if member_id == MANAGER else ("member",)
        known.put_member(Member(member_id, member_id.title(), roles))
    hidden = Overrides(members={DEE: Override(deny=Permission.VIEW_CHANNEL)})
    known.put_channel(Channel("open", "open", TEXT))
    known.put_channel(Channel("closed", "closed", TEXT, overrides=hidden))
    return known


class Play:
    """A random run. `step` performs a random action, and `compare` checks the resulting state."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder = folder
        self.chance = chance
        self.model = Model()
        self.clients = {member_id: Client(member_id) for member_id in MEMBERS}
        self.directory = directory()
        # Start at the current time, because the server forgets old nonces.
        self.now = time.time()
        self.nonces: list[tuple[str, Draft, str]] = []

    @asynccontextmanager
    async def server(self) -> AsyncIterator[None]:
        path = self.folder / "model.sqlite3"
        self.database = await Database.open(path, migrations_in(SCHEMA_FOLDER), self.folder)
        try:
            await self.database.write(insert_channels)
            services = services_on(
                self.database,
                self.directory,
                lambda: self.now,
                hub=RecordingHub(self.directory, self.clients),
                random_bits=self.chance.getrandbits,
            )
            ports = message_ports(URLS, BLOCKS)
            self.feature = MessagesFeature(services, 30_000, ports)
            await self.feature.load()
            for client in self.clients.values():
                welcome = json.loads(encode(self.feature.welcome(Session(client.member_id, "s"))))
                client.counts = {counts["channel_id"]: counts for counts in welcome["unread"]}
            indexing = asyncio.create_task(self.feature.indexer.run())
            yield
            indexing.cancel()
            with suppress(asyncio.CancelledError):
                await indexing
        finally:
            await self.database.close()

    async def step(self) -> None:
        self.now += self.chance.random()
        member_id, channel_id = self.chance.choice(MEMBERS), self.chance.choice(CHANNELS)
        if member_id == DEE and channel_id == "closed":
            with pytest.raises(ChatError, match="unknown_channel"):
                await self.feature.messages.send(member_id, Draft(channel_id, "x"), self.now)
            return
        messages = self.model.of(channel_id)
        deed = self.chance.choice(
            [
                self.send,
                self.send,
                self.send,
                self.repeat,
                self.edit,
                self.delete,
                self.react,
                self.pin,
                self.read,
            ]
        )
        if deed in (self.send, self.repeat) or messages:
            await deed(member_id, channel_id, messages)

    async def send(self, member_id: str, channel_id: str, messages: list[dict[str, Any]]) -> None:
        reply_to = self.chance.choice(messages)["id"] if messages and self.chance.random() < 0.2 else None
        ping = self.chance.random() < 0.7
        draft = Draft(channel_id, self.text(), str(len(self.nonces)), reply_to, ping)
        await self.perhaps_given_up(self.feature.messages.send(member_id, draft, self.now))
        # Retrying the request returns the same message, so a client learns the result of a cancelled request.
        message = await self.feature.messages.send(member_id, draft, self.now)
        self.nonces.append((member_id, draft, message.id))
        self.model.posted(shown(message))

    async def repeat(self, member_id: str, channel_id: str, messages: list[dict[str, Any]]) -> None:
        if not self.nonces:
            return
        author_id, draft, message_id = self.chance.choice(self.nonces)
        if any(message["id"] == message_id for message in self.model.messages):
            assert (await self.feature.messages.send(author_id, draft, self.now)).id == message_id
        else:
            with pytest.raises(ChatError, match="unknown_message"):
                await self.feature.messages.send(author_id, draft, self.now)

    async def edit(self, member_id: str, channel_id: str, messages: list[dict[str, Any]]) -> None:
        message, text = self.chance.choice(messages), self.text()
        editing = self.feature.messages.edit(member_id, channel_id, message["id"], text, self.now)
        if message["author"]["id"] != member_id:
            with pytest.raises(ChatError, match="forbidden"):
                await editing
            return
        await self.perhaps_given_up(editing)
        if text != message["text"]:
            mentions = [
                m for m in MEMBERS if f"mention:{m}" in text and not (m == DEE and channel_id == "closed")
            ]
            # A reply still mentions the original author after an edit.
            before = [m for m in message["mentions"] if f"mention:{m}" not in message["text"]]
            mentions += [m for m in before if m not in mentions]
            message.update(text=text, mentions=mentions, edited_at_ms=int(self.now * 1000))
            self.model.notified[message["id"]] &= set(mentions)

    async def delete(self, member_id: str, channel_id: str, messages: list[dict[str, Any]]) -> None:
        message = self.chance.choice(messages)
        deleting = self.feature.messages.delete(member_id, channel_id, message["id"], self.now)
        if message["author"]["id"] != member_id and member_id != MANAGER:
            with pytest.raises(ChatError, match="forbidden"):
                await deleting
            return
        await self.perhaps_given_up(deleting)
        self.model.messages.remove(message)

    async def react(self, member_id: str, channel_id: str, messages: list[dict[str, Any]]) -> None:
        message, emoji = self.chance.choice(messages), self.chance.choice(EMOJI)
        reacted = any(member_id in r["member_ids"] for r in message["reactions"] if r["emoji"] == emoji)
        add = self.chance.random() < 0.6
        which = member_id, channel_id, message["id"], emoji
        marking = self.feature.marking
        await self.perhaps_given_up(marking.react(*which, self.now, added=add))
        if add is not reacted:
            react(message, emoji, member_id, added=add)

    async def pin(self, member_id: str, channel_id: str, messages: list[dict[str, Any]]) -> None:
        message, pinned = self.chance.choice(messages), self.chance.random() < 0.5
        marking = self.feature.marking
        await marking.pin(MANAGER, channel_id, message["id"], self.now, pinned=pinned)
        message["pinned"] = pinned

    async def read(self, member_id: str, channel_id: str, messages: list[dict[str, Any]]) -> None:
        message_id = self.chance.choice(messages)["id"]
        await self.perhaps_given_up(self.feature.reads.read(member_id, channel_id, message_id))
        key = member_id, channel_id
        self.model.read[key] = max(message_id, self.model.read.get(key, ""))

    async def perhaps_given_up(self, request: Awaitable[object]) -> None:
        """Wait for the response, or cancel the request once its write is waiting.

        The write is carried out in either case.
        """
        task = asyncio.ensure_future(request)
        if self.chance.random() < 0.2:
            await asyncio.sleep(0)
            task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await self.database.write(lambda connection: None)

    def text(self) -> str:
        words = self.chance.choices(WORDS, k=self.chance.randrange(1, 4))
        mentioned = [member_id for member_id in MEMBERS if self.chance.random() < 0.2]
        return " ".join([*words, *(f"[x](mention:{member_id})" for member_id in mentioned)])

    async def compare(self) -> None:
        for channel_id in CHANNELS:
            expected = self.model.of(channel_id)
            assert await self.backwards(channel_id) == expected
            assert await self.forwards(channel_id) == expected
        for member_id in MEMBERS:
            await self.compare_for(member_id)

    async def compare_for(self, member_id: str) -> None:
        visible = [c for c in CHANNELS if not (member_id == DEE and c == "closed")]
        client = self.clients[member_id]
        expected = {m["id"]: m for m in self.model.messages if m["channel_id"] in visible}
        assert client.messages == expected
        welcome = json.loads(encode(self.feature.welcome(Session(member_id, "s"))))
        for counts in welcome["unread"]:
            state = self.model.counts(member_id, counts["channel_id"])
            assert (counts["unread"], counts["mentions"]) == state
            folded = client.counts[counts["channel_id"]]
            assert (folded["unread"], folded["mentions"]) == state
        assert {counts["channel_id"] for counts in welcome["unread"]} == set(visible)
        async with asyncio.timeout(30):
            await self.feature.indexer.wait_indexed()
        word = self.chance.choice(WORDS)
        results, _ = await self.feature.search.find(member_id, word, None, 1_000)
        assert {message.id for message in results} == {i for i, m in expected.items() if word in m["text"]}
        pinned, _ = await self.feature.search.find(member_id, "has:pin", None, 1_000)
        assert {message.id for message in pinned} == {i for i, m in expected.items() if m["pinned"]}

    async def backwards(self, channel_id: str) -> list[dict[str, Any]]:
        limit = self.chance.randrange(1, 20)
        messages: list[dict[str, Any]] = []
        before, more = None, True
        while more:
            wanted = PageKey(channel_id, limit, before=before)
            page = await self.feature.history.page(MANAGER, wanted)
            messages[:0] = [shown(message) for message in page.messages]
            before, more = (number_of(messages[0]["id"]) if messages else None), page.more_before
        return messages

    async def forwards(self, channel_id: str) -> list[dict[str, Any]]:
        limit = self.chance.randrange(1, 20)
        messages: list[dict[str, Any]] = []
        more = True
        while more:
            after = number_of(messages[-1]["id"]) if messages else 0
            page = await self.feature.history.page(MANAGER, PageKey(channel_id, limit, after=after))
            messages += [shown(message) for message in page.messages]
            more = page.more_after
        return messages


def insert_channels(connection: Connection) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO channels (id, name, kind, position, created_at_ms)"
        " VALUES (?, ?, 'text', 0, 0)",
        [(channel_id, channel_id) for channel_id in CHANNELS],
    )


@pytest.mark.parametrize("seed", range(6))
async def test_server_model_and_client_agree(tmp_path: Path, seed: int) -> None:
    play = Play(tmp_path, random.Random(seed))
    for _ in range(2):
        async with play.server():
            await play.compare()
            for number in range(STEPS):
                await play.step()
                if number % 20 == 0:
                    await play.compare()
            await play.compare()
        # After the restart, the server's clock is a minute behind.
        play.now -= 60.0
