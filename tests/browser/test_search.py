"""Messages can be found with search filters and among the pins, and channels and people with the quick
switcher.
"""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.browser.test_hostile_content import TOO_WIDE
from tests.chat.previews.test_previews import HOST, PAGES
from tests.kit.browser_users import (
    NARROW,
    WIDE,
    People,
    Person,
    bare_chromium,
    people_at,
    wide_daily,
    wide_only,
)
from tests.kit.community import ask, changes_settings, post
from tests.kit.name_server import name_server
from tests.kit.notifications import open_settings
from tests.kit.pictures import encoded, scene
from tests.kit.private_internet import PUBLIC, hosted, names, on_an_internet
from tests.kit.svc_up import running_svc_up
from tests.kit.text_channels import entry, message, open_channel, write
from tests.kit.wait import wait_for_value

__all__ = ["axe"]

PICTURE = {"name": "scene.png", "mimeType": "image/png", "buffer": encoded(scene(64, 48), "PNG")}

HIGHLIGHTED = "[...(CSS.highlights.get('found') ?? [])].map(String)"


async def search(person: Person, query: str, *finds: str) -> Locator:
    """Search, and wait for exactly these results, newest first."""
    field = person.page.get_by_role("searchbox", name="Search messages")
    await field.fill(query)
    await field.press("Enter")
    lines = person.page.locator(".message-line")
    await expect(lines).to_have_count(len(finds))
    for number, text in enumerate(finds):
        await expect(lines.nth(number)).to_contain_text(text)
    return lines


@wide_daily
async def test_a_message_can_be_found_by_words_and_filters_and_opened(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    await ask(ada, "POST", "/api/channels", {"name": "orchard", "type": "text"})
    grace = await people.arrive("Grace", reads="general")
    await write(ada, "Apples are red")
    await write(ada, "Pears grow at https://pears.example/")
    await write(grace, "Apples are green too")
    await grace.page.locator("#files").set_input_files(PICTURE)  # type: ignore[arg-type]
    await expect(grace.page.locator(".upload-list [data-state=done]")).to_have_count(1)
    await write(grace, "Plums")
    await open_channel(grace, "orchard")
    await write(grace, "No apples here")
    for number in range(12):
        await post(ada, f"Something else {number}\nand more\nand more")

    await ada.press("Search messages")
    await search(ada, "apples", "No apples here", "Apples are green too", "Apples are red")
    await search(ada, "apples from:Grace", "No apples here", "Apples are green too")
    await search(ada, "apples in:general", "Apples are green too", "Apples are red")
    await search(ada, "apples -green in:general", "Apples are red")
    await wait_for_value(lambda: ada.page.evaluate(HIGHLIGHTED), ["Apples"])
    await search(ada, "has:link", "Pears grow")
    plums = await search(ada, "has:image", "Plums")
    await expect(plums.get_by_role("img", name=re.compile(r"^scene\."))).to_be_visible()
    await search(ada, "apples after:2001-01-01 before:2002-01-01")
    await expect(ada.page.get_by_text("No messages found.")).to_be_visible()
    await expect_accessible(ada, axe, "a search that finds nothing")
    # Filters are completed, and each result links to its message.
    field = ada.page.get_by_role("searchbox", name="Search messages")
    await field.fill("red ")
    await expect(ada.page.get_by_text("No messages found.")).to_have_count(0)
    await ada.press("from:")
    await expect(field).to_have_value("red from:")
    await expect(ada.page.get_by_role("list", name="Values for this filter")).to_be_visible()
    await expect_accessible(ada, axe, "the values of a filter")
    await ada.page.get_by_role("list", name="Values for this filter").get_by_text("Ada").click()
    await expect(field).to_have_value("red from:Ada ")
    # The filter matches all members whose names start with this prefix.
    await search(ada, "red from:a", "Apples are red")
    lines = await search(ada, "red from:Ada ", "Apples are red")
    await expect(lines.locator("time")).to_contain_text("Today")
    await lines.click()
    await expect(ada.page.locator(".message.marked > .body > .text")).to_have_text("Apples are red")
    await expect(message(ada, "Apples are red")).to_be_in_viewport()
    size = ada.page.viewport_size
    if size and size["width"] == NARROW["width"]:
        # The channel replaces the results. Back returns to the opened result.
        await expect(lines).to_have_count(0)
        await ada.page.go_back()
        await expect(lines.get_by_role("button", name="Jump to message")).to_be_focused()
        await expect(field).to_have_value("red from:Ada ")


@wide_only
async def test_pinned_messages_are_listed_for_permitted_members_and_can_be_opened(
    people: People, axe: str
) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await write(grace, "We meet at eight")
    for number in range(12):
        await post(ada, f"Something else {number}\nand more\nand more")
    await grace.show_aside("Pinned messages")
    await expect(grace.page.get_by_text("No pinned messages yet.")).to_be_visible()
    await message(ada, "We meet").click(button="right")
    await ada.page.get_by_role("menuitem", name="Pin", exact=True).click()
    line = grace.page.locator(".message-line")
    await expect(line).to_contain_text("We meet at eight")
    await expect_accessible(grace, axe, "pinned messages")
    await line.click()
    await expect(message(grace, "We meet")).to_be_in_viewport()
    await message(grace, "We meet").click(button="right")
    await expect(grace.page.get_by_role("menuitem", name="Copy text")).to_be_visible()
    await expect(grace.page.get_by_role("menuitem", name="Unpin")).to_have_count(0)


@wide_only
async def test_a_few_letters_are_enough_to_find_a_channel_or_a_person(people: People, axe: str) -> None:
    ada = await people.join("Ada")
    await ask(ada, "POST", "/api/channels", {"name": "café", "type": "text"})
    grace = await people.arrive("Grace", reads="general")
    await expect(entry(grace, "café")).to_be_attached()
    switcher = grace.page.get_by_role("dialog", name="Jump to")
    await grace.page.keyboard.press("Control+k")
    await switcher.get_by_role("combobox").fill("caf")
    await grace.page.keyboard.press("Enter")
    await expect(grace.page.locator("#text-name")).to_have_text("café")
    await expect(switcher).to_have_count(0)
    await expect(grace.page.locator("#beginning")).to_contain_text("No messages in café yet.")
    await grace.press("Jump to…")
    await switcher.get_by_role("combobox").fill("ad")
    await expect(switcher.get_by_role("option", name="Ada")).to_be_visible()
    await expect_accessible(grace, axe, "a person in the switcher")
    await switcher.get_by_role("option", name="Ada").click()
    await expect(grace.page.get_by_role("dialog", name="Ada")).to_be_visible()


# A character in a host name that DNS accepts and browsers reject.
REFUSED, ASKED = "\u0378", "xn--zva"


@asynccontextmanager
async def reader_on_an_internet(folder: Path) -> AsyncIterator[Person]:
    """Yield a person with an open channel, on a network where links lead to the test's own hosts."""
    executable = bare_chromium()
    assert executable is not None, "Chromium is missing; ci/setup installs it"
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        await enter(hosted(PAGES))
        await enter(name_server(names(**dict.fromkeys(("tea", ASKED), PUBLIC))))
        product = await enter(running_svc_up(folder / "data"))
        people = await enter(
            people_at(product.url, executable, viewport=WIDE, service_worker=False, still=True)
        )
        ada = await people.arrive("Ada", reads="general")
        yield ada
        assert people.faults == []


@pytest.mark.timeout(400)
def test_a_link_preview_is_shown_until_its_author_removes_it(tmp_path: Path) -> None:
    async def body() -> None:
        async with reader_on_an_internet(tmp_path) as ada:
            # If the page failed to render a preview, it would show no messages at all.
            await write(ada, f"Odd: http://{REFUSED}.example/plain")
            await write(ada, f"Look: {HOST}/tea")
            preview = message(ada, "Look").locator(".preview")
            await expect(preview.get_by_role("link", name="Green tea")).to_have_attribute(
                "href", f"{HOST}/tea"
            )
            # The preview's text is untrusted, so it appears as plain text.
            await expect(preview.locator(".preview-text")).to_have_text("How to <b>brew</b> it")
            # The image comes from the server, which re-encoded it.
            await expect(preview.locator("img")).to_have_attribute("src", re.compile("/media/"))
            await expect(preview.locator(".quiet")).to_have_text("tea.example")
            await expect(message(ada, "Odd").locator(".preview")).to_have_count(0)
            await message(ada, "Look").click(button="right")
            await ada.page.get_by_role("menuitem", name="Remove link previews").click()
            await expect(preview).to_have_count(0)

            # On a phone, the preview uses the available width. Then the owner turns all previews off.
            await ada.resize(NARROW)
            await write(ada, f"Drink: {HOST}/tea")
            await expect(message(ada, "Drink").locator(".preview img")).to_be_visible()
            assert await ada.page.evaluate(TOO_WIDE) == []
            previews = ada.page.get_by_role("switch", name="Link previews")
            await open_settings(ada, "This server")
            async with ada.page.expect_response(changes_settings):
                await previews.uncheck()
            await ada.page.keyboard.press("Escape")
            await ada.hide_channels()
            await write(ada, f"No more: {HOST}/plain")
            await open_settings(ada, "This server")
            async with ada.page.expect_response(changes_settings):
                await previews.check()
            await ada.page.keyboard.press("Escape")
            await ada.hide_channels()
            await write(ada, f"Again: {HOST}/moved")
            await expect(message(ada, "Again").locator(".preview")).to_be_visible()
            await expect(message(ada, "No more").locator(".preview")).to_have_count(0)

    on_an_internet(body, tmp_path, within_s=300)
