"""Moderators can sanction members, handle reports and read the audit log in the web client."""

import re
from collections.abc import Sequence

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.kit.browser_users import People, Person
from tests.kit.community import (
    Community,
    ask,
    community,
    give,
    has_no_page,
    listed,
    open_settings,
    own_id,
    pick,
    refusal,
)
from tests.kit.text_channels import box, do, message, shows, write

__all__ = ["axe"]

ALL = (
    *("manage_nicknames", "timeout_members", "kick_members", "ban_members"),
    *("view_reports", "view_audit_log", "manage_messages"),
)


async def menu(person: Person, of: str) -> Locator:
    """Open a member's menu in the member list."""
    side_panel = person.page.get_by_role("complementary")
    if not await side_panel.count():
        await person.press("Members")
    await listed(person, of).hover()
    await side_panel.get_by_role("button", name=f"More about {of}").click()
    return person.page.get_by_role("menu", name=f"More about {of}")


async def choose(person: Person, of: str, item: str) -> Locator:
    """Choose an item in a member's menu. Return the dialog that opens."""
    await (await menu(person, of)).get_by_role("menuitem", name=item, exact=True).click()
    return person.page.get_by_role("dialog")


async def offers(person: Person, of: str, *items: str) -> None:
    """Wait until a member's menu has these items after the items that everyone sees.

    The page may not have received a new role yet.
    """
    usual = ("Profile", f"Mention {of}", "Copy ID", f"Block {of}", "Report")
    await expect((await menu(person, of)).get_by_role("menuitem")).to_have_text([*usual, *items])
    await person.page.keyboard.press("Escape")


GONE = "[role=alert]:has-text"
RENAME_AND_BAN = pytest.mark.nightly("the menu offers Rename and Ban daily, and each action has its own test")


@pytest.mark.parametrize(
    ("permission", "item", "seen", "method", "path"),
    [
        ("manage_nicknames", "Rename", "#own-name:text-is('Renamed')", "PATCH", "/api/members/{id}"),
        pytest.param(
            "timeout_members",
            "Time out",
            "#draft:disabled",
            "PUT",
            "/api/members/{id}/timeout",
            marks=RENAME_AND_BAN,
        ),
        pytest.param(
            "kick_members",
            "Kick",
            f"{GONE}('You’re no longer a member of this server.')",
            "POST",
            "/api/members/{id}/kick",
            marks=RENAME_AND_BAN,
        ),
        ("ban_members", "Ban", f"{GONE}('You are banned from this server.')", "PUT", "/api/bans/{id}"),
    ],
)
async def test_each_action_is_offered_only_with_its_permission_and_for_lower_ranked_members(
    people: People, permission: str, item: str, seen: str, method: str, path: str
) -> None:
    server = await community(people, permission)
    await offers(server.moderator, "Edsger", "Message", item)
    await server.member.press("Members")
    for person, of in ((server.moderator, "Ada"), (server.member, "Grace")):
        await expect(listed(person, of)).to_be_visible()
        await offers(person, of, "Message")
    body = {"nickname": "Renamed"} if item == "Rename" else {"duration_s": 60} if item == "Time out" else {}
    grace = path.format(id=await own_id(server.moderator))
    assert await refusal(server.member, method, grace, body) == "forbidden"
    for person, other in ((server.moderator, server.member), (server.owner, server.moderator)):
        reason = f"Watches of {other.name}"
        await write(other, reason)
        await expect(message(server.owner, reason)).to_be_visible()
        dialog = await choose(person, other.name, item)
        if item == "Rename":
            await dialog.get_by_label("Name", exact=True).fill("Renamed")
        elif item == "Ban":
            await dialog.get_by_label("Delete their messages").select_option("From the last 1 hour")
        await dialog.get_by_role("button", name=item, exact=True).click()
        await expect(other.page.locator(seen)).to_be_visible()
        await expect(message(server.owner, reason)).to_have_count(0 if item == "Ban" else 1)
        if item == "Rename":
            await ask(server.owner, "PATCH", path.format(id=await own_id(other)), {"nickname": other.name})


@pytest_asyncio.fixture(loop_scope="session")
async def server(people: People, pages: Sequence[str]) -> Community:
    return await community(people, *ALL, pages=pages)


@pytest.mark.pages("moderator", "member")
async def test_a_member_can_be_renamed_and_timed_out_and_the_timeout_can_be_lifted(
    server: Community, axe: str
) -> None:
    dialog = await choose(server.moderator, "Edsger", "Rename")
    await dialog.get_by_label("Name", exact=True).fill("Dijkstra")
    await dialog.get_by_role("button", name="Rename").click()
    await expect(server.member.page.locator("#own-name")).to_have_text("Dijkstra")
    dialog = await choose(server.moderator, "Dijkstra", "Time out")
    await dialog.get_by_label("Duration").select_option("10 minutes")
    await dialog.get_by_label("Reason").fill("Too loud")
    await at_both_sizes(server.moderator, axe, "the duration of a timeout")
    await dialog.get_by_role("button", name="Time out").click()
    await expect(box(server.member)).to_be_disabled()
    notice = re.compile(r"^You’re in timeout until .*\d:\d\d")
    await expect(box(server.member)).to_have_attribute("placeholder", notice)
    await at_both_sizes(server.member, axe, "a member in timeout")
    await expect(server.moderator.page.locator(".notice")).to_contain_text(["Dijkstra is in timeout."])
    assert await refusal(
        server.member, "PATCH", f"/api/members/{await own_id(server.member)}", {"nickname": "x"}
    )
    await choose(server.moderator, "Dijkstra", "End timeout")
    await expect(box(server.member)).to_be_enabled()


async def test_a_kicked_member_may_rejoin_but_a_banned_member_may_not(
    server: Community, people: People, axe: str
) -> None:
    await write(server.member, "Watches for sale")
    await shows(server.owner, ["Watches for sale"])
    dialog = await choose(server.moderator, "Edsger", "Ban")
    await dialog.get_by_label("Delete their messages").select_option("From the last 1 hour")
    await dialog.get_by_label("Reason").fill("Sells watches")
    await at_both_sizes(server.moderator, axe, "the confirmation of a ban")
    await dialog.get_by_role("button", name="Ban").click()
    notice = "You are banned from this server: Sells watches"
    await expect(server.member.page.get_by_role("alert")).to_have_text(notice)
    await at_both_sizes(server.member, axe, "a banned member")
    await expect(message(server.owner, "Watches for sale")).to_have_count(0)
    page = await open_settings(server.moderator, "Bans")
    await expect(page.get_by_role("listitem")).to_contain_text("Sells watches")
    await page.get_by_role("button", name="Unban").click()
    dialog = server.moderator.page.get_by_role("dialog", name="Unban Edsger?")
    await expect(dialog).to_be_visible()
    await at_both_sizes(server.moderator, axe, "the confirmation to unban a person")
    await dialog.get_by_role("button", name="Unban").click()
    await expect(page.get_by_text("Nobody is banned.")).to_be_visible()
    barbara = await people.arrive("Barbara")
    await barbara.come_in()
    await server.moderator.page.keyboard.press("Escape")
    dialog = await choose(server.moderator, "Barbara", "Kick")
    await dialog.get_by_role("button", name="Kick").click()
    await expect(barbara.page.get_by_role("alert")).to_contain_text(
        "You’re no longer a member of this server."
    )


async def test_a_report_reaches_the_moderators_with_its_message(server: Community) -> None:
    await write(server.owner, "Fine words")
    await write(server.member, "Buy my watches")
    await shows(server.moderator, ["Fine words", "Buy my watches"])
    await do(server.owner, "watches", "More")
    await server.owner.page.get_by_role("menuitem", name="Report to moderators").click()
    await server.owner.page.get_by_label("What’s wrong?").fill("It is spam")
    await server.owner.press("Send report")
    await server.moderator.press("1 open report")
    page = server.moderator.page.get_by_role("region", name="Reports", exact=True)
    report = page.get_by_role("listitem")
    await expect(report).to_contain_text("Ada reported Edsger")
    await expect(report).to_contain_text("It is spam")
    await expect(report.locator("blockquote")).to_have_text("Edsger Buy my watches")
    await report.get_by_role("button", name="Jump to message").click()
    await expect(message(server.moderator, "Buy my watches")).to_be_visible()
    await server.moderator.press("1 open report")
    await report.get_by_role("button", name="Delete message").click()
    await shows(server.member, ["Fine words"])
    await report.get_by_role("button", name="Resolve").click()
    await expect(page.get_by_text("No open reports.")).to_be_visible()
    await server.moderator.press("Show resolved reports")
    await expect(page.get_by_role("listitem")).to_contain_text("Resolved by Grace.")
    await expect(server.member.page.get_by_role("button", name="1 open report")).to_have_count(0)


async def test_a_report_by_an_automod_rule_is_shown_with_its_channel_and_resolved_with_a_note(
    server: Community, axe: str
) -> None:
    rule = {"name": "Gambling", "kind": "words", "action": "flag", "words": ["casino"], "enabled": True}
    await ask(server.owner, "POST", "/api/automod/rules", rule)
    await write(server.owner, "Good evening")
    await write(server.member, "Come to my casino")
    await server.moderator.press("1 open report")
    page = server.moderator.page.get_by_role("region", name="Reports", exact=True)
    report = page.get_by_role("listitem")
    await expect(report).to_contain_text("The rule “Gambling” matched a message from Edsger")
    await expect(report.locator("mark")).to_have_text("casino")
    await report.get_by_role("button", name="Show surrounding messages").click()
    await expect(report.locator(".around p")).to_have_text(["Ada Good evening", "Edsger Come to my casino"])
    await at_both_sizes(server.moderator, axe, "a report by a rule")
    await report.get_by_role("button", name="Time out for 1 hour").click()
    await expect(box(server.member)).to_be_disabled()
    await report.get_by_role("button", name="Add a note").click()
    note = report.get_by_label("Note for other moderators")
    await note.fill("The second time")
    await note.press("Enter")
    await expect(page.get_by_text("No open reports.")).to_be_visible()
    await server.moderator.press("Show resolved reports")
    await expect(page.get_by_role("listitem")).to_contain_text("Resolved by Grace. The second time")


@pytest.mark.pages("moderator")
async def test_audit_log_entries_are_shown_as_sentences_and_can_be_filtered(
    server: Community, axe: str
) -> None:
    await ask(server.member, "POST", "/api/channels/general/messages", {"text": "hello"})
    edsger = await own_id(server.member)
    await ask(server.moderator, "PATCH", f"/api/members/{edsger}", {"nickname": "Dijkstra"})
    timeout = {"duration_s": 60, "reason": "Too loud"}
    await ask(server.moderator, "PUT", f"/api/members/{edsger}/timeout", timeout)
    await ask(server.owner, "POST", "/api/channels", {"name": "plans", "type": "text"})
    page = await open_settings(server.moderator, "Audit log")
    sentences = page.locator(".entry .managed-words > span")
    await expect(sentences).to_have_text(
        [
            "Ada created the channel plans",
            "Grace timed out Dijkstra",
            "Grace renamed Edsger to Dijkstra",
            "Ada assigned Grace the role Helpers",
            "Ada created the role Helpers",
        ]
    )
    await expect(page.locator("[data-action=member_timeout]")).to_contain_text("Reason: Too loud")
    await page.get_by_label("Action").select_option("Rename member")
    await expect(sentences).to_have_text(["Grace renamed Edsger to Dijkstra"])
    await page.get_by_label("Action").select_option("All actions")
    await page.get_by_label("By").fill("ada")
    await server.moderator.page.keyboard.press("Enter")
    await expect(sentences).to_have_count(3)
    await pick(page, "Affected", "grace")
    await expect(sentences).to_have_text(["Ada assigned Grace the role Helpers"])
    await server.moderator.page.keyboard.press("Escape")
    dialog = await choose(server.moderator, "Dijkstra", "Moderation history")
    await expect(dialog.locator(".entry")).to_have_count(2)
    await at_both_sizes(server.moderator, axe, "a member's history")


async def test_reports_the_audit_log_and_bans_each_require_only_their_own_permission(
    people: People,
) -> None:
    server = await community(people, pages=["moderator"])
    edsger = await own_id(server.member)
    role = await give(server.owner, server.moderator, ["view_reports"], "Alone")
    await ask(server.owner, "POST", "/api/reports", {"member_id": edsger, "text": "Sells watches"})
    page = await open_settings(server.moderator, "Reports")
    await page.get_by_role("button", name="Resolve", exact=True).click()
    await expect(page.get_by_text("No open reports.")).to_be_visible()
    assert (await ask(server.owner, "GET", "/api/reports?state=open"))["reports"] == []
    await server.moderator.page.keyboard.press("Escape")

    await ask(server.owner, "PATCH", f"/api/roles/{role}", {"permissions": ["view_audit_log"]})
    page = await open_settings(server.moderator, "Audit log")
    sentences = page.locator(".entry .managed-words > span")
    await expect(sentences.first).to_be_visible()
    await page.get_by_label("By").fill("grace")
    await server.moderator.page.keyboard.press("Enter")
    await expect(sentences).to_have_text(["Grace resolved a report about Edsger"])
    await server.moderator.page.keyboard.press("Escape")

    await ask(server.owner, "PATCH", f"/api/roles/{role}", {"permissions": ["ban_members"]})
    await ask(server.owner, "PUT", f"/api/bans/{edsger}", {"reason": "Sells watches"})
    page = await open_settings(server.moderator, "Bans")
    await page.get_by_role("button", name="Unban").click()
    question = server.moderator.page.get_by_role("dialog", name="Unban Edsger?")
    await question.get_by_role("button", name="Unban").click()
    await expect(page.get_by_text("Nobody is banned.")).to_be_visible()
    assert (await ask(server.owner, "GET", "/api/bans"))["bans"] == []


async def test_the_slower_of_two_moderators_learns_that_the_other_was_first(server: Community) -> None:
    ban = await choose(server.moderator, "Edsger", "Ban")
    kick = await choose(server.owner, "Edsger", "Kick")
    await ban.get_by_role("button", name="Ban").click()
    await expect(server.member.page.get_by_role("alert")).to_be_visible()
    await kick.get_by_role("button", name="Kick").click()
    await expect(kick.get_by_role("alert")).to_have_text("This person is no longer a member.")


CREW = {"name": "Crew", "rank": 200, "permissions": []}


async def test_two_moderators_work_on_the_same_report_role_and_ban(people: People) -> None:
    """Check that neither moderator undoes the other's action, and that each learns of it."""
    managing = ("view_reports", "ban_members", "manage_roles", "kick_members", "manage_emoji")
    server = await community(people, *managing, pages=("owner", "moderator"))
    both = server.owner, server.moderator
    edsger = await own_id(server.member)
    await ask(server.owner, "POST", "/api/reports", {"member_id": edsger, "text": "Sells watches"})
    for person in both:
        reports = await open_settings(person, "Reports")
        await reports.get_by_role("button", name="Add a note").click()
        await reports.get_by_label("Note for other moderators").fill(f"{person.name} told him")
    await server.owner.page.keyboard.press("Enter")
    notice = server.moderator.page.locator(".notice")
    await expect(notice).to_contain_text(["Ada resolved the report about Edsger."])
    for person in both:
        await expect(person.page.get_by_text("No open reports.")).to_be_visible()

    await ask(server.owner, "POST", "/api/roles", CREW)
    for person, permission in zip(both, ("Kick members", "Manage emoji"), strict=True):
        await person.page.keyboard.press("Escape")
        roles = await open_settings(person, "Roles")
        await roles.get_by_role("button", name="Edit Crew").click()
        await roles.get_by_role("switch", name=permission).check()
    await server.owner.press("Save")
    await expect(server.owner.page.locator(".notice")).to_contain_text(["Saved."])
    # All permissions are saved together, so wait for the other moderator's change first.
    await expect(roles.get_by_role("switch", name="Kick members")).to_be_checked()
    await server.moderator.press("Save")
    await expect(notice).to_contain_text(["Saved."])
    [crew] = [
        role for role in (await ask(server.owner, "GET", "/api/roles"))["roles"] if role["name"] == "Crew"
    ]
    assert sorted(crew["permissions"]) == ["kick_members", "manage_emoji"]
    await server.owner.press("Delete role")
    question = server.owner.page.get_by_role("dialog", name="Delete the role Crew?")
    await question.get_by_role("button", name="Delete role").click()
    await expect(notice).to_contain_text(["The role Crew was deleted."])
    for person in both:
        await expect(person.page.get_by_role("button", name="Create role")).to_be_visible()
    await expect(question).to_have_count(0)

    await ask(server.owner, "PUT", f"/api/bans/{edsger}", {"reason": "Sells watches"})
    for person in both:
        await person.page.keyboard.press("Escape")
        bans = await open_settings(person, "Bans")
        await bans.get_by_role("button", name="Unban").click()
    for person in both:
        question = person.page.get_by_role("dialog", name="Unban Edsger?")
        await question.get_by_role("button", name="Unban").click()
        await expect(question).to_have_count(0)
        await expect(person.page.get_by_text("Nobody is banned.")).to_be_visible()
    await expect(notice).to_contain_text(["This person is no longer banned."])


@pytest.mark.pages("member")
async def test_a_member_without_permissions_sees_no_moderation(server: Community) -> None:
    for page in ("Reports", "Bans", "Audit log"):
        await has_no_page(server.member, page)
    assert await refusal(server.member, "GET", "/api/audit") == "forbidden"
    assert await refusal(server.member, "GET", "/api/reports") == "forbidden"
    assert await refusal(server.member, "DELETE", f"/api/bans/{await own_id(server.owner)}") == "forbidden"
