"""Automod rules apply to messages except in exempt roles and channels. Only rule managers can see them."""

import asyncio
import threading
from dataclasses import replace
from typing import Any, get_args

import pytest

from svc.base.database import Connection
from svc.chat.automod.detector import RuleMatcher
from svc.chat.automod.rule_definition import Kind
from tests.chat.chat_server import ChatServer, chat_server
from tests.chat.http_member import HttpMember, newcomer
from tests.chat.internal_server import server_with_insight
from tests.chat.members_by_role import MembersByRole, member_with, members_by_role

MESSAGES = "/api/channels/general/messages"
RULES = "/api/automod/rules"
PATIENCE_S = 10.0


async def rule(members: MembersByRole, kind: str, action: str, **more: object) -> dict[str, Any]:
    wanted = {"name": f"No {kind}", "kind": kind, "action": action, "enabled": True, **more}
    made: dict[str, Any] = await members.owner.done("POST", RULES, wanted)
    return made


async def post_text(person: HttpMember, text: str) -> dict[str, Any]:
    message: dict[str, Any] = await person.done("POST", MESSAGES, {"text": text})
    return message


async def refusal(person: HttpMember, text: str) -> str:
    return await person.refused("POST", MESSAGES, {"text": text})


async def reports(members: MembersByRole) -> list[dict[str, Any]]:
    reports_: list[dict[str, Any]] = (await members.moderator.done("GET", "/api/reports?state=open"))[
        "reports"
    ]
    return reports_


async def test_only_managers_see_rules_and_they_are_notified_of_every_change(members: MembersByRole) -> None:
    wanted = {"name": "x", "kind": "links", "action": "flag"}
    async with members.live("admin", "moderator") as [admin, moderator]:
        made = await members.owner.done("POST", RULES, wanted)
        changed = await members.admin.done("PUT", f"{RULES}/{made['id']}", {**wanted, "name": "y"})
        await members.owner.done("DELETE", f"{RULES}/{made['id']}")
        assert await admin.pushed("rule_created") == made
        assert await admin.pushed("rule_updated") == changed
        assert await admin.pushed("rule_deleted") == {"rule_id": made["id"]}
        await post_text(members.member, "hello")
        await moderator.pushed("message_posted")
        assert not [event for event in moderator.kept_events() if event.startswith("rule_")]
    made = await members.owner.done("POST", RULES, wanted)
    assert made["enabled"] is False
    for person in (members.moderator, members.member):
        assert await person.refused("GET", RULES) == "forbidden"
        assert await person.refused("POST", RULES, wanted) == "forbidden"
        assert await person.refused("PUT", f"{RULES}/{made['id']}", wanted) == "forbidden"
        assert await person.refused("DELETE", f"{RULES}/{made['id']}") == "forbidden"
        assert await person.refused("POST", "/api/automod/trial", wanted) == "forbidden"
    assert (await members.owner.done("GET", RULES))["rules"] == [made]


async def test_creating_a_timeout_rule_requires_the_timeout_permission(members: MembersByRole) -> None:
    keeper = await member_with(members, "manage_automod")
    wanted = {"name": "x", "kind": "links", "action": "timeout", "timeout_s": 60}
    assert await keeper.refused("POST", RULES, {**wanted, "enabled": True}) == "forbidden"
    made = await keeper.done("POST", RULES, wanted)
    address = f"{RULES}/{made['id']}"
    assert await keeper.refused("PUT", address, {**wanted, "enabled": True}) == "forbidden"
    await members.owner.done("PUT", address, {**wanted, "enabled": True})
    assert await keeper.refused("PUT", address, {**wanted, "enabled": True, "name": "y"}) == "forbidden"
    await keeper.done("PUT", address, {**wanted, "enabled": False})


async def test_a_flagged_message_is_posted_and_reported(members: MembersByRole) -> None:
    await rule(members, "words", "flag", words=["free nitro", "casino"])
    async with members.live("moderator", "member") as [moderator, member]:
        message = await post_text(members.member, "A CASINO with free  nitro")
        assert message["flagged"] and message["text"] == "A CASINO with free  nitro"
        report = await moderator.pushed("report_created")
        await post_text(members.member, "nothing to see")
        await member.pushed("message_posted")
        assert "report_created" not in member.kept_events()
    assert report["reporter_id"] is None and report["rule"] == "No words"
    assert (report["member_id"], report["message_id"]) == (members.member.id, message["id"])
    assert report["text"] == "CASINO, free  nitro"
    assert await reports(members) == [report]
    await members.moderator.done("POST", f"/api/reports/{report['id']}/resolve", {"note": "Told them"})
    [done] = (await members.moderator.done("GET", "/api/reports?state=resolved"))["reports"]
    assert (done["note"], done["resolved_by"]) == ("Told them", members.moderator.id)


async def test_a_censored_match_becomes_stars_and_needs_no_moderator(members: MembersByRole) -> None:
    await rule(members, "links", "censor", allowed=["example.org"])
    message = await post_text(
        members.member, "https://docs.example.org/x but http://example.org@evil.example/y."
    )
    stars = "*" * len("http://example.org@evil.example/y")
    assert message["text"] == f"https://docs.example.org/x but {stars}." and message["flagged"]
    assert await reports(members) == []


@pytest.mark.parametrize("kind", get_args(Kind))
async def test_every_kind_of_rule_supports_every_action(members: MembersByRole, kind: str) -> None:
    # For each kind of rule, its settings, a matching message and the censored match.
    of_kind: dict[str, tuple[dict[str, object], str, str]] = {
        "words": ({"words": ["casino"]}, "A casino", "casino"),
        "links": ({}, "See https://a.example", "https://a.example"),
        "mentions": (
            {"most": 0},
            f"Hi [@x](mention:{members.guest.id})",
            f"[@x](mention:{members.guest.id})",
        ),
        "repeats": ({"most": 1, "within_s": 3600}, "Again", "Again"),
        "newcomers": ({"newcomer_s": 3600}, "Hello", "Hello"),
    }
    settings, text, expected = of_kind[kind]
    await post_text(members.member, text)
    wanted = {"name": f"No {kind}", "kind": kind, "enabled": True, "timeout_s": 60, **settings}
    made = await members.owner.done("POST", RULES, {**wanted, "action": "flag"})

    flagged = await post_text(members.member, text)
    assert flagged["flagged"] and flagged["text"] == text
    assert [(report["rule"], report["message_id"]) for report in await reports(members)] == [
        (made["name"], flagged["id"])
    ]

    async def act(action: str) -> None:
        await members.owner.done("PUT", f"{RULES}/{made['id']}", {**wanted, "action": action})

    await act("censor")
    assert (await post_text(members.member, text))["text"] == text.replace(expected, "*" * len(expected))
    assert len(await reports(members)) == 1
    await act("block")
    assert await refusal(members.member, text) == "rule_refused"
    await act("timeout")
    assert await refusal(members.member, text) == "rule_refused"
    assert await refusal(members.member, text) == "in_timeout"


async def test_a_blocked_message_is_not_posted_and_the_error_contains_the_rules_name(
    members: MembersByRole,
) -> None:
    await rule(members, "mentions", "block", most=2)
    crowd = [f"[@x](mention:{person.id})" for person in members.by_role.values()]
    assert (await post_text(members.member, " ".join(crowd[:2])))["mentions"]
    status, answer = await members.member.ask("POST", MESSAGES, {"text": " ".join(crowd[:3])})
    assert (status, answer["error"], answer["rule"]) == (400, "rule_refused", "No mentions")
    assert len((await members.owner.done("GET", MESSAGES))["messages"]) == 1


async def test_a_timeout_by_a_rule_is_logged_and_reported_without_a_message(members: MembersByRole) -> None:
    made = await rule(members, "words", "timeout", words=["*scam*"], timeout_s=600)
    assert await refusal(members.member, "my cryptoscams") == "rule_refused"
    assert await refusal(members.member, "hello") == "in_timeout"
    [entry] = (await members.owner.done("GET", "/api/audit?action=member_timeout"))["entries"]
    assert entry["actor_id"] is None and entry["details"]["rule"] == made["name"]
    [report] = await reports(members)
    assert (report["channel_id"], report["message_id"]) == ("general", None)
    assert report["text"] == "cryptoscams"
    history = await members.moderator.done("GET", f"/api/members/{members.member.id}/moderation")
    assert [entry["action"] for entry in history["entries"]] == ["member_timeout"]


async def test_repeated_messages_are_blocked_but_retried_requests_are_not(members: MembersByRole) -> None:
    await rule(members, "repeats", "block", most=2, within_s=3600)
    first = await members.member.done("POST", MESSAGES, {"text": "Buy this!", "nonce": "one"})
    assert (await members.member.done("POST", MESSAGES, {"text": "Buy this!", "nonce": "one"})) == first
    await post_text(members.member, "BUY  this")
    assert await refusal(members.member, "b.u.y this!!") == "rule_refused"
    assert (await members.member.done("POST", MESSAGES, {"text": "Buy this!", "nonce": "one"})) == first
    await post_text(members.guest, "Buy this!")
    await post_text(members.member, "Something else")


async def test_stricter_rules_apply_to_new_members_for_a_while(members: MembersByRole) -> None:
    made = await rule(members, "newcomers", "flag", newcomer_s=3600)
    assert (await post_text(members.member, "Hello"))["flagged"]
    await members.owner.done("PUT", f"{RULES}/{made['id']}", {**made, "newcomer_s": 60, "enabled": False})
    assert not (await post_text(members.member, "Hello again"))["flagged"]
    assert await members.owner.refused("POST", RULES, {**made, "newcomer_s": 0}) == "invalid_request"


async def test_moderators_and_exempted_roles_and_channels_are_exempt(members: MembersByRole) -> None:
    wanted = {"words": ["casino"], "except_roles": ["guest"], "except_channels": ["general"]}
    made = await rule(members, "words", "block", **wanted)
    await post_text(members.member, "casino")
    await members.owner.done("PUT", f"{RULES}/{made['id']}", {**made, "except_channels": []})
    assert await refusal(members.member, "casino") == "rule_refused"
    for person in (members.owner, members.admin, members.moderator, members.guest):
        assert not (await post_text(person, "casino"))["flagged"]


async def test_a_rule_ignores_ranks_but_exempts_moderators(members: MembersByRole) -> None:
    """Check that a rule also applies to members who rank above its author, because it acts on behalf of the
    server. Moderators are exempt.
    """
    keeper = await member_with(members, "manage_automod", "timeout_members")
    rule = {"name": "x", "kind": "words", "action": "timeout", "words": ["casino"], "timeout_s": 60}
    await keeper.done("POST", RULES, {**rule, "enabled": True})
    may_write = ("view_channel", "send_messages")
    for moderates in ("manage_automod", "timeout_members", "kick_members", "ban_members"):
        await post_text(await member_with(members, *may_write, moderates), "casino")
    grand = await newcomer(members.chat, "Grand")
    title = {"name": "Grand", "rank": 600, "permissions": list(may_write)}
    role = await members.owner.done("POST", "/api/roles", title)
    await members.owner.done("PUT", f"/api/members/{grand.id}/roles/{role['id']}")
    path = f"/api/members/{grand.id}/timeout"
    assert await keeper.refused("PUT", path, {"duration_s": 60}) == "rank_too_low"
    assert await refusal(grand, "casino") == "rule_refused"
    assert await refusal(grand, "hello") == "in_timeout"


async def test_rules_also_apply_to_edits(members: MembersByRole) -> None:
    await rule(members, "words", "block", words=["casino"])
    await rule(members, "links", "flag")
    message = await post_text(members.member, "hello")
    message_path = f"{MESSAGES}/{message['id']}"
    assert await members.member.refused("PATCH", message_path, {"text": "casino"}) == "rule_refused"
    for text in ("https://a.example", "https://b.example"):
        assert (await members.member.done("PATCH", message_path, {"text": text}))["flagged"]
    # While a report about a message is open, further matches in the message are not reported.
    assert [report["message_id"] for report in await reports(members)] == [message["id"]]


async def test_the_strictest_rule_decides(members: MembersByRole) -> None:
    await rule(members, "links", "flag")
    await rule(members, "words", "censor", words=["casino"])
    message = await post_text(members.member, "casino https://a.example")
    assert message["text"] == "****** https://a.example" and len(await reports(members)) == 1
    await rule(members, "links", "block", name="Strict")
    assert await refusal(members.member, "https://a.example") == "rule_refused"


async def test_rules_apply_to_bots_but_not_to_webhooks(members: MembersByRole) -> None:
    await rule(members, "words", "block", words=["casino"])
    hook = await members.owner.done("POST", "/api/webhooks", {"name": "CI", "channel_id": "general"})
    async with members.chat.http.post(hook["url"], json={"text": "casino"}) as answer:
        assert answer.status == 200
    bot = await members.owner.done("POST", "/api/bots", {"nickname": "Bot"})
    helper = HttpMember(members.chat, members.member.device, bot["member"]["id"], bot["token"])
    assert await refusal(helper, "casino") == "rule_refused"


async def test_flagged_profanity_is_also_reported(members: MembersByRole) -> None:
    await members.owner.done("PATCH", "/api/settings", {"profanityMode": "flag"})
    message = await post_text(members.member, "oh shit")
    assert message["text"] == "oh shit" and message["flagged"]
    [report] = await reports(members)
    assert (report["reporter_id"], report["rule"], report["text"]) == (None, None, "shit")
    await members.owner.done("PATCH", "/api/settings", {"profanityMode": "censor"})
    await post_text(members.member, "oh shit")
    assert len(await reports(members)) == 1


async def test_a_report_about_a_webhooks_message_names_the_webhook_and_can_be_resolved(
    members: MembersByRole,
) -> None:
    await members.owner.done("PATCH", "/api/settings", {"profanityMode": "flag"})
    hook = await members.owner.done("POST", "/api/webhooks", {"name": "Builds", "channel_id": "general"})
    card = {"title": "Oh shit", "description": "It is red, damn"}
    address = f"/api/webhooks/{hook['id']}/{hook['token']}"
    async with members.live("moderator") as [moderator]:
        posted = await members.owner.done("POST", address, {"text": "What is this?", "cards": [card]})
        event = await moderator.pushed("report_created")
    [report] = await reports(members)
    assert report == event
    assert (report["member_id"], report["webhook"]) == (None, {"id": hook["id"], "name": "Builds"})
    assert (report["message_id"], report["rule"]) == (posted["message_id"], None)
    assert "shit" in report["text"]
    by_hand = {"channel_id": "general", "message_id": posted["message_id"], "text": "rude"}
    await members.member.done("POST", "/api/reports", by_hand)
    assert [report["webhook"]["name"] for report in await reports(members)] == ["Builds", "Builds"]
    await members.moderator.done("POST", f"/api/reports/{report['id']}/resolve")
    [entry] = (await members.owner.done("GET", "/api/audit?action=report_resolve"))["entries"]
    assert entry["details"]["nickname"] == "Builds" and "member_id" not in entry["details"]


async def test_one_member_cannot_flood_the_reports(members: MembersByRole) -> None:
    await rule(members, "newcomers", "flag", newcomer_s=3600)
    for number in range(25):
        assert (await post_text(members.member, f"Message {number}"))["flagged"]
    assert len(await reports(members)) == 20
    await post_text(members.guest, "Me too")
    assert len(await reports(members)) == 21


async def test_a_trial_run_of_a_rule_reports_matches_without_acting_on_them(members: MembersByRole) -> None:
    for text in ("casino", "hello", "another CASINO", "hello"):
        await post_text(members.member, text)
    await post_text(members.moderator, "casino")
    wanted = {"name": "x", "kind": "words", "action": "timeout", "timeout_s": 60, "words": ["casino"]}
    trial = await members.owner.done("POST", "/api/automod/trial", wanted)
    assert (trial["read"], trial["found"]) == (5, 2)
    newest, oldest = trial["messages"]
    assert (newest["text"], newest["found"]) == ("another CASINO", [[8, 14]])
    assert (oldest["display_name"], oldest["channel_id"]) == ("Member", "general")
    repeated = {"name": "x", "kind": "repeats", "action": "flag", "most": 1, "within_s": 600}
    assert (await members.owner.done("POST", "/api/automod/trial", repeated))["found"] == 1
    assert await reports(members) == [] and (await members.owner.done("GET", RULES))["rules"] == []
    await post_text(members.member, "casino")
    entries = (await members.owner.done("GET", "/api/audit"))["entries"]
    assert [entry["action"] for entry in entries].count("rule_trial") == 2


async def test_rules_are_rejected_if_they_take_too_long_in_total(members: MembersByRole) -> None:
    words = [f"{letter}*{'?' * 57}{n:02}x" for letter in "abcdefgh" for n in range(25)]
    wanted = {"name": "x", "kind": "words", "action": "flag", "enabled": True, "words": words}
    first = await members.owner.done("POST", RULES, wanted)
    assert await members.owner.refused("POST", RULES, wanted) == "invalid_request"
    assert await members.owner.refused("POST", "/api/automod/trial", wanted) == "invalid_request"
    second = await members.owner.done("POST", RULES, {**wanted, "enabled": False})
    assert await members.owner.refused("PUT", f"{RULES}/{second['id']}", wanted) == "invalid_request"
    await members.owner.done("PUT", f"{RULES}/{first['id']}", {**wanted, "enabled": False})
    await members.owner.done("PUT", f"{RULES}/{second['id']}", wanted)


async def test_rules_from_an_earlier_version_that_are_too_slow_are_disabled_at_startup(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = {"name": "old", "kind": "words", "action": "block", "enabled": True, "words": ["a*b"]}
    async with server_with_insight(variables) as (chat, _):
        members = await members_by_role(chat)
        for name in ("old", "new"):
            await members.owner.done("POST", RULES, {**wanted, "name": name})
    monkeypatch.setattr("svc.chat.automod.rule_engine.STEP_LIMIT", 10)
    async with server_with_insight(variables) as (_, inside):
        assert [(rule.name, rule.enabled) for rule in inside.automod.all()] == [("old", True), ("new", False)]
        assert "a rule is switched off: its patterns take too long" in caplog.messages
    # The reason remains visible to rule managers after a restart, until the rule is changed.
    async with server_with_insight(variables) as (again, _):
        owner = replace(members.owner, chat=again)
        old, new = (await owner.done("GET", RULES))["rules"]
        assert (old["too_slow"], new["too_slow"]) == (False, True)
        entries = (await owner.done("GET", "/api/audit"))["entries"]
        (off,) = (entry for entry in entries if entry["action"] == "rule_switch_off")
        assert (off["actor_id"], off["target_id"]) == (None, new["id"])
        assert off["details"] == {"name": "new", "reason": "too_slow"}
        await owner.done("PUT", f"{RULES}/{new['id']}", {**wanted, "name": "new", "enabled": False})
        assert not any(rule["too_slow"] for rule in (await owner.done("GET", RULES))["rules"])


async def test_a_rule_applies_only_to_messages_that_arrive_after_it(variables: dict[str, str]) -> None:
    # Expensive rules used to search messages that had arrived before the rule, all in a single step.
    async with server_with_insight(variables) as (chat, inside):
        members = await members_by_role(chat)
        before = await inside.automod.read(members.member.id, "casino")
        await rule(members, "words", "block", words=["casino"])
        after = await inside.automod.read(members.member.id, "casino")
        refusals = [
            inside.automod.judge(members.member.id, "general", read, 0.0, new=True).refusal is not None
            for read in (before, after)
        ]
        assert refusals == [False, True]


async def test_a_trial_run_searches_the_last_thousand_messages(variables: dict[str, str]) -> None:
    def hello(connection: Connection) -> None:
        connection.execute(
            "WITH RECURSIVE later(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM later WHERE i < 999)"
            " INSERT INTO messages (n, id, channel_id, author_kind, author_id, display_name, text)"
            " SELECT n + i, id || i, channel_id, author_kind, author_id, display_name, 'hello'"
            " FROM messages, later"
        )

    wanted = {"name": "x", "kind": "words", "action": "flag", "words": ["casino"]}
    async with server_with_insight(variables) as (chat, inside):
        members = await members_by_role(chat)
        await post_text(members.member, "casino")
        await inside.automod._database.write(hello)
        trial = await members.owner.done("POST", "/api/automod/trial", wanted)
        assert (trial["read"], trial["found"]) == (1_000, 1)
        await post_text(members.member, "hello")
        trial = await members.owner.done("POST", "/api/automod/trial", wanted)
        assert (trial["read"], trial["found"]) == (1_000, 0)


async def test_a_large_trial_run_does_not_delay_other_requests(members: MembersByRole) -> None:
    for _ in range(20):
        await post_text(members.member, "a* " * 1_300)
    words = [f"a*{letter}*{letter}*b" for letter in "abcdefghijklmnopqrstuvwxyz"]
    wanted = {"name": "x", "kind": "words", "action": "flag", "words": words}
    trials = [asyncio.create_task(members.owner.done("POST", "/api/automod/trial", wanted)) for _ in range(2)]
    await post_text(members.member, "in between")
    assert [trial["found"] for trial in await asyncio.gather(*trials)] == [0, 0]


async def test_a_trial_run_lets_the_event_loop_run_between_searches(
    members: MembersByRole, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the event loop runs before every search."""
    loop, search, turns = asyncio.get_running_loop(), RuleMatcher.find, 0

    def counted(*arguments: Any) -> Any:
        nonlocal turns
        turned = threading.Event()
        loop.call_soon_threadsafe(turned.set)
        turns += turned.wait(PATIENCE_S)
        return search(*arguments)

    for text in ("secret", "hello"):
        await post_text(members.member, text)
    monkeypatch.setattr(RuleMatcher, "find", counted)
    wanted = {"name": "x", "kind": "words", "action": "flag", "words": ["secret"]}
    trial = await members.owner.done("POST", "/api/automod/trial", wanted)
    assert (trial["found"], turns) == (1, 2)


async def test_rules_survive_a_restart_and_every_change_is_logged(
    variables: dict[str, str],
) -> None:
    async with chat_server(variables) as chat:
        owner, ada = await newcomer(chat, "Owner"), await newcomer(chat, "Ada")
        wanted = {"name": "Links", "kind": "links", "action": "block"}
        made = await owner.done("POST", RULES, wanted)
        await owner.done("PUT", f"{RULES}/{made['id']}", {**wanted, "enabled": True})
        gone = await owner.done("POST", RULES, wanted)
        await owner.done("DELETE", f"{RULES}/{gone['id']}")
        assert await owner.refused("DELETE", f"{RULES}/{gone['id']}") == "unknown_rule"
        assert await owner.refused("PUT", f"{RULES}/{gone['id']}", wanted) == "unknown_rule"
        entries = (await owner.done("GET", "/api/audit"))["entries"]
        acts = [
            (entry["action"], entry["details"]["name"]) for entry in entries if "rule_" in entry["action"]
        ]
        actions = ("rule_delete", "rule_create", "rule_edit", "rule_create")
        assert acts == [(action, "Links") for action in actions]
    async with chat_server(variables) as chat:
        ada.chat = owner.chat = chat
        assert await refusal(ada, "https://a.example") == "rule_refused"
        [kept] = (await owner.done("GET", RULES))["rules"]
        assert kept == {**made, "enabled": True}


async def test_the_number_of_rules_is_limited(members: MembersByRole) -> None:
    for _ in range(20):
        await rule(members, "links", "flag")
    assert (
        await members.owner.refused("POST", RULES, {"name": "x", "kind": "links", "action": "flag"})
        == "too_many"
    )


async def test_invalid_rules_are_rejected(chat: ChatServer, members: MembersByRole) -> None:
    good = {"name": "x", "kind": "words", "action": "flag", "words": ["a"]}
    wrongs: list[dict[str, object]] = [
        {"name": " "},
        {"kind": "regex"},
        {"action": "ban"},
        {"words": []},
        {"words": ["*"]},
        {"words": ["a" * 65]},
        {"action": "timeout"},
        {"kind": "mentions"},
        {"kind": "repeats", "most": 2},
        {"kind": "links", "allowed": ["not a domain"]},
    ]
    for wrong in wrongs:
        assert await members.owner.refused("POST", RULES, {**good, **wrong}) == "invalid_request"
