"""Webhook managers see the outcomes of the latest posts, but not the content of rejected posts."""

from typing import Any

from tests.chat.members_by_role import MembersByRole, member_with
from tests.chat.webhooks.webhook_client import Hook


async def post(hook: Hook, body: str, to: str = "", **headers: str) -> int:
    async with hook.chat.http.post(hook.path + to, data=body.encode(), headers=headers) as response:
        return response.status


async def history(members: MembersByRole, hook: Hook) -> list[dict[str, Any]]:
    webhook_id = hook.path.split("/")[3]
    posts: list[dict[str, Any]] = (await members.admin.done("GET", f"/api/webhooks/{webhook_id}/posts"))[
        "posts"
    ]
    return posts


async def test_accepted_and_rejected_posts_are_listed_newest_first(
    members: MembersByRole, hook: Hook
) -> None:
    assert await history(members, hook) == []
    assert await post(hook, '{"text": "hello", "tts": true}') == 200
    message = await hook.arrived()
    assert await post(hook, '{"cards": [{"title": "A secret", "color": "A secret"}, {}]}') == 400
    assert await post(hook, "A secret") == 400
    assert await post(hook, '{"payload": "A secret"}', "/slack") == 400
    assert await post(hook, '{"zen": "A secret"}', "/github", **{"X-GitHub-Event": "star_gazing"}) == 204
    posts = await history(members, hook)
    assert "A secret" not in str(posts)
    outcomes = [(post["outcome"], post["error"], post["times"]) for post in posts]
    assert outcomes[0] == ("ignored", None, 1)
    assert ("refused", "invalid_json", 1) in outcomes
    refused = next(post for post in posts if post["error"] == "invalid_payload" and len(post["named"]) == 2)
    assert refused["named"] == [
        {"path": "cards[0].color", "code": "invalid_color"},
        {"path": "cards[1]", "code": "empty_card"},
    ]
    assert posts[-1] == {
        "at_ms": message["posted_at_ms"],
        "outcome": "posted",
        "error": None,
        "message_id": message["id"],
        "channel_id": "general",
        "named": [{"path": "tts", "code": "unknown_key"}],
        "times": 1,
    }


async def test_a_flood_of_rejected_posts_does_not_displace_earlier_posts_and_uses_bounded_memory(
    members: MembersByRole, hook: Hook
) -> None:
    assert await post(hook, '{"text": "hello"}') == 200
    for _ in range(40):
        await post(hook, "nonsense")
    assert [(post["outcome"], post["times"]) for post in await history(members, hook)] == [
        ("refused", 40),
        ("posted", 1),
    ]
    for number in range(30):
        await post(hook, "nonsense" if number % 2 else '{"x": ')
        await post(hook, '{"text": ""}')
    assert len(await history(members, hook)) <= 20


async def test_requests_to_wrong_urls_are_not_recorded_and_only_managers_see_the_history(
    members: MembersByRole, hook: Hook
) -> None:
    webhook_id = hook.path.split("/")[3]
    async with hook.chat.http.post(f"/api/webhooks/{webhook_id}/wrong", data=b"nonsense") as response:
        assert response.status in (400, 404)
    assert await history(members, hook) == []
    assert await members.member.refused("GET", f"/api/webhooks/{webhook_id}/posts") == "forbidden"
    assert await members.admin.refused("GET", "/api/webhooks/nobody/posts") == "unknown_webhook"
    await members.owner.done("DELETE", f"/api/webhooks/{webhook_id}")
    assert await members.admin.refused("GET", f"/api/webhooks/{webhook_id}/posts") == "unknown_webhook"


async def test_the_history_does_not_name_a_channel_that_is_hidden_from_the_manager(
    members: MembersByRole, hook: Hook
) -> None:
    webhook_id = hook.path.split("/")[3]
    manager = await member_with(members, "manage_webhooks")
    hidden = [{"type": "role", "target_id": "member", "deny": ["view_channel"]}]
    body = {"name": "staff", "type": "text", "overrides": hidden}
    channel_id = (await members.owner.done("POST", "/api/channels", body))["id"]
    await members.owner.done("PATCH", f"/api/webhooks/{webhook_id}", {"channel_id": channel_id})
    assert await post(hook, '{"text": "hello"}') == 200
    await members.owner.done("PATCH", f"/api/webhooks/{webhook_id}", {"channel_id": "general"})
    [seen] = (await manager.done("GET", f"/api/webhooks/{webhook_id}/posts"))["posts"]
    assert (seen["outcome"], seen["channel_id"], seen["message_id"]) == ("posted", None, None)
    [seen] = (await members.owner.done("GET", f"/api/webhooks/{webhook_id}/posts"))["posts"]
    assert seen["channel_id"] == channel_id
