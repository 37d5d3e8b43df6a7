"""Permitted members can write, test and enable automod rules in the web client.

Affected members are notified.
"""

from playwright.async_api import Locator, Route, expect

from tests.browser.test_accessibility import at_both_sizes, axe
from tests.kit.browser_users import People
from tests.kit.community import ask, community, has_no_page, open_settings, own_id, refusal
from tests.kit.text_channels import box, message, shows, write
from tests.kit.wait import wait_for_value

__all__ = ["axe"]


async def test_a_rule_is_tested_before_it_is_enabled_and_then_applies(people: People, axe: str) -> None:
    server = await community(people, "view_reports", "manage_automod")
    await write(server.member, "Come to my casino 😀 now")
    await write(server.member, "Nothing to see")
    page = await open_settings(server.owner, "Automatic moderation")
    await expect(page.get_by_text("There are no rules yet.")).to_be_visible()
    await page.get_by_role("button", name="Words and patterns").click()
    await page.get_by_label("Rule name").fill("Gambling")
    await page.get_by_label("Words and patterns", exact=True).fill("casino\nfree*nitro")
    await page.get_by_role("radio", name="Block").check()
    on = page.get_by_role("button", name="Turn on")
    await expect(on).to_be_disabled()
    await page.get_by_role("button", name="Test rule").click()
    await expect(page.get_by_role("status")).to_have_text("The rule matches 1 of 2 messages.")
    await expect(page.locator("mark")).to_have_text("casino")
    await at_both_sizes(server.owner, axe, "a rule and its test results")
    # Only the version that was tested can be enabled.
    await page.get_by_label("Words and patterns", exact=True).fill("*")
    await expect(on).to_be_disabled()
    await page.get_by_role("button", name="Test rule").click()
    await expect(page.get_by_role("alert")).to_contain_text("nothing to look for")
    # The number of stars is limited, which keeps every pattern fast.
    await page.get_by_label("Words and patterns", exact=True).fill("a*b*c*d*e*f")
    await page.get_by_role("button", name="Test rule").click()
    await expect(page.get_by_role("alert")).to_contain_text("has more than 3 stars inside")
    await page.get_by_label("Words and patterns", exact=True).fill("casino\nfree*nitro")
    await page.get_by_role("button", name="Test rule").click()
    await on.click()
    await expect(page.get_by_role("switch", name="Gambling")).to_be_checked()

    await box(server.member).fill("A CASINO again")
    await server.member.page.keyboard.press("Enter")
    refused = server.member.page.get_by_role("alert")
    await expect(refused).to_contain_text("Your message was blocked by the rule “Gambling”.")
    await at_both_sizes(server.member, axe, "a message refused by a rule")

    send = "/api/channels/general/messages"
    assert await refusal(server.member, "POST", send, {"text": "Get free100nitro"}) == "rule_refused"

    await page.get_by_role("switch", name="Gambling").uncheck()

    async def holding() -> list[str]:
        rules = (await ask(server.owner, "GET", "/api/automod/rules"))["rules"]
        return [rule["name"] for rule in rules if rule["enabled"]]

    await wait_for_value(holding, [])
    await server.member.page.get_by_role("button", name="Try again").click()
    await shows(server.moderator, ["Come to my casino 😀 now", "Nothing to see", "A CASINO again"])
    await delete_the_rule(page)
    acts = [entry["action"] for entry in (await ask(server.owner, "GET", "/api/audit"))["entries"]][:3]
    assert acts == ["rule_delete", "rule_edit", "rule_create"]
    await has_no_page(server.member, "Automatic moderation")
    assert await refusal(server.member, "GET", "/api/automod/rules") == "forbidden"


async def delete_the_rule(page: Locator) -> None:
    await page.get_by_role("button", name="Edit Gambling").click()
    await page.get_by_role("button", name="Delete rule").click()
    question = page.page.get_by_role("dialog", name="Delete the rule Gambling?")
    await question.get_by_role("button", name="Delete rule").click()
    await expect(page.get_by_text("There are no rules yet.")).to_be_visible()


async def test_two_rule_managers_see_each_others_changes(people: People) -> None:
    server = await community(people, "manage_automod", pages=("owner", "moderator"))
    rule = {"kind": "words", "action": "flag", "words": ["casino"], "enabled": True, "name": "Gambling"}

    async def answer_late(route: Route) -> None:
        """Respond late, with the state before the owner created a rule."""
        await ask(server.owner, "POST", "/api/automod/rules", rule)
        await route.fulfill(json={"rules": []})

    await server.moderator.page.route("**/api/automod/rules", answer_late, times=1)
    pages = [
        await open_settings(person, "Automatic moderation") for person in (server.owner, server.moderator)
    ]
    for page in pages:
        await expect(page.get_by_role("switch", name="Gambling")).to_be_checked()
        await page.get_by_role("button", name="Edit Gambling").click()
    owners, moderators = pages
    # A member who may not time out others cannot do so with a rule, either.
    await expect(owners.get_by_role("radio", name="Time out author")).to_be_visible()
    await expect(moderators.get_by_role("radio", name="Time out author")).to_have_count(0)
    await moderators.get_by_label("Rule name").fill("Betting")
    await owners.get_by_label("Rule name").fill("Lotteries")
    await owners.get_by_role("button", name="Save", exact=True).click()
    await expect(moderators.get_by_role("alert")).to_contain_text("Someone else changed this rule.")
    await moderators.get_by_role("button", name="Show their version").click()
    await expect(moderators.get_by_label("Rule name")).to_have_value("Lotteries")
    await expect(moderators.get_by_role("alert")).to_have_count(0)
    await owners.get_by_role("button", name="Edit Lotteries").click()
    await owners.get_by_role("button", name="Delete rule").click()
    question = server.owner.page.get_by_role("dialog", name="Delete the rule Lotteries?")
    await question.get_by_role("button", name="Delete rule").click()
    for person, page in zip((server.owner, server.moderator), pages, strict=True):
        await expect(page.get_by_text("There are no rules yet.")).to_be_visible()
        await expect(person.page.locator(".notice")).to_contain_text(["The rule Lotteries was deleted."])
    await switch_on(moderators, "Links", "Block")
    await expect(owners.get_by_role("switch", name="Links")).to_be_checked()
    link = {"text": "Look at https://spam.example/now"}
    assert await refusal(server.member, "POST", "/api/channels/general/messages", link) == "rule_refused"


async def switch_on(
    page: Locator, kind: str, action: str, entries: str | None = None, **numbers: str
) -> None:
    """Create a rule of this kind, test it and enable it. `numbers` maps the labels of number fields to
    values.
    """
    await page.get_by_role("button", name=kind, exact=True).click()
    if entries:
        await page.get_by_label(kind, exact=True).fill(entries)
    await page.get_by_role("radio", name=action).check()
    for label, number in numbers.items():
        await page.get_by_label(label.replace("_", " ")).fill(number)
    await page.get_by_role("button", name="Test rule").click()
    await page.get_by_role("button", name="Turn on").click()
    await expect(page.get_by_role("switch", name=kind)).to_be_checked()


async def test_each_kind_of_rule_has_the_chosen_effect(people: People) -> None:
    server = await community(people, "view_reports", "manage_automod", "timeout_members")
    page = await open_settings(server.moderator, "Automatic moderation")
    pages = server.moderator.page.get_by_role("navigation", name="Settings pages")
    for kind, entries, summary in (
        ("New members", None, "Good evening"),
        ("Words and patterns", "free*nitro", "Get free100nitro here"),
    ):
        await switch_on(page, kind, "Report", entries)
        await write(server.member, summary)
        await pages.get_by_role("button", name="Reports").click()
        await expect(server.moderator.page.locator(".report").filter(has_text=summary)).to_be_visible()
        await pages.get_by_role("button", name="Automatic moderation").click()
        await page.get_by_role("switch", name=kind).uncheck()
    await ask(server.owner, "PATCH", "/api/settings", {"profanityMode": "flag"})
    await write(server.member, "Oh shit")
    await pages.get_by_role("button", name="Reports").click()
    flagged = server.moderator.page.locator(".report").filter(has_text="Oh shit")
    await expect(flagged).to_contain_text("The profanity filter matched a message from Edsger")
    await expect(flagged.locator("mark")).to_have_text("shit")
    await ask(server.owner, "PATCH", "/api/settings", {"profanityMode": "off"})
    await pages.get_by_role("button", name="Automatic moderation").click()

    await switch_on(page, "Links", "Censor")
    await write(server.member, "Look at https://spam.example/now please")
    await expect(message(server.owner, "Look at")).to_contain_text("***")
    await expect(message(server.owner, "spam.example")).to_have_count(0)

    await switch_on(page, "Many mentions", "Block", Mentions_allowed_per_message="0")
    await box(server.member).fill(f"[Ada](mention:{await own_id(server.owner)}) come")
    await server.member.page.keyboard.press("Enter")
    refused = "Your message was blocked by the rule “Many mentions”."
    await expect(server.member.page.get_by_role("alert")).to_contain_text(refused)

    await switch_on(page, "Repeated text", "Time out author", Repeats_allowed="1")
    # Moderators are exempt.
    for person in (server.moderator, server.owner):
        for _ in range(2):
            assert await ask(person, "POST", "/api/channels/general/messages", {"text": "Buy"})
    await ask(server.member, "POST", "/api/channels/general/messages", {"text": "Buy"})
    again = await refusal(server.member, "POST", "/api/channels/general/messages", {"text": "Buy"})
    assert again == "rule_refused"
    await expect(box(server.member)).to_be_disabled()
