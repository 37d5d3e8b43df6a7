"""All controls can be reached by touch on a phone, and accidental touches have no effect."""

import re
import time
from pathlib import Path

import pytest
from playwright.async_api import Locator, ViewportSize, expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.kit.browser_users import (
    NARROW,
    UNDER_A_KEYBOARD,
    People,
    Person,
    until_still,
    until_touch_is_handled,
)
from tests.kit.community import ask, own_id
from tests.kit.docs_pictures import landscape
from tests.kit.pictures import encoded
from tests.kit.text_channels import box, entry, join_and_open, message, open_channel, write

__all__ = ["axe"]

pytestmark = pytest.mark.usefixtures("second_channel")

on_a_phone = pytest.mark.parametrize("viewport", [NARROW], ids=["narrow"], indirect=True)
SIDEWAYS = ViewportSize(width=740, height=360)
TOPIC = "The garden day is on the first Saturday of each month, the shed key hangs behind the door: " * 2
# Returns the touch targets in the topmost layer that are smaller than 44 px, and a message if the page is
# wider than the screen. Names and links in text may be only as tall as the text.
OUT_OF_REACH = """() => {
  const found = [];
  const [width, height] = [innerWidth, innerHeight];
  if (document.documentElement.scrollWidth > width) found.push("the page is wider than the screen");
  const drawer = document.querySelector(".home[data-drawer=open] .sidebar");
  const opened = document.querySelector(".menu, .emoji-popup, .picker");
  const above = opened ?? [...document.querySelectorAll("dialog[open]")].pop();
  const root = above ?? drawer ?? document.body;
  // The last cells of a scrolling list are cut off.
  const tappable = "button:not(.author, .mention, .replied, .emoji-grid *), input, select, textarea";
  for (const each of root.querySelectorAll(tappable)) {
    const box = each.getBoundingClientRect();
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    if (each.matches("[type=file], [type=radio], [type=checkbox]") || !each.checkVisibility()) continue;
    const at = (dx, dy) => document.elementFromPoint(x + dx, y + dy);
    const isHit = (target) => each === target || each.contains(target);
    if (!isHit(at(0, 0))) continue; // Scrolled out of view.
    const reached = (dx, dy) => {
      let far = 0;
      while (far < 60 && isHit(at(dx * far, dy * far))) far++;
      return far;
    };
    const [across, down] = [reached(1, 0) + reached(-1, 0), reached(0, 1) + reached(0, -1)];
    const touchesEdge = box.left < 1 || box.right > width - 1 || box.top < 1 || box.bottom > height - 1;
    if (!touchesEdge && Math.min(across, down) < 44) {
      found.push(`${across} x ${down}: ${each.ariaLabel ?? each.textContent}`);
    }
  }
  return found;
}"""
# Returns the centre of a button's visible part, relative to the message.
WITHIN_THE_MESSAGE = """(message, button) => {
  const [outer, inner] = [message.getBoundingClientRect(), button.getBoundingClientRect()];
  const top = Math.max(inner.top, outer.top);
  return { x: (inner.left + inner.right) / 2 - outer.left, y: (top + inner.bottom) / 2 - outer.top };
}"""
# Returns the settings pages that appear to be open.
MARKED = """(list) => [...list.querySelectorAll("button")]
  .filter((each) => getComputedStyle(each).backgroundColor !== "rgba(0, 0, 0, 0)")
  .map((each) => each.textContent)"""


# Returns the height of a channel's header and the width of its title.
HEADER = """(title) => [
  title.closest("header").getBoundingClientRect().height, title.getBoundingClientRect().width]"""
# A row has room for touch targets of 44 px. About twelve letters fit in 100 px, and longer titles may be
# truncated.
MAX_ROW_PX, MIN_TITLE_PX = 64, 100


async def is_within_reach(person: Person, where: str) -> None:
    await until_still(person.page)
    unreachable = await person.page.evaluate(OUT_OF_REACH)
    assert not unreachable, f"{where}: {unreachable}"


@on_a_phone
async def test_every_control_can_be_reached_by_touch_and_the_full_topic_can_be_read(
    people: People, axe: str
) -> None:
    ada = await people.arrive("Ada", touch=True)
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    await page.get_by_role("button", name="I’m already a member").tap()
    await expect(page.get_by_label("Code")).to_be_visible()
    await is_within_reach(ada, "the form for a code")
    await page.go_back()
    await join_and_open(ada)
    await page.get_by_role("button", name="Hide these steps").tap()
    made = await ask(ada, "POST", "/api/channels", {"type": "text", "name": "news", "topic": TOPIC})
    await ada.show_channels()
    await is_within_reach(ada, "the list of channels")
    await ada.resize(SIDEWAYS)
    await expect(page.get_by_text("Ctrl K")).to_be_hidden()
    await is_within_reach(ada, "the list of channels on a phone held sideways")
    await page.go_back()
    await expect(page.locator("#channels")).not_to_be_in_viewport()
    await ada.resize(NARROW)
    await ada.show_channels()
    await entry(ada, "news").tap()
    await write(ada, "Hello")
    await is_within_reach(ada, "a channel")

    await page.get_by_role("button", name="About news").tap()
    await expect(dialog.locator(".text")).to_have_text(TOPIC.strip())
    await is_within_reach(ada, "the channel's information")
    await expect_accessible(ada, axe, "the channel's information")
    await dialog.get_by_role("button", name="Notifications").tap()
    await expect(page.get_by_role("menu")).to_be_visible()
    await is_within_reach(ada, "a menu")
    await page.keyboard.press("Escape")
    await dialog.get_by_role("button", name="Pinned messages").tap()
    await expect(page.get_by_role("region", name="Pinned messages")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("region", name="Pinned messages")).to_have_count(0)
    assert made["id"] in page.url

    await ada.show_channels()
    await page.get_by_role("button", name="Join Voice with…").tap()
    await expect(dialog.get_by_role("button", name="Join call")).to_be_visible()
    await is_within_reach(ada, "before a call")
    await page.keyboard.press("Escape")
    await page.get_by_role("button", name="Settings", exact=True).tap()
    await page.get_by_role("button", name="All settings").tap()
    await page.get_by_role("navigation", name="Settings pages").get_by_role("button", name="Your data").tap()
    await expect(page.get_by_role("region", name="Your data")).to_be_visible()
    await is_within_reach(ada, "the settings")
    # After the tap, another page in the list is under the finger. It must not be highlighted.
    assert await page.locator(".settings-pages ul").evaluate(MARKED) == ["Your data"]


@on_a_phone
async def test_the_header_of_a_channel_with_a_topic_is_a_single_row(people: People) -> None:
    ada = await people.arrive("Ada", touch=True, reads="general")
    await ask(ada, "POST", "/api/channels", {"type": "text", "name": "announcements", "topic": TOPIC})
    await ada.show_channels()
    await entry(ada, "announcements").tap()
    await expect(ada.page.locator("#text-name")).to_have_text("announcements")
    row_px, title_px = await ada.page.locator("#text-name").evaluate(HEADER)
    assert row_px <= MAX_ROW_PX
    assert title_px >= MIN_TITLE_PX


@on_a_phone
async def test_touching_a_message_shows_its_buttons_without_pressing_one(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.arrive("Grace", touch=True, reads="general")
    await write(ada, "Hello, " + "and " * 60)
    posted = message(grace, "Hello")
    reply = posted.get_by_role("button", name="Reply")
    await posted.locator(".text").tap()
    await until_still(grace.page)
    position = await posted.evaluate(WITHIN_THE_MESSAGE, await reply.element_handle())
    await box(grace).tap()
    # Tap where the button will appear.
    await posted.tap(position=position)
    await expect(posted).to_be_focused()
    await until_still(grace.page)
    await expect(grace.page.locator(".reply-line")).to_have_count(0)
    await reply.tap()
    await expect(grace.page.locator(".reply-line")).to_be_visible()
    await box(grace).fill("a reply")
    await grace.page.get_by_role("button", name="Send", exact=True).tap()
    # Even if the text is long, the author's name stays visible.
    replied = message(grace, "a reply").locator(".replied b")
    assert await replied.evaluate("(name) => name.scrollWidth <= name.clientWidth + 1")

    # In an open channel, the channel list button indicates unread messages or mentions in other channels.
    drawer = grace.page.get_by_role("button", name="Show channels")
    await expect(drawer).not_to_have_accessible_description("1 unread")
    await open_channel(ada, "random")
    await write(ada, "Hello")
    await expect(drawer).to_have_accessible_description("1 unread")
    await expect(drawer).not_to_contain_class("mentioned")
    await write(ada, f"[@Grace](mention:{await own_id(grace)})")
    await expect(drawer).to_contain_class("mentioned")
    await expect(drawer).to_have_accessible_description("1 unread")


@on_a_phone
async def test_on_a_phone_enter_starts_a_new_line_and_the_send_button_keeps_the_keyboard_open(
    people: People, tmp_path: Path
) -> None:
    ada = await people.arrive("Ada", touch=True, reads="general")
    send = ada.page.get_by_role("button", name="Send", exact=True)
    await box(ada).focus()
    await expect(send).to_be_hidden()
    await ada.page.keyboard.type("one")
    await ada.page.keyboard.press("Enter")
    await ada.page.keyboard.type("two")
    await expect(box(ada)).to_have_value("one\ntwo")
    # The second tap of a double tap must not press the button that replaces this one. Stop the transition
    # that delays the new button, because a busy machine would tap too late.
    devtools = await ada.page.context.new_cdp_session(ada.page)
    await devtools.send("Animation.enable")
    await devtools.send("Animation.setPlaybackRate", {"playbackRate": 0})
    touched = await send.bounding_box()
    assert touched
    for _ in range(2):
        await ada.page.touchscreen.tap(touched["x"] + 22, touched["y"] + 22)
        await expect(message(ada, "one")).to_have_count(1)
    await expect(ada.page.locator(".emoji-popup")).to_have_count(0)
    await devtools.send("Animation.setPlaybackRate", {"playbackRate": 1})
    await expect(send).to_be_hidden()
    await expect(box(ada)).to_have_value("")
    # Otherwise, the phone would close its keyboard after each message.
    await expect(box(ada)).to_be_focused()

    # The emoji picker is below the text, in place of the keyboard.
    await ada.page.get_by_role("button", name="Choose emoji").tap()
    await expect(ada.page.get_by_label("Search emoji")).to_be_visible()
    for size in (SIDEWAYS, NARROW):
        await ada.resize(size)
        await until_still(ada.page)
        written = await box(ada).bounding_box()
        picker = await ada.page.locator(".emoji-popup").bounding_box()
        assert written and picker
        assert written["y"] + written["height"] <= picker["y"]
        await expect(ada.page.locator(".emoji-tones")).to_be_in_viewport(ratio=1)
    # There is room for search results even while the keyboard is open.
    await ada.resize(UNDER_A_KEYBOARD)
    search = await ada.page.get_by_label("Search emoji").bounding_box()
    assert search
    assert search["width"] > UNDER_A_KEYBOARD["width"] / 2
    await ada.resize(NARROW)
    await ada.page.go_back()

    files = [tmp_path / f"note {number}.txt" for number in range(10)]
    for file in files:
        file.write_text("Hello")
    await ada.page.locator("#files").set_input_files(files)
    await expect(ada.page.locator(".upload-list [data-state=done]")).to_have_count(10)
    # A file's entry has two rows next to the icon.
    await expect(ada.page.locator(".upload-list li").first).to_have_css("display", "grid")
    await box(ada).fill("line\n" * 40)
    await ada.resize(UNDER_A_KEYBOARD)
    await expect(send).to_be_in_viewport(ratio=1)
    await expect(box(ada)).to_be_in_viewport(ratio=1)


async def rest_on(person: Person, target: Locator) -> None:
    """Open a menu with a long press."""
    fingers = await person.page.context.new_cdp_session(person.page)
    box = await target.bounding_box()
    assert box
    at = [{"x": box["x"] + 10, "y": box["y"] + box["height"] / 2}]
    await fingers.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": at})
    await expect(person.page.get_by_role("menu")).to_be_visible()
    await fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@on_a_phone
async def test_a_long_press_opens_the_actions_of_a_message_and_can_select_its_text(
    people: People,
) -> None:
    ada = await people.arrive("Ada", touch=True, reads="general")
    page, menu = ada.page, ada.page.get_by_role("menu")
    await write(ada, "Dinner?")
    text = message(ada, "Dinner?").locator(".text")
    await until_touch_is_handled(page)
    await rest_on(ada, text)
    await is_within_reach(ada, "the actions of a message")
    await ada.resize(SIDEWAYS)
    sheet = await menu.bounding_box()
    assert sheet
    assert sheet["width"] == SIDEWAYS["width"], "The menu is not a sheet"
    await ada.resize(NARROW)
    await page.get_by_role("menuitem", name="Select text").tap()
    await page.wait_for_function("getSelection().toString().trim() === 'Dinner?'")
    await page.evaluate("getSelection().empty()")
    # The sheet contains all actions, so the buttons stay hidden until the next touch.
    await expect(page.locator(".actions-lane")).to_have_css("opacity", "0")

    await rest_on(ada, text)
    await page.get_by_role("menuitem", name="React", exact=True).tap()
    await expect(page.locator(".picker button").first).to_be_visible()
    await is_within_reach(ada, "the usual reactions")
    await page.get_by_role("button", name="All emoji").tap()
    await expect(page.get_by_label("Search emoji")).to_be_visible()
    await is_within_reach(ada, "all emoji")
    await page.go_back()
    await text.tap()
    await message(ada, "Dinner?").get_by_role("button", name="React", exact=True).tap()
    await page.locator(".picker button").first.tap()
    await expect(message(ada, "Dinner?").locator(".reaction")).to_have_count(1)


@on_a_phone
async def test_a_message_is_edited_above_the_keyboard_and_going_back_keeps_the_edited_text(
    people: People,
) -> None:
    ada = await people.arrive("Ada", touch=True, reads="general")
    page = ada.page
    field = page.get_by_role("textbox", name="Edit message")
    save = page.get_by_role("button", name="Save", exact=True)
    for line in ("Dinner?", "one\n" * 12):
        await write(ada, line)
    text = message(ada, "Dinner").locator(".text")
    await text.scroll_into_view_if_needed()
    await until_touch_is_handled(page)
    await rest_on(ada, text)
    await page.get_by_role("menuitem", name="Edit").tap()
    await expect(field).to_be_focused()
    await ada.resize(UNDER_A_KEYBOARD)
    for visible in (field, save):
        await expect(visible).to_be_in_viewport(ratio=1)
    await expect(box(ada)).to_be_hidden()
    await field.fill("Dinner at eight?")
    await page.go_back()
    await expect(field).to_have_count(0)
    await expect(box(ada)).to_be_visible()
    await ada.resize(NARROW)

    await rest_on(ada, text)
    await page.get_by_role("menuitem", name="Edit").tap()
    await expect(field).to_have_value("Dinner at eight?")
    await save.tap()
    await expect(text).to_have_text("Dinner at eight?")


@on_a_phone
async def test_swipes_show_other_images_and_a_swipe_down_closes_the_viewer(people: People) -> None:
    ada = await people.arrive("Ada", touch=True, reads="general")
    page = ada.page
    for name in ("one.png", "two.png"):
        picture = {"name": name, "mimeType": "image/png", "buffer": encoded(landscape(), "PNG")}
        await page.locator("#files").set_input_files(picture)  # type: ignore[arg-type]
        await expect(page.locator(".upload-list [data-state=done]")).to_have_count(1)
        await write(ada, name)
    fingers = await page.context.new_cdp_session(page)

    async def swipe(across: int, down: int) -> None:
        for kind, at in (("touchStart", (200, 400)), ("touchMove", (200 + across, 400 + down))):
            touch = {"type": kind, "touchPoints": [{"x": at[0], "y": at[1]}]}
            await fingers.send("Input.dispatchTouchEvent", touch)
        await fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    async def double_tap() -> None:
        start_s = time.time()
        for after_s in (0, 0.15):  # The page gets these times even on a busy machine.
            for kind, points in (("touchStart", [{"x": 200, "y": 400}]), ("touchEnd", [])):
                touch = {"type": kind, "touchPoints": points, "timestamp": start_s + after_s}
                await fingers.send("Input.dispatchTouchEvent", touch)

    await message(ada, "two.png").locator("img").tap()
    pictures = page.locator(".lightbox")
    await expect(pictures).to_contain_text("2 of 2")
    # A double tap enlarges the image. Then it moves with the finger, until the next double tap.
    picture_box = pictures.locator("img")
    await until_still(page)
    whole = await picture_box.bounding_box()
    await double_tap()
    await expect(picture_box).to_have_class(re.compile("enlarged"))
    enlarged = await picture_box.bounding_box()
    await swipe(120, 10)
    await expect(picture_box).to_have_css("transform", re.compile(r"^matrix\(2\.5, 0, 0, 2\.5, \d"))
    shifted = await picture_box.bounding_box()
    assert whole and enlarged and shifted
    assert enlarged["width"] == pytest.approx(2.5 * whole["width"], abs=1)
    assert shifted["x"] == pytest.approx(enlarged["x"] + 120, abs=1)
    await expect(pictures).to_contain_text("2 of 2")
    await double_tap()
    await expect(picture_box).not_to_have_class(re.compile("enlarged"))
    assert await picture_box.bounding_box() == whole
    await picture_box.dblclick()
    await expect(picture_box).to_have_class(re.compile("enlarged"))
    await picture_box.dblclick()
    await expect(picture_box).not_to_have_class(re.compile("enlarged"))
    await swipe(120, 10)
    await expect(pictures).to_contain_text("1 of 2")
    await swipe(-120, 10)
    await expect(pictures).to_contain_text("2 of 2")
    await swipe(10, 120)
    await expect(pictures).to_have_count(0)
    assert "channel=general" in page.url


@on_a_phone
async def test_new_members_are_greeted_and_offered_a_way_to_come_back_after_their_first_message(
    people: People, axe: str
) -> None:
    ada = await people.join("Ada")
    grace = await people.arrive("Grace", touch=True, greeted=False)
    page = grace.page
    # The invite was opened before the server had its name.
    await expect(page.get_by_role("button", name="Join")).to_be_visible()
    await ask(ada, "PATCH", "/api/settings", {"name": "Garden club", "description": "Beds and seeds"})
    await grace.come_in()
    greeting = page.get_by_role("region", name="Welcome to Garden club")
    await expect(greeting).to_contain_text("Beds and seeds")
    await expect(greeting.get_by_role("listitem")).to_have_text(["Voice", "random"])
    await is_within_reach(grace, "the greeting")
    await expect_accessible(grace, axe, "the greeting")
    await greeting.get_by_role("button", name="random").tap()
    await expect(page.locator("#text-name")).to_have_text("random")
    await greeting.get_by_role("button", name="Close").tap()
    await expect(greeting).to_have_count(0)
    await expect(page.locator("#text-name")).to_be_focused()

    offer = page.get_by_role("region", name="Next steps")
    await expect(offer).to_have_count(0)
    await write(grace, "Hello")
    await grace.resize({"width": 360, "height": 560})
    await offer.get_by_role("button", name="Create recovery code").tap()
    await expect(page.locator("dialog").get_by_role("button", name="Create recovery code")).to_be_in_viewport(
        ratio=1
    )
    # Both appear only once. They do not return after a reload or another message.
    await page.keyboard.press("Escape")
    await offer.get_by_role("button", name="Close").tap()
    await expect(offer).to_have_count(0)
    await page.reload()
    await write(grace, "Hello again")
    await expect(page.locator(".newcomer")).to_have_count(0)


# Simulates an on-screen keyboard that covers the bottom of the page, as on iPhones.
COVER = """(px) => {
  Object.defineProperty(visualViewport, "height", { value: innerHeight - px, configurable: true });
  visualViewport.dispatchEvent(new Event("resize"));
}"""


@on_a_phone
async def test_a_keyboard_that_covers_the_page_leaves_room_for_the_field_and_the_heading(
    people: People,
) -> None:
    ada = await people.arrive("Ada", touch=True, reads="general")
    await until_touch_is_handled(ada.page)
    height, keyboard = NARROW["height"], 340

    async def ends_at(target: Locator, edge: int) -> None:
        await until_still(ada.page)
        bounds = await target.bounding_box()
        assert bounds
        assert abs(bounds["y"] + bounds["height"] - edge) <= 1, bounds

    composer, popup = ada.page.locator(".composer"), ada.page.locator(".emoji-popup")
    await box(ada).focus()
    await ada.page.evaluate(COVER, keyboard)
    await ends_at(composer, height - keyboard)
    await expect(ada.page.locator("#text-name")).to_be_in_viewport(ratio=1)
    await ada.press("Choose emoji")
    await expect(ada.page.get_by_label("Search emoji")).to_be_visible()
    await ends_at(popup, height - keyboard)
    await ada.page.go_back()
    await ada.press("Search messages")
    await ends_at(ada.page.locator(".aside"), height - keyboard)
    # The address bar covers less than a keyboard.
    await ada.page.evaluate(COVER, 60)
    await ends_at(ada.page.locator(".aside"), height)
