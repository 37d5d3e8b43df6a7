"""Whoever manages finds members in the settings, sees what was done to them, and acts on several at once."""

from playwright.async_api import expect

from tests.kit.community import community, has_no_page, open_settings, own_id, refusal
from tests.kit.people import People


async def test_members_are_found_and_several_are_kicked_after_a_preview(people: People) -> None:
    here = await community(people, "kick_members", "view_reports")
    page, edsger = await open_settings(here.moderator, "Members"), await own_id(here.member)
    rows = page.get_by_role("listitem")
    await expect(rows).to_have_count(3)
    await page.get_by_label("Find a member").fill("edsg")
    await expect(rows).to_have_count(1)
    await page.get_by_role("button", name="Edsger", exact=True).click()
    profile = here.moderator.page.get_by_role("dialog", name="Edsger")
    await profile.get_by_text("History", exact=True).click()
    await expect(profile).to_contain_text("Moderators have done nothing about them so far.")
    await here.moderator.page.keyboard.press("Escape")
    await page.get_by_label("Find a member").fill("")
    await expect(rows).to_have_count(3)
    await page.get_by_text("Filters and order").click()
    await page.get_by_label("Role").select_option("Helpers")
    await expect(rows).to_have_count(1)
    await expect(rows).to_contain_text("Grace")
    await page.get_by_label("Role").select_option("Any")
    await page.get_by_label("Choose all 3 shown").check()
    chosen = page.get_by_role("group", name="3 chosen")
    await expect(chosen.get_by_role("button", name="Ban")).to_have_count(0)
    await chosen.get_by_role("button", name="Kick").click()
    dialog = here.moderator.page.get_by_role("dialog", name="Kick 1 member?")
    await expect(dialog.get_by_role("region", name="This happens to 1")).to_contain_text("Edsger")
    left_out = dialog.get_by_role("region", name="Left out: 2")
    await expect(left_out).to_contain_text("You need a higher role")
    await expect(left_out).to_contain_text("This is you")
    await has_no_page(here.member, "Members")
    assert await refusal(here.member, "POST", f"/api/members/{edsger}/kick", {}) == "forbidden"
    await dialog.get_by_label("Reason").fill("Sells watches")
    await dialog.get_by_role("button", name="Kick 1").click()
    await expect(here.member.page.get_by_role("alert")).to_contain_text("You are not a member here any more")
    await expect(rows).to_have_count(2)
    log = await open_settings(here.owner, "Audit log")
    await expect(log).to_contain_text("Grace kicked Edsger")
    await expect(log).to_contain_text("Sells watches")
