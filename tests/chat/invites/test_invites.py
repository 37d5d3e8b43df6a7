"""An invite is limited to the number of people and the lifetime that its creator chose."""

from typing import Any

import pytest

from svc.base.database import Connection, Database
from svc.chat.access.directory import Directory
from svc.chat.errors import ChatError
from svc.chat.invites.rules import HOUR_MS, Invites
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.http_member import newcomer
from tests.chat.members_by_role import MembersByRole, member_with
from tests.kit.device import Device
from tests.kit.services import services_on

NOW = 1_800_000_000.0


async def refused(chat: ChatServer, code: str, device: Device | None = None) -> dict[str, Any]:
    """Try to join with this code. Return the error response."""
    proof = await (device or Device()).proof(chat.http, chat.address)
    async with chat.http.post(
        "/api/auth/join", json=proof | {"nickname": "N", "invite_code": code}
    ) as response:
        answer: dict[str, Any] = await response.json()
        assert response.status >= 400, answer
        return answer


async def test_an_invite_admits_only_as_many_people_as_its_limit(members: MembersByRole) -> None:
    invite = await members.member.done("POST", "/api/invites", {"max_uses": 2})
    assert (invite["role_id"], invite["uses"], invite["created_by"]) == ("member", 0, members.member.id)
    for _ in range(2):
        await newcomer(members.chat, "New", invite["code"])
    assert (await refused(members.chat, invite["code"]))["error"] == "invite_invalid"
    assert (await members.member.done("GET", "/api/invites"))["invites"] == []


async def test_an_invite_grants_its_role_to_new_members(members: MembersByRole) -> None:
    for role, held in (("guest", ["guest"]), ("moderator", ["member", "moderator"])):
        invite = await members.admin.done("POST", "/api/invites", {"role_id": role})
        person = await newcomer(members.chat, "New", invite["code"])
        assert (await person.done("GET", f"/api/members/{person.id}"))["roles"] == held
    invite = await members.admin.done("POST", "/api/invites", {"role_id": "moderator"})
    await members.owner.done("DELETE", f"/api/members/{members.admin.id}/roles/admin")
    assert (await refused(members.chat, invite["code"]))["error"] == "invite_invalid"
    role = await members.owner.done("POST", "/api/roles", {"name": "Crew", "rank": 5})
    invite = await members.owner.done("POST", "/api/invites", {"role_id": role["id"]})
    await members.owner.done("DELETE", f"/api/roles/{role['id']}")
    person = await newcomer(members.chat, "New", invite["code"])
    assert (await person.done("GET", f"/api/members/{person.id}"))["roles"] == ["member"]


async def test_an_invite_grants_only_a_role_that_its_creator_can_still_grant(members: MembersByRole) -> None:
    role = await members.owner.done("POST", "/api/roles", {"name": "Crew", "rank": 5, "permissions": []})
    invite = await members.moderator.done("POST", "/api/invites", {"role_id": role["id"]})
    await members.owner.done("PATCH", f"/api/roles/{role['id']}", {"permissions": ["manage_roles"]})
    assert (await refused(members.chat, invite["code"]))["error"] == "invite_invalid"


async def test_an_invite_does_not_work_while_its_creator_may_not_invite(members: MembersByRole) -> None:
    invite = await members.member.done("POST", "/api/invites", {})
    roles = (await members.owner.done("GET", "/api/roles"))["roles"]
    (role,) = [role for role in roles if role["id"] == "member"]
    without = [permission for permission in role["permissions"] if permission != "create_invites"]
    await members.owner.done("PATCH", "/api/roles/member", {"permissions": without})
    assert (await refused(members.chat, invite["code"]))["error"] == "invite_invalid"
    await members.owner.done("PATCH", "/api/roles/member", {"permissions": role["permissions"]})
    await newcomer(members.chat, "New", invite["code"])


async def test_an_invite_does_not_grant_a_member_role_that_its_creator_cannot_grant(
    members: MembersByRole,
) -> None:
    maker = await member_with(members, "create_invites")
    invite = await maker.done("POST", "/api/invites", {})
    await members.owner.done("DELETE", f"/api/members/{maker.id}/roles/member")
    assert await maker.refused("POST", "/api/invites", {}) == "forbidden"
    assert (await refused(members.chat, invite["code"]))["error"] == "invite_invalid"
    await members.owner.done("PUT", f"/api/members/{maker.id}/roles/member")
    await newcomer(members.chat, "New", invite["code"])


async def test_an_invite_does_not_name_a_channel_that_is_hidden_from_the_viewer(
    members: MembersByRole,
) -> None:
    hidden = [{"type": "role", "target_id": "member", "deny": ["view_channel"]}]
    body = {"name": "staff", "type": "text", "overrides": hidden}
    channel_id = (await members.owner.done("POST", "/api/channels", body))["id"]
    invite = await members.owner.done("POST", "/api/invites", {"channel_id": channel_id})
    for reader, expected in ((members.moderator, None), (members.owner, channel_id)):
        seen = (await reader.done("GET", "/api/invites"))["invites"]
        assert [invite_["channel_id"] for invite_ in seen if invite_["id"] == invite["id"]] == [expected]


async def test_nobody_can_invite_to_a_role_above_their_rank(members: MembersByRole) -> None:
    for role in ("admin", "owner"):
        assert await members.admin.refused("POST", "/api/invites", {"role_id": role}) == "rank_too_low"
    assert await members.member.refused("POST", "/api/invites", {"role_id": "moderator"}) == "rank_too_low"
    assert await members.admin.refused("POST", "/api/invites", {"role_id": "nobody"}) == "unknown_role"
    assert await members.guest.refused("POST", "/api/invites") == "forbidden"
    strong = {"name": "s", "rank": 1, "permissions": ["manage_emoji"]}
    role = await members.owner.done("POST", "/api/roles", strong)
    body = {"role_id": role["id"]}
    assert await members.member.refused("POST", "/api/invites", body) == "forbidden"
    for wrong in ({"max_uses": 0}, {"lifetime_s": 0}, {"max_uses": "1"}, {"lifetime_s": 366 * 86400 + 1}):
        assert await members.member.refused("POST", "/api/invites", wrong) == "invalid_request"


async def test_members_see_and_revoke_their_own_invites_and_managers_see_more(members: MembersByRole) -> None:
    async def ids(role: str) -> set[str]:
        invites = await members.by_role[role].done("GET", "/api/invites")
        return {invite["id"] for invite in invites["invites"]}

    mine = await members.member.done("POST", "/api/invites")
    strong = await members.admin.done("POST", "/api/invites", {"role_id": "moderator"})
    assert await ids("member") == {mine["id"]}
    assert await ids("guest") == set()
    # Managers see the server's own invite, but no invites that grant a role of their own rank.
    assert len(await ids("moderator")) == 2
    assert strong["id"] not in await ids("moderator")
    assert {mine["id"], strong["id"]} < await ids("admin")
    revoke = f"/api/invites/{mine['id']}"
    assert await members.guest.refused("DELETE", revoke) == "unknown_invite"
    assert await members.moderator.refused("DELETE", f"/api/invites/{strong['id']}") == "unknown_invite"
    await members.moderator.done("DELETE", revoke)
    assert await members.member.refused("DELETE", revoke) == "unknown_invite"
    assert (await refused(members.chat, mine["code"]))["error"] == "invite_invalid"
    entries = (await members.owner.done("GET", "/api/audit?action=invite_create"))["entries"]
    assert mine["code"] not in str(entries)


async def test_a_former_member_cannot_rejoin_with_their_own_invite(members: MembersByRole) -> None:
    invite = await members.member.done("POST", "/api/invites")
    await members.admin.done("POST", f"/api/members/{members.member.id}/kick")
    assert (await refused(members.chat, invite["code"], members.member.device))["error"] == "invite_invalid"


async def test_a_member_has_a_limited_number_of_invites(members: MembersByRole) -> None:
    for _ in range(100):
        await members.member.done("POST", "/api/invites")
    assert await members.member.refused("POST", "/api/invites") == "too_many"
    await members.admin.done("POST", "/api/invites")


async def test_the_servers_own_code_is_valid_until_it_is_revoked_and_replaced(
    variables: dict[str, str],
) -> None:
    async with chat_server(variables) as chat:
        owner = await newcomer(chat, "Owner")
        for _ in range(3):
            await newcomer(chat, "Member")
    async with chat_server(variables) as chat:
        owner.chat = chat
        await newcomer(chat, "Member")
        [own] = (await owner.done("GET", "/api/invites"))["invites"]
        # The owner joined with the founding code, so only the four other joins are counted.
        assert (own["code"], own["created_by"], own["uses"]) == (chat.invite, None, 4)
        await owner.done("DELETE", f"/api/invites/{own['id']}")
        assert (await refused(chat, chat.invite))["error"] == "invite_invalid"
    async with chat_server(variables) as again:
        assert (await refused(again, own["code"]))["error"] == "invite_invalid"
        await newcomer(again, "Member")


async def test_an_address_with_too_many_wrong_codes_is_blocked_for_a_while(variables: dict[str, str]) -> None:
    limits = {"SERVER_INVITE_MAX_RETRIES": "3", "SERVER_INVITE_IP_MAX_RETRIES": "5"}
    async with chat_server(variables | limits) as chat:
        await newcomer(chat, "Owner")
        device = Device()
        for _ in range(3):
            assert (await refused(chat, "wrong", device))["error"] == "invite_invalid"
        answer = await refused(chat, chat.invite, device)
        assert answer["error"] == "too_many_invite_attempts"
        assert 0 < answer["retry_after_ms"] <= 300_000
        await newcomer(chat, "Another")
        for _ in range(2):
            assert (await refused(chat, "wrong"))["error"] == "invite_invalid"
        assert (await refused(chat, chat.invite))["error"] == "too_many_invite_attempts"


async def test_joins_with_one_invite_are_limited_per_hour(variables: dict[str, str]) -> None:
    async with chat_server(variables | {"SVC_INVITE_MAX_JOINS_PER_HOUR": "2"}) as chat:
        owner = await newcomer(chat, "Owner")
        invite = await owner.done("POST", "/api/invites")
        for _ in range(2):
            await newcomer(chat, "New", invite["code"])
        answer = await refused(chat, invite["code"])
        assert answer["error"] == "invite_busy"
        assert 0 < answer["retry_after_ms"] <= HOUR_MS
        await newcomer(chat, "By another", (await owner.done("POST", "/api/invites"))["code"])


async def test_an_invites_expiry_and_hourly_limit_depend_on_the_clock(database: Database) -> None:
    directory = Directory(lambda: NOW)
    codes = iter(f"code{number}" for number in range(100))
    roles: Any = Roles()
    invites = Invites(services_on(database, directory, lambda: NOW), roles, 2, lambda: next(codes))
    invite = await invites.create(None, "member", None, 7200, NOW)

    async def use(after_s: float) -> str | None:
        def joins(connection: Connection) -> str | None:
            good = invites.good(connection, invite.code, NOW + after_s)
            if good is not None:
                invites.use(connection, good, NOW + after_s)
            return good.role_id if good else None

        return await database.write(joins)

    assert await use(0) == "member"
    assert await use(600) == "member"
    with pytest.raises(ChatError) as refusal:
        await use(3599)
    assert (refusal.value.code, refusal.value.more) == ("invite_busy", {"retry_after_ms": 1000})
    assert await use(3600) == "member"
    assert await use(7199) == "member"
    assert await use(7200) is None


class Roles:
    def require_can_be_given(self, role_id: str) -> None:
        pass
