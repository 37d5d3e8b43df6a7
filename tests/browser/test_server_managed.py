"""The owner settles what the server is, and webhooks and emoji are managed by those who may."""

import pytest
from playwright.async_api import expect

from tests.kit.community import Community, ask, community, has_no_page, open_settings, refusal
from tests.kit.people import People
from tests.kit.pictures import encoded, scene
from tests.kit.text_channels import message


@pytest.fixture
async def here(people: People) -> Community:
    return await community(people, "manage_webhooks", "manage_emoji")


async def test_the_owner_names_the_server_and_says_who_may_join(here: Community) -> None:
    page = await open_settings(here.owner, "This server")
    await page.get_by_label("Name of the server").fill("Gardeners")
    await page.get_by_role("button", name="Save").click()
    await expect(here.member.page.locator(".server-head h2")).to_have_text("Gardeners")
    await page.get_by_role("radio", name="Anyone").check()
    await page.get_by_role("radio", name="Cover them").check()
    await page.get_by_role("switch", name="Previews of links").uncheck()
    await expect(page.get_by_role("switch", name="Previews of links")).not_to_be_checked()
    told = await ask(here.owner, "GET", "/api/settings")
    assert (told["joinPolicy"], told["profanityMode"], told["linkPreviews"]) == ("open", "censor", False)
    await has_no_page(here.moderator, "This server")
    assert await refusal(here.moderator, "PATCH", "/api/settings", {"name": "Mine"}) == "forbidden"


async def test_a_webhook_is_made_and_tried_in_the_page(here: Community) -> None:
    page = await open_settings(here.moderator, "Webhooks")
    await expect(page.get_by_text("There is no webhook that you may manage.")).to_be_visible()
    await page.get_by_label("Name of the webhook").fill("Builds")
    await page.get_by_role("button", name="Create a webhook").click()
    address = await page.get_by_label("URL", exact=True).input_value()
    await page.get_by_role("button", name="GitHub", exact=True).click()
    await expect(page.locator("pre").first).to_contain_text(f"{address}/github")
    await page.get_by_label("Title of the card").fill("Build 512 failed")
    await page.get_by_label("Text of the card").fill("2 of **300** tests")
    await expect(page.get_by_role("region", name="Preview").locator("strong")).to_have_text("300")
    await expect(page.get_by_role("region", name="JSON")).to_contain_text('"title": "Build 512 failed"')
    await page.get_by_role("button", name="Post it").click()
    posted = message(here.member, "Hello from a webhook")
    await expect(posted.locator("article h3")).to_have_text("Build 512 failed")
    await expect(posted.locator(".author")).to_have_text("Builds")

    await page.get_by_role("button", name="Delete the webhook").click()
    dialog = here.moderator.page.get_by_role("dialog", name="Delete the webhook Builds?")
    await dialog.get_by_role("button", name="Delete the webhook").click()
    await expect(page.get_by_text("There is no webhook that you may manage.")).to_be_visible()
    await has_no_page(here.member, "Webhooks")


async def test_several_emoji_are_added_named_by_their_files(here: Community) -> None:
    page = await open_settings(here.moderator, "Emoji")
    picture = encoded(scene(64, 64), "PNG")
    files = [
        {"name": name, "mimeType": "image/png", "buffer": picture} for name in ("Happy Cat.png", "été.png")
    ]
    await page.get_by_label("Add emoji").last.set_input_files(files)  # type: ignore[arg-type]
    await expect(page.get_by_label("Name of happy_cat")).to_be_visible()
    await expect(page.get_by_label("Name of e_te")).to_be_visible()
    await page.get_by_label("Name of e_te").fill("summer")
    await here.moderator.page.keyboard.press("Enter")
    await expect(page.get_by_label("Name of summer")).to_be_visible()
    await page.get_by_role("button", name="Delete summer").click()
    await (
        here.moderator.page.get_by_role("dialog", name="Delete :summer:?")
        .get_by_role("button", name="Delete", exact=True)
        .click()
    )
    await expect(page.get_by_role("listitem")).to_have_count(1)
    await has_no_page(here.member, "Emoji")
