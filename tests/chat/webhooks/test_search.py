"""Webhook messages can be searched like members' messages, and have a fallback text for notifications."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from svc.chat.media.stored_media import ObjectInfo
from svc.chat.webhooks.payload import WantedPicture
from svc.chat.webhooks.pictures import StoredPictures
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole, members_by_role
from tests.chat.webhooks.webhook_client import Hook, hook_of
from tests.kit.pictures import encoded, scene

CARD: dict[str, Any] = {
    "title": "Pipeline",
    "description": "quokka",
    "author": {"name": "wombat"},
    "fields": [{"name": "numbat", "value": "bilby"}],
    "footer": {"text": "dingo"},
}


async def ids_found(members: MembersByRole, query: str) -> list[str]:
    """Search until the index contains matching messages. Return their ids."""
    async with asyncio.timeout(30):
        while True:
            answer = await members.member.done("GET", f"/api/search?query={query}")
            if answer["messages"]:
                return [message["id"] for message in answer["messages"]]
            await asyncio.sleep(0.02)


async def posted(hook: Hook, body: object) -> str:
    async with hook.chat.http.post(hook.path, json=body) as response:
        assert response.status == 200
        return str((await response.json())["message_id"])


@pytest.mark.parametrize("word", ["pipeline", "quokka", "wombat", "numbat", "bilby", "dingo", "has:card"])
async def test_text_in_every_part_of_a_card_can_be_found(
    hook: Hook, members: MembersByRole, word: str
) -> None:
    message_id = await posted(hook, {"cards": [CARD]})
    assert await ids_found(members, word) == [message_id]


@pytest.mark.parametrize(
    "card",
    [
        {"title": "a", "url": "https://ci.example"},
        {"description": "see https://ci.example/1"},
        {"fields": [{"name": "Log", "value": "[here](https://ci.example/1)"}]},
    ],
)
async def test_a_card_with_a_link_is_found_with_the_has_link_filter(
    hook: Hook, members: MembersByRole, card: object
) -> None:
    await posted(hook, {"cards": [CARD]})
    message_id = await posted(hook, {"cards": [card]})
    assert await ids_found(members, "has:link") == [message_id]


async def test_messages_can_be_found_by_their_webhook_as_the_author(
    hook: Hook, members: MembersByRole
) -> None:
    message_id = await posted(hook, {"text": "hello"})
    assert await ids_found(members, "from:" + hook.path.split("/")[3]) == [message_id]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({"text": "hello", "cards": [CARD]}, None),
        ({"cards": [CARD]}, "Pipeline"),
        ({"cards": [{"description": "[you](mention:1) see https://a.example"}]}, "you see a.example"),
    ],
)
async def test_a_post_without_text_has_a_fallback_text_for_notifications(
    hook: Hook, body: object, line: str | None
) -> None:
    await posted(hook, body)
    assert (await hook.arrived())["fallback"] == line


@dataclass
class Stored:
    """An image store that returns the same image for every request."""

    picture: Mapping[str, object]

    async def collect(self, wanted: Sequence[WantedPicture], holder: str) -> StoredPictures:
        return StoredPictures({picture.path: self.picture for picture in wanted}, ())


@pytest.mark.parametrize("name", ["image_url", "thumbnail_url"])
async def test_a_card_with_an_image_is_found_with_the_has_image_filter(
    variables: dict[str, str], name: str
) -> None:
    async with server_with_insight(variables) as (chat, community):
        members, facts = await members_by_role(chat), ObjectInfo("image/png", width=8, height=8)
        key = await community.media.keep(encoded(scene(8, 8), "PNG"), "png", facts)
        picture = {"key": key, "content_type": "image/png", "width": 8, "height": 8, "placeholder": ""}
        community.messaging.posting.collect = Stored(picture).collect
        async with hook_of(members.owner) as hook:
            await posted(hook, {"cards": [CARD]})
            message_id = await posted(hook, {"cards": [{"title": "a", name: "https://pictures.example/a"}]})
            assert await ids_found(members, "has:image") == [message_id]
            await hook.arrived()
            [card] = (await hook.arrived())["cards"]
            shown = card[name.removesuffix("_url")]
            async with chat.http.get(shown["url"]) as response:
                assert (response.status, response.content_type) == (200, "image/png")
