"""Custom emoji can be created, renamed and deleted, and all members are notified."""

from collections.abc import AsyncIterator

import pytest

from svc.chat.emoji import rules
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import members_by_role
from tests.chat.uploads.upload_helpers import UploadServer


@pytest.fixture
async def server(variables: dict[str, str]) -> AsyncIterator[UploadServer]:
    async with server_with_insight(variables) as (chat, community):
        yield UploadServer(chat, community, await members_by_role(chat), variables)


async def make(server: UploadServer, name: str, frames: int = 1) -> str:
    await server.sent(server.members.admin, f"/api/emoji?name={name}")
    return await server.work(b"emoji", frames=frames)


async def test_all_members_can_use_an_emoji_once_the_worker_has_processed_it(server: UploadServer) -> None:
    async with server.members.live("guest") as [page]:
        emoji_id = await make(server, "party_cat", frames=12)
        event = await page.pushed("emoji_created")
        assert (event["id"], event["name"], event["animated"]) == (emoji_id, "party_cat", True)
    async with server.chat.http.get(event["url"]) as response:
        assert await response.read() == b"emoji"
    assert (await server.members.guest.done("GET", "/api/emoji"))["emoji"] == [event]
    async with server.members.live("guest") as [page]:
        assert page.welcome["emoji"] == [event]


async def test_an_emoji_name_can_be_used_in_messages_and_reactions(server: UploadServer) -> None:
    await make(server, "party_cat")
    member, path = server.members.member, "/api/channels/general/messages"
    posted = await member.done("POST", path, {"text": "look: :party_cat:"})
    await member.done("PUT", f"{path}/{posted['id']}/reactions/:party_cat:")
    shown = await member.done("GET", f"{path}/{posted['id']}")
    assert shown["reactions"] == [{"emoji": ":party_cat:", "member_ids": [member.id]}]


@pytest.mark.parametrize("name", ["", "a", "With", "a-b", "a" * 31, "ä_b", "a b", "a\nb"])
async def test_an_emoji_name_that_cannot_be_written_between_colons_is_rejected(
    server: UploadServer, name: str
) -> None:
    status, answer = await server.send(
        server.members.owner, f"/api/emoji?name={name.replace(chr(10), '%0A')}"
    )
    assert (status, answer["error"]) == (400, "invalid_emoji_name")


async def test_a_name_is_reserved_while_the_worker_processes_the_emoji(server: UploadServer) -> None:
    owner = server.members.owner
    await make(server, "cat")
    status, answer = await server.send(owner, "/api/emoji?name=cat")
    assert (status, answer["error"]) == (409, "emoji_name_taken")
    async with server.members.live("owner") as [page]:
        for _ in range(2):
            await server.sent(owner, "/api/emoji?name=dog")
        first = await server.claim()
        assert first is not None
        which = {"job": first["id"], "lease": first["lease"]}
        key = await server.store(first, b"dog")
        results = [{"role": "original", "key": key, "content_type": "image/webp", "bytes": 3}]
        await server.command("job_finish", **which, results=results)
        await server.work()
        assert (await page.pushed("upload_refused"))["code"] == "emoji_name_taken"


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("DELETE", "roles/admin", None, "forbidden"),
        ("PUT", "timeout", {"duration_s": 3600}, "in_timeout"),
    ],
)
async def test_no_emoji_is_created_if_the_uploader_has_lost_the_permission_meanwhile(
    server: UploadServer, method: str, path: str, body: object, code: str
) -> None:
    admin = server.members.admin
    await server.sent(admin, "/api/emoji?name=cat")
    await server.members.owner.done(method, f"/api/members/{admin.id}/{path}", body)
    async with server.members.live("admin") as [page]:
        await server.work(b"emoji")
        assert (await page.pushed("upload_refused"))["code"] == code
    assert (await admin.done("GET", "/api/emoji"))["emoji"] == []


async def test_an_emoji_can_be_renamed_and_deleted(server: UploadServer) -> None:
    admin, emoji_id = server.members.admin, await make(server, "cat")
    other = await make(server, "dog")
    async with server.members.live("guest") as [page]:
        renamed = await admin.done("PATCH", f"/api/emoji/{emoji_id}", {"name": "kitten"})
        assert (await page.pushed("emoji_updated")) == renamed
        assert await admin.refused("PATCH", f"/api/emoji/{emoji_id}", {"name": "dog"}) == "emoji_name_taken"
        assert await admin.refused("PATCH", f"/api/emoji/{emoji_id}", {"name": "!"}) == "invalid_emoji_name"
        await admin.done("DELETE", f"/api/emoji/{emoji_id}")
        assert (await page.pushed("emoji_deleted")) == {"emoji_id": emoji_id}
    assert await admin.refused("DELETE", f"/api/emoji/{emoji_id}") == "unknown_emoji"
    assert [emoji["id"] for emoji in (await admin.done("GET", "/api/emoji"))["emoji"]] == [other]
    actions = [entry["action"] for entry in (await admin.done("GET", "/api/audit"))["entries"]]
    assert {"emoji_create", "emoji_rename", "emoji_delete"} <= set(actions)


async def test_an_emojis_image_is_kept_as_long_as_the_emoji(server: UploadServer) -> None:
    emoji_id = await make(server, "cat")
    media, sweep = server.community.media, server.community.files.sweep
    late = media._now() + sweep._grace_ms / 1000 + 1
    media._now = sweep._now = lambda: late
    assert await sweep.run_once() == 1, "the thumbnail is deleted"
    await server.members.owner.done("DELETE", f"/api/emoji/{emoji_id}")
    media._now = sweep._now = lambda: late + sweep._grace_ms / 1000
    assert await sweep.run_once() == 1


async def test_the_number_of_emoji_is_limited(server: UploadServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MAX_EMOJI", 1)
    await make(server, "cat")
    status, answer = await server.send(server.members.owner, "/api/emoji?name=dog")
    assert (status, answer["error"]) == (409, "too_many")
