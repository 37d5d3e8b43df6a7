"""`/api/private`: devices, conversations, and what is sent there. No rules."""

import base64
import binascii
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing

from aiohttp import web

from svc.base.database import Database
from svc.chat.access.tokens import Asker
from svc.chat.direct import store
from svc.chat.direct.devices import LOW_STOCK, MAX_KEY_PACKAGE_BYTES, MAX_KEY_PACKAGES, PrivateDevices
from svc.chat.direct.files import PrivateFiles
from svc.chat.direct.framing import MAX_RECIPIENTS
from svc.chat.direct.franking import COMMITMENT_BYTES, KEY_BYTES, TAG_BYTES, Proof, Sending
from svc.chat.direct.reports import PrivateReports
from svc.chat.direct.rules import (
    MAX_COMMIT_BYTES,
    MAX_MESSAGE_BYTES,
    MAX_MISSED,
    MAX_PEOPLE,
    MAX_WELCOME_BYTES,
    Commit,
    PrivateConversations,
)
from svc.chat.errors import ChatError
from svc.chat.fields import Data, flag, identifier, number, optional_text, strings, text
from svc.chat.http import answer, arriving, asker, body, nothing, query_number, refuse_compressed
from svc.chat.requests import Handler

# With the request, a key, and what caches are told.
Serve = Callable[[web.Request, str, str], Awaitable[web.StreamResponse]]

MAX_STATEMENT_CHARACTERS = 2048
MAX_WELCOMES = 50
MAX_REPORT_CHARACTERS = 1000
FILE_TYPE = "application/octet-stream"
_LAST = 2**53 - 1


def encoded_size(size: int) -> int:
    """How many characters so many bytes have in base64."""
    return -(-size // 3) * 4


# What a message with the names of its files says, written as JSON.
MAX_SAID_CHARACTERS = MAX_MESSAGE_BYTES
# In UTF-8, with every quote and backslash in it escaped once more.
MAX_REPORT_BODY_BYTES = 4 * MAX_SAID_CHARACTERS

# A batch of key packages, or a commit with its Welcome, and the JSON around them.
MAX_BODY_BYTES = encoded_size(MAX_COMMIT_BYTES + MAX_WELCOME_BYTES) + 32 * 1024


class PrivateRoutes:
    """`current` finds the id of the device that asks; `serve` answers with what is stored under a key."""

    def __init__(
        self,
        database: Database,
        devices: PrivateDevices,
        conversations: PrivateConversations,
        files: PrivateFiles,
        reports: PrivateReports,
        current: Callable[[Asker], Awaitable[str | None]],
        serve: Serve,
    ) -> None:
        self._database = database
        self._devices = devices
        self._conversations = conversations
        self._files = files
        self._reports = reports
        self._serve = serve
        self._current = current

    def table(self) -> list[web.RouteDef]:
        private = "/api/private"
        one = private + "/conversations/{conversation_id}"
        return [
            web.get(f"{private}/device", self.device),
            web.put(f"{private}/device", self.register),
            web.post(f"{private}/key-packages", self.publish),
            web.get(f"{private}/welcomes", self.welcomes),
            web.delete(private + "/welcomes/{welcome_id}", self.received),
            web.get(f"{private}/conversations", self.list),
            web.post(f"{private}/conversations", self.open),
            web.get(one, self.one),
            web.put(one + "/members/{member_id}", self.add),
            web.delete(one + "/members/{member_id}", self.remove),
            web.post(f"{one}/leave", self.leave),
            web.post(f"{one}/lost", self.lost),
            web.post(f"{one}/key-packages", self.take),
            web.post(f"{one}/commits", self.commit),
            web.post(f"{one}/messages", self.send),
            web.get(f"{one}/log", self.log),
            web.post(f"{one}/reports", self.report),
            web.post(f"{one}/files", self.take_file),
            web.get(one + "/files/{file_id}", self.file),
            web.delete(one + "/files/{file_id}", self.remove_file),
        ]

    def handlers(self) -> Mapping[str, Handler]:
        return {"private_send": self.send_live, "private_log": self.log_live}

    async def device(self, request: web.Request) -> web.Response:
        current = await self._current(asker(request))
        described = await self._devices.described(current, time.time())
        return answer({**described, "low_below": LOW_STOCK})

    async def register(self, request: web.Request) -> web.Response:
        statement = text(await body(request), "statement", most=MAX_STATEMENT_CHARACTERS, least=1)
        return answer(await self._devices.register(asker(request), statement, time.time()))

    async def publish(self, request: web.Request) -> web.Response:
        data = await body(request, MAX_BODY_BYTES)
        most = encoded_size(MAX_KEY_PACKAGE_BYTES)
        given = strings(data, "key_packages", most=MAX_KEY_PACKAGES, most_characters=most)
        packages = [decoded(one, "key_packages") for one in given]
        last = optional_text(data, "last_resort", most=most)
        last_resort = decoded(last, "last_resort") if last else None
        return answer(await self._devices.publish(asker(request), packages, last_resort, time.time()))

    async def welcomes(self, request: web.Request) -> web.Response:
        """Of the device that asks, and of no other."""
        current = await self._current(asker(request))
        found = await store.welcomes(self._database, current, MAX_WELCOMES) if current else []
        return answer(
            {
                "welcomes": [
                    {
                        "id": row["id"],
                        "conversation_id": row["conversation_id"],
                        "seq": row["seq"],
                        "welcome": base64.b64encode(row["body"]).decode(),
                    }
                    for row in found
                ]
            }
        )

    async def received(self, request: web.Request) -> web.Response:
        await self._conversations.received(asker(request), identifier(request.match_info, "welcome_id"))
        return nothing()

    async def list(self, request: web.Request) -> web.Response:
        return answer({"conversations": await self._conversations.of(asker(request).member_id)})

    async def open(self, request: web.Request) -> web.Response:
        member_id = asker(request).member_id
        others = strings(await body(request), "members", most=MAX_PEOPLE)
        conversation_id = await self._conversations.open(member_id, others, time.time())
        return answer(await self._conversations.one(member_id, conversation_id))

    async def one(self, request: web.Request) -> web.Response:
        return answer(await self._conversations.one(asker(request).member_id, _id(request)))

    async def add(self, request: web.Request) -> web.Response:
        other_id = identifier(request.match_info, "member_id")
        await self._conversations.add(asker(request).member_id, _id(request), other_id)
        return nothing()

    async def remove(self, request: web.Request) -> web.Response:
        other_id = identifier(request.match_info, "member_id")
        await self._conversations.remove(asker(request).member_id, _id(request), other_id)
        return nothing()

    async def leave(self, request: web.Request) -> web.Response:
        member_id = asker(request).member_id
        await self._conversations.remove(member_id, _id(request), member_id)
        return nothing()

    async def lost(self, request: web.Request) -> web.Response:
        await self._conversations.lose(asker(request), _id(request))
        return nothing()

    async def take(self, request: web.Request) -> web.Response:
        wanted = strings(await body(request), "devices", most=MAX_RECIPIENTS)
        taken = await self._conversations.take_packages(
            asker(request), _id(request), list(dict.fromkeys(wanted)), time.time()
        )
        packages = [
            {"device_id": device_id, "key_package": base64.b64encode(package).decode()}
            for device_id, package in taken.items()
        ]
        return answer({"key_packages": packages})

    async def commit(self, request: web.Request) -> web.Response:
        data = await body(request, MAX_BODY_BYTES)
        welcome = optional_text(data, "welcome", most=encoded_size(MAX_WELCOME_BYTES))
        wanted = Commit(
            decoded(text(data, "commit", most=encoded_size(MAX_COMMIT_BYTES), least=1), "commit"),
            decoded(welcome, "welcome") if welcome else None,
            frozenset(strings(data, "removed", most=MAX_RECIPIENTS)),
            number(data, "after", least=0, most=_LAST, default=0),
        )
        return answer(await self._conversations.commit(asker(request), _id(request), wanted, time.time()))

    async def send(self, request: web.Request) -> web.Response:
        return answer(await self._send(asker(request), await body(request) | request.match_info))

    async def log(self, request: web.Request) -> web.Response:
        after = query_number(request, "after", least=0, most=_LAST) or 0
        most = query_number(request, "limit", least=1, most=MAX_MISSED) or MAX_MISSED
        return answer(await self._log(asker(request), _id(request), after, most))

    async def report(self, request: web.Request) -> web.Response:
        data = await body(request, MAX_REPORT_BODY_BYTES)
        sent_at_ms = number(data, "sent_at_ms", least=0, most=_LAST)
        sending = Sending(_id(request), identifier(data, "member_id"), sent_at_ms)
        proof = Proof(
            text(data, "said", most=MAX_SAID_CHARACTERS, least=1),
            sized(data, "key", KEY_BYTES),
            sized(data, "tag", TAG_BYTES),
        )
        why = text(data, "text", most=MAX_REPORT_CHARACTERS, least=1)
        report_id = await self._reports.report(asker(request).member_id, sending, proof, why, time.time())
        return answer({"id": report_id}, 201)

    async def take_file(self, request: web.Request) -> web.Response:
        refuse_compressed(request)
        if request.content_type != FILE_TYPE or request.content_length is None:
            raise ChatError("wrong_content_type", f"Send {FILE_TYPE}, and say how long it is")
        async with aclosing(arriving(request.content)) as chunks:
            file_id = await self._files.take(asker(request), _id(request), request.content_length, chunks)
        return answer({"file_id": file_id}, 201)

    async def file(self, request: web.Request) -> web.StreamResponse:
        file_id = identifier(request.match_info, "file_id")
        key = await self._files.key_of(asker(request), _id(request), file_id)
        return await self._serve(request, key, "no-store")

    async def remove_file(self, request: web.Request) -> web.Response:
        file_id = identifier(request.match_info, "file_id")
        await self._files.remove(asker(request), _id(request), file_id)
        return nothing()

    async def send_live(self, asking: Asker, data: Data) -> object:
        return await self._send(asking, data)

    async def log_live(self, asking: Asker, data: Data) -> object:
        after = number(data, "after", least=0, most=_LAST, default=0)
        most = number(data, "limit", least=1, most=MAX_MISSED, default=MAX_MISSED)
        return await self._log(asking, identifier(data, "conversation_id"), after, most)

    async def _send(self, asking: Asker, data: Data) -> Mapping[str, object]:
        message = decoded(text(data, "message", most=encoded_size(MAX_MESSAGE_BYTES), least=1), "message")
        after = number(data, "after", least=0, most=_LAST, default=0)
        conversation_id = identifier(data, "conversation_id")
        ring = flag(data, "ring", default=True)
        commitment = sized(data, "commitment", COMMITMENT_BYTES)
        return await self._conversations.send(
            asking, conversation_id, message, commitment, after, time.time(), ring=ring
        )

    async def _log(self, asking: Asker, conversation_id: str, after: int, most: int) -> Mapping[str, object]:
        current = await self._current(asking)
        return await self._conversations.log(asking.member_id, current, conversation_id, after, most)


def _id(request: web.Request) -> str:
    return identifier(request.match_info, "conversation_id")


def decoded(value: str, name: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise ChatError("invalid_request", f"{name} must be in base64") from None


def sized(data: Data, name: str, size: int) -> bytes:
    found = decoded(text(data, name, most=encoded_size(size)), name)
    if len(found) != size:
        raise ChatError("invalid_request", f"{name} must have {size} bytes")
    return found
