"""A new owner can set up a community on a new server in a few clicks, using only the web client."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from aiohttp import ClientSession
from playwright.async_api import Locator, Page, ViewportSize, expect

from tests.kit.browser_users import People, Person, both_widths, until_still
from tests.kit.text_channels import message, open_channel
from tests.kit.wait import wait_for_value

MIN_CLICKS, MAX_CLICKS = 20, 40  # fewer would mean that some clicks were not counted
# A shortened copy of GitHub's request when a webhook is created.
PING = {
    "zen": "Keep it logically awesome.",
    "hook": {"events": ["push"]},
    "repository": {"full_name": "ada/garden"},
}


class Hand:
    """A simulated user with a mouse and a keyboard. Counts the mouse clicks."""

    def __init__(self, person: Person, pictures: Path) -> None:
        self.page: Page = person.page
        self.clicks = 0
        self._pictures = pictures

    async def count(self) -> None:
        await self.page.expose_function("pressed", self._pressed)
        await self.page.evaluate("addEventListener('pointerdown', () => pressed(), true)")

    def _pressed(self) -> None:
        self.clicks += 1

    async def press(self, name: str, within: Locator | Page | None = None) -> None:
        await (within or self.page).get_by_role("button", name=name, exact=True).click()

    async def write(self, field: str, text: str) -> None:
        """Type into a field. Click the field first unless it has focus."""
        text_field = self.page.get_by_role("textbox", name=field, exact=True)
        await expect(text_field).to_be_visible()
        if not await text_field.evaluate("(input) => input === document.activeElement"):
            await text_field.click()
        await expect(text_field).to_be_focused()
        await self.page.keyboard.type(text)
        await expect(text_field).to_have_value(text)

    async def choose(self, field: str, option: str) -> None:
        """Choose an option. Playwright does not use the mouse for this, so count the two clicks a person
        would make.
        """
        await self.page.get_by_label(field).select_option(label=option)
        self.clicks += 2

    async def picture(self, name: str) -> None:
        await self.page.screenshot(path=self._pictures / f"{name}.png")


@pytest_asyncio.fixture(loop_scope="session")
async def hand(people: People, tmp_path: Path) -> AsyncIterator[Hand]:
    """Yield a helper that acts as the first person, who opens the link printed by `svc up`."""
    ada = await people.arrive("Ada")
    await ada.resize(ViewportSize(width=1280, height=800))
    await ada.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    hand = Hand(ada, tmp_path)
    await hand.count()
    yield hand


async def create_channel(hand: Hand, opener: str, name: str, role: str = "") -> None:
    """Create a text channel. If `role` is given, only members with that role can see it."""
    await hand.press(opener)
    dialog = hand.page.get_by_role("dialog", name="Create channel")
    await hand.write("Name", name)
    if role:
        await dialog.get_by_role("switch", name="Private").click()
        await dialog.get_by_label("Add roles or people").click()
        await dialog.locator(".offered").get_by_role("button", name=role).click()
        await expect(dialog.get_by_role("list", name="Roles and people with access")).to_have_text(role)
        await hand.picture("private")
    await hand.press("Create channel", dialog)
    await expect(hand.page.locator("main h1")).to_have_text(name)


async def create_role(hand: Hand, name: str, permission: str) -> None:
    await hand.press("Create role")
    await hand.write("Name", name)
    await hand.page.get_by_role("switch", name=permission).click()
    await hand.press("Create role")
    # After creating a role, people usually assign it to a member.
    await expect(hand.page.get_by_label("Add a member")).to_be_focused()
    await hand.picture(f"role-{name}")


async def open_page(hand: Hand, name: str) -> None:
    await hand.press("Settings")
    await hand.press(name, hand.page.get_by_role("navigation", name="Settings pages"))


async def copied(hand: Hand, field: str) -> str:
    """Wait until the clipboard contains the text of this field. Return the text."""
    shown = await hand.page.get_by_label(field, exact=True).input_value()
    await wait_for_value(lambda: hand.page.evaluate("navigator.clipboard.readText()"), shown)
    return shown


@both_widths
async def test_the_setup_steps_are_shown_at_the_top_of_the_channel(people: People) -> None:
    ada = await people.arrive("Ada")
    await ada.page.get_by_label("Your name").fill("Ada")
    await ada.press("Join")
    steps = ada.page.locator(".first-steps")
    await expect(steps.get_by_role("button", name="Save")).to_be_attached()
    # There are no buttons at the beginning of the channel, because the setup steps already include inviting
    # people.
    await expect(ada.page.locator("#beginning h2")).to_be_attached()
    await expect(ada.page.locator("#beginning button")).to_have_count(0)
    await until_still(ada.page)
    card, box = await steps.bounding_box(), await ada.page.locator("#messages-box").bounding_box()
    assert card is not None and box is not None
    assert card["y"] >= box["y"]
    await expect(ada.page.get_by_role("button", name="Jump to latest")).to_have_count(0)


async def test_a_community_can_be_set_up_in_a_few_clicks(hand: Hand, people: People) -> None:
    page = hand.page
    await hand.write("Your name", "Ada")
    await hand.press("Join")
    await hand.write("Server name", "Gardeners")
    await hand.press("Save")
    await expect(page.locator(".server-head h2")).to_have_text("Gardeners")
    await expect(page.get_by_role("button", name="Choose picture")).to_be_focused()
    await hand.picture("first-steps")
    await hand.press("Skip")
    await create_channel(hand, "Create channel", "seeds")
    await create_channel(hand, "Create text channel", "harvest")

    await open_page(hand, "Roles")
    await create_role(hand, "Keepers", "Kick members")
    await hand.press("All roles")
    await create_role(hand, "Helpers", "Manage messages")
    await hand.press("Close")
    await create_channel(hand, "Create text channel", "back room", role="Keepers")

    await hand.press("Invite people")
    await hand.choose("Role for new members", "Keepers")
    await hand.press("Create link", page.get_by_role("dialog"))
    await expect(page.get_by_label("Invite link", exact=True)).to_be_visible()
    await hand.picture("link")
    invite = await copied(hand, "Invite link")
    await hand.press("Close")
    grace = await people.arrive("Grace")
    await grace.page.goto("about:blank")
    await grace.page.goto(invite)
    await grace.resize(ViewportSize(width=1280, height=800))
    await grace.come_in()
    await open_channel(grace, "back room")

    await open_page(hand, "Webhooks")
    await hand.write("Webhook name", "GitHub")
    await hand.press("Create webhook")
    await hand.press("GitHub")
    await hand.press("Copy", page.locator(".copyable").filter(has=page.get_by_label("Payload URL")))
    await hand.picture("webhook")
    async with (
        ClientSession() as http,
        http.post(await copied(hand, "Payload URL"), json=PING, headers={"X-GitHub-Event": "ping"}) as answer,
    ):
        assert answer.status == 200
    await hand.press("Close")
    await expect(message(Person("Ada", page), "ada/garden")).to_be_visible()
    await hand.picture("done")
    assert MIN_CLICKS < hand.clicks <= MAX_CLICKS
