"""Members can leave, export their data, delete their data and block others."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientPayloadError

from svc.base.database import StorageFailed
from svc.chat.account import blocks, endpoints
from svc.chat.community import Community
from tests.chat.chat_server import ChatServer
from tests.chat.internal_server import server_with_insight
from tests.chat.live_member import LiveMember
from tests.kit.wait import wait_until

World = tuple[ChatServer, Community]


@pytest.fixture
async def world(variables: dict[str, str]) -> AsyncIterator[World]:
    """Run a server with an owner."""
    async with server_with_insight(variables) as (chat, community):
        await chat.join("Olga")
        yield chat, community


def bearer(member: LiveMember) -> dict[str, str]:
    return {"Authorization": f"Bearer {member.token}"}


async def ask(chat: ChatServer, member: LiveMember, method: str, path: str) -> tuple[int, Any]:
    async with chat.http.request(method, path, headers=bearer(member)) as response:
        text = await response.text()
        return response.status, (await response.json()) if text else None


async def post(member: LiveMember, text: str) -> str:
    reply = await member.ask("message_send", channel_id="general", text=text)
    assert reply["event"] == "message_send", reply
    return str(reply["data"]["id"])


async def history(member: LiveMember) -> list[str]:
    reply = await member.ask("history", channel_id="general")
    return [message["text"] for message in reply["data"]["messages"]]


async def test_leaving_removes_a_member_and_keeps_their_messages(world: World) -> None:
    chat, _ = world
    async with chat.member("Ada") as ada, chat.member("Bob") as bob:
        await post(ada, "goodbye")
        assert await ask(chat, ada, "POST", "/api/me/leave") == (204, None)
        assert await bob.pushed("member_left") == {"member_id": ada.id}
        assert (await ask(chat, ada, "GET", "/api/me/blocks"))[0] == 401
        assert await history(bob) == ["goodbye"]


@pytest.mark.parametrize(("method", "path"), [("POST", "/api/me/leave"), ("DELETE", "/api/me")])
async def test_the_owner_cannot_leave(variables: dict[str, str], method: str, path: str) -> None:
    async with server_with_insight(variables) as (chat, _), chat.member("Olga") as olga:
        status, body = await ask(chat, olga, method, path)
        assert (status, body["error"]) == (409, "owner_must_stay")
        assert (await ask(chat, olga, "GET", "/api/me/blocks"))[0] == 200


async def test_an_export_contains_all_data_of_a_member(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svc.chat.messages.personal_data._PAGE", 2)
    monkeypatch.setattr("svc.chat.account.endpoints._CHUNK_BYTES", 64)
    chat, _ = world
    async with chat.member("Ada") as ada, chat.member("Bob") as bob:
        ids = [await post(ada, f"message {number} \N{SNOWMAN}") for number in range(5)]
        other = await post(bob, "not hers")
        which = {"channel_id": "general", "message_id": ids[1]}
        await ada.ask("message_edit", **which, text="better")
        for emoji in ("\N{THUMBS UP SIGN}", "\N{PARTY POPPER}"):
            await ada.ask("reaction_add", channel_id="general", message_id=other, emoji=emoji)
        await ask(chat, ada, "PUT", f"/api/me/blocks/{bob.id}")
        status, data = await ask(chat, ada, "GET", "/api/me/export")
    assert status == 200
    assert data["member"][0]["nickname"] == "Ada"
    assert data["blocked"] == [bob.id]
    assert len(data["devices"]) == 1
    assert [message["id"] for message in data["messages"]] == ids
    assert data["messages"][0]["text"] == "message 0 \N{SNOWMAN}"
    assert data["messages"][1]["text"] == "better"
    assert [edit["text"] for edit in data["messages"][1]["edits"]] == ["message 1 \N{SNOWMAN}"]
    assert {reaction["emoji"] for reaction in data["reactions"]} == {
        "\N{THUMBS UP SIGN}",
        "\N{PARTY POPPER}",
    }
    assert data["exported_at_ms"] > 0


async def test_a_failed_export_closes_the_connection_before_its_end(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(*_: object) -> AsyncIterator[bytes]:
        yield b'{"exported_at_ms": 1,'
        raise StorageFailed("the disk is gone")

    monkeypatch.setattr(endpoints, "export_json", failing)
    chat, _ = world
    async with chat.member("Ada") as ada:
        with pytest.raises(ClientPayloadError):
            await ask(chat, ada, "GET", "/api/me/export")


async def test_concurrent_exports_are_limited(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "MAX_EXPORTS", 0)
    chat, _ = world
    async with chat.member("Ada") as ada:
        status, body = await ask(chat, ada, "GET", "/api/me/export")
        assert (status, body["error"]) == (429, "export_running")


async def test_deleting_a_members_data_deletes_their_messages(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc.chat.messages.personal_data._ERASED_AT_ONCE", 2)
    chat, community = world
    async with chat.member("Ada") as ada, chat.member("Bob") as bob:
        ids = [await post(ada, f"message {number}") for number in range(5)]
        await post(bob, "stays")
        assert await ask(chat, ada, "DELETE", "/api/me") == (204, None)
        assert await bob.pushed("member_left") == {"member_id": ada.id}
        gone = {(await bob.pushed("message_deleted"))["id"] for _ in ids}
        assert gone == set(ids)
        assert await history(bob) == ["stays"]
        rows = await community.members._database.rows(
            "SELECT nickname FROM members WHERE id = ?"
            " UNION ALL SELECT subject FROM identities WHERE member_id = ?"
            " UNION ALL SELECT name FROM devices WHERE member_id = ?",
            (ada.id,) * 3,
        )
        assert [row[0] for row in rows] == ["Deleted member"]


async def test_a_pending_deletion_continues_after_a_restart(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def not_now(*_: object) -> bool:
        await asyncio.Event().wait()
        return True

    async with server_with_insight(variables) as (chat, community):
        await chat.join("Olga")
        monkeypatch.setattr(community.account, "_erase_some", not_now)
        async with chat.member("Ada") as ada, chat.member("Bob") as bob:
            await post(ada, "forget me")
            bob_token = bob.token
            await ask(chat, ada, "DELETE", "/api/me")
            assert await history(bob) == ["forget me"]
    async with server_with_insight(variables) as (chat, _), chat.member("", bob_token) as bob:

        async def erased() -> bool:
            return await history(bob) == []

        await wait_until("her messages are deleted", erased, within_s=10)


async def test_blocks_are_visible_only_to_the_blocker(world: World) -> None:
    chat, _ = world
    async with chat.member("Ada") as ada, chat.member("Bob") as bob:
        for _ in range(2):
            assert await ask(chat, ada, "PUT", f"/api/me/blocks/{bob.id}") == (204, None)
        assert await ada.pushed("member_blocked") == {"member_id": bob.id}
        assert (await ask(chat, ada, "GET", "/api/me/blocks"))[1] == {"blocked": [bob.id]}
        async with chat.member("", ada.token) as again:
            assert again.welcome["blocked"] == [bob.id]
        assert bob.welcome["blocked"] == []
        # Mentions by a blocked member are not delivered.
        await bob.ask("message_send", channel_id="general", text=f"[Ada](mention:{ada.id})")
        for _ in range(2):
            assert await ask(chat, ada, "DELETE", f"/api/me/blocks/{bob.id}") == (204, None)
        assert await ada.pushed("member_unblocked") == {"member_id": bob.id}
        assert "member_blocked" not in bob.kept_events()


async def test_invalid_blocks_are_rejected_with_the_right_errors(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "MAX_BLOCKS", 1)
    chat, community = world
    (owner_id,) = community.directory.members
    async with chat.member("Ada") as ada, chat.member("Bob") as bob:
        for other, status, error in [
            ("nobody", 404, "unknown_member"),
            (ada.id, 400, "invalid_request"),
            (bob.id, 204, None),
            (owner_id, 409, "too_many_blocks"),
        ]:
            answered = await ask(chat, ada, "PUT", f"/api/me/blocks/{other}")
            assert (answered[0], answered[1] and answered[1]["error"]) == (status, error)
        assert community.blocks.of(ada.id) == [bob.id]


async def test_a_block_survives_a_restart_but_ends_when_the_blocked_member_leaves(
    variables: dict[str, str],
) -> None:
    async with server_with_insight(variables) as (chat, _):
        await chat.join("Olga")
        async with chat.member("Ada") as ada, chat.member("Bob") as bob:
            await ask(chat, ada, "PUT", f"/api/me/blocks/{bob.id}")
            ids, tokens = (ada.id, bob.id), (ada.token, bob.token)
    async with server_with_insight(variables) as (chat, community):
        assert community.blocks.blocks(*ids)
        async with chat.member("", tokens[1]) as bob:
            await ask(chat, bob, "POST", "/api/me/leave")
        assert community.blocks.of(ids[0]) == []
