"""Webhooks can have avatars, which are scaled down and appear with later posts.

See docs/http.md, "Webhooks", and docs/webhooks.md.
"""

from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from svc.chat.webhooks.limits import MAX_PICTURE_BYTES
from tests.chat.chat_server import chat_server
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.members_by_role import MembersByRole
from tests.chat.webhooks.webhook_client import Hook
from tests.kit.pictures import encoded, scene


async def put(person: HttpMember, hook: Hook, data: bytes) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {person.token}"}
    async with person.chat.http.put(
        f"{avatar_of(hook)}/picture", data=BytesIO(data), headers=headers
    ) as response:
        return response.status, await response.json()


def avatar_of(hook: Hook) -> str:
    return hook.path.rpartition("/")[0]


async def loaded(person: HttpMember, url: str) -> Image.Image:
    async with person.chat.http.get(url) as response:
        assert response.status == 200, await response.text()
        return Image.open(BytesIO(await response.read()))


async def author_of_post(hook: Hook) -> dict[str, Any]:
    async with hook.chat.http.post(hook.path, json={"text": "a"}) as response:
        assert response.status == 200
    author: dict[str, Any] = (await hook.arrived())["author"]
    return author


async def test_an_avatar_is_scaled_down_and_shown_with_later_posts(
    hook: Hook, members: MembersByRole
) -> None:
    assert (await author_of_post(hook))["avatar"] is None
    status, webhook = await put(members.admin, hook, encoded(scene(1024, 512), "PNG"))
    assert status == 200
    assert (await loaded(members.member, webhook["picture"])).size == (256, 128)
    assert (await author_of_post(hook))["avatar"] == webhook["picture"]
    response = await members.owner.done("GET", avatar_of(hook))
    assert response["picture"] == webhook["picture"]
    entries = (await members.owner.done("GET", f"/api/audit?target_id={webhook['id']}"))["entries"]
    assert entries[0]["details"] == {"channel_id": "general", "name": "Hook", "changed": ["picture"]}


async def test_earlier_messages_keep_the_avatar_they_were_posted_with(
    hook: Hook, members: MembersByRole
) -> None:
    first = (await put(members.owner, hook, encoded(scene(64, 64), "PNG")))[1]["picture"]
    assert (await author_of_post(hook))["avatar"] == first
    second = (await put(members.owner, hook, encoded(scene(32, 32), "JPEG")))[1]["picture"]
    assert second != first
    assert (await author_of_post(hook))["avatar"] == second
    await members.owner.done("DELETE", f"{avatar_of(hook)}/picture")
    assert (await author_of_post(hook))["avatar"] is None
    history = (await members.member.done("GET", "/api/channels/general/messages"))["messages"]
    assert [message["author"]["avatar"] for message in history] == [first, second, None]
    for url, side in ((first, 64), (second, 32)):
        assert (await loaded(members.member, url)).size == (side, side)


@pytest.mark.parametrize(
    ("data", "status", "code"),
    [
        (b"", 400, "unsupported_type"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", 400, "unsupported_type"),
        (encoded(scene(64, 64), "PNG")[:-30], 400, "invalid_image"),
        (b"\x89PNG\r\n\x1a\n" + b"nothing", 400, "invalid_image"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * MAX_PICTURE_BYTES, 413, "body_too_large"),
    ],
)
async def test_an_invalid_avatar_changes_nothing(
    hook: Hook, members: MembersByRole, data: bytes, status: int, code: str
) -> None:
    answer = await put(members.owner, hook, data)
    assert (answer[0], answer[1]["error"]) == (status, code)
    assert (await members.owner.done("GET", avatar_of(hook)))["picture"] is None


async def test_only_managers_of_the_webhook_can_change_its_avatar(hook: Hook, members: MembersByRole) -> None:
    picture = encoded(scene(64, 64), "PNG")
    assert (await put(members.moderator, hook, picture))[1]["error"] == "forbidden"
    assert await members.moderator.refused("DELETE", f"{avatar_of(hook)}/picture") == "forbidden"
    keeper = await newcomer(members.chat, "Keeper")
    override = f"/api/channels/lobby/overrides/member/{keeper.id}"
    await members.owner.done("PUT", override, {"allow": ["manage_webhooks"]})
    assert (await put(keeper, hook, picture))[1]["error"] == "unknown_webhook"


async def test_without_storage_webhooks_have_no_avatars(variables: dict[str, str]) -> None:
    async with chat_server({**variables, "DISABLE_S3": "true"}) as chat:
        owner = await newcomer(chat, "Owner")
        made = await owner.done("POST", "/api/webhooks", {"name": "a", "channel_id": "general"})
        headers = {"Authorization": f"Bearer {owner.token}"}
        path, picture = f"/api/webhooks/{made['id']}/picture", encoded(scene(64, 64), "PNG")
        async with chat.http.put(path, data=picture, headers=headers) as response:
            assert (response.status, (await response.json())["error"]) == (503, "uploads_disabled")
