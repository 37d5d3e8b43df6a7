"""Managers can find members, see their moderation history and act on several members in the settings."""

import asyncio
import re

from playwright.async_api import expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.kit.browser_users import People
from tests.kit.community import ask, community, has_no_page, open_settings, own_id, refusal
from tests.kit.text_channels import message, write

__all__ = ["axe"]


async def test_several_members_can_be_filtered_reviewed_and_kicked_in_one_step(
    people: People, axe: str
) -> None:
    server = await community(people, "kick_members", "view_reports")
    page, edsger = await open_settings(server.moderator, "Members"), await own_id(server.member)
    rows = page.get_by_role("listitem")
    await expect(rows).to_have_count(3)
    await page.get_by_label("Find a member").fill("edsg")
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="Edsger", exact=True).click()
    profile = server.moderator.page.get_by_role("dialog", name="Edsger")
    await profile.get_by_text("Moderation history", exact=True).click()
    await expect(profile).to_contain_text("No moderation actions yet.")
    await server.moderator.page.keyboard.press("Escape")
    await page.get_by_label("Find a member").fill("")
    await expect(rows).to_have_count(3)
    await page.get_by_text("Filter and sort").click()
    await page.get_by_label("Role").select_option("Helpers")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("Grace")
    await at_both_sizes(server.moderator, axe, "filtered members")
    await page.get_by_label("Role").select_option("Any")
    await page.get_by_label("Select all 3 shown").check()
    chosen = page.get_by_role("group", name="3 selected")
    await expect(chosen.get_by_role("button", name="Ban")).to_have_count(0)
    await chosen.get_by_role("button", name="Kick").click()
    dialog = server.moderator.page.get_by_role("dialog", name="Kick 1 member?")
    await expect(dialog.get_by_role("region", name="Applies to: 1")).to_contain_text("Edsger")
    left_out = dialog.get_by_role("region", name="Skipped: 2")
    await expect(left_out).to_contain_text("You need a higher role")
    await expect(left_out).to_contain_text("This is you")
    await at_both_sizes(server.moderator, axe, "the confirmation to kick several members")
    await has_no_page(server.member, "Members")
    assert await refusal(server.member, "POST", f"/api/members/{edsger}/kick", {}) == "forbidden"
    await dialog.get_by_label("Reason").fill("Sells watches")
    await dialog.get_by_role("button", name="Kick 1").click()
    await expect(server.member.page.get_by_role("alert")).to_contain_text(
        "You’re no longer a member of this server"
    )
    await expect(rows).to_have_count(2)
    log = await open_settings(server.owner, "Audit log")
    await expect(log).to_contain_text("Grace kicked Edsger")
    await expect(log).to_contain_text("Sells watches")


APART = """() => {
  const placed = (what) => document.querySelector(what)?.getBoundingClientRect();
  const notice = placed(".notice"), bar = placed(".action-bar");
  return notice && bar && { apart: notice.bottom <= bar.top || bar.bottom <= notice.top };
}"""


async def test_members_can_be_filtered_and_timed_out_on_a_phone(people: People) -> None:
    """Filter the members and time out a member on a phone. Check that the notice never covers the next
    control.
    """
    server = await community(people, "timeout_members", pages=["moderator"])
    silent = f"/api/members/{await own_id(server.owner)}/timeout"
    assert await refusal(server.member, "PUT", silent, {"duration_s": 60}) == "forbidden"
    phone = server.moderator.page
    page = await open_settings(server.moderator, "Members")
    await server.moderator.resize({"width": 390, "height": 780})
    rows = page.get_by_role("listitem")
    await page.get_by_text("Filter and sort").click()
    # Only members who may kick others can see when members were last online.
    await expect(page.get_by_label("Last seen")).to_have_count(0)
    await page.get_by_label("Joined").select_option("-30")
    await expect(page.get_by_text("No members match.")).to_be_visible()
    await page.get_by_label("Joined").select_option("1")
    await page.get_by_label("Select all 3 shown").check()
    await page.get_by_role("group", name="3 selected").get_by_role("button", name="Time out").click()
    dialog = phone.get_by_role("dialog", name="Time out 1 member?")
    measured = asyncio.create_task(phone.wait_for_function(APART))
    await dialog.get_by_role("button", name="Time out 1").click()
    assert await (await measured).json_value() == {"apart": True}
    await page.get_by_role("switch", name="In timeout").check()
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("Edsger")


async def test_roles_and_bans_can_be_given_to_several_members_in_one_step(people: People) -> None:
    server = await community(people, "ban_members", "view_audit_log")
    edsger = await own_id(server.member)
    await write(server.member, "Watches for sale")
    page = await open_settings(server.owner, "Members")
    await page.get_by_text("Filter and sort").click()
    seen = page.get_by_label(re.compile("^Last seen"))
    await seen.select_option("-30")
    await expect(page.get_by_text("No members match.")).to_be_visible()
    await seen.select_option("7")
    row = page.get_by_role("listitem").filter(has_text="Edsger")
    for act, left_out in (("Assign", "Already has this role"), ("Remove", "")):
        await page.get_by_label("Select all 3 shown").check()
        bar = page.get_by_role("group", name="3 selected")
        await bar.get_by_role("button", name=f"{act} role").click()
        dialog = server.owner.page.locator("dialog:has(.bulk-people):not(:has(dialog))")
        await dialog.get_by_label("Role").select_option("Helpers")
        await expect(dialog.locator(".bulk-people").last).to_contain_text(left_out)
        await dialog.locator("button[type=submit]").click()
        # Members are no longer selected once the action has been completed for them.
        await expect(dialog).to_have_count(0)
        await expect(row.filter(has_text="Helpers")).to_have_count(1 if act == "Assign" else 0)
    # Grace has lost the role as well and gets it back for the next steps.
    [role] = [
        role for role in (await ask(server.owner, "GET", "/api/roles"))["roles"] if role["name"] == "Helpers"
    ]
    await ask(server.owner, "PUT", f"/api/members/{await own_id(server.moderator)}/roles/{role['id']}")

    await server.owner.page.keyboard.press("Escape")
    await expect(message(server.owner, "Watches for sale")).to_be_visible()
    page = await open_settings(server.moderator, "Members")
    await page.get_by_label("Select all 3 shown").check()
    await page.get_by_role("group", name="3 selected").get_by_role("button", name="Ban").click()
    dialog = server.moderator.page.get_by_role("dialog", name="Ban 1 member?")
    await dialog.get_by_label("Delete their messages").select_option("From the last 1 hour")
    await dialog.get_by_role("button", name="Ban 1").click()
    await expect(server.member.page.get_by_role("alert")).to_contain_text("You are banned from this server")
    await expect(message(server.owner, "Watches for sale")).to_have_count(0)
    pages = server.moderator.page.get_by_role("navigation", name="Settings pages")
    await pages.get_by_role("button", name="Bans", exact=True).click()
    await server.moderator.press("Unban")
    dialog = server.moderator.page.get_by_role("dialog", name="Unban Edsger?")
    await dialog.get_by_label("Reason").fill("They have said sorry")
    await dialog.get_by_role("button", name="Unban").click()
    await expect(server.moderator.page.get_by_text("Nobody is banned.")).to_be_visible()
    await pages.get_by_role("button", name="Audit log", exact=True).click()
    entry = server.moderator.page.locator("[data-action=member_unban]")
    await expect(entry).to_contain_text("Grace unbanned Edsger")
    await expect(entry).to_contain_text("They have said sorry")
    history = await ask(server.owner, "GET", f"/api/members/{edsger}/moderation")
    assert [entry["action"] for entry in history["entries"]][:2] == ["member_unban", "member_ban"]
