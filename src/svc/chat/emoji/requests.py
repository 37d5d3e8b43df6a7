"""What can be asked of the server's own emoji. How the pictures come is `uploads`'."""

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

from aiohttp import web
from msgspec import Meta

from svc.chat.access.catalogue import MEMBER, on_server
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Asker
from svc.chat.described import ID, Id, Pushed, Told, obj
from svc.chat.emoji.rules import MAX_EMOJI, Emoji, Emojis, Name
from svc.chat.requests import Asked, Requests, described_by, request, schema_of
from svc.chat.uploads.requests import BEGINNING, FILE, UPLOAD

_ONE = "/api/emoji/{emoji_id}"
_MANAGER = on_server(P.MANAGE_EMOJI)
_Own = Annotated[Sequence[Emoji], Meta(max_length=MAX_EMOJI)]


class OwnEmoji(Told):
    emoji: _Own


class NewName(Asked):
    # What is too long is refused as a name, not as a request.
    name: Annotated[str, Meta(max_length=128)]


class EmojiRequests(Requests):
    """`begin` takes an upload that is to be an emoji."""

    def __init__(self, emoji: Emojis, begin: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
        self._emoji = emoji
        self._begin = begin

    @request(MEMBER, "The server's own emoji", http="GET /api/emoji")
    async def all(self) -> OwnEmoji:
        return OwnEmoji(self._emoji.all())

    @request(
        _MANAGER,
        "Upload a picture that is to be an emoji: multipart, or tus; `emoji_created` follows",
        http="POST /api/emoji",
        refusals=(*BEGINNING, "emoji_name_taken", "invalid_emoji_name"),
        status=201,
        sends=("multipart/form-data", FILE),
        takes=obj({"name": schema_of(Name)}),
        answers=UPLOAD,
    )
    async def create(self, request: web.Request) -> web.StreamResponse:
        return await self._begin(request)

    @request(
        _MANAGER,
        "Give an emoji another name",
        http=f"PATCH {_ONE}",
        refusals=("emoji_name_taken", "invalid_emoji_name", "unknown_emoji"),
    )
    async def rename(self, asking: Asker, emoji_id: Id, asked: NewName) -> Emoji:
        return await self._emoji.rename(asking.member_id, emoji_id, asked.name, time.time())

    @request(
        _MANAGER,
        "Take an emoji away; messages show its name instead",
        http=f"DELETE {_ONE}",
        refusals=("unknown_emoji",),
    )
    async def delete(self, asking: Asker, emoji_id: Id) -> None:
        await self._emoji.delete(asking.member_id, emoji_id, time.time())


_EMOJI = schema_of(Emoji)
DESCRIBED = described_by(
    EmojiRequests,
    pushes=[
        Pushed("emoji_created", "There is a new emoji", _EMOJI, to="everybody"),
        Pushed("emoji_updated", "An emoji has another name", _EMOJI, to="everybody"),
        Pushed("emoji_deleted", "An emoji is gone", obj({"emoji_id": ID}), to="everybody"),
    ],
    welcome={"emoji": schema_of(_Own)},
)
