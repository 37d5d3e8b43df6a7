"""Bans can delete messages, and moderators can see a member's moderation history."""

from typing import Any

import pytest

from svc.chat.messages.message import first_number_at
from tests.chat.chat_server import chat_server
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole, member_with, members_by_role
from tests.kit.device import Device

GENERAL = "/api/channels/general/messages"
HOUR_MS = 3_600_000


async def messages(person: HttpMember) -> list[str]:
    return [m["text"] for m in (await person.done("GET", GENERAL))["messages"]]


async def audited(members: MembersByRole, action: str) -> dict[str, Any]:
    entries = (await members.owner.done("GET", f"/api/audit?action={action}"))["entries"]
    details: dict[str, Any] = entries[0]["details"]
    return details


async def test_a_ban_deletes_only_recent_messages(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, community):
        members = await members_by_role(chat)
        guard = await member_with(members, "ban_members")
        old = await members.guest.done("POST", GENERAL, {"text": "long ago"})
        await community.messages.messages._database.write(
            lambda c: c.execute(
                "UPDATE messages SET posted_at_ms = (n >> 12) - ? WHERE id = ?", (2 * HOUR_MS, old["id"])
            )
        )
        for number in range(120):
            await members.guest.done("POST", GENERAL, {"text": f"spam {number}"})
        await members.member.done("POST", GENERAL, {"text": "hello"})
        async with members.live("member") as [member]:
            body = {"reason": "spam", "delete_messages_s": 3600}
            assert await members.member.refused("PUT", f"/api/bans/{members.guest.id}", body) == "forbidden"
            await guard.done("PUT", f"/api/bans/{members.guest.id}", body)
            for _ in range(120):
                await member.pushed("message_deleted")
        assert await messages(members.member) == ["long ago", "hello"]
        assert (await audited(members, "member_ban"))["delete_messages_s"] == 3600


async def test_deletion_after_a_ban_continues_after_a_restart(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    device = Device()
    async with server_with_insight(variables) as (chat, community):
        answer = await chat.sign_in(device, nickname="Olga", invite_code=chat.invite)
        olga = HttpMember(chat, device, answer["member"]["id"], answer["access_token"])
        eve = await newcomer(chat, "Eve")
        await eve.done("POST", GENERAL, {"text": "spam"})

        async def not_now(member_id: str, since_ms: int, until_ms: int | None) -> bool:
            raise RuntimeError("the server is about to be stopped")

        monkeypatch.setattr(community.account, "_erase_some", not_now)
        await olga.done("PUT", f"/api/bans/{eve.id}", {"delete_messages_s": 60})
        assert await messages(olga) == ["spam"]
    async with chat_server(variables) as chat:
        answer = await chat.sign_in(device)
        back = HttpMember(chat, device, answer["member"]["id"], answer["access_token"])

        async def gone() -> bool:
            return await messages(back) == []

        while not await gone():
            pass


async def test_messages_written_after_an_unban_are_not_deleted(members: MembersByRole) -> None:
    await members.guest.done("POST", GENERAL, {"text": "spam"})
    await members.owner.done("PUT", f"/api/bans/{members.guest.id}", {"delete_messages_s": 60})
    guard = await member_with(members, "ban_members")
    path = f"/api/bans/{members.guest.id}?reason=sorry"
    assert await members.member.refused("DELETE", path) == "forbidden"
    await guard.done("DELETE", path)
    assert (await audited(members, "member_unban"))["reason"] == "sorry"
    answer = await members.chat.sign_in(
        members.guest.device, nickname="Guest", invite_code=members.chat.invite
    )
    back = HttpMember(members.chat, members.guest.device, answer["member"]["id"], answer["access_token"])
    await back.done("POST", GENERAL, {"text": "better now"})
    while await messages(members.owner) != ["better now"]:
        pass
    for wrong in (-1, 31 * 24 * 3600, "all"):
        body = {"delete_messages_s": wrong}
        assert await members.owner.refused("PUT", f"/api/bans/{back.id}", body) == "invalid_request"


async def test_moderators_see_a_members_moderation_history(members: MembersByRole) -> None:
    reader = await member_with(members, "view_reports")
    guest = f"/api/members/{members.guest.id}"
    await members.moderator.done("PUT", f"{guest}/timeout", {"duration_s": 60, "reason": "loud"})
    await members.moderator.done("DELETE", f"{guest}/timeout")
    await members.member.done("POST", "/api/reports", {"member_id": members.guest.id, "text": "rude"})
    # A role change does not count as moderation.
    await members.owner.done("PUT", f"{guest}/roles/member")
    await members.moderator.done("POST", f"{guest}/kick", {"reason": "rude"})
    for person in (members.owner, reader):
        response = await person.done("GET", f"{guest}/moderation")
        done = [entry["action"] for entry in response["entries"]]
        assert done == ["member_kick", "member_timeout_end", "member_timeout"]
        assert (response["nickname"], response["banned"], response["reports"]) == (
            "Guest",
            False,
            {"open": 1, "resolved": 0},
        )
        assert response["left_at_ms"] >= response["joined_at_ms"]
    first = await reader.done("GET", f"{guest}/moderation?limit=2")
    older = await reader.done("GET", f"{guest}/moderation?limit=2&before={first['next']}")
    assert [e["action"] for e in older["entries"]] == ["member_timeout"] and older["next"] is None
    assert await members.member.refused("GET", f"{guest}/moderation") == "forbidden"
    assert await reader.refused("GET", "/api/members/nobody/moderation") == "unknown_member"


def test_a_cursor_created_from_a_time_is_not_earlier_than_the_time() -> None:
    assert first_number_at(1000) >> 12 == 1000
