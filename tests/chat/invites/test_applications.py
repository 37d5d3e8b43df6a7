"""Applicants whose invite requires approval wait until an invite manager approves or rejects them."""

from typing import Any

import pytest

from svc.chat.invites import applications, store
from tests.chat.chat_server import ChatServer
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole, member_with, members_by_role
from tests.kit.device import Device

APPLICATIONS = "/api/applications"


async def apply(
    chat: ChatServer, device: Device, code: str = "", **more: object
) -> tuple[int, dict[str, Any]]:
    """Try to join with the given device. Return the status and the response."""
    proof = await device.proof(chat.http, chat.address)
    body = proof | {"nickname": "New", "invite_code": code} | more
    async with chat.http.post("/api/auth/join", json=body) as response:
        return response.status, await response.json()


async def refusal(chat: ChatServer, device: Device, code: str = "") -> str:
    return str((await apply(chat, device, code))[1].get("error", ""))


async def waiting(person: HttpMember, state: str = "pending") -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = (await person.done("GET", f"{APPLICATIONS}?state={state}"))["applications"]
    return listed


async def with_approval(person: HttpMember, **more: object) -> str:
    return str((await person.done("POST", "/api/invites", {"approval": True, **more}))["code"])


async def test_an_approved_applicant_is_sent_to_the_invites_channel(members: MembersByRole) -> None:
    gatekeeper, device = await member_with(members, "manage_invites"), Device()
    code = await with_approval(members.member, channel_id="general")
    seen = await members.chat.http.post("/api/invites/view", json={"code": code})
    assert (await seen.json())["approval"] is True
    async with members.live("moderator", "member") as [moderator, member]:
        status, answer = await apply(members.chat, device, code, message="a friend of Ada's")
        assert (status, answer["error"], answer["retry_after_ms"]) == (403, "approval_pending", 5000)
        event = await moderator.pushed("application_created")
        assert (event["nickname"], event["message"], event["invited_by"]) == (
            "New",
            "a friend of Ada's",
            members.member.id,
        )
        # A second attempt returns the same application, with or without the code.
        assert await refusal(members.chat, device, code) == "approval_pending"
        assert await refusal(members.chat, device) == "approval_pending"
        for person in (members.owner, gatekeeper):
            assert [entry["id"] for entry in await waiting(person)] == [event["id"]]
        path = f"{APPLICATIONS}/{event['id']}/approve"
        assert await members.member.refused("GET", APPLICATIONS) == "forbidden"
        assert await members.member.refused("POST", path) == "forbidden"
        await gatekeeper.done("POST", path)
        decided = {"application_id": event["id"], "state": "approved", "decided_by": gatekeeper.id}
        assert await moderator.pushed("application_decided") == decided
        status, answer = await apply(members.chat, device)
        assert (status, answer["channel_id"], answer["member"]["roles"]) == (200, "general", ["member"])
        assert (await member.pushed("member_joined"))["id"] == answer["member"]["id"]
        assert "application_created" not in member.kept_events()
    assert await waiting(members.owner) == [] and await waiting(members.owner, "approved") == []
    # The response names the invite's channel only once.
    assert (await apply(members.chat, device))[1]["channel_id"] is None
    (entry,) = (await members.owner.done("GET", "/api/audit?action=application_approve"))["entries"]
    assert (entry["actor_id"], entry["details"]["nickname"]) == (gatekeeper.id, "New")


async def test_approval_does_not_grant_a_role_that_the_inviter_can_no_longer_grant(
    members: MembersByRole,
) -> None:
    device = Device()
    code = await with_approval(members.admin, role_id="moderator")
    await apply(members.chat, device, code)
    (application,) = await waiting(members.owner)
    await members.owner.done("POST", f"{APPLICATIONS}/{application['id']}/approve")
    await members.owner.done("DELETE", f"/api/members/{members.admin.id}/roles/admin")
    status, answer = await apply(members.chat, device)
    assert (status, answer["member"]["roles"]) == (200, ["member"])


async def test_nobody_can_approve_an_applicant_for_a_role_that_they_cannot_grant(
    members: MembersByRole,
) -> None:
    gatekeeper, device = await member_with(members, "manage_invites"), Device()
    strong = {"name": "strong", "rank": 1, "permissions": ["manage_emoji"]}
    role = await members.owner.done("POST", "/api/roles", strong)
    for role_id, code in (("moderator", "rank_too_low"), (role["id"], "forbidden")):
        await apply(members.chat, device, await with_approval(members.owner, role_id=role_id))
        (application,) = await waiting(members.owner)
        path = f"{APPLICATIONS}/{application['id']}"
        assert await gatekeeper.refused("POST", f"{path}/approve") == code
        await gatekeeper.done("POST", f"{path}/refuse")
        assert await gatekeeper.refused("POST", f"{path}/approve") == code
        await members.owner.done("POST", f"{path}/approve")
        device = Device()


async def test_a_rejected_applicant_gets_the_reason_and_can_be_approved_later(
    members: MembersByRole,
) -> None:
    device = Device()
    code = await with_approval(members.owner)
    await apply(members.chat, device, code)
    (application,) = await waiting(members.owner)
    path = f"{APPLICATIONS}/{application['id']}"
    assert await members.member.refused("POST", f"{path}/refuse", {"reason": "no"}) == "forbidden"
    await members.moderator.done("POST", f"{path}/refuse", {"reason": "we are full"})
    assert await members.moderator.refused("POST", f"{path}/refuse") == "unknown_application"
    _, answer = await apply(members.chat, device, code)
    assert (answer["error"], answer["reason"]) == ("approval_refused", "we are full")
    # A second invite that requires approval does not reopen the application.
    assert await refusal(members.chat, device, await with_approval(members.owner)) == "approval_refused"
    (entry,) = (await members.owner.done("GET", "/api/audit?action=application_refuse"))["entries"]
    assert entry["details"]["reason"] == "we are full"
    await members.moderator.done("POST", f"{path}/approve")
    assert await refusal(members.chat, device) == ""
    assert await members.owner.refused("POST", f"{path}/approve") == "unknown_application"
    assert await members.owner.refused("GET", f"{APPLICATIONS}?state=odd") == "invalid_request"


async def test_wrong_codes_from_an_applicant_count_towards_the_limit(members: MembersByRole) -> None:
    device = Device()
    await apply(members.chat, device, await with_approval(members.owner))
    answers = [await refusal(members.chat, device, f"guess{number}") for number in range(10)]
    assert answers[0] == "invite_invalid" and answers[-1] == "too_many_invite_attempts"
    assert await refusal(members.chat, device) == "approval_pending"


async def test_an_applicant_can_join_with_another_invite_or_once_the_server_is_open(
    members: MembersByRole,
) -> None:
    first, second = Device(), Device()
    code = await with_approval(members.owner)
    for device in (first, second):
        assert await refusal(members.chat, device, code) == "approval_pending"
    async with members.live("owner") as [owner]:
        assert await refusal(members.chat, first, members.chat.invite) == ""
        assert (await owner.pushed("application_decided"))["state"] == "approved"
        await members.owner.done("PATCH", "/api/settings", {"joinPolicy": "open"})
        assert await refusal(members.chat, second) == ""
    assert await waiting(members.owner) == []
    assert await refusal(members.chat, Device(), code) == ""


async def test_a_banned_person_cannot_apply(members: MembersByRole) -> None:
    await members.owner.done("PUT", f"/api/bans/{members.guest.id}")
    code = await with_approval(members.owner)
    assert await refusal(members.chat, members.guest.device, code) == "banned"
    assert await waiting(members.owner) == []


async def test_the_number_of_applicants_is_limited(
    members: MembersByRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(applications, "MAX_WAITING", 2)
    code = await with_approval(members.owner, max_uses=3)
    devices = [Device() for _ in range(3)]
    answers = [await refusal(members.chat, device, code) for device in devices]
    assert answers == ["approval_pending", "approval_pending", "too_many_waiting"]
    # The attempt beyond the limit does not use up the invite.
    (invite,) = [i for i in (await members.owner.done("GET", "/api/invites"))["invites"] if i["approval"]]
    assert invite["uses"] == 2
    first, _ = await waiting(members.owner)
    await members.owner.done("POST", f"{APPLICATIONS}/{first['id']}/refuse")
    assert await refusal(members.chat, devices[2], code) == "approval_pending"


async def test_an_application_is_deleted_after_a_while(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, community):
        members, device = await members_by_role(chat), Device()
        await apply(chat, device, await with_approval(members.owner))
        (application,) = await waiting(members.owner)
        database = community.auth.applications._database
        await database.write(lambda c: store.delete_older_applications(c, application["asked_at_ms"]))
        assert await waiting(members.owner) == [application]
        await database.write(lambda c: store.delete_older_applications(c, application["asked_at_ms"] + 1))
        assert await waiting(members.owner) == []
        assert await refusal(chat, device) == "invite_required"


async def test_members_who_joined_with_an_invite_are_listed(members: MembersByRole) -> None:
    invite = await members.member.done("POST", "/api/invites")
    new = await newcomer(members.chat, "New", invite["code"])
    path = f"/api/invites/{invite['id']}/members"
    for person in (members.member, members.owner, members.moderator):
        (came,) = (await person.done("GET", path))["members"]
        assert (came["id"], came["nickname"]) == (new.id, "New")
    assert await members.guest.refused("GET", path) == "unknown_invite"
    response = await members.moderator.done("GET", f"/api/members/{new.id}/moderation")
    assert response["invitation"] == {"invite_id": invite["id"], "invited_by": members.member.id}
    await new.done("DELETE", "/api/me")
    assert (await members.member.done("GET", path))["members"] == []
    response = await members.moderator.done("GET", f"/api/members/{new.id}/moderation")
    assert response["invitation"] is None


async def test_new_members_are_not_sent_to_a_channel_that_they_may_not_view(members: MembersByRole) -> None:
    category = await members.owner.done("POST", "/api/channels", {"name": "Games", "type": "category"})
    hidden = [{"type": "role", "target_id": "member", "deny": ["view_channel"]}]
    secret = await members.owner.done(
        "POST", "/api/channels", {"name": "secret", "type": "text", "overrides": hidden}
    )
    for channel_id in (category["id"], "nowhere"):
        body = {"channel_id": channel_id}
        assert await members.owner.refused("POST", "/api/invites", body) == "unknown_channel"
    body = {"channel_id": secret["id"]}
    assert await members.member.refused("POST", "/api/invites", body) == "unknown_channel"
    invite = await members.owner.done("POST", "/api/invites", body)
    assert (await apply(members.chat, Device(), invite["code"]))[1]["channel_id"] is None
    # New members are not sent to a deleted channel, either.
    await members.owner.done("DELETE", f"/api/channels/{secret['id']}")
    listed = (await members.owner.done("GET", "/api/invites"))["invites"]
    assert {i["id"]: i["channel_id"] for i in listed}[invite["id"]] is None
