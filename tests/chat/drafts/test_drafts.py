"""Drafts appear only in their author's clients, and the files in a draft are retained."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import members_by_role
from tests.chat.uploads.upload_helpers import UploadServer

DRAFT = "/api/channels/general/draft"


@pytest.fixture
async def server(variables: dict[str, str]) -> AsyncIterator[UploadServer]:
    async with server_with_insight(variables) as (chat, community):
        yield UploadServer(chat, community, await members_by_role(chat), variables)


async def test_a_draft_appears_only_in_the_other_clients_of_its_author(server: UploadServer) -> None:
    async with server.members.live("member", "member", "owner") as [one, two, other]:
        reply = await one.ask("draft_put", channel_id="general", text="I think tha")
        assert (await two.pushed("draft_changed")) == reply["data"]
        assert (await two.ask("drafts"))["data"]["drafts"] == [reply["data"]]
        await one.ask("draft_delete", channel_id="general")
        assert (await two.pushed("draft_deleted")) == {"channel_id": "general"}
        assert (await other.ask("drafts"))["data"]["drafts"] == []
        assert [event for event in other.kept_events() if event.startswith("draft")] == []


async def test_a_draft_replaces_the_previous_one(server: UploadServer) -> None:
    member = server.members.member
    await member.done("PUT", DRAFT, {"text": "first"})
    await member.done("PUT", DRAFT, {"text": "second"})
    [draft] = (await member.done("GET", "/api/drafts"))["drafts"]
    assert (draft["text"], draft["attachments"]) == ("second", [])
    await member.done("DELETE", DRAFT)
    assert (await member.done("GET", "/api/drafts"))["drafts"] == []


async def test_the_sweep_does_not_delete_a_drafts_files(server: UploadServer) -> None:
    member = server.members.member
    held, orphan = await server.done(member), await server.done(member)
    await member.done("PUT", DRAFT, {"text": "", "attachments": [held]})
    media, sweep = server.community.media, server.community.files.sweep
    now = [media._now() + sweep._grace_ms / 1000 + 1]
    media._now = sweep._now = lambda: now[0]
    assert await sweep.run_once() == 2, "the unattached file and its thumbnail are deleted"
    assert await member.refused("GET", f"/api/uploads/{orphan}") == "unknown_upload"
    await member.done("POST", "/api/channels/general/messages", {"text": "", "attachments": [held]})
    await member.done("DELETE", DRAFT)
    now[0] += sweep._grace_ms / 1000 + 1
    assert await sweep.run_once() == 0, "a message uses the files now"


async def test_a_draft_accepts_only_finished_files_of_its_author(server: UploadServer) -> None:
    member = server.members.member
    theirs, waiting = await server.done(server.members.owner), await server.sent(member)
    for upload_id, refusal in ((theirs, "unknown_upload"), (waiting, "upload_not_done")):
        body = {"text": "", "attachments": [upload_id]}
        assert await member.refused("PUT", DRAFT, body) == refusal
    assert (await member.done("GET", "/api/drafts"))["drafts"] == []


async def test_drafts_are_deleted_with_their_channel_and_their_member(server: UploadServer) -> None:
    member, owner = server.members.member, server.members.owner
    upload_id = await server.done(member)
    await member.done("PUT", DRAFT, {"text": "", "attachments": [upload_id]})
    await member.done("PUT", "/api/channels/lobby/draft", {"text": "here too"})
    await owner.done("DELETE", "/api/channels/general")
    assert [draft["channel_id"] for draft in (await member.done("GET", "/api/drafts"))["drafts"]] == ["lobby"]
    await member.done("POST", "/api/me/leave")
    rows = await server.community.media._database.rows("SELECT * FROM drafts")
    assert rows == []
    media, sweep = server.community.media, server.community.files.sweep
    late = media._now() + sweep._grace_ms / 1000 + 1
    media._now = sweep._now = lambda: late
    assert await sweep.run_once() == 2


async def test_a_draft_saved_while_its_channel_is_being_deleted_is_discarded(server: UploadServer) -> None:
    deleted, answered = await asyncio.gather(
        server.members.owner.ask("DELETE", "/api/channels/general"),
        server.members.member.ask("PUT", DRAFT, {"text": "late"}),
    )
    assert deleted[0] == 204 and answered[0] in (200, 404)
    assert await server.community.media._database.rows("SELECT * FROM drafts") == []
