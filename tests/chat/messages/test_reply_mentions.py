"""Replies mention the author of the original message unless `ping` is off.

Mentioning groups requires a permission.
"""

from typing import Any

from tests.chat.http_member import HttpMember
from tests.chat.members_by_role import MembersByRole

GENERAL = "/api/channels/general"


async def posted(person: HttpMember, text: str, **more: object) -> Any:
    return await person.done("POST", f"{GENERAL}/messages", {"text": text, **more})


async def counted(members: MembersByRole, role: str) -> int:
    """Return the number of the member's unread mentions in the channel."""
    async with members.live(role) as [member]:
        [counts] = [entry for entry in member.welcome["unread"] if entry["channel_id"] == "general"]
        return int(counts["mentions"])


async def test_a_reply_mentions_the_author_of_the_original_message(members: MembersByRole) -> None:
    question = await posted(members.member, "who knows?")
    reply = await posted(members.owner, "I do", reply_to=question["id"])
    assert reply["mentions"] == [members.member.id]
    assert await counted(members, "member") == 1


async def test_a_reply_with_ping_off_mentions_nobody(members: MembersByRole) -> None:
    question = await posted(members.member, "who knows?")
    reply = await posted(members.owner, "I do", reply_to=question["id"], ping=False)
    assert reply["mentions"] == [] and await counted(members, "member") == 0


async def test_a_reply_to_ones_own_message_mentions_nobody(members: MembersByRole) -> None:
    question = await posted(members.member, "who knows?")
    assert (await posted(members.member, "never mind", reply_to=question["id"]))["mentions"] == []


async def test_a_reply_by_a_blocked_member_does_not_count_as_a_mention(members: MembersByRole) -> None:
    await members.member.done("PUT", f"/api/me/blocks/{members.owner.id}")
    question = await posted(members.member, "who knows?")
    await posted(members.owner, "[all](mention:everyone), I do", reply_to=question["id"])
    assert await counted(members, "member") == 0


async def test_the_mention_in_a_reply_survives_edits_and_disappears_with_the_message(
    members: MembersByRole,
) -> None:
    question = await posted(members.member, "who knows?")
    reply = await posted(members.owner, "I do", reply_to=question["id"])
    path = f"{GENERAL}/messages/{reply['id']}"
    assert (await members.owner.done("PATCH", path, {"text": "I did"}))["mentions"] == [members.member.id]
    assert await counted(members, "member") == 1
    await members.owner.done("DELETE", path)
    assert await counted(members, "member") == 0


async def test_an_at_everyone_mention_counts_for_all_members_except_the_author(
    members: MembersByRole,
) -> None:
    sent = await posted(members.moderator, "[@everyone](mention:everyone) tea is ready")
    assert (sent["mentions"], sent["mention_groups"]) == ([], ["everyone"])
    assert [await counted(members, role) for role in ("owner", "guest", "moderator")] == [1, 1, 0]
    await members.moderator.done("DELETE", f"{GENERAL}/messages/{sent['id']}")
    assert await counted(members, "owner") == 0


async def test_an_at_here_mention_counts_only_for_online_members(members: MembersByRole) -> None:
    async with members.live("guest") as [guest]:
        await posted(members.owner, "[@here](mention:here)")
        assert (await guest.pushed("message_posted"))["mention_groups"] == ["here"]
    assert [await counted(members, role) for role in ("guest", "member")] == [1, 0]


async def test_a_role_mention_counts_for_members_with_that_role(members: MembersByRole) -> None:
    sent = await posted(members.owner, "[@Moderator](role:moderator) [@None](role:nobody)")
    assert sent["mention_groups"] == ["moderator"]
    assert [await counted(members, role) for role in ("moderator", "member")] == [1, 0]


async def test_without_the_permission_a_group_mention_is_plain_text(members: MembersByRole) -> None:
    sent = await posted(members.member, "[@everyone](mention:everyone) [@Owner](role:owner)")
    assert sent["mention_groups"] == [] and await counted(members, "owner") == 0


async def test_a_channel_can_deny_the_permission_to_mention_groups(members: MembersByRole) -> None:
    override = "/api/channels/general/overrides/role/moderator"
    await members.owner.done("PUT", override, {"deny": ["mention_everyone"]})
    assert (await posted(members.moderator, "[@everyone](mention:everyone)"))["mention_groups"] == []


async def test_editing_out_a_group_mention_removes_its_mentions(members: MembersByRole) -> None:
    sent = await posted(members.owner, f"[@everyone](mention:everyone) [Me](mention:{members.member.id})")
    path = f"{GENERAL}/messages/{sent['id']}"
    await members.owner.done("PATCH", path, {"text": f"[Me](mention:{members.member.id})"})
    assert [await counted(members, role) for role in ("guest", "member")] == [0, 1]
