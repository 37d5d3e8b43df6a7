"""A bot: signed in for as long as it runs, told of what happens, one thing after the other, and able to act.

Joins what the other files of this folder do, and knows the paths of docs/http.md that bots use most. A lost
connection changes nothing for a bot: it misses no message, and is told of none twice.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from aiohttp import ClientSession, ClientTimeout, FormData, TCPConnector

from svc.client.cursors import Cursors
from svc.client.known import Known
from svc.client.live import Live
from svc.client.requests import Refused, Requests, Unreachable
from svc.client.session import Data, Heard, Pushed, Session, SignedIn
from svc.client.shapes import Channel, Member, Message, Upload, VoiceMember, read

# What waits to be handled. Beyond it the socket is read no further, and the server keeps what follows.
MAX_WAITING = 1000
# How long a handler may take; others wait for it.
HANDLER_DEADLINE_S = 300.0
CONNECT_DEADLINE_S = 10.0
MAX_CONNECTIONS = 8
# The media worker looks at every file before it can be posted.
CHECK_DEADLINE_S = 240.0
_CHECK_INTERVAL_S = 0.5
_PAGE = 100
_GONE = ("forbidden", "unknown_channel", "unknown_message")

EventHandler = Callable[[Data], Awaitable[None]]
MessageHandler = Callable[[Message], Awaitable[None]]
CommandHandler = Callable[[Message, str], Awaitable[None]]
E = TypeVar("E", bound=EventHandler)
M = TypeVar("M", bound=MessageHandler)
C = TypeVar("C", bound=CommandHandler)

logger = logging.getLogger(__name__)


class Bot:
    """A bot of the server at `address`: say with the decorators what it does, then `run` it.

    A command is what a person writes behind the `prefix`.
    """

    def __init__(self, address: str, token: str, *, prefix: str = "!") -> None:
        self._address = address
        self._token = token
        self._prefix = prefix
        self._known = Known()
        self._cursors = Cursors()
        self._waiting: asyncio.Queue[Heard] = asyncio.Queue(MAX_WAITING)
        self._requests: Requests | None = None
        self._commands: dict[str, CommandHandler] = {}
        self._on_message: list[MessageHandler] = []
        self._on_event: dict[str, list[EventHandler]] = {}

    # What it does.

    def command(self, name: str) -> Callable[[C], C]:
        """Call the function with the message, and with what follows the name in it."""

        def register(handler: C) -> C:
            self._commands[name.casefold()] = handler
            return handler

        return register

    def on_message(self, handler: M) -> M:
        """Call the function for each message, apart from the bot's own."""
        self._on_message.append(handler)
        return handler

    def on(self, event: str) -> Callable[[E], E]:
        """Call the function with the data of each such push of docs/live.md, or of `authenticated`."""

        def register(handler: E) -> E:
            self._on_event.setdefault(event, []).append(handler)
            return handler

        return register

    async def run(self) -> None:
        """Do it, until cancelled. Raises Refused where the server does not want this bot (any more)."""
        connector = TCPConnector(limit=MAX_CONNECTIONS)
        timeout = ClientTimeout(total=None, sock_connect=CONNECT_DEADLINE_S)
        async with ClientSession(self._address, connector=connector, timeout=timeout) as http:
            self._requests = Requests(http, self._token)
            live = Live(http, Session(self._token), self._waiting.put)
            tasks = [asyncio.create_task(live.run()), asyncio.create_task(self._handle_all())]
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    # What it knows.

    @property
    def member(self) -> Member:
        """The bot itself. RuntimeError before it has signed in."""
        if self._known.member is None:
            raise RuntimeError("the bot has not signed in yet")
        return self._known.member

    @property
    def channels(self) -> Mapping[str, Channel]:
        """Those that the bot sees, by id."""
        return self._known.channels

    @property
    def voice(self) -> Mapping[str, Sequence[VoiceMember]]:
        """Who is in each voice channel that the bot sees, by the channel's id, where there is anybody."""
        return self._known.voice

    # What it can do. Each waits where it comes too fast, and raises Refused or Unreachable.

    async def send(
        self,
        channel_id: str,
        text: str,
        *,
        reply_to: str | None = None,
        thread: str | None = None,
        attachments: Sequence[str] = (),
        nonce: str | None = None,
    ) -> Message:
        """Post. It is posted once, however often it has to be sent: the `nonce` names it for a week."""
        body: dict[str, object] = {"text": text, "nonce": nonce or secrets.token_urlsafe(16)}
        more = {"reply_to": reply_to, "thread": thread, "attachments": list(attachments)}
        body |= {name: value for name, value in more.items() if value}
        path = f"/api/channels/{quote(channel_id, '')}/messages"
        return read(Message, await self.request("POST", path, body, repeatable=True))

    async def reply(self, message: Message, text: str, *, attachments: Sequence[str] = ()) -> Message:
        """Answer a message, where it was written."""
        return await self.send(
            message.channel_id, text, reply_to=message.id, thread=message.thread, attachments=attachments
        )

    async def edit(self, message: Message, text: str) -> Message:
        """Change a message of the bot's own."""
        return read(Message, await self.request("PATCH", _path(message), {"text": text}, repeatable=True))

    async def delete(self, message: Message) -> None:
        await self.request("DELETE", _path(message))

    async def react(self, message: Message, emoji: str) -> None:
        """With an emoji, or with one of the server's as `:name:`."""
        await self.request("PUT", f"{_path(message)}/reactions/{quote(emoji, '')}")

    async def unreact(self, message: Message, emoji: str) -> None:
        await self.request("DELETE", f"{_path(message)}/reactions/{quote(emoji, '')}")

    async def upload(self, channel_id: str, file: Path | bytes, name: str = "") -> str:
        """The id under which `send` takes the file as an attachment, once the server has checked it."""
        content = file if isinstance(file, bytes) else await asyncio.to_thread(file.read_bytes)
        named = name or (file.name if isinstance(file, Path) else "file")

        def form() -> FormData:
            data = FormData(quote_fields=False)
            data.add_field("file", content, filename=named, content_type="application/octet-stream")
            return data

        path = f"/api/channels/{quote(channel_id, '')}/uploads"
        # What arrived and was not acknowledged hangs on nothing, and the server forgets it.
        answer = await self._asking().ask("POST", path, repeatable=True, form=form)
        upload = read(Upload, answer)
        async with asyncio.timeout(CHECK_DEADLINE_S):
            while upload.state == "waiting":
                await asyncio.sleep(_CHECK_INTERVAL_S)
                upload = read(Upload, await self.request("GET", f"/api/uploads/{upload.id}"))
        if upload.refusal is not None:
            raise Refused(upload.refusal.code, upload.refusal.message)
        return upload.id

    async def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Mapping[str, str | int] | None = None,
        repeatable: bool | None = None,
    ) -> Any:
        """Anything else of docs/http.md; the answer's JSON.

        After a lost connection it is asked again where that is `repeatable`, as all but POST and PATCH are by
        themselves.
        """
        if repeatable is None:
            repeatable = method not in ("POST", "PATCH")
        return await self._asking().ask(method, path, body, repeatable=repeatable, query=query)

    def _asking(self) -> Requests:
        if self._requests is None:
            raise RuntimeError("the bot is not running")
        return self._requests

    # What happens to it.

    async def _handle_all(self) -> None:
        while True:
            heard = await self._waiting.get()
            try:
                await self._handle(heard)
            except (KeyError, TypeError, ValueError):
                logger.exception("the server sent something that its description does not have")

    async def _handle(self, heard: Heard) -> None:
        match heard:
            case SignedIn(state):
                self._known.signed_in(state)
                await self._tell("authenticated", state)
                await self._catch_up(state)
            case Pushed("message_posted" as event, data):
                message = read(Message, data)
                if self._cursors.pushed(message):
                    await self._tell(event, data)
                    await self._tell_message(message)
            case Pushed(event, data):
                self._known.pushed(event, data)
                await self._tell(event, data)

    async def _catch_up(self, state: Data) -> None:
        """More was missed than the server keeps, or it was started again: history tells of messages."""
        for channel_id, thread, after in self._cursors.missed(state):
            path = f"/api/channels/{quote(channel_id, '')}/messages"
            more = True
            while more:
                query: dict[str, str | int] = {"after": after, "limit": _PAGE}
                if thread:
                    query["thread"] = thread
                try:
                    page = await self.request("GET", path, query=query)
                except Unreachable:
                    continue  # It has waited long; nothing may be left out.
                except Refused as refused:
                    if refused.code not in _GONE:
                        raise
                    break
                for data in page["messages"]:
                    message = read(Message, data)
                    self._cursors.fetched(message)
                    after = message.id
                    await self._tell("message_posted", data)
                    await self._tell_message(message)
                more = page["more_after"]
        self._cursors.caught_up(state)

    async def _tell_message(self, message: Message) -> None:
        author = message.author
        if author.id == self.member.id:
            return
        for handler in self._on_message:
            await _guarded(handler(message))
        # Programs that answer each other never end.
        by_person = author.kind == "member" and not author.bot
        if by_person and message.text.startswith(self._prefix):
            name, _, rest = message.text.removeprefix(self._prefix).partition(" ")
            if (command := self._commands.get(name.casefold())) is not None:
                await _guarded(command(message, rest.strip()))

    async def _tell(self, event: str, data: Data) -> None:
        for handler in self._on_event.get(event, ()):
            await _guarded(handler(data))


async def _guarded(handling: Awaitable[None]) -> None:
    """A handler that fails, or takes too long, ends neither the bot nor what comes after it."""
    try:
        async with asyncio.timeout(HANDLER_DEADLINE_S):
            await handling
    except Exception:
        logger.exception("a handler failed")


def _path(message: Message) -> str:
    return f"/api/channels/{quote(message.channel_id, '')}/messages/{quote(message.id, '')}"
