"""The owner writes a rule in the page, tries it, switches it on, and members learn what it does."""

from playwright.async_api import expect

from tests.kit.community import ask, community, has_no_page, open_settings, refusal
from tests.kit.people import People
from tests.kit.text_channels import box, shows, write


async def test_a_rule_is_tried_before_it_is_switched_on_and_then_holds(people: People) -> None:
    here = await community(people, "view_reports")
    await write(here.member, "Come to my casino 😀 now")
    await write(here.member, "Nothing to see")
    page = await open_settings(here.owner, "Automatic moderation")
    await expect(page.get_by_text("There is no rule yet.")).to_be_visible()
    await page.get_by_role("button", name="Words and patterns").click()
    await page.get_by_label("Name of the rule").fill("Gambling")
    await page.get_by_label("Words and patterns", exact=True).fill("casino\nfree*nitro")
    await page.get_by_role("radio", name="Refuse it").check()
    on = page.get_by_role("button", name="Switch it on")
    await expect(on).to_be_disabled()
    await page.get_by_role("button", name="Try it").click()
    await expect(page.get_by_role("status")).to_have_text("It would have found 1 of 2 messages.")
    await expect(page.locator("mark")).to_have_text("casino")
    # What was tried is what is switched on.
    await page.get_by_label("Words and patterns", exact=True).fill("*")
    await expect(on).to_be_disabled()
    await page.get_by_role("button", name="Try it").click()
    await expect(page.get_by_role("alert")).to_contain_text("nothing to look for")
    await page.get_by_label("Words and patterns", exact=True).fill("casino")
    await page.get_by_role("button", name="Try it").click()
    await on.click()
    await expect(page.get_by_role("switch", name="Gambling")).to_be_checked()

    await box(here.member).fill("A CASINO again")
    await here.member.page.keyboard.press("Enter")
    refused = here.member.page.get_by_role("alert")
    await expect(refused).to_contain_text(
        "The rule “Gambling” of this server does not let this message through."
    )

    await page.get_by_role("switch", name="Gambling").uncheck()
    await here.member.page.get_by_role("button", name="Try again").click()
    await shows(here.moderator, ["Come to my casino 😀 now", "Nothing to see", "A CASINO again"])
    await page.get_by_role("button", name="Edit Gambling").click()
    await page.get_by_role("button", name="Delete the rule").click()
    await (
        here.owner.page.get_by_role("dialog", name="Delete the rule Gambling?")
        .get_by_role("button", name="Delete the rule")
        .click()
    )
    await expect(page.get_by_text("There is no rule yet.")).to_be_visible()
    acts = [entry["action"] for entry in (await ask(here.owner, "GET", "/api/audit"))["entries"]][:3]
    assert acts == ["rule_delete", "rule_edit", "rule_create"]
    for person in (here.moderator, here.member):
        await has_no_page(person, "Automatic moderation")
        assert await refusal(person, "GET", "/api/automod/rules") == "forbidden"
