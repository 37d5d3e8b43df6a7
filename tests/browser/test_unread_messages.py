"""The web client leads readers to new messages, and works at 200 % zoom and without motion."""

import re

import pytest
from playwright.async_api import ViewportSize, expect

from tests.browser.test_accessibility import at_both_sizes, axe, expect_accessible
from tests.browser.test_hostile_content import TOO_WIDE
from tests.kit.browser_users import People, narrow_only, wide_daily, wide_only
from tests.kit.community import ask, own_id, post
from tests.kit.text_channels import box, entry, join_and_open, message, write

__all__ = ["axe"]

NEWS = 12
# A window of 1280 x 800 and one of 390 x 780, at 200 % zoom.
ZOOMED = [
    ViewportSize(width=640, height=400),
    pytest.param(
        ViewportSize(width=195, height=390),
        marks=pytest.mark.nightly("test_accessibility.py shows every view at this size daily"),
    ),
]
WIDTH_AND_COLOUR = "(dot) => [dot.offsetWidth, getComputedStyle(dot).backgroundColor]"
TEXT_COLOUR = "() => getComputedStyle(document.body).color"


@wide_daily
async def test_new_messages_are_one_click_away_and_can_be_marked_as_unread(people: People, axe: str) -> None:
    ada = await people.join("Ada")
    grace = await people.arrive("Grace", reads="general")
    # Her own message counts as read.
    await write(grace, "Old")
    await grace.page.goto("about:blank")
    for number in range(NEWS):
        await post(ada, f"News {number}\nwith a second line\nand a third")
    await grace.page.go_back()
    news = grace.page.locator(".news")
    await expect(news).to_have_text(f"{NEWS} new messages")
    await expect_accessible(grace, axe, "new messages")
    await news.get_by_role("button").first.click()
    await expect(message(grace, "News 0")).to_be_in_viewport()
    await expect(news).to_have_count(0)
    line = grace.page.locator(".new-line")
    await expect(line).to_have_count(1)
    await expect(message(grace, "News 0").locator(".new-line")).to_have_text("New")
    await expect_accessible(grace, axe, "the marker of new messages")

    # Grace marks the message as unread although it is visible.
    await message(grace, "News 3").click(button="right")
    await grace.page.get_by_role("menuitem", name="Mark as unread").click()
    await grace.show_channels()
    await expect(entry(grace, "general")).to_have_accessible_name(f"general {NEWS - 3} unread")
    await grace.hide_channels()
    await grace.page.keyboard.press("Escape")
    await grace.show_channels()
    await expect(entry(grace, "general")).to_have_accessible_name("general")
    await grace.hide_channels()
    await expect(message(grace, f"News {NEWS - 1}")).to_be_in_viewport()
    # The marker appears above the messages that were unread, but not on the next visit.
    await expect(line).to_have_count(1)
    await expect(message(grace, "News 3").locator(".new-line")).to_be_attached()
    await grace.page.reload()
    await expect(message(grace, f"News {NEWS - 1}")).to_be_in_viewport()
    await expect(line).to_have_count(0)


@wide_only
async def test_the_chat_of_a_voice_channel_is_marked_like_a_text_channel(people: People) -> None:
    ada = await people.join("Ada")
    grace = await people.arrive("Grace", reads="general")
    channels = (await ask(ada, "GET", "/api/channels"))["channels"]
    [voice] = [channel["id"] for channel in channels if channel["type"] == "voice"]
    messages = f"/api/channels/{voice}/messages"
    await ask(ada, "POST", messages, {"text": "Slides"})
    row = entry(grace, "Voice")
    await expect(row).to_have_accessible_name("Voice voice channel 1 unread")
    # The badge is a dot without a number.
    assert await row.locator(".badge").evaluate(WIDTH_AND_COLOUR) == [
        8,
        await grace.page.evaluate(TEXT_COLOUR),
    ]
    mention = {"text": f"[Grace](mention:{await own_id(grace)}) look"}
    await ask(ada, "POST", messages, mention)
    await expect(row).to_have_class(re.compile(r"\bmentioned\b"))
    await expect(row.locator(".badge")).to_have_text("1")


@narrow_only
async def test_a_link_to_a_message_opens_it_in_the_same_page(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await write(ada, "Look here\n" * 3)
    for number in range(NEWS):
        await post(ada, f"More {number}\nand more\nand more")
    channel_id, message_id = await message(ada, "Look here").evaluate(
        "(element) => [localStorage['svc.place'], element.dataset.id]"
    )
    address = f"/#channel={channel_id}&message={message_id}"
    await ada.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await message(ada, "Look here").click(button="right")
    await ada.page.get_by_role("menuitem", name="Copy link").click()
    await expect(ada.page.get_by_text("Link copied.")).to_be_visible()
    copied = await ada.page.evaluate("() => navigator.clipboard.readText()")
    assert copied.endswith(address), f"{copied} and not {address}"
    await write(ada, ada.page.url.split("/#")[0].rstrip("/") + address)
    await ada.page.get_by_role("link", name="#general › message").click()
    await expect(message(ada, "Look here").first).to_be_in_viewport()
    assert len(ada.page.context.pages) == 1
    await ada.page.get_by_role("button", name="Jump to latest").click()
    await expect(message(ada, "Look here").first).not_to_be_in_viewport()
    await ada.page.evaluate("(address) => { location.href = address; }", address)
    await expect(message(ada, "Look here").first).to_be_in_viewport()
    # Open the link in a new page, which must load the message first.
    await ada.page.goto("about:blank")
    await ada.page.goto(copied)
    await expect(ada.page.locator(".message.marked")).to_have_attribute("data-id", message_id)
    await expect(message(ada, "Look here").first).to_be_in_viewport()


TEXT = """# Plan for *Friday*

- bread
- salt

> Who comes?

| who | what |
|:----|-----:|
| Ada | soup |

The guest is ||Grace||.

```js
const seats = 8;
```"""


@wide_only
async def test_all_markdown_is_rendered_in_a_channel(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", reads="general")
    await grace.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await write(ada, TEXT)
    posted = message(grace, "Plan")
    # The text looks like a heading, but is not part of the page's outline.
    await expect(posted.locator(".heading")).to_have_text("Plan for Friday")
    await expect(posted.locator(".heading em")).to_have_text("Friday")
    await expect(posted.get_by_role("listitem")).to_have_text(["bread", "salt"])
    await expect(posted.locator("blockquote")).to_have_text("Who comes?")
    await expect(posted.get_by_role("columnheader")).to_have_text(["who", "what"])
    await expect(posted.get_by_role("cell", name="soup")).to_be_visible()
    await expect(posted.get_by_text("Grace", exact=True)).to_be_hidden()
    await posted.get_by_role("button", name="Spoiler. Show").click()
    await expect(posted.get_by_text("Grace", exact=True)).to_be_visible()
    await expect(posted.locator(".code-keyword")).to_have_text("const")
    await at_both_sizes(grace, axe, "all Markdown elements")
    await posted.locator(".code").hover()
    await posted.get_by_role("button", name="Copy", exact=True).click()
    await expect(posted.get_by_role("button", name="Copied")).to_be_visible()
    assert await grace.page.evaluate("() => navigator.clipboard.readText()") == "const seats = 8;"
    # The author can edit the text as they wrote it.
    await box(ada).press("ArrowUp")
    await expect(ada.page.get_by_role("textbox", name="Edit message")).to_have_value(TEXT)


# Returns controls and headings that are cut off and are not inside a scrolling element.
CUT_OFF = """() => {
  const cuts = (element) => /auto|scroll|hidden|clip/.test(getComputedStyle(element).overflow);
  const scrolls = (element) => element && (cuts(element) || scrolls(element.parentElement));
  const [wide, high] = [innerWidth + 1, innerHeight + 1];
  const found = document.documentElement.scrollWidth > wide ? ["the page"] : [];
  const top = document.querySelector("dialog[open]") ?? document.body;
  for (const element of top.querySelectorAll("button, input, textarea, select, h1, h2")) {
    const box = element.getBoundingClientRect();
    const isShown = box.width && element.checkVisibility({ visibilityProperty: true });
    if (!isShown || scrolls(element.parentElement)) continue;
    const fits = box.left >= -1 && box.top >= -1 && box.right <= wide && box.bottom <= high;
    if (!fits) found.push(element.textContent || element.ariaLabel);
  }
  return found;
}"""
# Returns the number of moving elements, excluding those that only delay their disappearance.
MOVING = """document.getAnimations().filter(({ playState, transitionProperty }) =>
  playState === 'running' && transitionProperty !== 'display').length"""


async def test_a_message_has_a_menu_even_before_its_buttons_are_rendered(people: People) -> None:
    ada = await people.arrive("Ada")
    # Disable the timer that renders the buttons.
    await ada.page.evaluate(
        "() => { const wait = setTimeout; setTimeout = (run, ms) => (ms === 100 ? 0 : wait(run, ms)); }"
    )
    await join_and_open(ada)
    await write(ada, "Friday at eight")
    await expect(message(ada, "Friday at eight").locator(".actions")).to_have_count(0)
    await message(ada, "Friday at eight").click(button="right")
    await ada.page.get_by_role("menuitem", name="Forward").click()
    await expect(ada.page.get_by_role("dialog")).to_be_visible()


@narrow_only
async def test_a_message_can_be_forwarded_with_a_link_to_the_original(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    await write(ada, "Friday at eight\n[@Ada](mention:nobody) brings *snacks*")
    await message(ada, "Friday at eight").click(button="right")
    await ada.page.get_by_role("menuitem", name="Forward").click()
    await ada.page.get_by_role("dialog").get_by_role("button", name="general").click()
    await expect(box(ada)).to_have_value(re.compile(r"^> \*\*Ada\*\*\n> Friday at eight\n> \\@Ada brings"))
    await box(ada).press("End")
    await box(ada).press("Enter")
    copy = ada.page.locator(".message").last
    await expect(copy.locator("blockquote")).to_have_text(
        re.compile(r"Ada\s*Friday at eight\s*@Ada brings snacks")
    )
    await expect(copy.locator("blockquote .mention")).to_have_count(0)
    await expect(copy.get_by_role("link", name="#general › message")).to_be_visible()
    await expect_accessible(ada, axe, "a forwarded message")


@pytest.mark.parametrize("viewport", ZOOMED, ids=["wide", "narrow"], indirect=True)
async def test_at_200_percent_zoom_nothing_is_cut_off_and_nothing_moves(
    people: People, viewport: ViewportSize
) -> None:
    ada = await people.arrive("Ada")
    await ada.page.emulate_media(reduced_motion="reduce")
    cut: dict[str, list[str]] = {}

    async def look(where: str) -> None:
        cut[where] = [*await ada.page.evaluate(CUT_OFF), *await ada.page.evaluate(TOO_WIDE)]
        assert await ada.page.evaluate(MOVING) == 0, where

    await ada.page.get_by_label("Your name").wait_for()
    await look("the way in")
    await ada.page.get_by_label("Your name").fill("Ada")
    await ada.press("Join")
    await expect(ada.page.locator(".first-steps").get_by_role("button", name="Save")).to_be_attached()
    await look("the first steps")
    await write(ada, "A word\n" * 40)
    await look("a channel")
    # A large part of the window is available for the messages.
    read = await ada.page.locator("#messages-box").evaluate("(box) => box.clientHeight")
    assert read > viewport["height"] * 0.37
    assert await box(ada).evaluate("(field) => field.clientWidth") > viewport["width"] * 0.6
    for panel_name in ("Members", "Search messages", "Pinned messages", "Followed threads", "Mentions"):
        await ada.show_aside(panel_name)
        await expect(ada.page.locator(".aside-body, .thread")).to_be_visible()
        await look(panel_name)
        await ada.page.keyboard.press("Escape")
    for keys in ("Control+k", "Control+/"):
        await ada.page.keyboard.press(keys)
        await expect(ada.page.get_by_role("dialog")).to_be_visible()
        await look(keys)
        await ada.page.keyboard.press("Escape")
        await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    await ada.press("Choose emoji")
    await expect(ada.page.locator(".emoji-picker")).to_be_visible()
    await look("emoji")
    await ada.page.keyboard.press("Escape")
    await ada.show_channels()
    await look("the list")
    await ada.press("Settings")
    pages = ada.page.locator(".settings-pages nav li button")
    await expect(pages.first).to_be_visible()
    for page in await pages.all():
        await page.click()
        await expect(ada.page.locator(".settings-page h3").first).to_be_visible()
        await look(f"settings: {await page.text_content()}")
    # All settings pages are in a single list, and one of them is selected.
    await ada.press("All settings")
    await expect(ada.page.locator(".settings-page")).to_be_hidden()
    await look("all settings")
    await ada.press("Roles")
    await expect(ada.page.get_by_role("region", name="Roles", exact=True)).to_be_visible()
    assert {where: cut_off for where, cut_off in cut.items() if cut_off} == {}
