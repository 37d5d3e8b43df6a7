"""Tests webhook management: permissions, visible data and the recipients of events.

See docs/http.md, "Webhooks", and docs/security.md, "Secrets".
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from svc.chat.webhooks import rules
from tests.chat.chat_server import chat_server
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole, members_by_role
from tests.chat.webhooks.webhook_client import Hook

NAMES = {"id", "name", "channel_id", "picture", "created_by", "created_at_ms"}


async def made(
    person: HttpMember, name: str = "Builds", channel_id: str | None = "general"
) -> dict[str, Any]:
    answer: dict[str, Any] = await person.done(
        "POST", "/api/webhooks", {"name": name, "channel_id": channel_id}
    )
    return answer


async def status_of_post(person: HttpMember, webhook: dict[str, Any], body: object = None) -> tuple[int, Any]:
    path = f"/api/webhooks/{webhook['id']}/{webhook['token']}"
    async with person.chat.http.post(path, json=body or {"text": "a"}) as response:
        return response.status, await response.json()


async def audit_of(members: MembersByRole, webhook_id: str) -> list[tuple[str, str | None, Any]]:
    entries = (await members.owner.done("GET", f"/api/audit?target_id={webhook_id}"))["entries"]
    return [(entry["action"], entry["actor_id"], entry["details"]) for entry in entries]


async def test_the_response_to_creating_a_webhook_contains_its_url(members: MembersByRole) -> None:
    status, webhook = await members.admin.ask(
        "POST", "/api/webhooks", {"name": " Builds ", "channel_id": "general"}
    )
    assert status == 201
    assert webhook.keys() == NAMES | {"token", "url"}
    assert (webhook["name"], webhook["channel_id"], webhook["created_by"]) == (
        "Builds",
        "general",
        members.admin.id,
    )
    assert webhook["url"] == f"{members.chat.address}/api/webhooks/{webhook['id']}/{webhook['token']}"
    async with members.chat.http.post(webhook["url"], json={"text": "a"}) as response:
        assert response.status == 200


async def test_managers_can_retrieve_the_url_again(members: MembersByRole) -> None:
    webhook = await made(members.owner)
    assert await members.admin.done("GET", f"/api/webhooks/{webhook['id']}") == webhook
    assert await members.admin.done("GET", "/api/webhooks") == {"webhooks": [webhook]}


async def test_changes_to_name_and_channel_are_saved(members: MembersByRole) -> None:
    webhook = await made(members.owner)
    path = f"/api/webhooks/{webhook['id']}"
    renamed = await members.owner.done("PATCH", path, {"name": "Deploys"})
    assert renamed == {**webhook, "name": "Deploys"}
    moved = await members.owner.done("PATCH", path, {"channel_id": "lobby", "name": None})
    assert moved == {**renamed, "channel_id": "lobby"}
    status, posted = await status_of_post(members.owner, webhook)
    assert (status, posted["conversation_id"]) == (200, "lobby")
    shown = (await members.owner.done("GET", "/api/channels/lobby/messages"))["messages"][-1]
    assert shown["author"]["display_name"] == "Deploys"
    cleared = await members.owner.done("PATCH", path, {"channel_id": None})
    assert cleared == {**moved, "channel_id": None}
    assert await status_of_post(members.owner, webhook) == (400, {"error": "no_channel"})


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, "invalid_request"),
        ({"name": None}, "invalid_request"),
        ({"name": ""}, "invalid_request"),
        ({"name": "a" * 65}, "invalid_request"),
        ({"name": 1}, "invalid_request"),
        ({"name": "a\u202eb"}, "invalid_request"),
        ({"channel_id": "nothing"}, "unknown_channel"),
        ({"channel_id": 1}, "invalid_request"),
        ({"channel_id": ""}, "invalid_request"),
    ],
)
async def test_invalid_webhook_values_are_rejected(
    members: MembersByRole, change: dict[str, object], code: str
) -> None:
    webhook = await made(members.owner)
    assert await members.owner.refused("PATCH", f"/api/webhooks/{webhook['id']}", change) == code
    assert await members.owner.done("GET", f"/api/webhooks/{webhook['id']}") == webhook
    if change.get("name") != "":
        assert await members.owner.refused("POST", "/api/webhooks", {"channel_id": "general", **change}) in (
            code,
            "invalid_request",
        )


async def test_names_are_checked_for_blocked_words(members: MembersByRole) -> None:
    await members.owner.done("PATCH", "/api/settings", {"profanityMode": "block"})
    assert (
        await members.owner.refused("POST", "/api/webhooks", {"name": "bullshit", "channel_id": "general"})
        == "profanity_refused"
    )


async def test_a_deleted_webhook_stops_working_immediately_but_its_messages_stay(
    members: MembersByRole,
) -> None:
    webhook = await made(members.owner)
    assert (await status_of_post(members.owner, webhook))[0] == 200
    await members.owner.done("DELETE", f"/api/webhooks/{webhook['id']}")
    assert await status_of_post(members.owner, webhook) == (404, {"error": "not_found"})
    assert await members.owner.refused("DELETE", f"/api/webhooks/{webhook['id']}") == "unknown_webhook"
    messages = (await members.owner.done("GET", "/api/channels/general/messages"))["messages"]
    assert [message["author"]["display_name"] for message in messages] == ["Builds"]


async def test_deleting_a_channel_removes_it_from_its_webhooks(members: MembersByRole) -> None:
    channel = await members.owner.done("POST", "/api/channels", {"name": "builds", "type": "text"})
    webhook = await made(members.owner, channel_id=channel["id"])
    async with members.live("owner") as [owner]:
        await members.owner.done("DELETE", f"/api/channels/{channel['id']}")
        event = await owner.pushed("webhook_updated")
    assert event == {name: webhook[name] for name in NAMES} | {"channel_id": None}
    assert await status_of_post(members.owner, webhook) == (400, {"error": "no_channel"})
    assert (await members.owner.done("GET", f"/api/webhooks/{webhook['id']}"))["channel_id"] is None


# Permissions


@pytest.fixture
async def keeper(members: MembersByRole) -> HttpMember:
    """Create a member who can manage webhooks only in `general` and cannot view `staff`."""
    keeper = await newcomer(members.chat, "Keeper")
    override = f"/api/channels/general/overrides/member/{keeper.id}"
    await members.owner.done("PUT", override, {"allow": ["manage_webhooks"]})
    return keeper


@pytest.fixture
async def staff(members: MembersByRole, keeper: HttpMember) -> AsyncIterator[str]:
    hidden = {"type": "member", "target_id": keeper.id, "deny": ["view_channel"]}
    channel = await members.owner.done(
        "POST", "/api/channels", {"name": "staff", "type": "text", "overrides": [hidden]}
    )
    yield channel["id"]


async def test_a_manager_of_one_channel_manages_its_webhooks(keeper: HttpMember) -> None:
    webhook = await made(keeper)
    path = f"/api/webhooks/{webhook['id']}"
    assert (await keeper.done("GET", "/api/webhooks"))["webhooks"] == [webhook]
    await keeper.done("PATCH", path, {"name": "Mine"})
    await keeper.done("DELETE", path)


async def test_a_manager_of_one_channel_does_not_see_other_webhooks(
    members: MembersByRole, keeper: HttpMember, staff: str
) -> None:
    others = [await made(members.owner, channel_id=channel) for channel in (staff, "lobby", None)]
    mine = await made(keeper)
    assert await keeper.done("GET", "/api/webhooks") == {"webhooks": [mine]}
    for webhook in others:
        path = f"/api/webhooks/{webhook['id']}"
        for method, body in (("GET", None), ("PATCH", {"name": "Mine"}), ("DELETE", None)):
            assert await keeper.refused(method, path, body) == "unknown_webhook"
        assert await keeper.refused("DELETE", path + "/picture") == "unknown_webhook"
    path = f"/api/webhooks/{mine['id']}"
    # A channel that the member cannot view seems not to exist. Using a visible channel is forbidden.
    assert await keeper.refused("PATCH", path, {"channel_id": staff}) == "unknown_channel"
    assert await keeper.refused("PATCH", path, {"channel_id": "lobby"}) == "forbidden"
    assert await keeper.refused("PATCH", path, {"channel_id": None}) == "forbidden"
    assert await keeper.refused("POST", "/api/webhooks", {"name": "a", "channel_id": staff}) == (
        "unknown_channel"
    )
    assert await keeper.refused("POST", "/api/webhooks", {"name": "a"}) == "forbidden"


async def test_a_webhook_without_a_channel_belongs_to_its_creator_and_the_owner(
    members: MembersByRole,
) -> None:
    # Other members might not be allowed to view the channel of its earlier posts.
    owners, admins = await made(members.owner), await made(members.admin)
    path = f"/api/webhooks/{owners['id']}"
    assert await members.admin.refused("PATCH", path, {"channel_id": None}) == "forbidden"
    async with members.live("admin") as [admin]:
        await members.owner.done("PATCH", path, {"channel_id": None})
        assert await admin.pushed("webhook_deleted") == {"webhook_id": owners["id"]}
    assert await members.admin.refused("GET", path) == "unknown_webhook"
    await members.admin.done("PATCH", f"/api/webhooks/{admins['id']}", {"channel_id": None})
    for person, visible in ((members.admin, [admins]), (members.owner, [owners, admins])):
        shown = (await person.done("GET", "/api/webhooks"))["webhooks"]
        assert [webhook["id"] for webhook in shown] == [webhook["id"] for webhook in visible]
    # Once the webhook has a channel again, all members who manage webhooks in that channel see it.
    await members.owner.done("PATCH", path, {"channel_id": "general"})
    await members.admin.done("GET", path)


async def test_a_member_who_manages_no_channel_sees_no_webhooks(members: MembersByRole) -> None:
    webhook = await made(members.owner)
    for method in ("GET", "PATCH", "DELETE"):
        assert await members.moderator.refused(method, f"/api/webhooks/{webhook['id']}") in (
            "forbidden",
            "invalid_request",
        )
    assert await members.moderator.refused("GET", "/api/webhooks") == "forbidden"


# Events


async def test_only_managers_are_notified_of_changes(
    members: MembersByRole,
) -> None:
    async with members.live("admin", "moderator") as [admin, moderator]:
        webhook = await made(members.owner)
        public = {name: webhook[name] for name in NAMES}
        # Only responses contain the URL. Events do not.
        assert await admin.pushed("webhook_created") == public
        path = f"/api/webhooks/{webhook['id']}"
        await members.owner.done("PATCH", path, {"name": "Deploys"})
        assert await admin.pushed("webhook_updated") == {**public, "name": "Deploys"}
        await members.owner.done("DELETE", path)
        assert await admin.pushed("webhook_deleted") == {"webhook_id": webhook["id"]}
        await moderator.ask("ping")
        assert moderator.kept_events() == []


async def test_a_webhook_moved_between_channels_appears_or_disappears_for_their_managers(
    members: MembersByRole, keeper: HttpMember
) -> None:
    webhook = await made(members.owner, channel_id="lobby")
    path = f"/api/webhooks/{webhook['id']}"
    async with members.chat.member("", keeper.token) as page:
        await members.owner.done("PATCH", path, {"channel_id": "general"})
        assert (await page.pushed("webhook_updated"))["id"] == webhook["id"]
        await members.owner.done("PATCH", path, {"channel_id": None})
        assert await page.pushed("webhook_deleted") == {"webhook_id": webhook["id"]}


# The audit log


async def test_every_webhook_action_is_in_the_audit_log_without_secrets(members: MembersByRole) -> None:
    webhook = await made(members.owner)
    path = f"/api/webhooks/{webhook['id']}"
    await members.admin.done("PATCH", path, {"name": "Deploys", "channel_id": "lobby"})
    await members.owner.done("DELETE", path)
    entries = await audit_of(members, webhook["id"])
    assert entries == [
        ("webhook_delete", members.owner.id, {"channel_id": "lobby", "name": "Deploys"}),
        (
            "webhook_edit",
            members.admin.id,
            {"channel_id": "lobby", "name": "Deploys", "changed": ["channel_id", "name"]},
        ),
        ("webhook_create", members.owner.id, {"channel_id": "general", "name": "Builds"}),
    ]
    assert webhook["token"] not in str(entries)


# The operator's commands


async def test_the_operator_manages_webhooks_over_the_control_socket(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, community):
        members = await members_by_role(chat)
        run = community.commands.run
        answer = await run("webhook_create", {"channel": "#General", "name": "Builds"})
        webhook: Any = answer["result"]
        assert webhook["path"] == f"/api/webhooks/{webhook['webhook_id']}/{webhook['token']}"
        assert (webhook["channel_id"], webhook["created_by"]) == ("general", None)
        async with chat.http.post(webhook["path"], json={"text": "a"}) as response:
            assert response.status == 200
        assert await run("webhook_list", {}) == {"result": {"webhooks": [webhook]}}
        which = {"webhook_id": webhook["webhook_id"]}
        edited: Any = await run("webhook_edit", {**which, "name": "Deploys", "channel": "lobby"})
        assert edited["result"] == {**webhook, "name": "Deploys", "channel_id": "lobby"}
        cleared: Any = await run("webhook_edit", {**which, "channel": ""})
        assert cleared["result"]["channel_id"] is None
        assert await run("webhook_delete", which) == {"result": {}}
        assert (await run("webhook_delete", which))["error"] == "unknown_webhook"
        actors = {actor for _, actor, _ in await audit_of(members, webhook["webhook_id"])}
        assert actors == {None}


@pytest.mark.parametrize(
    ("command", "arguments", "code"),
    [
        ("webhook_create", {"channel": "nothing", "name": "a"}, "unknown_channel"),
        ("webhook_create", {"name": "a"}, "invalid_request"),
        ("webhook_create", {"channel": "general", "name": " "}, "invalid_request"),
        ("webhook_edit", {"webhook_id": "nothing", "name": "a"}, "unknown_webhook"),
        ("webhook_edit", {"webhook_id": "nothing"}, "invalid_request"),
        ("webhook_delete", {}, "invalid_request"),
    ],
)
async def test_errors_of_webhook_commands_are_reported_to_the_operator(
    variables: dict[str, str], command: str, arguments: dict[str, object], code: str
) -> None:
    async with server_with_insight(variables) as (_, community):
        assert (await community.commands.run(command, arguments))["error"] == code


async def test_a_channel_with_an_ambiguous_name_must_be_named_by_its_id(
    variables: dict[str, str],
) -> None:
    async with server_with_insight(variables) as (chat, community):
        owner = await newcomer(chat, "Owner")
        for _ in range(2):
            await owner.done("POST", "/api/channels", {"name": "twins", "type": "text"})
        answer = await community.commands.run("webhook_create", {"channel": "Twins", "name": "a"})
        assert answer["error"] == "invalid_request"


async def test_webhooks_survive_a_restart(variables: dict[str, str]) -> None:
    async with server_with_insight(variables) as (chat, _):
        owner = await newcomer(chat, "Owner")
        webhook = await made(owner)
    async with server_with_insight(variables) as (chat, _):
        owner.chat = chat
        shown = await owner.done("GET", f"/api/webhooks/{webhook['id']}")
        assert {**shown, "url": ""} == {**webhook, "url": ""}
        assert (await status_of_post(owner, webhook))[0] == 200


async def test_the_hook_fixture_creates_an_ordinary_webhook(hook: Hook, members: MembersByRole) -> None:
    [only] = (await members.owner.done("GET", "/api/webhooks"))["webhooks"]
    assert hook.url == only["url"]


async def test_the_number_of_webhooks_is_limited(
    members: MembersByRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rules, "MAX_WEBHOOKS", 2)
    first = await made(members.owner)
    await made(members.owner)
    body = {"name": "a", "channel_id": "general"}
    assert await members.owner.refused("POST", "/api/webhooks", body) == "too_many"
    await members.owner.done("DELETE", f"/api/webhooks/{first['id']}")
    await made(members.owner)


@pytest.mark.parametrize(
    ("hops", "proto", "scheme"), [("1", "https", "https"), ("1", "gopher", "http"), ("0", "https", "http")]
)
async def test_the_url_has_the_host_of_the_request(
    variables: dict[str, str], hops: str, proto: str, scheme: str
) -> None:
    async with chat_server({**variables, "SVC_TRUSTED_PROXY_HOPS": hops}) as chat:
        owner = await newcomer(chat, "Owner")
        headers = {
            "Authorization": f"Bearer {owner.token}",
            "Host": "chat.example",
            "X-Forwarded-Proto": proto,
            "X-Forwarded-For": "203.0.113.1",
        }
        body = {"name": "a", "channel_id": "general"}
        async with chat.http.post("/api/webhooks", json=body, headers=headers) as response:
            webhook = await response.json()
    assert webhook["url"] == f"{scheme}://chat.example/api/webhooks/{webhook['id']}/{webhook['token']}"
