"""New members see the server information that the owner has set."""

import json
from urllib.parse import urlencode

from playwright.async_api import expect

from tests.kit.browser_users import People, narrow_only
from tests.kit.community import ask, community, has_no_page, open_settings, refusal
from tests.kit.pictures import encoded, scene
from tests.kit.wait import wait_until

ALL_ELSE = ("manage_channels", "manage_roles", "manage_webhooks", "manage_emoji", "manage_bots")


@narrow_only
async def test_icon_description_rules_and_welcome_channel_are_shown_to_new_members(people: People) -> None:
    server = await community(people, *ALL_ELSE)
    await ask(server.owner, "POST", "/api/channels", {"name": "plans", "type": "text"})
    page = await open_settings(server.owner, "This server")
    await page.get_by_label("Server name").fill("Gardeners")
    await page.get_by_label("Description").fill("We grow onions together")
    await page.get_by_label("Rules", exact=True).fill("Be kind.")
    await page.get_by_role("button", name="Save").click()
    await page.get_by_label("Welcome channel for new members").select_option(label="plans")
    icon = {"name": "icon.png", "mimeType": "image/png", "buffer": encoded(scene(128, 128), "PNG")}
    await page.locator("input[type=file]").set_input_files(icon)  # type: ignore[arg-type]
    await expect(page.get_by_role("button", name="Remove picture")).to_be_visible()

    async def kept() -> bool:
        response = await ask(server.owner, "GET", "/api/settings")
        return response["rules"] == "Be kind." and response["welcomeChannelId"] is not None

    await wait_until("the server has stored all settings", kept, within_s=15)

    invite = await ask(server.owner, "POST", "/api/invites", {})
    address = server.owner.page.url.partition("#")[0]
    barbara = await people.arrive("Barbara", url=f"{address}#{urlencode({'invite': invite['code']})}")
    for words in ("Join Gardeners", "We grow onions together", "Be kind."):
        await expect(barbara.page.get_by_text(words)).to_be_visible()
    shown = barbara.page.locator("img.logo")
    info = await barbara.page.evaluate("fetch('/info').then((answer) => answer.json())")
    await expect(shown).to_have_attribute("src", info["iconUrl"])
    assert await shown.evaluate("async (image) => { await image.decode(); return image.naturalWidth; }") > 0
    # The installed web client has the server's name and icon.
    session = await barbara.page.context.new_cdp_session(barbara.page)
    answer = await session.send("Page.getAppManifest")
    assert answer["errors"] == []
    manifest = json.loads(answer["data"])
    assert (manifest["name"], manifest["icons"][0]["src"]) == ("Gardeners", info["iconUrl"])
    await barbara.page.get_by_label("Your name").fill("Barbara")
    await barbara.page.get_by_role("switch", name="I accept the rules").check()
    await barbara.press("Join")
    await expect(barbara.page.locator("#text-name")).to_have_text("plans")
    for person in (server.moderator, server.member):
        await has_no_page(person, "This server")
        assert await refusal(person, "PATCH", "/api/settings", {"rules": "None"}) == "forbidden"
        assert await refusal(person, "DELETE", "/api/icon") == "forbidden"
