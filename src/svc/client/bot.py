"""Implements a bot that stays signed in, handles events in order, and acts on the server.

Combines the other modules in this package, and has methods for the endpoints in docs/http.md that bots use
most. No message is lost or repeated when the connection is lost.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from aiohttp import ClientSession, ClientTimeout, FormData, TCPConnector
from msgspec import convert

from svc.base.tasks import until_first_ends
from svc.client.cursors import Cursors
from svc.client.live import Live
from svc.client.models import Channel, Member, Message, Upload, VoiceMember
from svc.client.requests import Refused, Requests, Unreachable
from svc.client.session import Data, PushedEvent, Received, Session, SignedIn
from svc.client.state import ServerState

# The maximum number of events waiting for a handler. When it is reached, the bot stops reading the socket,
# and the server holds back further events.
MAX_WAITING = 1000
# The timeout for one handler. Other events wait until it has finished.
HANDLER_DEADLINE_S = 300.0
CONNECT_DEADLINE_S = 10.0
MAX_CONNECTIONS = 8
# The timeout for the media worker's check, which every file must pass before it can be posted.
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
    """A bot on the server at the URL `address`. Register handlers with the decorators, then call `run`.

    A message that starts with `prefix` is a command.
    """

    def __init__(self, address: str, token: str, *, prefix: str = "!") -> None:
        self._address = address
        self._token = token
        self._prefix = prefix
        self._known = ServerState()
        self._cursors = Cursors()
        self._waiting: asyncio.Queue[Received] = asyncio.Queue(MAX_WAITING)
        self._requests: Requests | None = None
        self._commands: dict[str, CommandHandler] = {}
        self._on_message: list[MessageHandler] = []
        self._on_event: dict[str, list[EventHandler]] = {}

    # Decorators that register handlers.

    def command(self, name: str) -> Callable[[C], C]:
        """Register a function to call for a command, with the message and the text after the command's
        name.
        """

        def register(handler: C) -> C:
            self._commands[name.casefold()] = handler
            return handler

        return register

    def on_message(self, handler: M) -> M:
        """Register a function to call for each message except the bot's own."""
        self._on_message.append(handler)
        return handler

    def on(self, event: str) -> Callable[[E], E]:
        """Register a function to call with the data of each event of this name: an event in docs/live.md, or
        `authenticated`.
        """

        def register(handler: E) -> E:
            self._on_event.setdefault(event, []).append(handler)
            return handler

        return register

    async def run(self) -> None:
        """Run the bot until cancelled. Raises Refused if the server permanently rejects the bot."""
        connector = TCPConnector(limit=MAX_CONNECTIONS)
        timeout = ClientTimeout(total=None, sock_connect=CONNECT_DEADLINE_S)
        async with ClientSession(self._address, connector=connector, timeout=timeout) as http:
            self._requests = Requests(http, self._token)
            live = Live(http, Session(self._token), self._waiting.put)
            await until_first_ends(live.run(), self._handle_all())

    # The server's state.

    @property
    def member(self) -> Member:
        """The bot's own member. Raises RuntimeError before the first sign-in."""
        if self._known.member is None:
            raise RuntimeError("the bot has not signed in yet")
        return self._known.member

    @property
    def channels(self) -> Mapping[str, Channel]:
        """The channels that the bot can see, keyed by id."""
        return self._known.channels

    @property
    def voice(self) -> Mapping[str, Sequence[VoiceMember]]:
        """The members in each occupied voice channel that the bot can see, keyed by channel id."""
        return self._known.voice

    # Actions. Each action waits when the server limits the rate, and raises Refused or Unreachable.

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
        """Post a message. Retries are safe: the server remembers the `nonce` for a week and posts the message
        only once.
        """
        body: dict[str, object] = {"text": text, "nonce": nonce or secrets.token_urlsafe(16)}
        more = {"reply_to": reply_to, "thread": thread, "attachments": list(attachments)}
        body |= {name: value for name, value in more.items() if value}
        path = f"/api/channels/{quote(channel_id, '')}/messages"
        return convert(await self.request("POST", path, body, repeatable=True), Message)

    async def reply(self, message: Message, text: str, *, attachments: Sequence[str] = ()) -> Message:
        """Reply to a message in its channel or thread."""
        return await self.send(
            message.channel_id, text, reply_to=message.id, thread=message.thread, attachments=attachments
        )

    async def edit(self, message: Message, text: str) -> Message:
        """Edit one of the bot's own messages."""
        return convert(await self.request("PATCH", _path(message), {"text": text}, repeatable=True), Message)

    async def delete(self, message: Message) -> None:
        await self.request("DELETE", _path(message))

    async def react(self, message: Message, emoji: str) -> None:
        """Add a reaction. `emoji` is an emoji, or a custom emoji as `:name:`."""
        await self.request("PUT", f"{_path(message)}/reactions/{quote(emoji, '')}")

    async def unreact(self, message: Message, emoji: str) -> None:
        await self.request("DELETE", f"{_path(message)}/reactions/{quote(emoji, '')}")

    async def upload(self, channel_id: str, file: Path | bytes, name: str = "") -> str:
        """Upload a file, wait until it has been checked, and return its id for `send`."""
        content = file if isinstance(file, bytes) else await asyncio.to_thread(file.read_bytes)
        file_name = name or (file.name if isinstance(file, Path) else "file")

        def form() -> FormData:
            data = FormData(quote_fields=False)
            data.add_field("file", content, filename=file_name, content_type="application/octet-stream")
            return data

        path = f"/api/channels/{quote(channel_id, '')}/uploads"
        # A retry after a lost response leaves an unused upload behind, which the server deletes.
        answer = await self._client().ask("POST", path, repeatable=True, form=form)
        upload = convert(answer, Upload)
        async with asyncio.timeout(CHECK_DEADLINE_S):
            while upload.state == "waiting":
                await asyncio.sleep(_CHECK_INTERVAL_S)
                upload = convert(await self.request("GET", f"/api/uploads/{upload.id}"), Upload)
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
        """Call any other endpoint in docs/http.md and return the parsed JSON.

        If the connection is lost, the request is retried if it is `repeatable`. By default, all methods
        except POST and PATCH are repeatable.
        """
        if repeatable is None:
            repeatable = method not in ("POST", "PATCH")
        return await self._client().ask(method, path, body, repeatable=repeatable, query=query)

    def _client(self) -> Requests:
        if self._requests is None:
            raise RuntimeError("the bot is not running")
        return self._requests

    # Event handling.

    async def _handle_all(self) -> None:
        while True:
            event = await self._waiting.get()
            try:
                await self._handle(event)
            except (KeyError, TypeError, ValueError):
                logger.exception("the server sent an event that does not match its description")

    async def _handle(self, received: Received) -> None:
        match received:
            case SignedIn(state):
                self._known.signed_in(state)
                await self._handle_event("authenticated", state)
                await self._catch_up(state)
            case PushedEvent("message_posted" as event, data):
                message = convert(data, Message)
                if self._cursors.record_event(message):
                    await self._handle_event(event, data)
                    await self._handle_message(message)
            case PushedEvent(event, data):
                self._known.pushed(event, data)
                await self._handle_event(event, data)

    async def _catch_up(self, state: Data) -> None:
        """Fetch missed messages from history, because the server has restarted or no longer stores all the
        events that the bot missed.
        """
        for channel_id, thread, after in self._cursors.missed_channels(state):
            path = f"/api/channels/{quote(channel_id, '')}/messages"
            more = True
            while more:
                query: dict[str, str | int] = {"after": after, "limit": _PAGE}
                if thread:
                    query["thread"] = thread
                try:
                    page = await self.request("GET", path, query=query)
                except Unreachable:
                    continue  # Keep trying, because no message may be skipped.
                except Refused as refused:
                    if refused.code not in _GONE:
                        raise
                    break
                for data in page["messages"]:
                    message = convert(data, Message)
                    self._cursors.record_history(message)
                    after = message.id
                    await self._handle_event("message_posted", data)
                    await self._handle_message(message)
                more = page["more_after"]
        self._cursors.record_state(state)

    async def _handle_message(self, message: Message) -> None:
        author = message.author
        if author.id == self.member.id:
            return
        for handler in self._on_message:
            await _run_guarded(handler(message))
        # Ignore commands from bots, because bots that respond to each other would never stop.
        by_person = author.kind == "member" and not author.bot
        if by_person and message.text.startswith(self._prefix):
            name, _, arguments = message.text.removeprefix(self._prefix).partition(" ")
            if (command := self._commands.get(name.casefold())) is not None:
                await _run_guarded(command(message, arguments.strip()))

    async def _handle_event(self, event: str, data: Data) -> None:
        for handler in self._on_event.get(event, ()):
            await _run_guarded(handler(data))


async def _run_guarded(handling: Awaitable[None]) -> None:
    """Run a handler with a timeout. Log a failure, so that the bot continues with the next event."""
    try:
        async with asyncio.timeout(HANDLER_DEADLINE_S):
            await handling
    except Exception:
        logger.exception("a handler failed")


def _path(message: Message) -> str:
    return f"/api/channels/{quote(message.channel_id, '')}/messages/{quote(message.id, '')}"
