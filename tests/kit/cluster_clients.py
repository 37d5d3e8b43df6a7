"""Runs clients that write to a cluster until they are stopped, and compares their writes with the database.

A client retries each write until it is acknowledged. A retried message is stored only once: a message has a
nonce, and the bytes of a private message are unique. Each message is edited at most once, so an earlier
attempt that arrives late changes nothing. Before each upload, a client deletes its earlier uploads, including
those whose response was lost.
"""

import asyncio
import random
import sqlite3
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from aiohttp import ClientError, ClientSession, ClientTimeout, FormData

from svc.chat.private_conversations.framing import APPLICATION
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember
from tests.chat.private_conversations.mls_messages import COMMITMENT, path, private_message
from tests.kit.chat_nodes import ClusterProcess
from tests.kit.wait import wait_until

CHANNEL = "/api/channels/general/messages"
EMOJI = "👍"
_ATTEMPT_S = 2.0
_PAUSE_S = 0.05
_LAST_WRITES_S = 120.0

Json = Mapping[str, Any]


@dataclass(slots=True)
class Post:
    """A message: its channel, its author, and the times of its first attempt and of its acknowledgement."""

    channel: str
    writer: int
    count: int  # position among all writes by this writer
    began: float
    acknowledged: float = float("inf")


@dataclass
class Written:
    """The writes that the cluster acknowledged."""

    # Each message's last text and its Post, by message ID.
    texts: dict[str, str] = field(default_factory=dict)
    posts: dict[str, Post] = field(default_factory=dict)
    reactions: set[str] = field(default_factory=set)
    # Whether each member currently has the role.
    roles: dict[str, bool] = field(default_factory=dict)
    # The bodies of private messages by conversation and client, in order.
    private: dict[tuple[str, int], list[bytes]] = field(default_factory=dict)
    # The content of each upload, or None after its deletion.
    uploads: dict[str, bytes | None] = field(default_factory=dict)


class Clients:
    """Members who write concurrently, distributed evenly across the server groups.

    When a server does not respond, its clients try another server in its group. `channels` are the paths for
    channel messages. `conversations` maps a client's number to its private conversation, if it has one.
    """

    def __init__(
        self,
        groups: Sequence[Sequence[ClusterProcess]],
        people: Sequence[HttpMember],
        seed: int,
        channels: Sequence[str] = (CHANNEL,),
        conversations: Mapping[int, Json] = {},
    ) -> None:
        self._groups, self._people, self._seed = groups, people, seed
        self._channels, self._conversations = channels, conversations
        self._stop = False
        # For each group, the server that acknowledged the latest write, and the times of all
        # acknowledgements.
        self._responding = [group[0] for group in groups]
        self._acknowledged_at: list[list[float]] = [[] for _ in groups]
        self.written = Written()
        self._owners: dict[ClientSession, HttpMember] = {}
        self.role = ""
        self._writing: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start all clients. The first client must be the community's owner."""
        async with self.session(self._people[0]) as http:
            self.role = (await self.until(http, 0, "POST", "/api/roles", {"name": "Tested"}))["id"]
        self._writing = [
            asyncio.create_task(self._write(number, person)) for number, person in enumerate(self._people)
        ]

    async def stop(self) -> None:
        """Stop all clients, each after its current write."""
        self._stop = True
        async with asyncio.timeout(_LAST_WRITES_S):
            await asyncio.gather(*self._writing)

    def session(self, person: HttpMember) -> ClientSession:
        headers = {"Authorization": f"Bearer {person.token}"}
        http = ClientSession(headers=headers, timeout=ClientTimeout(_ATTEMPT_S))
        self._owners[http] = person
        return http

    async def renew(self, person: HttpMember) -> None:
        """Replace the access token, which is valid for a quarter of an hour. Retry if no server responds."""
        while True:
            server = random.choice([server for group in self._groups for server in group])
            # A follower rejects requests, and a killed node cannot respond.
            with suppress(AssertionError, ClientError, OSError, TimeoutError):
                async with ClientSession(server.address, timeout=ClientTimeout(_ATTEMPT_S)) as http:
                    chat = ChatServer(server.address, http, "")
                    person.token = (await chat.sign_in(person.device))["access_token"]
                    return
            await asyncio.sleep(_PAUSE_S)

    async def next_acknowledgement(self, within_s: float) -> None:
        """Wait until a write has been acknowledged in each group."""
        counts = [len(times) for times in self._acknowledged_at]

        async def have_more() -> bool:
            return all(len(times) > count for times, count in zip(self._acknowledged_at, counts, strict=True))

        await wait_until("a write is acknowledged", have_more, within_s=within_s)

    @property
    def acknowledged(self) -> int:
        return sum(map(len, self._acknowledged_at))

    def longest_silence_since(self, moment: float) -> float:
        """Return the longest time in seconds, since `moment`, in which a group acknowledged no write."""
        return max(
            later - earlier
            for group in self._acknowledged_at
            for earlier, later in pairwise([moment, *(time for time in group if time > moment)])
        )

    async def _write(self, number: int, person: HttpMember) -> None:
        chance = random.Random(f"{self._seed}-{number}")
        own: list[tuple[str, str]] = []
        unedited: list[tuple[str, str]] = []
        count, group = 0, number % len(self._groups)
        async with self.session(person) as http:
            while not self._stop:
                count += 1
                kind = chance.random()
                if number == 0 and kind < 0.4:
                    await self._change_role(http, chance)
                elif not own or kind < 0.55:
                    channel = chance.choice(self._channels)
                    message = await self._post(http, channel, number, count)
                    own.append((channel, message))
                    unedited.append((channel, message))
                elif kind < 0.7 and unedited:
                    channel, message = unedited.pop(chance.randrange(len(unedited)))
                    text = f"{number}/{count} edited"
                    await self.until(http, group, "PATCH", f"{channel}/{message}", {"text": text})
                    self.written.texts[message] = text
                elif kind < 0.8:
                    channel, message = chance.choice(own)
                    await self.until(http, group, "PUT", f"{channel}/{message}/reactions/{EMOJI}")
                    self.written.reactions.add(message)
                elif kind < 0.95 and number in self._conversations:
                    await self._post_privately(http, group, number)
                else:
                    await self._upload(http, group, f"{number}/{count}".encode() * 1000)
                self._acknowledged_at[group].append(asyncio.get_running_loop().time())
                # Members may write ten times a second.
                await asyncio.sleep(chance.uniform(0.1, 0.3))

    async def _post(self, http: ClientSession, channel: str, number: int, count: int) -> str:
        text, now = f"{number}/{count}", asyncio.get_running_loop().time
        post = Post(channel.removesuffix("/messages"), number, count, now())
        body = {"text": text, "nonce": f"nonce-{text}"}
        message: str = (await self.until(http, number % len(self._groups), "POST", channel, body))["id"]
        post.acknowledged = now()
        self.written.texts[message], self.written.posts[message] = text, post
        return message

    async def _post_privately(self, http: ClientSession, group: int, number: int) -> None:
        conversation = self._conversations[number]
        message = private_message(conversation["id"], 1, APPLICATION)
        body = {"message": b64encode(message).decode(), "commitment": b64encode(COMMITMENT).decode()}
        await self.until(http, group, "POST", path(dict(conversation), "messages"), body)
        self.written.private.setdefault((conversation["id"], number), []).append(message)

    async def _upload(self, http: ClientSession, group: int, content: bytes) -> None:
        def form() -> FormData:
            data = FormData()
            data.add_field("file", content, filename="a.txt", content_type="application/octet-stream")
            return data

        for upload in (await self.until(http, group, "GET", "/api/uploads"))["uploads"]:
            await self.until(http, group, "DELETE", f"/api/uploads/{upload['id']}")
            self.written.uploads[upload["id"]] = None
        upload = await self.until(http, group, "POST", "/api/channels/general/uploads", form)
        self.written.uploads[upload["id"]] = content

    async def _change_role(self, http: ClientSession, chance: random.Random) -> None:
        """Give a member the role, or remove it. Only the community's owner calls this."""
        member_id = chance.choice(self._people).id
        is_given = not self.written.roles.get(member_id, False)
        target = f"/api/members/{member_id}/roles/{self.role}"
        await self.until(http, 0, "PUT" if is_given else "DELETE", target)
        self.written.roles[member_id] = is_given

    async def until(
        self,
        http: ClientSession,
        group: int,
        method: str,
        target: str,
        body: Json | Callable[[], FormData] | None = None,
    ) -> Any:
        """Retry a request until it is acknowledged. Return the response."""
        server = self._responding[group]
        while True:
            sent: dict[str, Any] = {"data": body()} if callable(body) else {"json": body}
            try:
                async with http.request(method, server.address + target, **sent) as response:
                    # An earlier attempt may have deleted the upload.
                    if response.status in (200, 201, 204) or (method, response.status) == ("DELETE", 404):
                        self._responding[group] = server
                        return await response.json() if response.content_type == "application/json" else None
                    assert response.status in (401, 429, 503), (
                        target,
                        response.status,
                        await response.text(),
                    )
                    expired = response.status == 401
                if expired:
                    await self.renew(self._owners[http])
                    http.headers["Authorization"] = f"Bearer {self._owners[http].token}"
                    continue
            except (ClientError, OSError, TimeoutError):
                pass
            others = [other for other in self._groups[group] if other is not server]
            responding = self._responding[group]
            server = random.choice(others) if responding is server else responding
            await asyncio.sleep(_PAUSE_S)


def faults_in(file: Path, clients: Clients) -> list[str]:
    """Return lost writes, messages that were stored twice, and messages that were stored out of order."""
    written = clients.written
    with closing(sqlite3.connect(file)) as connection:
        texts = dict(connection.execute("SELECT id, text FROM messages ORDER BY n"))
        roles = connection.execute("SELECT member_id FROM member_roles WHERE role_id = ?", (clients.role,))
        given = {id_ for (id_,) in roles}
        reacted = connection.execute(
            "SELECT m.id FROM reactions AS r JOIN messages AS m ON m.n = r.n"
        ).fetchall()
        private = connection.execute(
            "SELECT conversation_id, body FROM private_entries WHERE kind = 'message' ORDER BY n"
        ).fetchall()
        uploads = {id_ for (id_,) in connection.execute("SELECT id FROM uploads")}
    lost = [f"{text} of {id_}" for id_, text in written.texts.items() if texts.get(id_) != text]
    lost += [f"reaction of {id_}" for id_ in written.reactions - {id_ for (id_,) in reacted}]
    lost += [f"role of {id_}" for id_, is_given in written.roles.items() if (id_ in given) != is_given]
    for id_, content in written.uploads.items():
        kept = file.parent / "incoming" / id_
        if content is None:
            lost += [f"deletion of upload {id_}"] if id_ in uploads else []
        elif id_ not in uploads or kept.read_bytes() != content:
            lost.append(f"upload {id_}")
    # Every client retried its last write until it was acknowledged.
    twice = [text for id_, text in texts.items() if id_ not in written.texts]
    disorder = out_of_order([written.posts[id_] for id_ in texts if id_ in written.posts])
    for (conversation, number), bodies in written.private.items():
        stored = [body for id_, body in private if id_ == conversation and body in set(bodies)]
        lost += [f"private message of client {number}"] * len(set(bodies) - set(stored))
        if len(stored) != len(set(stored)):
            twice.append(f"private message of client {number}")
        if not set(bodies) - set(stored) and stored != bodies:
            disorder.append(f"private messages of client {number}")
    return [
        *(f"lost: {text}" for text in lost),
        *(f"twice: {text}" for text in twice),
        *(f"order: {text}" for text in disorder),
    ]


def out_of_order(posts: Sequence[Post]) -> list[str]:
    """Return messages that come after a later message by the same client."""
    last: dict[int, int] = {}
    disorder = []
    for post in posts:
        if post.count < last.get(post.writer, 0):
            disorder.append(f"{post.count} of client {post.writer}")
        last[post.writer] = post.count
    return disorder
