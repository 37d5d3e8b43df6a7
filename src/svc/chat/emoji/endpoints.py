"""Handles requests for custom emoji. `uploads` receives the images."""

import time
from collections.abc import Awaitable, Callable
from typing import Annotated

from aiohttp import web
from msgspec import Meta

from svc.chat.access.endpoint_permissions import MEMBER, on_server
from svc.chat.access.permissions import Permission as P
from svc.chat.access.tokens import Session
from svc.chat.emoji.responses import AllEmoji, Emoji, EmojiDeleted, Name, OwnEmoji
from svc.chat.emoji.rules import Emojis
from svc.chat.endpoints import Endpoints, Request, describe_feature, endpoint
from svc.chat.schemas import Event, Id
from svc.chat.uploads.endpoints import BEGINNING, FormBody
from svc.chat.uploads.responses import Upload

_EMOJI_PATH = "/api/emoji/{emoji_id}"
_MANAGER = on_server(P.MANAGE_EMOJI)


class NewEmoji(Request):
    name: Name


class NewName(Request):
    # Higher than the actual limit, so that an overlong name gets the error for emoji names.
    name: Annotated[str, Meta(max_length=128)]


class EmojiEndpoints(Endpoints):
    """Requests about custom emoji. `begin` starts the upload of a new emoji."""

    def __init__(self, emoji: Emojis, begin: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> None:
        self._emoji = emoji
        self._begin = begin

    @endpoint(MEMBER, "List all custom emoji", http="GET /api/emoji")
    async def all(self) -> OwnEmoji:
        return OwnEmoji(self._emoji.all())

    @endpoint(
        _MANAGER,
        "Upload a custom emoji as multipart or with tus. The event `emoji_created` follows",
        http="POST /api/emoji",
        refusals=(*BEGINNING, "emoji_name_taken", "invalid_emoji_name"),
        status=201,
        raw_body=("multipart/form-data", FormBody),
        accepts=NewEmoji,
        returns=Upload,
    )
    async def create(self, http_request: web.Request) -> web.StreamResponse:
        return await self._begin(http_request)

    @endpoint(
        _MANAGER,
        "Rename a custom emoji",
        http=f"PATCH {_EMOJI_PATH}",
        refusals=("emoji_name_taken", "invalid_emoji_name", "unknown_emoji"),
    )
    async def rename(self, session: Session, emoji_id: Id, body: NewName) -> Emoji:
        return await self._emoji.rename(session.member_id, emoji_id, body.name, time.time())

    @endpoint(
        _MANAGER,
        "Delete a custom emoji. Messages then show its name",
        http=f"DELETE {_EMOJI_PATH}",
        refusals=("unknown_emoji",),
    )
    async def delete(self, session: Session, emoji_id: Id) -> None:
        await self._emoji.delete(session.member_id, emoji_id, time.time())


DESCRIPTION = describe_feature(
    EmojiEndpoints,
    pushes=[
        Event("emoji_created", "An emoji was created", Emoji, to="everybody"),
        Event("emoji_updated", "An emoji was renamed", Emoji, to="everybody"),
        Event("emoji_deleted", "An emoji was deleted", EmojiDeleted, to="everybody"),
    ],
    welcome={"emoji": AllEmoji},
)
