"""The instructions on a webhook's page work in their programs, and the webhook's avatar appears with its
messages.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Locator, expect

from tests.chat.webhooks.compatible.github_payloads import ISSUE, event
from tests.kit.alertmanager import alertmanager
from tests.kit.browser_users import People
from tests.kit.community import Community, community, has_no_page, open_settings, refusal
from tests.kit.pictures import encoded, scene
from tests.kit.text_channels import message

# The request that Grafana's Discord contact point sends.
FROM_GRAFANA = {
    "username": "Grafana",
    "content": "**Firing**\n\nValue: A=93",
    "embeds": [
        {
            "title": "[FIRING:1] Disk full",
            "url": "https://grafana.example/alerting/list",
            "color": 14037554,
            "footer": {"text": "Grafana v11.2.0", "icon_url": ""},
            "type": "rich",
        }
    ],
}


@pytest_asyncio.fixture(loop_scope="session")
async def server(people: People, pages: Sequence[str]) -> Community:
    return await community(people, "manage_webhooks", pages=pages)


async def made(server: Community) -> Locator:
    """Create a webhook as the moderator. Return its page."""
    page = await open_settings(server.moderator, "Webhooks")
    await page.get_by_label("Webhook name").fill("Alerts")
    await page.get_by_role("button", name="Create webhook").click()
    await expect(page.get_by_label("URL", exact=True)).to_be_visible()
    return page


async def test_a_webhooks_avatar_is_displayed_with_its_messages(server: Community) -> None:
    page = await made(server)
    picture = {"name": "bell.png", "mimeType": "image/png", "buffer": encoded(scene(96, 96), "PNG")}
    await page.locator("input[type=file]").set_input_files(picture)  # type: ignore[arg-type]
    shown = page.locator(".own-picture img")
    await expect(shown).to_be_visible()
    assert await shown.evaluate("async (image) => { await image.decode(); return image.naturalWidth; }") > 0
    await page.get_by_role("button", name="Post message").click()
    posted = message(server.member, "Hello from a webhook")
    await expect(posted.locator(".author")).to_have_text("Alerts")
    await expect(posted.locator(".avatar img")).to_be_visible()
    # Another manager also sees the avatar in the list.
    owners = await open_settings(server.owner, "Webhooks")
    await expect(owners.get_by_role("listitem").locator("img")).to_be_visible()
    await has_no_page(server.member, "Webhooks")
    assert await refusal(server.member, "GET", "/api/webhooks") == "forbidden"


@pytest.mark.pages("moderator", "member")
async def test_the_ready_made_snippets_work_in_their_programs(server: Community, tmp_path: Path) -> None:
    page = await made(server)
    address = await page.get_by_label("URL", exact=True).input_value()
    async with ClientSession() as http:
        await page.get_by_role("button", name="GitHub", exact=True).click()
        await expect(page.get_by_label("Content type")).to_have_value("application/json")
        url = await page.get_by_label("Payload URL").input_value()
        opened = event("opened", issue=ISSUE)
        async with http.post(url, json=opened, headers={"X-GitHub-Event": "issues"}) as answer:
            assert answer.status == 200, await answer.text()
        await expect(server.member.page.locator(".message article h3")).to_contain_text(["It is *broken*"])

        await page.get_by_role("button", name="Grafana", exact=True).click()
        await expect(page.get_by_label("Integration")).to_have_value("Discord")
        url = await page.get_by_label("Webhook URL").input_value()
        async with http.post(url, json=FROM_GRAFANA) as answer:
            assert answer.status in (200, 204), await answer.text()
        posted = message(server.member, "Value: A=93")
        await expect(posted.locator("article h3")).to_have_text("[FIRING:1] Disk full")
        await expect(posted.locator(".author")).to_have_text("Grafana")

    await page.get_by_role("button", name="Discord", exact=True).click()
    await expect(page.get_by_label("Integration")).to_have_count(0)  # this field belongs to Grafana's form
    await expect(page.get_by_label("Webhook URL")).to_have_value(f"{address}/discord")
    await page.get_by_role("button", name="Alertmanager", exact=True).click()
    snippet = await page.locator("pre").first.inner_text()
    route = "route:\n  receiver: chat\n  group_wait: 0s\n"
    async with alertmanager(route + snippet, tmp_path) as manager:
        await manager.alert("DiskFull", "Disk of web-1 is 93% full")
        alert = server.member.page.locator(".message article h3").filter(has_text="DiskFull")
        await expect(alert).to_have_text(re.compile(r"\[FIRING:1\]"))
