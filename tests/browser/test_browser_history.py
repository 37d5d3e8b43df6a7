"""Back and Forward move between channels, panels and dialogs, and the URL names the open channel."""

import asyncio
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Locator, Route, expect

from tests.kit.browser_users import (
    People,
    Person,
    both_widths,
    narrow_only,
    until_touch_is_handled,
    wide_only,
)
from tests.kit.separate_modules import use_separate_modules
from tests.kit.svc_up import SvcUp
from tests.kit.text_channels import box, do, message, open_channel, write

pytestmark = pytest.mark.usefixtures("second_channel")

HISTORY_LENGTH = "history.length"


def origin_of(product: SvcUp) -> str:
    url = urlsplit(product.url)
    return f"{url.scheme}://{url.netloc}"


async def is_in(person: Person, channel: str) -> None:
    await expect(person.page.locator("#text-name")).to_have_text(channel)
    # The fragment may also name a codec, which tests add to their links.
    await person.page.wait_for_url(lambda url: f"#channel={channel}" in url)


def panel(person: Person, name: str) -> Locator:
    return person.page.get_by_role("region", name=name, exact=True)


@both_widths
async def test_back_and_forward_close_and_reopen_channels_panels_and_dialogs(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    await is_in(ada, "general")
    await open_channel(ada, "random")
    await is_in(ada, "random")
    await ada.press("Search messages")
    await expect(panel(ada, "Search")).to_be_visible()
    await page.keyboard.press("Control+,")
    await expect(dialog).to_have_accessible_name("Settings")

    await page.go_back()
    await expect(dialog).to_have_count(0)
    await expect(panel(ada, "Search")).to_be_visible()
    await page.go_back()
    await expect(panel(ada, "Search")).to_have_count(0)
    await is_in(ada, "random")
    await page.go_back()
    await is_in(ada, "general")
    await page.go_forward()
    await is_in(ada, "random")
    await page.go_forward()
    await expect(panel(ada, "Search")).to_be_visible()
    await page.go_forward()
    await expect(dialog).to_have_accessible_name("Settings")

    # A reload closes the dialog and leaves no history entry for which Back would do nothing.
    await page.reload()
    await is_in(ada, "random")
    await expect(panel(ada, "Search")).to_be_visible()
    await expect(dialog).to_have_count(0)
    await page.go_back()
    await expect(panel(ada, "Search")).to_have_count(0)
    await page.go_forward()
    await expect(panel(ada, "Search")).to_be_visible()
    await page.keyboard.press("Control+,")
    await expect(dialog).to_have_accessible_name("Settings")

    # Closing a dialog by keyboard also goes back in the history, so Back does not reopen the dialog.
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)
    await page.keyboard.press("Escape")
    await expect(panel(ada, "Search")).to_have_count(0)
    await page.go_back()
    await is_in(ada, "general")


@wide_only
async def test_a_view_opened_before_the_history_module_is_loaded_stays_open(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    await is_in(ada, "general")
    await page.keyboard.press("Control+,")
    await expect(dialog).to_have_accessible_name("Settings")
    requested, loads = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        requested.set()
        await loads.wait()
        await route.continue_()

    await use_separate_modules(page)
    await page.route("**/state/browser_history.js", hold)
    # The reload closes the dialog. The page leaves its history entry once the history module has been loaded.
    await page.reload()
    await expect(page.locator("#text-name")).to_have_text("general")
    await asyncio.wait_for(requested.wait(), 60)
    await open_channel(ada, "random")
    await page.keyboard.press("Control+/")
    await expect(dialog).to_have_accessible_name("Keyboard shortcuts")
    loads.set()
    await is_in(ada, "random")
    await expect(dialog).to_have_accessible_name("Keyboard shortcuts")
    await page.go_back()
    await expect(dialog).to_have_count(0)
    await is_in(ada, "random")

    # Back also closes the first view that is opened after a reload.
    requested.clear()
    loads.clear()
    await page.reload()
    await asyncio.wait_for(requested.wait(), 60)
    await page.keyboard.press("Control+/")
    await expect(dialog).to_have_accessible_name("Keyboard shortcuts")
    loads.set()
    await page.wait_for_function("() => history.state?.covered")
    await page.go_back()
    await expect(dialog).to_have_count(0)
    await is_in(ada, "random")


@narrow_only
async def test_back_on_a_phone_closes_the_view_that_covers_the_channel(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    page = ada.page
    await write(ada, "Hello")
    await is_in(ada, "general")
    covers: dict[str, tuple[Callable[[], Awaitable[None]], Locator]] = {
        "channels": (lambda: ada.press("Show channels"), page.locator(".home[data-drawer=open]")),
        "a panel": (lambda: ada.press("Members"), page.locator(".aside")),
        "emoji": (lambda: ada.press("Choose emoji"), page.locator(".emoji-picker")),
        "a menu": (lambda: do(ada, "Hello", "More"), page.get_by_role("menu")),
        "reactions": (lambda: do(ada, "Hello", "React"), page.locator(".picker")),
        "an editor": (lambda: do(ada, "Hello", "Edit"), page.locator(".editor")),
        "a dialog": (lambda: page.keyboard.press("Control+k"), page.get_by_role("dialog")),
    }
    for name, (cover, covered) in covers.items():
        await cover()
        await expect(covered, name).to_be_visible()
        await page.go_back()
        await expect(covered, name).to_have_count(0)
        await is_in(ada, "general")

    # A confirmation on a settings page closes before the settings do.
    await page.keyboard.press("Control+,")
    await page.locator(".settings-pages .unfold").click()
    await ada.press("Session")
    await ada.press("Sign out")
    await expect(page.locator("dialog.confirm")).to_be_visible()
    await page.go_back()
    await expect(page.locator("dialog.confirm")).to_have_count(0)
    await expect(page.get_by_role("dialog")).to_have_accessible_name("Settings")


@narrow_only
async def test_back_on_a_phone_ends_editing_a_message(people: People) -> None:
    ada = await people.arrive("Ada", touch=True, reads="general")
    page, editor = ada.page, ada.page.get_by_label("Edit message")
    await write(ada, "Hello")
    await open_channel(ada, "random")
    await write(ada, "Good morning")
    await do(ada, "Good morning", "Edit")
    await expect(editor).to_be_focused()
    await page.go_back()
    await expect(editor).to_have_count(0)
    await is_in(ada, "random")
    # Editing is started from a menu, which closes at the same time.
    await until_touch_is_handled(page)
    await message(ada, "Good morning").click(button="right")
    await page.get_by_role("menuitem", name="Edit", exact=True).click()
    await expect(editor).to_be_focused()
    await page.go_back()
    await expect(editor).to_have_count(0)
    await is_in(ada, "random")
    await page.go_back()
    await is_in(ada, "general")


@narrow_only
async def test_back_on_a_phone_leads_through_the_settings_step_by_step(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    await is_in(ada, "general")
    unfolded = page.locator(".settings-pages .unfolded")

    async def open_page(name: str) -> None:
        await page.locator(".settings-pages .unfold").click()
        await page.get_by_role("navigation", name="Settings pages").get_by_role("button", name=name).click()

    await page.keyboard.press("Control+,")
    await page.locator(".settings-pages .unfold").click()
    await expect(unfolded).to_be_visible()
    await page.go_back()
    await expect(unfolded).to_have_count(0)
    await expect(dialog).to_have_accessible_name("Settings")

    await open_page("Roles")
    await ada.press("Create role")
    await expect(page.get_by_role("button", name="All roles")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("button", name="All roles")).to_have_count(0)
    await expect(page.get_by_role("button", name="Create role")).to_be_visible()

    # The new channel does not open behind the settings. Otherwise, Back would return to the dialog.
    await open_page("Channels")
    await ada.press("Create channel")
    await page.get_by_label("Name", exact=True).fill("news")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Edit news")).to_be_visible()
    await expect(dialog).to_have_count(1)
    await page.go_back()
    await expect(dialog).to_have_count(0)
    await is_in(ada, "general")


async def test_a_view_that_was_opened_and_closed_leaves_no_history_entry(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await is_in(ada, "general")
    before = await ada.page.evaluate(HISTORY_LENGTH)
    for _ in range(5):
        await ada.press("Search messages")
        await expect(panel(ada, "Search")).to_be_visible()
        await ada.press("Close")
        await expect(panel(ada, "Search")).to_have_count(0)
        await ada.page.wait_for_function("() => !history.state.aside")
    assert await ada.page.evaluate(HISTORY_LENGTH) == before + 1  # Forward leads to the channel again.


async def test_the_url_still_opens_the_channel_after_a_reload_and_in_another_page(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await is_in(ada, "general")
    await open_channel(ada, "random")
    await is_in(ada, "random")
    address = ada.page.url
    await open_channel(ada, "general")
    await is_in(ada, "general")
    await ada.page.reload()
    await is_in(ada, "general")
    await ada.page.go_back()
    await is_in(ada, "random")
    other = await ada.page.context.new_page()
    await other.goto(address)
    await expect(other.locator("#text-name")).to_have_text("random")


async def test_a_link_to_a_channel_opens_it_after_its_reader_has_signed_in(
    people: People, product: SvcUp
) -> None:
    ada = await people.arrive("Ada")
    await ada.page.goto("about:blank")
    await ada.page.goto(f"{product.url}&channel=random")
    await ada.come_in()
    await is_in(ada, "random")
    assert "invite=" not in ada.page.url
    await write(ada, "Here")
    await expect(message(ada, "Here")).to_be_visible()


@wide_only
async def test_a_link_to_a_hidden_channel_shows_a_notice_and_opens_another_channel(
    people: People, product: SvcUp
) -> None:
    ada = await people.arrive("Ada", reads="general")
    for is_loaded in (True, False):
        if is_loaded:
            await ada.page.goto("about:blank")
            await ada.page.goto(f"{origin_of(product)}/#channel=nowhere")
        else:
            await ada.page.evaluate("() => { location.hash = '#channel=nowhere'; }")
        notice = ada.page.get_by_text("This channel doesn’t exist, or you don’t have access to it.")
        await expect(notice).to_be_visible()
        await is_in(ada, "general")
        await expect(box(ada)).to_be_enabled()
        await ada.press("Dismiss")
        await expect(notice).to_have_count(0)


async def test_a_swipe_neither_leaves_nor_reloads_the_page(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    style = "(name) => getComputedStyle(document.querySelector(name)).overscrollBehavior"
    assert [await ada.page.evaluate(style, name) for name in ("html", "body")] == ["none", "none"]
