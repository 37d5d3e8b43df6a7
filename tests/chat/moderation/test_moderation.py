"""Kicks, bans and timeouts take effect immediately. Reports reach the members who may read them."""

import asyncio
from typing import Any, cast

from aiohttp import WSMsgType

from svc.base.database import Database
from svc.chat.access.directory import Directory, Member
from svc.chat.members.rules import Members
from svc.chat.moderation.rules import Moderation
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember
from tests.chat.live_member import LiveMember
from tests.chat.members_by_role import MembersByRole
from tests.kit.services import services_on

NOT_LOWER = {"admin": ("owner", "admin"), "moderator": ("owner", "admin", "moderator")}


async def ending(page: LiveMember) -> int:
    """Wait until the server closes the member's socket. Return the close code."""
    async with asyncio.timeout(30):
        while (message := await page.ws.receive()).type is WSMsgType.TEXT:
            pass
    return int(message.data)


async def rejoin(chat: ChatServer, person: HttpMember) -> str:
    """Try to rejoin. Return the error code, or an empty string on success."""
    proof = await person.device.proof(chat.http, chat.address)
    body = proof | {"nickname": "Again", "invite_code": chat.invite}
    async with chat.http.post("/api/auth/join", json=body) as response:
        answer = await response.json()
        return str(answer.get("error", ""))


async def test_moderators_can_sanction_only_members_of_lower_rank(members: MembersByRole) -> None:
    for actor, targets in NOT_LOWER.items():
        for target in targets:
            path = f"/api/members/{members.by_role[target].id}"
            ask = members.by_role[actor].refused
            assert await ask("POST", f"{path}/kick") == "rank_too_low"
            assert await ask("PUT", f"{path}/timeout", {"duration_s": 60}) == "rank_too_low"
            assert await ask("DELETE", f"{path}/timeout") == "rank_too_low"
            assert await ask("PUT", f"/api/bans/{members.by_role[target].id}") == "rank_too_low"
    ask = members.admin.refused
    assert await ask("POST", "/api/members/nobody/kick") == "unknown_member"
    assert await ask("PUT", "/api/members/nobody/timeout", {"duration_s": 60}) == "unknown_member"
    assert await ask("PUT", "/api/bans/nobody") == "unknown_member"
    assert await ask("DELETE", f"/api/bans/{members.guest.id}") == "unknown_ban"


async def test_a_kicked_member_is_removed_immediately_and_may_rejoin(members: MembersByRole) -> None:
    async with members.live("member", "guest") as [member, guest]:
        path = f"/api/members/{members.guest.id}/kick"
        await members.moderator.done("POST", path, {"reason": "rude"})
        assert await ending(guest) == 4001
        assert await member.pushed("member_left") == {"member_id": members.guest.id}
        assert await members.guest.refused("GET", "/api/members") == "token_invalid"
        assert await members.moderator.refused("POST", path) == "unknown_member"
        assert await rejoin(members.chat, members.guest) == ""
        assert (await member.pushed("member_joined"))["nickname"] == "Again"
    [entry] = (await members.owner.done("GET", "/api/audit?action=member_kick"))["entries"]
    assert entry["details"] == {"nickname": "Guest", "reason": "rude"}


async def test_a_banned_member_cannot_return_until_the_ban_is_lifted(members: MembersByRole) -> None:
    async with members.live("guest") as [guest]:
        path = f"/api/bans/{members.guest.id}"
        await members.moderator.done("PUT", path, {"reason": "spam"})
        assert await ending(guest) == 4001
    [ban] = (await members.moderator.done("GET", "/api/bans"))["bans"]
    assert (ban["member_id"], ban["nickname"], ban["reason"]) == (members.guest.id, "Guest", "spam")
    assert ban["banned_by"] == members.moderator.id
    assert await rejoin(members.chat, members.guest) == "banned"
    # A banned member cannot join an open server, either.
    await members.owner.done("PATCH", "/api/settings", {"joinPolicy": "open"})
    assert await rejoin(members.chat, members.guest) == "banned"
    await members.moderator.done("DELETE", path)
    assert (await members.moderator.done("GET", "/api/bans"))["bans"] == []
    assert await rejoin(members.chat, members.guest) == ""


async def test_a_banned_person_gets_the_reason_before_anything_else_is_checked(
    members: MembersByRole,
) -> None:
    async def moderation(person: HttpMember) -> dict[str, Any]:
        # A client signs in without a name after its session has ended.
        proof = await person.device.proof(members.chat.http, members.chat.address)
        async with members.chat.http.post("/api/auth/join", json=proof) as response:
            answer: dict[str, Any] = await response.json()
            return {name: answer.get(name) for name in ("error", "reason")}

    await members.admin.done("PUT", f"/api/bans/{members.guest.id}", {"reason": "Sells watches"})
    await members.admin.done("PUT", f"/api/bans/{members.member.id}")
    assert await moderation(members.guest) == {"error": "banned", "reason": "Sells watches"}
    assert await moderation(members.member) == {"error": "banned", "reason": None}


async def test_a_former_member_can_be_banned(members: MembersByRole) -> None:
    await members.admin.done("POST", f"/api/members/{members.member.id}/kick")
    await members.admin.done("PUT", f"/api/bans/{members.member.id}")
    await members.admin.done("PUT", f"/api/bans/{members.guest.id}")
    assert await rejoin(members.chat, members.member) == "banned"
    first = await members.admin.done("GET", "/api/bans?limit=1")
    second = await members.admin.done("GET", f"/api/bans?limit=1&after={first['next']}")
    member_ids = [ban["member_id"] for page in (first, second) for ban in page["bans"]]
    assert member_ids == [members.member.id, members.guest.id]
    assert second["next"] is None


async def test_a_member_in_timeout_can_only_read(members: MembersByRole) -> None:
    path = f"/api/members/{members.member.id}/timeout"
    async with members.live("member", "guest") as [member, guest]:
        answer = await members.moderator.done("PUT", path, {"duration_s": 3600, "reason": "calm down"})
        assert answer["timeout_until_ms"] is not None
        assert await guest.pushed("member_updated") == answer
        assert (await member.ask("voice_join", channel_id="lobby"))["data"]["error"] == "in_timeout"
    own = f"/api/members/{members.member.id}"
    assert await members.member.refused("PATCH", own, {"nickname": "x"}) == "in_timeout"
    assert await members.member.refused("POST", "/api/invites") == "in_timeout"
    assert (await members.member.done("GET", "/api/channels"))["channels"] != []
    assert (await members.moderator.done("DELETE", path))["timeout_until_ms"] is None
    await members.member.done("POST", "/api/invites")
    for wrong in ({}, {"duration_s": 0}, {"duration_s": 28 * 86400 + 1}, {"duration_s": "1"}):
        assert await members.moderator.refused("PUT", path, wrong) == "invalid_request"
    actions = [e["action"] for e in (await members.owner.done("GET", "/api/audit?limit=2"))["entries"]]
    assert "member_timeout_end" in actions


async def test_members_are_notified_when_a_timeout_ends(database: Database) -> None:
    directory, nobody = Directory(lambda: 0.0), cast("Members", None)
    services = services_on(database, directory, lambda: 0.0)
    moderation = Moderation(services, nobody)
    for name, until in (("ada", 10.0), ("bob", 20.0), ("cyd", 0.0)):
        directory.put_member(Member(name, name, timeout_until=until))
    reasons: list[str] = []
    services.changes.permissions_changed.append(reasons.extend)
    assert [moderation.next_end(now) for now in (5.0, 10.0, 20.0)] == [10.0, 20.0, None]
    moderation.ended(5.0, 9.0)
    assert reasons == []
    moderation.ended(9.0, 10.0)
    assert reasons == ["ada"]
    moderation.ended(10.0, 30.0)
    assert reasons == ["ada", "bob"]


async def test_slow_mode_exempts_only_members_who_may_manage_messages(members: MembersByRole) -> None:
    body = {"name": "slow", "type": "text", "slow_mode_s": 600}
    channel_id = (await members.owner.done("POST", "/api/channels", body))["id"]
    path = f"/api/channels/{channel_id}/messages"
    await members.member.done("POST", path, {"text": "one"})
    status, answer = await members.member.ask("POST", path, {"text": "two"})
    assert (status, answer["error"]) == (429, "slow_mode")
    assert 0 < answer["retry_after_ms"] <= 600_001
    await members.guest.done("POST", path, {"text": "mine"})
    for _ in range(2):
        await members.moderator.done("POST", path, {"text": "order"})


async def test_reports_can_be_filed_read_and_resolved(members: MembersByRole) -> None:
    async with members.live("moderator", "member") as [moderator, member]:
        body = {"member_id": members.admin.id, "text": "shouts"}
        report_id = (await members.guest.done("POST", "/api/reports", body))["id"]
        pushed = await moderator.pushed("report_created")
        assert (pushed["id"], pushed["member_id"], pushed["text"]) == (report_id, members.admin.id, "shouts")
        await member.ask("no_such_event")
        assert not [frame for frame in member._pushes if frame["event"] == "report_created"]
    [report] = (await members.moderator.done("GET", "/api/reports?state=open"))["reports"]
    assert report == pushed
    await members.moderator.done("POST", f"/api/reports/{report_id}/resolve", {"note": "talked"})
    assert (await members.moderator.done("GET", "/api/reports?state=open"))["reports"] == []
    [report] = (await members.moderator.done("GET", "/api/reports?state=resolved"))["reports"]
    assert (report["resolved_by"], report["note"]) == (members.moderator.id, "talked")
    ask = members.guest.refused
    assert await ask("POST", "/api/reports", {"member_id": "nobody", "text": "x"}) == "unknown_member"
    assert await ask("POST", "/api/reports", {"member_id": members.admin.id}) == "invalid_request"
    assert await ask("POST", "/api/reports", {"text": "x"}) == "invalid_request"
    assert await members.moderator.refused("GET", "/api/reports?state=lost") == "invalid_request"
    assert await members.moderator.refused("POST", "/api/reports/nothing/resolve") == "unknown_report"


async def test_only_one_of_two_concurrent_resolutions_of_a_report_succeeds(members: MembersByRole) -> None:
    body = {"member_id": members.guest.id, "text": "shouts"}
    report_id = (await members.member.done("POST", "/api/reports", body))["id"]
    path = f"/api/reports/{report_id}/resolve"
    async with members.live("owner", "moderator", "member") as [owner, moderator, member]:
        answers = await asyncio.gather(
            members.admin.ask("POST", path, {"note": "talked"}),
            members.moderator.ask("POST", path, {"note": "warned"}),
        )
        assert sorted(status for status, _ in answers) == [204, 409]
        first = members.admin if answers[0][0] == 204 else members.moderator
        for live in (owner, moderator):
            event = await live.pushed("report_resolved")
            assert event == {"report_id": report_id, "resolved_by": first.id}
        await member.ask("ping")
        assert "report_resolved" not in member.kept_events()
    assert [answer["error"] for status, answer in answers if status == 409] == ["already_resolved"]
    [report] = (await members.owner.done("GET", "/api/reports?state=resolved"))["reports"]
    assert (report["resolved_by"], report["note"]) == (
        first.id,
        "talked" if first is members.admin else "warned",
    )
    [entry] = (await members.owner.done("GET", "/api/audit?action=report_resolve"))["entries"]
    assert entry["actor_id"] == first.id


async def test_the_number_of_open_reports_by_one_member_is_limited(members: MembersByRole) -> None:
    body = {"member_id": members.admin.id, "text": "again"}
    for _ in range(20):
        await members.guest.done("POST", "/api/reports", body)
    assert await members.guest.refused("POST", "/api/reports", body) == "too_many"
    first = await members.moderator.done("GET", "/api/reports?limit=15")
    second = await members.moderator.done("GET", f"/api/reports?limit=15&before={first['next']}")
    ids = [report["id"] for page in (first, second) for report in page["reports"]]
    assert len(set(ids)) == 20
    assert ids == sorted(ids, reverse=True)
    await members.moderator.done("POST", f"/api/reports/{ids[0]}/resolve")
    await members.guest.done("POST", "/api/reports", body)


async def test_only_viewers_of_its_channel_see_a_report_about_a_message(members: MembersByRole) -> None:
    hidden = [{"type": "member", "target_id": members.moderator.id, "deny": ["view_channel"]}]
    body = {"name": "staff", "type": "text", "overrides": hidden}
    channel_id = (await members.owner.done("POST", "/api/channels", body))["id"]
    path = f"/api/channels/{channel_id}/messages"
    message = await members.member.done("POST", path, {"text": "hello", "nonce": "n1"})
    message_id = (message.get("message") or message)["id"]
    about = {"channel_id": channel_id, "message_id": message_id, "text": "odd"}
    report_id = (await members.guest.done("POST", "/api/reports", about))["id"]
    assert (await members.moderator.done("GET", "/api/reports"))["reports"] == []
    resolve = f"/api/reports/{report_id}/resolve"
    assert await members.moderator.refused("POST", resolve) == "unknown_report"
    [report] = (await members.admin.done("GET", "/api/reports"))["reports"]
    assert (report["member_id"], report["message_id"]) == (members.member.id, message_id)
    assert await members.moderator.refused("POST", "/api/reports", about) == "unknown_channel"
    unknown = about | {"message_id": "nothing"}
    assert await members.guest.refused("POST", "/api/reports", unknown) == "unknown_message"
    await members.admin.done("POST", resolve)
