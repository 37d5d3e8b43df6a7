"""Tests input method keys, the focus after Escape, and text and controls that must fit and be
distinguishable.
"""

import re
from io import BytesIO

import pytest
from PIL import Image
from playwright.async_api import Locator, expect

from tests.browser.test_accessibility import axe, expect_accessible
from tests.kit.browser_users import NARROW, WIDE, People, Person, until_still
from tests.kit.community import post
from tests.kit.text_channels import both, box, do, message, until_tooltips_are_shown, write
from tests.kit.wait import wait_for_value, wait_until

__all__ = ["axe"]

wide = pytest.mark.parametrize("viewport", [WIDE], ids=["wide"], indirect=True)
# Safari ends the composition before the keydown event, so only the key code distinguishes the Enter that
# ended a composition from other Enters.
ENDS_CONVERSION = """(field) => {
  const enter = { key: "Enter", code: "Enter", keyCode: 229, bubbles: true, cancelable: true };
  return field.dispatchEvent(new KeyboardEvent("keydown", enter));
}"""
HAS_FOCUS = "() => document.activeElement?.id || document.activeElement?.ariaLabel"
# Returns whether the message's buttons cover the first letter of its text.
IS_COVERED = """(message) => {
  const walker = document.createTreeWalker(message.querySelector(".text"), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  range.setStart(walker.nextNode(), 0);
  range.setEnd(walker.currentNode, 1);
  const letter = range.getBoundingClientRect();
  const bar = message.querySelector(".actions").getBoundingClientRect();
  const isAcross = letter.right > bar.left && letter.left < bar.right;
  return isAcross && letter.bottom > bar.top && letter.top < bar.bottom;
}"""
# Returns the lowest contrast of the given role colours, and the place where it occurs.
LOWEST_CONTRAST = """(colours) => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const luminance = (colour) => {
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const linear = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((byte) => byte / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const place = document.createElement("div");
  place.className = "markdown";
  document.querySelector("#messages").append(place);
  const found = [];
  for (const colour of colours) {
    // Messages that mention us or are under the pointer are tinted, and members are listed on --nav.
    const tinted = "color-mix(in oklab, var(--notice) 50%, var(--page))";
    const pointed = "color-mix(in oklab, var(--raised) 55%, var(--page))";
    const named = ["page", "surface", "raised", "nav", "nav-end"].map((each) => `var(--${each})`);
    const places = [...named, tinted, pointed].map((each) => ["author", each]);
    for (const [name, background] of [...places, ["mention", ""]]) {
      const role = Object.assign(document.createElement("span"), { className: `${name} coloured` });
      role.style.setProperty("--role", colour);
      place.replaceChildren(role);
      const { color, backgroundColor } = getComputedStyle(role);
      place.style.color = background;
      const behind = background ? getComputedStyle(place).color : backgroundColor;
      const [light, dark] = [luminance(color), luminance(behind)].sort((one, other) => other - one);
      found.push([(light + 0.05) / (dark + 0.05), colour, name || background]);
    }
  }
  place.remove();
  return found.sort((one, other) => one[0] - other[0])[0];
}"""


def every_colour() -> list[str]:
    """Return all combinations of four levels of red, green and blue, and two colours that users have
    reported.
    """
    levels = [0, 85, 170, 255]
    return ["#1abc9c", "#1a237e"] + [
        f"#{r:02x}{g:02x}{b:02x}" for r in levels for g in levels for b in levels
    ]


async def ends_conversion(field: Locator) -> None:
    """Press Enter during a composition. Check that no handler intercepts it before the input method."""
    await field.focus()
    assert await field.evaluate(ENDS_CONVERSION)


@wide
async def test_the_enter_that_ends_an_ime_composition_does_not_send_a_message(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    page = ada.page
    await box(ada).fill("今日は")
    await ends_conversion(box(ada))
    await expect(box(ada)).to_have_value("今日は")
    await box(ada).press("Enter")
    await expect(message(ada, "今日は")).to_be_visible()

    await do(ada, "今日は", "Edit")
    editor = page.get_by_role("textbox", name="Edit message")
    await editor.fill("明日は")
    await ends_conversion(editor)
    await expect(editor).to_have_value("明日は")
    await editor.press("Escape")

    await page.keyboard.press("Control+k")
    await ends_conversion(page.get_by_role("dialog").get_by_role("combobox"))
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")

    await ada.press("Choose emoji")
    search = page.locator(".emoji-picker input[type=search]")
    await search.fill("heart")
    await expect(page.locator(".emoji-grid button").first).to_be_visible()
    await ends_conversion(search)
    await expect(page.locator(".emoji-picker")).to_be_visible()
    await expect(box(ada)).to_have_value("")


@wide
async def test_escape_returns_the_focus_to_the_previous_element_or_the_composer(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    page = ada.page
    await write(ada, "Hello")
    for way in ("from the field", "from nowhere"):
        for keys, shown in (("Control+f", page.locator(".aside")), ("Control+,", page.get_by_role("dialog"))):
            await box(ada).focus()
            if way == "from nowhere":
                await box(ada).evaluate("(field) => field.blur()")
            await page.keyboard.press(keys)
            await expect(shown).to_be_visible()
            await expect(shown.locator(":focus").first).to_be_attached()
            await page.keyboard.press("Escape")
            await expect(shown).to_have_count(0)
            await wait_for_value(lambda: page.evaluate(HAS_FOCUS), "draft")
    await ada.press("Choose emoji")
    await expect(page.locator(".emoji-picker input[type=search]")).to_be_focused()
    await page.keyboard.press("Escape")
    await wait_for_value(lambda: page.evaluate(HAS_FOCUS), "Choose emoji")
    await do(ada, "Hello", "React")
    await expect(page.locator(".picker button").first).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.locator(".picker")).to_have_count(0)
    await wait_for_value(lambda: page.evaluate(HAS_FOCUS), "React")


async def test_emoji_are_shown_in_colour_on_a_machine_without_an_emoji_font(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await write(ada, "🎉")
    emoji = message(ada, "🎉").locator(".text")

    async def is_colourful() -> bool:
        drawn = Image.open(BytesIO(await emoji.screenshot())).convert("HSV")
        # Dark backgrounds are saturated too, so the emoji must have pixels that are both saturated and
        # bright.
        _, saturation, brightness = drawn.split()
        return max(map(min, saturation.tobytes(), brightness.tobytes())) >= 100

    await wait_until("the emoji is rendered in colour", is_colourful, within_s=15)


@wide
async def test_the_focus_returns_to_the_button_that_opened_a_dialog(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    page = ada.page
    await write(ada, "Hello")
    openers = {
        "the invite": page.get_by_role("button", name="Invite people"),
        "the switcher": page.locator(".sidebar .find"),
        "a new channel": page.get_by_role("button", name="Create text channel"),
        "a call": page.get_by_role("button", name="Join Voice with…"),
        "the settings": page.get_by_role("button", name="Settings", exact=True),
        "the channel": page.get_by_role("button", name="About general", exact=True),
        "a day": page.locator(".day button"),
        "a profile": page.locator(".author").first,
    }
    for where, opener in openers.items():
        await opener.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog").locator(":focus"), where).to_be_attached()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog"), where).to_have_count(0)
        await expect(opener, where).to_be_focused()
    # If a dialog was opened from a menu, the focus returns to the menu's button.
    more = message(ada, "Hello").get_by_role("button", name="More")
    await more.focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("menuitem", name="Delete").press("Enter")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(more).to_be_focused()


async def test_escape_dismisses_the_new_messages_bar(people: People) -> None:
    ada = await people.join("Ada")
    grace = await people.arrive("Grace", reads="general")
    await write(grace, "Old")
    await grace.page.goto("about:blank")
    for number in range(12):
        await post(ada, f"News {number}\nwith a second line\nand a third")
    await grace.page.go_back()
    await expect(grace.page.locator(".news")).to_be_visible()
    await grace.page.keyboard.press("Escape")
    await expect(grace.page.locator(".news")).to_have_count(0)


async def test_the_buttons_do_not_cover_the_start_of_text_in_either_direction(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await write(ada, "First, so that what follows has no name above it")
    texts = ("مرحبا بالجميع", "Hello everybody")
    for text in texts:
        await write(ada, text)
    for size in (WIDE, NARROW):
        await ada.resize(size)
        for text in texts:
            await message(ada, text).hover()
            assert not await message(ada, text).evaluate(IS_COVERED), text


@wide
async def test_an_icon_shows_its_name_on_hover_and_on_keyboard_focus(people: People, axe: str) -> None:
    ada = await people.arrive("Ada", reads="general")
    tooltip, members = ada.page.locator(".tooltip"), ada.page.get_by_role("button", name="Members")
    await until_tooltips_are_shown(ada)
    await expect(tooltip).to_have_text("Members")
    await expect_accessible(ada, axe, "a tooltip")
    await ada.page.keyboard.press("Escape")
    await expect(tooltip).to_be_hidden()
    await members.focus()
    await ada.page.keyboard.press("Tab")
    await expect(ada.page.get_by_role("button", name="Search messages")).to_be_focused()
    await expect(tooltip).to_be_hidden()  # The button itself displays its name.
    await ada.page.keyboard.press("Tab")
    await expect(tooltip).to_have_text("More channel options")
    await ada.page.keyboard.press("Enter")
    await expect(ada.page.get_by_role("menuitem", name="Pinned messages")).to_be_focused()
    await expect(tooltip).to_be_hidden()
    await expect_accessible(ada, axe, "the menu of a channel")
    await ada.page.keyboard.press("Escape")
    await expect(ada.page.get_by_role("button", name="More channel options")).to_be_focused()
    # A `title` appears as the same kind of tooltip, and the browser does not show its own tooltip as well.
    day = ada.page.locator(".day button").first
    await write(ada, "Hello")
    await day.hover()
    await expect(tooltip).to_have_text("Jump to date")
    await expect(day).not_to_have_attribute("title", re.compile("."))
    await members.hover()
    await expect(tooltip).to_have_text("Members")
    await expect(day).to_have_attribute("title", "Jump to date")


async def test_the_edited_mark_is_below_the_text(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await write(ada, "First")
    await write(ada, "Second")
    await box(ada).press("ArrowUp")
    editor = ada.page.get_by_role("textbox", name="Edit message")
    await editor.fill("Second, changed")
    await editor.press("Enter")
    mark = message(ada, "Second, changed").get_by_text("edited", exact=True)
    await expect(mark).to_be_visible()
    words = message(ada, "Second, changed").locator(".text")

    async def below() -> bool:
        return await top_of(mark) >= await top_of(words) + 10

    await wait_until("the mark is below the text", below, within_s=15)


async def top_of(element: Locator) -> float:
    box = await element.bounding_box()
    assert box
    return box["y"]


async def test_a_member_whose_name_is_taken_sees_their_new_name(people: People) -> None:
    first, second = await people.arrive("Tomás"), await people.arrive("Tomás")
    await first.come_in()
    await second.come_in()
    text = "“Tomás” is already taken here, so your name is “Tomás 2”. You can change it in settings."
    await expect(second.page.get_by_text(text)).to_be_visible()
    await expect(first.page.locator(".notice")).to_have_count(0)


@wide
async def test_a_notice_does_not_cover_the_buttons_for_selected_members(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.join("Grace")
    page = ada.page
    # Keep the notice open for the duration of the test.
    await page.evaluate(
        "() => { const wait = setTimeout; setTimeout = (run, ms) => (ms === 8000 ? 0 : wait(run, ms)); }"
    )
    await page.keyboard.press("Control+,")
    await page.get_by_label("Status", exact=True).fill("Busy")
    await ada.press("Save")
    notice = page.get_by_text("Saved.", exact=True)
    await expect(notice).to_be_visible()
    await page.locator(".settings-pages nav").get_by_role("button", name="Members", exact=True).click()
    await page.get_by_role("checkbox", name=re.compile(grace.name)).check()
    acts = page.get_by_role("button", name="Time out")
    await expect(acts).to_be_visible()
    await expect(notice).to_be_visible()
    shown = notice.locator("xpath=ancestor-or-self::*[contains(@class, 'notice')][1]")

    async def apart() -> bool:
        above, below = await shown.bounding_box(), await page.locator(".action-bar").bounding_box()
        return bool(above and below and above["y"] + above["height"] <= below["y"])

    for size in (WIDE, NARROW):
        # In a short window, the buttons are at the bottom edge.
        await ada.resize({**size, "height": 480})
        await wait_until("the notice is above the buttons", apart, within_s=15)
        await acts.click(trial=True)


async def test_every_role_colour_is_readable(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await expect(ada.page.locator("#messages")).to_be_attached()
    for theme in ("light", "dark"):
        await ada.page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        contrast, colour, where = await ada.page.evaluate(LOWEST_CONTRAST, every_colour())
        assert contrast >= 4.5, f"{colour} on {where} in the {theme} theme"


async def colours_of(person: Person, control: str) -> list[str]:
    await until_still(person.page)
    styles = "(button) => [getComputedStyle(button).color, getComputedStyle(button).backgroundColor]"
    colours: list[str] = await person.page.locator(control).evaluate(styles)
    return colours


async def test_only_a_muted_microphone_button_stands_out(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await ada.enter_call()
    usual = await colours_of(ada, "#gesture")
    for control in ("#mic", "#deafen"):
        assert await colours_of(ada, control) == usual, control
    await ada.press("Deafen")
    await expect(ada.page.locator("#deafen")).to_have_text("Undeafen")
    await until_still(ada.page)
    for control in ("#mic", "#deafen"):
        red, green, blue = await ada.page.locator(control).evaluate(
            """(button) => {
              const context = document.createElement("canvas").getContext("2d");
              context.fillStyle = getComputedStyle(button).color;
              context.fillRect(0, 0, 1, 1);
              return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
            }"""
        )
        assert red > 1.4 * max(green, blue), control


async def test_the_states_of_a_call_look_different_even_without_motion(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    await ada.enter_call()
    await expect(ada.page.locator("#call-state")).to_have_text("Connected")
    look = """(pill, state) => {
      pill.closest(".call").dataset.state = state;
      const dot = getComputedStyle(pill, "::before");
      return [getComputedStyle(pill).backgroundColor, dot.backgroundColor, dot.borderStyle].join();
    }"""
    states = ("ringing", "joining", "connected", "reconnecting")

    async def differ() -> bool:
        looks = {await ada.page.locator("#call-state").evaluate(look, state) for state in states}
        return len(looks) == len(states)

    await wait_until("later.css is loaded", differ, within_s=15)


@pytest.mark.usefixtures("motion")
async def test_only_messages_from_other_members_fade_in(people: People) -> None:
    ada, grace = await both(people)
    duration = "(message) => getComputedStyle(message).transitionDuration"
    await write(ada, "Good morning")
    await expect(message(grace, "Good morning")).to_be_visible()

    async def fades() -> bool:
        return bool(await message(grace, "Good morning").evaluate(duration) == "0.12s")

    await wait_until("later.css is loaded", fades, within_s=15)
    assert await message(ada, "Good morning").evaluate(duration) == "0s"
    await grace.page.emulate_media(reduced_motion="reduce")
    assert await message(grace, "Good morning").evaluate(duration) == "0s"
