"""Manages a session with Janus over one WebSocket: sends requests for its handles, and returns the responses.

Janus has a numbered handle for each peer connection. Of Janus's unsolicited events, only those about
established and closed connections are handled. This module handles neither rooms nor media.
https://janus.conf.meetecho.com/docs/rest.html
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, WSMsgType

from svc.tools.bench.errors import BenchError

ANSWER_DEADLINE_S = 10.0

Message = Mapping[str, Any]


class Session:
    """A session, created by `connected`. Raises BenchError for an error response from Janus."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self._socket = socket
        self._id: dict[str, int] = {}
        self._pending: dict[str, asyncio.Future[Message]] = {}
        self._handles: dict[int, Handle] = {}

    async def create(self) -> None:
        self._id = {"session_id": (await self.ask("create"))["data"]["id"]}

    async def attach(self) -> "Handle":
        answer = await self.ask("attach", plugin="janus.plugin.videoroom")
        handle = Handle(self, answer["data"]["id"])
        self._handles[handle.id] = handle
        return handle

    async def ask(self, request: str, **more: object) -> Message:
        transaction = secrets.token_hex(8)
        answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._pending[transaction] = answer
        try:
            async with asyncio.timeout(ANSWER_DEADLINE_S):
                words = {"janus": request, "transaction": transaction, **self._id, **more}
                await self._socket.send_json(words)
                return await answer
        except TimeoutError:
            raise BenchError(f"Janus does not answer {request} within 10 s") from None
        except ClientError as problem:
            raise BenchError(f"The request to Janus failed: {problem}") from None
        finally:
            del self._pending[transaction]

    async def listen(self) -> None:
        """Handle incoming messages until an error occurs. Raises BenchError."""
        while (message := await self._socket.receive()).type is WSMsgType.TEXT:
            self._received(message.json())
        raise BenchError("Janus closed the connection")

    def _received(self, message: Message) -> None:
        kind, request = message["janus"], self._pending.get(message.get("transaction", ""))
        # An "ack" means that the response will follow.
        if request is not None and kind != "ack" and not request.done():
            if problem := _problem(message):
                request.set_exception(BenchError(f"Janus says: {problem}"))
            else:
                request.set_result(message)
        elif kind == "webrtcup":
            self._handles[message["sender"]].up.set()
        elif kind == "hangup":
            raise BenchError(f"Janus closed the session: {message.get('reason')}")


class Handle:
    """A peer connection to the video room. The room may not exist yet."""

    def __init__(self, session: Session, number: int) -> None:
        self.id = number
        self.up = asyncio.Event()  # set once Janus has the media keys
        self._session = session

    async def ask(self, body: Mapping[str, object], jsep: Mapping[str, str] | None = None) -> Message:
        """Send a request to the room, optionally with an offer or an answer."""
        description = {} if jsep is None else {"jsep": jsep}
        return await self._session.ask("message", handle_id=self.id, body=body, **description)


def _problem(message: Message) -> str | None:
    """Return the error from Janus or from its video room."""
    if message["janus"] == "error":
        return str(message["error"]["reason"])
    problem = message.get("plugindata", {}).get("data", {}).get("error")
    return None if problem is None else str(problem)


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[tuple[Session, asyncio.Task[None]]]:
    """Yield a session that has not been created yet, and run its listener while the block runs."""
    async with ClientSession() as http:
        try:
            socket = await http.ws_connect(url, protocols=["janus-protocol"], max_msg_size=0)
        except ClientError as problem:
            raise BenchError(f"{url}: {problem}") from None
        session = Session(socket)
        listening = asyncio.create_task(session.listen())
        try:
            yield session, listening
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)
            await socket.close()
