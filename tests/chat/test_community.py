"""Simulates a community whose members post, edit, react, delete and lose their connections.

In the end, every client shows the content of the database. A seed determines all actions.
"""

import asyncio
import contextlib
import dataclasses
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, TCPConnector, WSMsgType

from tests.chat.chat_server import ChatServer
from tests.chat.live_member import LiveMember, abort

CHANNELS = 10
DEADLINE_S = 60.0
EMOJI = ("👍", "🎉", "😀")
State = dict[str, dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class Script:
    members: int
    steps: int  # of all members together
    seed: int


class Page:
    """A member's client. It applies pushed events to its messages and reconnects when necessary."""

    def __init__(self, chat: ChatServer, token: str) -> None:
        self.messages: State = {}
        self.posted = Counter[str]()
        self.losses = 0
        self._chat = chat
        self._token = token
        self._ws: ClientWebSocketResponse | None = None
        self._seq = 0
        self._last_id = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._expected: dict[str, asyncio.Future[None]] = {}
        self._back = asyncio.Event()
        self.id = ""
        self.channels: list[str] = []

    @contextlib.asynccontextmanager
    async def open(self, group: asyncio.TaskGroup) -> AsyncIterator["Page"]:
        await self._connect("authenticate")
        reading = group.create_task(self._stay())
        try:
            yield self
        finally:
            reading.cancel()
            if self._ws is not None:
                await self._ws.close()

    async def is_notified_of(self, message_id: str) -> None:
        """Wait until the given message has been pushed to this client."""
        if message_id not in self.posted:
            await self._expected.setdefault(message_id, asyncio.get_running_loop().create_future())

    async def ask(self, event: str, **data: object) -> dict[str, Any]:
        """Send a request, and retry it if the connection is lost, as the web client does. Return the
        response.
        """
        while True:
            await self._back.wait()
            assert self._ws is not None
            self._last_id += 1
            number = self._last_id
            reply = self._waiting[number] = asyncio.get_running_loop().create_future()
            try:
                await self._ws.send_json({"event": event, "id": number, "data": data})
                frame: dict[str, Any] = await reply
                return frame
            except ConnectionError:
                self._waiting.pop(number, None)

    def lose(self) -> None:
        """Drop the connection without a close frame."""
        assert self._ws is not None
        self.losses += 1
        self._back.clear()
        abort(self._ws)

    async def _connect(self, event: str) -> None:
        self._ws = await self._chat.http.ws_connect("/live", max_msg_size=0)
        member = LiveMember(self._ws, self._token)
        assert (await member.receive())["event"] == "hello"
        seq = {"seq": self._seq} if event == "resume" else {}
        reply = await member.ask(event, access_token=self._token, **seq)
        assert reply["event"] == event.replace("authenticate", "authenticated").replace("resume", "resumed")
        if event == "authenticate":
            welcome = reply["data"]
            self.id = welcome["member"]["id"]
            self._seq = welcome["seq"]
            self.channels = [channel["id"] for channel in welcome["channels"] if channel["type"] == "text"]
        self._back.set()

    async def _stay(self) -> None:
        while True:
            await self._read()
            self._back.clear()
            for reply in self._waiting.values():
                if not reply.done():
                    reply.set_exception(ConnectionError())
            self._waiting.clear()
            await self._connect("resume")

    async def _read(self) -> None:
        assert self._ws is not None
        async for message in self._ws:
            assert message.type is WSMsgType.TEXT
            frame = message.json()
            if "id" in frame:
                self._waiting.pop(frame["id"]).set_result(frame)
            else:
                self._apply(frame["event"], frame["data"], frame.get("seq"))

    def _apply(self, event: str, data: dict[str, Any], seq: int | None) -> None:
        if seq is not None:
            assert seq > self._seq, "a push arrived twice or late"
            self._seq = seq
        match event:
            case "message_posted":
                self.posted[data["id"]] += 1
                if expected := self._expected.pop(data["id"], None):
                    expected.set_result(None)
                self.messages[data["id"]] = {name: data[name] for name in ("text", "channel_id")} | {
                    "edited_at_ms": None,
                    "reactions": set(),
                }
            case "message_edited":
                message = self.messages[data["id"]]
                message |= {name: data[name] for name in ("text", "edited_at_ms")}
            case "message_deleted":
                del self.messages[data["id"]]
            case "reactions_changed":
                reaction = data["emoji"], data["member_id"]
                reactions = self.messages[data["id"]]["reactions"]
                (reactions.add if data["added"] else reactions.remove)(reaction)


class Author:
    """A writer that performs a script. Most steps post a message, and some change earlier messages."""

    def __init__(self, page: Page, choose: random.Random) -> None:
        self._page = page
        self._choose = choose
        self._own: list[dict[str, Any]] = []
        self.sent = 0

    async def step(self, number: int) -> None:
        chance = self._choose.random()
        if chance < 0.6 or not self._own:
            await self._write(number)
        elif chance < 0.75:
            message = self._choose.choice(self._own)
            await self._about("message_edit", message, text=f"edited {number}")
        elif chance < 0.92:
            await self._react()
        else:
            message = self._own.pop(self._choose.randrange(len(self._own)))
            await self._about("message_delete", message)

    async def _write(self, number: int) -> None:
        channel_id = self._choose.choice(self._page.channels)
        reply = await self._page.ask(
            "message_send", channel_id=channel_id, text=f"{self._page.id} {number}", nonce=f"n{number}"
        )
        assert reply["event"] == "message_send", reply
        self.sent += 1
        self._own.append(reply["data"])
        # Waiting for the writer's own client ensures that a disconnected client never misses more events than
        # the server buffers.
        await self._page.is_notified_of(reply["data"]["id"])

    async def _react(self) -> None:
        """React to a random message, which may have been deleted."""
        if not self._page.messages:
            return
        message_id = self._choose.choice(list(self._page.messages))
        message = {"id": message_id, "channel_id": self._page.messages[message_id]["channel_id"]}
        await self._about("reaction_add", message, emoji=self._choose.choice(EMOJI))

    async def _about(self, event: str, message: dict[str, Any], **data: object) -> None:
        reply = await self._page.ask(
            event, channel_id=message["channel_id"], message_id=message["id"], **data
        )
        # If a retried action has already succeeded, its target no longer exists.
        assert reply["event"] == event or reply["data"]["error"] == "unknown_message", reply


async def play(server: ChatServer, script: Script) -> None:
    """Run the script with a socket for each member. The connector is unlimited, because aiohttp's default
    allows only a hundred connections.
    """
    async with ClientSession(server.address, connector=TCPConnector(limit=0)) as http:
        await play_with(dataclasses.replace(server, http=http), script)


async def play_with(chat: ChatServer, script: Script) -> None:
    choose = random.Random(script.seed)
    tokens = [await chat.join(f"Member {number}") for number in range(script.members)]
    pages = [Page(chat, token) for token in tokens]
    async with asyncio.TaskGroup() as group, all_open(pages, group):
        authors = [Author(page, random.Random(script.seed + n)) for n, page in enumerate(pages, 1)]

        async def go_on(author: Author, page: Page, rounds: int) -> None:
            for number in range(rounds):
                if choose.random() < 0.03:
                    page.lose()
                await author.step(number)

        rounds = script.steps // script.members
        await asyncio.gather(*(go_on(a, p, rounds) for a, p in zip(authors, pages, strict=True)))
        truth = await stored(chat, tokens[0], pages[0].channels)
        await all_pages_show(pages, truth)
        assert sum(page.losses for page in pages) > 0
        for page in pages:
            assert page.posted.total() == len(page.posted) == sum(author.sent for author in authors)


@contextlib.asynccontextmanager
async def all_open(pages: Sequence[Page], group: asyncio.TaskGroup) -> AsyncIterator[None]:
    async with contextlib.AsyncExitStack() as stack:
        for page in pages:
            await stack.enter_async_context(page.open(group))
        yield


async def all_pages_show(pages: Sequence[Page], truth: State) -> None:
    """Wait until all clients show this content. Events may still be in transit."""
    try:
        async with asyncio.timeout(DEADLINE_S):
            while any(page.messages != truth for page in pages):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    except TimeoutError:
        wrong = next(page for page in pages if page.messages != truth)
        assert wrong.messages == truth, "a page differs from the database"


async def stored(chat: ChatServer, token: str, channels: Sequence[str]) -> State:
    """Return all messages. Read them page by page, as a returning member's client does."""
    state: State = {}
    for channel_id in channels:
        cursor: dict[str, str] = {}
        while True:
            async with chat.http.get(
                f"/api/channels/{channel_id}/messages",
                params={"limit": "100", **cursor},
                headers={"Authorization": f"Bearer {token}"},
            ) as answer:
                page = await answer.json()
                assert answer.status == 200, page
            for message in page["messages"]:
                assert message["id"] not in state
                state[message["id"]] = {
                    "text": message["text"],
                    "channel_id": message["channel_id"],
                    "edited_at_ms": message["edited_at_ms"],
                    "reactions": {
                        (reaction["emoji"], member_id)
                        for reaction in message["reactions"]
                        for member_id in reaction["member_ids"]
                    },
                }
            if not page["more_before"]:
                break
            cursor = {"before": page["messages"][0]["id"]}
    return state


@pytest.fixture
def variables(variables: dict[str, str]) -> dict[str, str]:
    names = ", ".join(f"channel {number}" for number in range(CHANNELS))
    return {**variables, "ADDITIONAL_CHANNELS": names, "MAX_MEMBERS": "1000"}


async def test_every_client_converges_to_the_content_of_the_database(chat: ChatServer) -> None:
    await play(chat, Script(members=50, steps=2500, seed=1))


@pytest.mark.nightly("36,000 steps; 2,500 run daily")
@pytest.mark.timeout(1800)
async def test_a_hundred_members_exchange_twenty_thousand_messages(chat: ChatServer) -> None:
    await play(chat, Script(members=100, steps=36_000, seed=2))
