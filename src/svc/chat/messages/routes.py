"""Messages over HTTP and on the live socket: the same requests twice, read and answered here.

Each request is one function of a member and the fields of the request; an HTTP path gives
some of the fields, the query or the body the others. No rules.
"""

import time
from collections.abc import Awaitable, Callable, Mapping

from aiohttp import web

from svc.chat.access.tokens import Asker
from svc.chat.errors import ChatError
from svc.chat.fields import (
    Data,
    flag,
    identifier,
    number,
    optional_identifier,
    optional_number,
    optional_text,
    strings,
    text,
)
from svc.chat.http import answer, asker, body, nothing, query_number
from svc.chat.messages.emoji import MAX_CHARACTERS as MAX_EMOJI_CHARACTERS
from svc.chat.messages.feature import MessagesFeature
from svc.chat.messages.inbox import MAX_PAGE as MAX_MENTIONS
from svc.chat.messages.message import LAST_MS, number_of
from svc.chat.messages.page_cache import Wanted
from svc.chat.messages.query import MAX_CHARACTERS as MAX_QUERY_CHARACTERS
from svc.chat.messages.reading import MAX_PAGE
from svc.chat.messages.rules import MAX_NONCE_CHARACTERS, Draft
from svc.chat.messages.searching import MAX_FOUND
from svc.chat.messages.threads import MAX_PAGE as MAX_THREADS
from svc.chat.requests import Handler
from svc.chat.uploads.limits import MAX_ATTACHMENTS

USUAL_PAGE = 50
USUAL_FOUND = 25
# Longer than any message may be; how long a message may be, its rules say, with a code of their own.
_MAX_TEXT = 16_000

# What is a number in a query.
_NUMBERS = {"limit": (1, MAX_PAGE), "at_ms": (0, LAST_MS)}

Request = Callable[[str, Data], Awaitable[Mapping[str, object] | None]]

_CHANNEL = "/api/channels/{channel_id}"
_MESSAGE = _CHANNEL + "/messages/{message_id}"
_REACTION = _MESSAGE + "/reactions/{emoji}"
_PIN = _CHANNEL + "/pins/{message_id}"


class MessageRoutes:
    def __init__(self, feature: MessagesFeature) -> None:
        self._feature = feature

    def table(self) -> list[web.RouteDef]:
        return [
            web.get(_CHANNEL + "/messages", _endpoint(self.history)),
            web.post(_CHANNEL + "/messages", _endpoint(self.send, status=201)),
            web.get(_MESSAGE, _endpoint(self.one)),
            web.patch(_MESSAGE, _endpoint(self.edit)),
            web.delete(_MESSAGE, _endpoint(self.delete)),
            web.get(_MESSAGE + "/edits", _endpoint(self.edits)),
            web.put(_REACTION, _endpoint(self.react)),
            web.delete(_REACTION, _endpoint(self.unreact)),
            web.delete(_MESSAGE + "/previews", _endpoint(self.remove_previews)),
            web.get(_CHANNEL + "/pins", _endpoint(self.pins)),
            web.put(_PIN, _endpoint(self.pin)),
            web.delete(_PIN, _endpoint(self.unpin)),
            web.post(_CHANNEL + "/typing", _endpoint(self.typing)),
            web.post(_CHANNEL + "/read", _endpoint(self.read)),
            web.get("/api/search", _endpoint(self.search)),
            web.get("/api/me/mentions", _endpoint(self.mentions)),
            web.get("/api/me/threads", _endpoint(self.threads)),
            web.put(_MESSAGE + "/follow", _endpoint(self.follow)),
            web.delete(_MESSAGE + "/follow", _endpoint(self.unfollow)),
        ]

    def handlers(self) -> dict[str, Handler]:
        requests: dict[str, Request] = {
            "message_send": self.send,
            "message_edit": self.edit,
            "message_delete": self.delete,
            "message_edits": self.edits,
            "reaction_add": self.react,
            "reaction_remove": self.unreact,
            "previews_remove": self.remove_previews,
            "pin_add": self.pin,
            "pin_remove": self.unpin,
            "pins": self.pins,
            "typing": self.typing,
            "read": self.read,
            "history": self.history,
            "search": self.search,
            "mentions": self.mentions,
            "threads": self.threads,
            "thread_follow": self.follow,
            "thread_unfollow": self.unfollow,
        }
        return {event: _live(request) for event, request in requests.items()}

    async def send(self, member_id: str, data: Data) -> Mapping[str, object]:
        draft = Draft(
            channel_id=identifier(data, "channel_id"),
            text=optional_text(data, "text", most=_MAX_TEXT) or "",
            nonce=optional_text(data, "nonce", most=MAX_NONCE_CHARACTERS, least=1),
            reply_to=optional_identifier(data, "reply_to"),
            ping=flag(data, "ping", default=True),
            attachments=_distinct(strings(data, "attachments", most=MAX_ATTACHMENTS)),
            thread=optional_identifier(data, "thread"),
            previews=flag(data, "previews", default=True),
        )
        return (await self._feature.messages.send(member_id, draft, time.time())).described(
            self._feature.urls
        )

    async def edit(self, member_id: str, data: Data) -> Mapping[str, object]:
        new_text = text(data, "text", most=_MAX_TEXT)
        edited = await self._feature.messages.edit(member_id, *_which(data), new_text, time.time())
        return edited.described(self._feature.urls)

    async def delete(self, member_id: str, data: Data) -> None:
        await self._feature.messages.delete(member_id, *_which(data), time.time())

    async def one(self, member_id: str, data: Data) -> Mapping[str, object]:
        return (await self._feature.history.one(member_id, *_which(data))).described(self._feature.urls)

    async def edits(self, member_id: str, data: Data) -> Mapping[str, object]:
        edits = await self._feature.history.edits(member_id, *_which(data))
        return {"edits": [{"text": e.text, "replaced_at_ms": e.replaced_at_ms} for e in edits]}

    async def react(self, member_id: str, data: Data) -> None:
        await self._feature.marking.react(member_id, *_which(data), _emoji(data), time.time())

    async def unreact(self, member_id: str, data: Data) -> None:
        await self._feature.marking.unreact(member_id, *_which(data), _emoji(data))

    async def remove_previews(self, member_id: str, data: Data) -> None:
        await self._feature.marking.remove_previews(member_id, *_which(data), time.time())

    async def pin(self, member_id: str, data: Data) -> None:
        await self._feature.marking.pin(member_id, *_which(data), time.time())

    async def unpin(self, member_id: str, data: Data) -> None:
        await self._feature.marking.unpin(member_id, *_which(data), time.time())

    async def pins(self, member_id: str, data: Data) -> Mapping[str, object]:
        found = await self._feature.history.pins(member_id, identifier(data, "channel_id"))
        return {"messages": [message.described(self._feature.urls) for message in found]}

    async def typing(self, member_id: str, data: Data) -> None:
        channel_id, thread = identifier(data, "channel_id"), optional_identifier(data, "thread")
        if thread is not None:
            number_of(thread)  # An id, and nothing else to show to others.
        self._feature.presence.typing(member_id, channel_id, time.time(), thread)

    async def read(self, member_id: str, data: Data) -> Mapping[str, object]:
        channel_id, message_id = _which(data)
        back = flag(data, "back", default=False)
        if (thread := optional_identifier(data, "thread")) is not None:
            if back:
                raise ChatError("invalid_request", "back is for channels, not for threads")
            return await self._feature.threads.read(member_id, channel_id, thread, message_id)
        if back:
            return await self._feature.reads.unread(member_id, channel_id, message_id)
        return await self._feature.reads.read(member_id, channel_id, message_id)

    async def follow(self, member_id: str, data: Data) -> Mapping[str, object]:
        return await self._feature.threads.follow(member_id, *_which(data))

    async def unfollow(self, member_id: str, data: Data) -> Mapping[str, object]:
        return await self._feature.threads.unfollow(member_id, *_which(data))

    async def threads(self, member_id: str, data: Data) -> Mapping[str, object]:
        limit = number(data, "limit", least=1, most=MAX_THREADS, default=USUAL_FOUND)
        shown, more = await self._feature.threads.followed(member_id, _cursor(data, "before"), limit)
        urls = self._feature.urls
        return {
            "threads": [{**state, "root": root and root.described(urls)} for root, state in shown],
            "more": more,
        }

    async def mentions(self, member_id: str, data: Data) -> Mapping[str, object]:
        limit = number(data, "limit", least=1, most=MAX_MENTIONS, default=USUAL_FOUND)
        found, more = await self._feature.inbox.page(member_id, _cursor(data, "before"), limit)
        return {"messages": [message.described(self._feature.urls) for message in found], "more": more}

    async def history(self, member_id: str, data: Data) -> Mapping[str, object]:
        cursors = {name: _cursor(data, name) for name in ("before", "after", "around")}
        cursors["at_ms"] = optional_number(data, "at_ms", least=0, most=LAST_MS)
        if sum(cursor is not None for cursor in cursors.values()) > 1:
            raise ChatError("invalid_request", "Only one of before, after, around and at_ms can be given")
        limit = number(data, "limit", least=1, most=MAX_PAGE, default=USUAL_PAGE)
        channel_id, thread = identifier(data, "channel_id"), optional_identifier(data, "thread")
        wanted = Wanted(channel_id, limit, **cursors, thread=thread)
        page = (await self._feature.history.page(member_id, wanted)).described(self._feature.urls)
        if thread is not None:
            page["thread"] = self._feature.threads.state(member_id, thread, channel_id)
        return page

    async def search(self, member_id: str, data: Data) -> Mapping[str, object]:
        found, more = await self._feature.search.find(
            member_id,
            text(data, "query", most=MAX_QUERY_CHARACTERS),
            optional_identifier(data, "before"),
            number(data, "limit", least=1, most=MAX_FOUND, default=USUAL_FOUND),
        )
        return {"messages": [message.described(self._feature.urls) for message in found], "more": more}


def _which(data: Data) -> tuple[str, str]:
    return identifier(data, "channel_id"), identifier(data, "message_id")


def _distinct(upload_ids: list[str]) -> list[str]:
    if len(set(upload_ids)) < len(upload_ids):
        raise ChatError("invalid_request", "attachments must be different uploads")
    return upload_ids


def _emoji(data: Data) -> str:
    return text(data, "emoji", most=2 * MAX_EMOJI_CHARACTERS, least=1)


def _cursor(data: Data, name: str) -> int | None:
    message_id = optional_identifier(data, name)
    return None if message_id is None else number_of(message_id)


def _live(request: Request) -> Handler:
    async def handle(asker: Asker, data: Mapping[str, object]) -> object:
        return await request(asker.member_id, data) or {}

    return handle


def _endpoint(request: Request, status: int = 200) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handle(http: web.Request) -> web.Response:
        fields: dict[str, object] = dict(http.query)
        for name, (least, most) in _NUMBERS.items():
            if name in fields:
                fields[name] = query_number(http, name, least=least, most=most)
        if http.method in ("POST", "PATCH") and http.can_read_body:
            fields = await body(http)
        answered = await request(asker(http).member_id, fields | http.match_info)
        return nothing() if answered is None else answer(answered, status)

    return handle
