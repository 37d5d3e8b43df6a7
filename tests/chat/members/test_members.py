"""Members can be listed, renamed and given roles."""

import asyncio
from typing import Any

import pytest

from svc.chat.config import read
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.http_member import newcomer
from tests.chat.members_by_role import MembersByRole
from tests.kit.device import Device


async def test_only_the_first_person_to_join_is_the_owner(chat: ChatServer) -> None:
    first, second = await newcomer(chat, "First"), await newcomer(chat, "Second")
    members = (await second.done("GET", "/api/members"))["members"]
    assert [(m["nickname"], m["roles"]) for m in members] == [
        ("First", ["member", "owner"]),
        ("Second", ["member"]),
    ]
    assert await first.done("GET", f"/api/members/{second.id}") == members[1]
    assert await first.refused("GET", "/api/members/nobody") == "unknown_member"


async def test_members_are_listed_page_by_page_and_searched_by_name(chat: ChatServer) -> None:
    for name in ("Ada", "Bob", "ADAM", "Éva", "Cyd"):
        applicant = await newcomer(chat, name)

    async def names(query: str) -> tuple[list[str], Any]:
        answer = await applicant.done("GET", f"/api/members?{query}")
        return [member["nickname"] for member in answer["members"]], answer["next"]

    seen, following = await names("limit=2")
    assert seen == ["Ada", "Bob"]
    seen, following = await names(f"limit=2&after={following}")
    assert seen == ["ADAM", "Éva"]
    assert await names(f"limit=2&after={following}") == (["Cyd"], None)
    assert await names("query=ada") == (["Ada", "ADAM"], None)
    assert await names("query=éV") == (["Éva"], None)
    for wrong in ("limit=0", "limit=201", "limit=x", "query=" + "x" * 65):
        assert await applicant.refused("GET", f"/api/members?{wrong}") == "invalid_request"


async def test_a_full_server_admits_no_new_members(variables: dict[str, str]) -> None:
    async with chat_server(variables | {"MAX_MEMBERS": "1"}) as chat:
        await newcomer(chat, "Owner")
        proof = await Device().proof(chat.http, chat.address)
        body = proof | {"nickname": "Late", "invite_code": chat.invite}
        async with chat.http.post("/api/auth/join", json=body) as response:
            assert (response.status, (await response.json())["error"]) == (403, "server_full")
    assert read(variables).max_members == 100


async def test_members_set_their_own_status_and_higher_ranks_can_remove_it(members: MembersByRole) -> None:
    path = f"/api/members/{members.member.id}/status"
    async with members.chat.member("Reader", members.guest.token) as reader:
        status = await members.member.done("PUT", path, {"text": "  Back at 5 ☕ "})
        assert status["status_text"] == "Back at 5 ☕"
        assert (await reader.pushed("member_updated"))["status_text"] == "Back at 5 ☕"
    assert await members.moderator.refused("PUT", path, {"text": "A fool"}) == "forbidden"
    assert await members.guest.refused("PUT", path, {"text": ""}) == "forbidden"
    for wrong in ("x" * 81, "two\nlines", "\u202egnp.exe", "\u200b"):
        assert await members.member.refused("PUT", path, {"text": wrong}) == "invalid_request"
    assert (await members.moderator.done("PUT", path, {"text": ""}))["status_text"] == ""
    entry = (await members.owner.done("GET", "/api/audit?action=member_status_clear"))["entries"][0]
    assert entry["details"] == {"before": "Back at 5 ☕"}
    await members.owner.done("PATCH", "/api/settings", {"profanityMode": "block"})
    assert await members.member.refused("PUT", path, {"text": "fuck"}) == "profanity_refused"
    await members.owner.done("PUT", f"/api/members/{members.member.id}/timeout", {"duration_s": 60})
    assert await members.member.refused("PUT", path, {"text": "Muted"}) == "in_timeout"


async def test_nobody_can_take_the_name_of_another_member_or_a_similar_looking_one(chat: ChatServer) -> None:
    for name in ("Bill", "\u0412ill", "BI11", "Ada", "A\u200bd\u0430\u0301", "Grace"):
        applicant = await newcomer(chat, name)
    members = (await applicant.done("GET", "/api/members"))["members"]
    assert [member["nickname"] for member in members] == [
        *("Bill", "\u0412ill 2", "BI11 3", "Ada", "A\u200bd\u0430\u0301 2", "Grace")
    ]
    own = f"/api/members/{applicant.id}"
    assert await applicant.refused("PATCH", own, {"nickname": "\uff41da"}) == "nickname_taken"
    assert (await applicant.done("PATCH", own, {"nickname": "GRACE"}))["nickname"] == "GRACE"


async def test_a_members_name_can_be_changed_by_themselves_and_by_higher_ranks(
    members: MembersByRole,
) -> None:
    path = f"/api/members/{members.member.id}"
    async with members.live("guest") as [guest]:
        assert (await members.member.done("PATCH", path, {"nickname": " Max "}))["nickname"] == "Max"
        assert (await guest.pushed("member_updated"))["nickname"] == "Max"
    assert (await members.moderator.done("PATCH", path, {"nickname": "Max2"}))["nickname"] == "Max2"
    assert await members.guest.refused("PATCH", path, {"nickname": "x"}) == "forbidden"
    assert await members.member.refused("PATCH", path, {"nickname": "\u200b"}) == "invalid_nickname"
    assert await members.member.refused("PATCH", path, {}) == "invalid_request"
    above = f"/api/members/{members.admin.id}"
    assert await members.moderator.refused("PATCH", above, {"nickname": "x"}) == "rank_too_low"
    assert await members.moderator.refused("PATCH", "/api/members/no", {"nickname": "x"}) == "unknown_member"
    await members.owner.done("PATCH", "/api/roles/guest", {"permissions": ["view_channel"]})
    own = f"/api/members/{members.guest.id}"
    assert await members.guest.refused("PATCH", own, {"nickname": "x"}) == "forbidden"
    entries = (await members.owner.done("GET", "/api/audit?action=member_rename"))["entries"]
    assert [(entry["actor_id"], entry["details"]) for entry in entries] == [
        (members.moderator.id, {"before": "Max", "after": "Max2"})
    ]


async def test_the_owner_can_transfer_ownership_of_the_server(members: MembersByRole) -> None:
    path = f"/api/members/{members.member.id}/owner"
    for person in (members.admin, members.moderator, members.member, members.guest):
        assert await person.refused("POST", path) == "forbidden"
    assert await members.owner.refused("POST", "/api/members/nobody/owner") == "unknown_member"
    assert await members.owner.refused("POST", f"/api/members/{members.owner.id}/owner") == "invalid_request"
    assert (await members.owner.done("POST", path))["roles"] == ["member", "owner"]
    former = await members.member.done("GET", f"/api/members/{members.owner.id}")
    assert former["roles"] == ["admin", "member"]
    assert await members.owner.refused("POST", path) == "forbidden"


async def test_only_one_of_two_concurrent_ownership_transfers_succeeds(members: MembersByRole) -> None:
    targets = (members.admin, members.member)
    answers = await asyncio.gather(
        *(members.owner.ask("POST", f"/api/members/{target.id}/owner") for target in targets)
    )
    assert sorted(status for status, _ in answers) == [200, 403]
    listed = (await members.guest.done("GET", "/api/members"))["members"]
    assert sum("owner" in member["roles"] for member in listed) == 1


async def test_permissions_are_sent_at_sign_in_and_when_they_change(members: MembersByRole) -> None:
    async with members.live("guest") as [guest]:
        assert "attach_files" not in guest.welcome["permissions"]["server"]
        assert {role["id"] for role in guest.welcome["roles"]} >= {"owner", "guest"}
        await members.owner.done("PUT", f"/api/members/{members.guest.id}/roles/member")
        assert await guest.pushed("permissions_changed") == {}
        answer = await members.guest.done("GET", "/api/me/permissions")
        assert "attach_files" in answer["server"]
        assert set(answer["channels"]) == {channel["id"] for channel in guest.welcome["channels"]}


@pytest.mark.parametrize(
    ("role_body", "refusal"),
    [
        ({}, "invalid_request"),
        ({"name": ""}, "invalid_request"),
        ({"name": "x" * 33}, "invalid_request"),
        ({"name": "x", "rank": 1000}, "invalid_request"),
        ({"name": "x", "rank": 800}, "rank_too_low"),
        ({"name": "x", "color": 0x1000000}, "invalid_request"),
        ({"name": "x", "permissions": ["fly"]}, "invalid_request"),
        ({"name": "x", "permissions": "speak"}, "invalid_request"),
    ],
)
async def test_an_invalid_role_is_rejected(
    members: MembersByRole, role_body: dict[str, object], refusal: str
) -> None:
    assert await members.admin.refused("POST", "/api/roles", role_body) == refusal


async def test_roles_are_created_changed_given_removed_and_deleted(members: MembersByRole) -> None:
    async with members.live("guest") as [guest]:
        role_body = {"name": "Crew", "rank": 50, "color": 0x336699, "permissions": ["view_channel"]}
        role = await members.admin.done("POST", "/api/roles", role_body)
        assert await guest.pushed("role_created") == role
        assert role == role_body | {"id": role["id"], "built_in": False}
        path = f"/api/roles/{role['id']}"
        edited = await members.admin.done("PATCH", path, {"name": "Team", "color": None})
        assert edited == role | {"name": "Team", "color": None}
        assert await guest.pushed("role_updated") == edited
        given = f"/api/members/{members.guest.id}/roles/{role['id']}"
        assert role["id"] in (await members.admin.done("PUT", given))["roles"]
        assert role["id"] in (await members.admin.done("PUT", given))["roles"]
        assert role["id"] not in (await members.admin.done("DELETE", given))["roles"]
        await members.admin.done("PUT", given)
        await members.admin.done("DELETE", path)
        assert await guest.pushed("role_deleted") == {"role_id": role["id"]}
    assert (await members.guest.done("GET", f"/api/members/{members.guest.id}"))["roles"] == ["guest"]
    for method, body in (("PATCH", {"name": "x"}), ("DELETE", None)):
        assert await members.admin.refused(method, path, body) == "unknown_role"
    assert await members.admin.refused("PUT", given) == "unknown_role"
    assert await members.admin.refused("PATCH", "/api/roles/member", {}) == "invalid_request"
    missing = "/api/members/nobody/roles/guest"
    assert await members.admin.refused("PUT", missing) == "unknown_member"


async def test_roles_are_reordered_all_together_or_not_at_all(members: MembersByRole) -> None:
    ranks = {"moderator": 90, "guest": 95}
    roles = (await members.admin.done("PUT", "/api/roles/order", {"ranks": ranks}))["roles"]
    assert [role["id"] for role in roles] == ["owner", "admin", "member", "guest", "moderator"]
    for wrong, refusal in (
        ({"guest": 10, "admin": 5}, "rank_too_low"),
        ({"guest": 10, "member": 800}, "rank_too_low"),
        ({"guest": 10, "nobody": 5}, "unknown_role"),
        ({"guest": "high"}, "invalid_request"),
        ([], "invalid_request"),
    ):
        assert await members.admin.refused("PUT", "/api/roles/order", {"ranks": wrong}) == refusal
    assert (await members.admin.done("GET", "/api/roles"))["roles"] == roles


async def test_nobody_can_act_above_their_rank_or_grant_permissions_they_lack(
    members: MembersByRole,
) -> None:
    owner, admin, moderator = members.owner, members.admin, members.moderator
    mine = next(r for r in (await owner.done("GET", "/api/roles"))["roles"] if r["id"] == "moderator")
    wanted = [*mine["permissions"], "manage_roles"]
    await owner.done("PATCH", "/api/roles/moderator", {"permissions": wanted})
    # Members cannot change roles of equal or higher rank, or the members who have these roles.
    for role_id in ("moderator", "admin", "owner"):
        for method, body in (("PATCH", {"name": "x"}), ("DELETE", None)):
            assert await moderator.refused(method, f"/api/roles/{role_id}", body) == "rank_too_low"
        assert (
            await moderator.refused("PUT", f"/api/members/{members.guest.id}/roles/{role_id}")
            == "rank_too_low"
        )
    assert await moderator.refused("PUT", f"/api/members/{admin.id}/roles/guest") == "rank_too_low"
    assert await moderator.refused("DELETE", f"/api/members/{admin.id}/roles/member") == "rank_too_low"
    # Members can neither grant nor revoke permissions that they lack.
    for permissions in (["manage_channels"], ["view_channel", "view_audit_log"]):
        privileges: dict[str, object] = {"name": "x", "permissions": permissions}
        assert await moderator.refused("PATCH", "/api/roles/guest", privileges) == "forbidden"
        assert await moderator.refused("POST", "/api/roles", privileges) == "forbidden"
    strong = await owner.done("POST", "/api/roles", {"name": "s", "rank": 1, "permissions": ["manage_emoji"]})
    given = f"/api/members/{moderator.id}/roles/{strong['id']}"
    assert await moderator.refused("PUT", given) == "forbidden"
    assert await moderator.refused("PATCH", f"/api/roles/{strong['id']}", {"permissions": []}) == "forbidden"
    # The built-in roles cannot be deleted, and nobody can change the owner's role, not even the owner.
    assert await owner.refused("DELETE", "/api/roles/guest") == "forbidden"
    assert await owner.refused("PATCH", "/api/roles/owner", {"name": "x"}) == "rank_too_low"
    assert await owner.refused("PUT", f"/api/members/{admin.id}/roles/owner") == "rank_too_low"
    assert await owner.refused("DELETE", f"/api/members/{owner.id}/roles/owner") == "rank_too_low"


async def test_roles_and_members_survive_a_restart(variables: dict[str, str]) -> None:
    async with chat_server(variables) as chat:
        owner = await newcomer(chat, "Owner")
        other = await newcomer(chat, "Other")
        await owner.done("PATCH", "/api/roles/guest", {"permissions": ["view_channel"], "color": 7})
        role = await owner.done("POST", "/api/roles", {"name": "Crew", "rank": 5})
        await owner.done("PUT", f"/api/members/{other.id}/roles/{role['id']}")
        await owner.done("PATCH", f"/api/members/{other.id}", {"nickname": "Another"})
        await owner.done("POST", "/api/channels", {"name": "late", "type": "voice", "overrides": [
            {"type": "role", "target_id": role["id"], "deny": ["speak"]}]})  # fmt: skip
        paths = ("/api/members", "/api/roles", "/api/channels")
        before = [await owner.done("GET", path) for path in paths]
    async with chat_server(variables) as chat:
        owner.chat = chat
        assert [await owner.done("GET", path) for path in paths] == before
