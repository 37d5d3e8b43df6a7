"""The web client can be used by keyboard alone, in every theme and in forced-colours mode."""

from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.test_hostile_content import TOO_WIDE
from tests.browser.test_profiles import settings
from tests.kit.browser_users import People, Person, until_still, wide_only
from tests.kit.community import ask
from tests.kit.text_channels import box, entry, join_and_open, message, shows, write
from tests.kit.wait import wait_for_value

MAX_STOPS = 60
FOCUS_RING = """() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  return outlineStyle === "none" ? 0 : parseFloat(outlineWidth);
}"""
HOLDS_THE_FOCUS = "(element) => element.matches(':focus-within:not(:focus)')"
LOOK = """() => {
  const { colorScheme, fontSize } = getComputedStyle(document.documentElement);
  const [avatar] = document.querySelectorAll(".message .avatar");
  const message = avatar.closest(".message");
  message.classList.add("marked");
  const { animationName: motion } = getComputedStyle(message);
  message.classList.remove("marked");
  return { colorScheme, fontSize, motion, avatar: avatar.clientWidth };
}"""

# Returns whether two markers are visible without the page's own colours: a dot on the avatar and a bar next
# to the channel's name.
MARKS = """() => {
  const dot = getComputedStyle(document.querySelector(".own-corner .avatar"), "::after").backgroundColor;
  const { borderInlineStartWidth: bar } = getComputedStyle(document.querySelector(".channel.unread"));
  return [dot !== getComputedStyle(document.body).backgroundColor, parseFloat(bar) > 2];
}"""
CATALOGUES = """() => performance
  .getEntriesByType("resource")
  .map(({ name }) => name.split("/").at(-1))
  .filter((name) => name.endsWith(".ftl"))"""
PAPER = "() => getComputedStyle(document.body).backgroundColor"


async def looks(person: Person, **wanted: str) -> None:
    """Wait until the page has this appearance, because media queries take effect in the next frame."""

    async def shown() -> dict[str, str]:
        look = await person.page.evaluate(LOOK)
        return {name: look[name] for name in wanted}

    await wait_for_value(shown, wanted)


async def reach(person: Person, name: str, *, role: Any = "button", key: str = "Tab") -> None:
    """Press a key until the given element has focus."""
    wanted = person.page.get_by_role(role, name=name, exact=True)
    for _ in range(MAX_STOPS):
        await person.page.keyboard.press(key)
        if await wanted.evaluate_all("(all) => all.includes(document.activeElement)"):
            return
    raise AssertionError(f"{key} does not reach {name}")


async def accessibility_node(page: Page, role: str) -> dict[str, object]:
    """Return the properties that the browser exposes to screen readers for the element with this role."""
    session = await page.context.new_cdp_session(page)
    nodes = (await session.send("Accessibility.getFullAXTree"))["nodes"]
    [node] = [node for node in nodes if node["role"]["value"] == role]
    await session.detach()
    return {property_["name"]: property_["value"].get("value") for property_ in node["properties"]}


@wide_only
async def test_the_main_tasks_work_by_keyboard_alone(people: People) -> None:
    ada = await people.arrive("Ada")
    press, type_ = ada.page.keyboard.press, ada.page.keyboard.type
    await expect(ada.page.get_by_label("Your name")).to_be_focused()
    await type_("Ada")
    await press("Enter")
    # The setup steps for a new owner appear later and leave the focus in the message field.
    await expect(ada.page.get_by_role("textbox", name="Server name")).to_be_visible()
    await expect(box(ada)).to_be_focused()
    await reach(ada, "Messages", role="log", key="Shift+Tab")
    await reach(ada, "Server name", role="textbox")
    await type_("Garden")
    await press("Enter")
    await expect(ada.page.get_by_role("button", name="Choose picture")).to_be_focused()
    await reach(ada, "Message general", role="textbox")
    await type_("one")
    await press("Enter")
    await shows(ada, ["one"])
    await type_("two")
    await press("Enter")
    await shows(ada, ["one", "two"])
    await expect(ada.page.locator(".pending")).to_have_count(0)
    # The up arrow edits the last message.
    await press("ArrowUp")
    await expect(ada.page.get_by_role("textbox", name="Edit message")).to_be_focused()
    await type_("!")
    await press("Enter")
    await shows(ada, ["one", "two!"])
    await expect(box(ada)).to_be_focused()

    await go_through_messages(ada)
    await answer_in_a_thread(ada)
    await take_part_in_a_call(ada)
    await switch_channel(ada)


async def go_through_messages(ada: Person) -> None:
    press = ada.page.keyboard.press
    # New messages are announced one at a time, and the arrow keys move between messages.
    log = await accessibility_node(ada.page, "log")
    assert log["live"] == "polite" and log["atomic"] is False
    await reach(ada, "Messages", role="log", key="Shift+Tab")
    await press("ArrowUp")
    await expect(message(ada, "two!")).to_be_focused()
    await press("ArrowUp")
    await expect(message(ada, "one")).to_be_focused()
    await press("End")
    await expect(message(ada, "two!")).to_be_focused()
    await reach(ada, "React")
    await press("Enter")
    await expect(ada.page.locator(".picker button").first).to_be_focused()
    await press("Enter")
    await expect(message(ada, "two!").locator(".reaction")).to_have_accessible_name("👍 1 person")
    # From the message list, Tab skips all messages' buttons.
    await ada.page.locator("#messages-box").focus()
    await press("Tab")
    assert await ada.page.evaluate("document.activeElement.closest('#composer') !== null")
    # Shift+Tab skips the buttons, too. Inside the list, it moves from a message's buttons to the message and
    # then to the previous message's buttons.
    await press("Shift+Tab")
    await expect(ada.page.locator("#messages-box")).to_be_focused()
    await press("End")
    last, first = message(ada, "two!"), message(ada, "one")
    await press("Tab")
    assert await last.evaluate(
        "(message) => message !== document.activeElement && message.contains(document.activeElement)"
    )
    await reach_message(ada, last)
    await press("Shift+Tab")
    await expect(first.get_by_role("button", name="More")).to_be_focused()
    await expect(first.locator(".actions [data-icon=reply]")).to_be_visible()
    await press("Shift+Tab")
    assert await first.evaluate(
        "(message) => message !== document.activeElement && message.contains(document.activeElement)"
    )
    await press("Tab")
    await expect(first.get_by_role("button", name="More")).to_be_focused()
    await reach_message(ada, first)
    await press("End")
    await expect(last).to_be_focused()
    # From the last button of the last message, Tab continues to the element after the list.
    await last.get_by_role("button", name="More").focus()
    await reach(ada, "Message general", role="textbox")


async def reach_message(person: Person, wanted: Locator) -> None:
    """Move the focus from a message's buttons to the message."""
    for _ in range(MAX_STOPS):
        await person.page.keyboard.press("Shift+Tab")
        if await wanted.evaluate("(message) => message === document.activeElement"):
            return
        assert await wanted.evaluate(HOLDS_THE_FOCUS)
    raise AssertionError("the focus does not reach the message")


async def answer_in_a_thread(ada: Person) -> None:
    press = ada.page.keyboard.press
    await reach(ada, "Messages", role="log", key="Shift+Tab")
    await press("ArrowUp")
    await expect(message(ada, "two!")).to_be_focused()
    await reach(ada, "More")
    await press("Enter")
    await expect(ada.page.get_by_role("menuitem", name="Reply in thread")).to_be_focused()
    await press("Enter")
    await expect(ada.page.get_by_role("textbox", name="Reply in thread")).to_be_focused()
    await ada.page.keyboard.type("aside")
    await press("Enter")
    await expect(ada.page.locator(".thread .message").filter(has_text="aside")).to_be_visible()
    await press("Escape")
    await expect(ada.page.locator(".thread")).to_have_count(0)
    await expect(message(ada, "two!").get_by_role("button", name="More")).to_be_focused()


async def take_part_in_a_call(ada: Person) -> None:
    press = ada.page.keyboard.press
    await reach(ada, "Join Voice with…", key="Shift+Tab")
    await press("Enter")
    await expect(ada.page.get_by_role("dialog").locator(":focus")).to_be_attached()
    await reach(ada, "Join call")
    await press("Enter")
    await ada.is_connected()
    await reach(ada, "Mute")
    await press("Enter")
    await expect(ada.page.get_by_role("button", name="Unmute", exact=True)).to_be_focused()
    await press("Control+Shift+M")
    await expect(ada.page.get_by_role("button", name="Mute", exact=True)).to_be_focused()
    await reach(ada, "Leave")
    await press("Enter")
    await expect(ada.page.locator("#call-state")).to_have_count(0)
    await press("Control+k")
    await expect(ada.page.get_by_role("combobox", name="Channel or person")).to_be_focused()
    await ada.page.keyboard.type("general")
    await press("Enter")
    await expect(box(ada)).to_be_focused()


async def switch_channel(ada: Person) -> None:
    press, type_ = ada.page.keyboard.press, ada.page.keyboard.type
    await ask(ada, "POST", "/api/channels", {"name": "random", "type": "text"})
    await press("Control+k")
    await expect(ada.page.get_by_role("combobox")).to_be_focused()
    await type_("rand")
    await expect(ada.page.get_by_role("option")).to_have_count(1)
    await press("Enter")
    await expect(ada.page.locator("#text-name")).to_have_text("random")
    await press("Alt+ArrowUp")
    await expect(ada.page.locator("#text-name")).to_have_text("general")
    await press("Control+/")
    sheet = ada.page.get_by_role("dialog", name="Keyboard shortcuts")
    await expect(sheet.locator("dd").filter(has_text="Jump to a channel or person")).to_be_visible()
    await expect(sheet.locator("dt")).to_have_count(await sheet.locator("dd").count())
    await press("Escape")
    await expect(sheet).to_have_count(0)
    await press("Control+,")
    await expect(ada.page.get_by_role("dialog", name="Settings")).to_be_visible()
    await press("Escape")
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    await press("Control+f")
    await expect(ada.page.get_by_role("searchbox")).to_be_focused()
    await type_("two")
    await press("Enter")
    await expect(ada.page.locator(".message-line")).to_have_count(1)
    await reach(ada, "Jump to message")
    await press("Enter")
    await expect(message(ada, "two!").first).to_be_focused()
    await press("Escape")
    await expect(ada.page.get_by_role("searchbox")).to_have_count(0)
    # Text typed outside a field goes to the message field.
    await type_("three")
    await expect(box(ada)).to_have_value("three")


@pytest.mark.usefixtures("motion")
@wide_only
async def test_the_chosen_theme_survives_a_reload_and_settings_stay_open_after_a_language_change(
    people: People,
) -> None:
    ada = await people.arrive("Ada", reads="general")
    await write(ada, "A word")
    await expect(message(ada, "A word")).to_be_visible()
    usual = await ada.page.evaluate(LOOK)
    page = await settings(ada, "Appearance and language")
    await page.get_by_role("radio", name="Dark").check()
    await page.get_by_role("radio", name="Compact").check()
    await page.get_by_role("radio", name="Reduced").check()
    await page.get_by_label("Text size").select_option("150")
    await ada.page.reload()
    await expect(message(ada, "A word")).to_be_attached()
    await looks(ada, colorScheme="dark", fontSize="22.5px", motion="none")
    assert usual["motion"] == "marked"
    assert (await ada.page.evaluate(LOOK))["avatar"] < usual["avatar"]
    assert await ada.page.evaluate(TOO_WIDE) == []
    page = await settings(ada, "Appearance and language")
    await until_still(ada.page)
    assert await ada.page.evaluate(TOO_WIDE) == []
    await expect(page.get_by_role("radio", name="Compact")).to_be_checked()
    await expect(page.get_by_label("Text size")).to_have_value("150")
    await expect(page.get_by_role("radio", name="Reduced")).to_be_checked()
    await page.get_by_role("group", name="Motion").get_by_role("radio", name="Match system").check()
    await looks(ada, motion="marked")
    await ada.page.emulate_media(reduced_motion="reduce")
    await looks(ada, motion="none")
    await page.get_by_role("radio", name="Light").check()
    await looks(ada, colorScheme="light")
    await ada.page.emulate_media(color_scheme="dark")
    await until_still(ada.page)
    light = await ada.page.evaluate(PAPER)
    await page.get_by_role("group", name="Theme").get_by_role("radio", name="Match system").check()
    await ada.page.wait_for_function(f"(light) => ({PAPER})() !== light", arg=light)
    await ada.page.emulate_media(color_scheme="light")
    await wait_for_value(lambda: ada.page.evaluate(PAPER), light)
    # Changing the language reloads the page, and the settings stay open.
    await page.get_by_label("Language").select_option("de")
    dialog = ada.page.get_by_role("dialog", name="Einstellungen")
    await expect(dialog.get_by_role("combobox", name="Sprache")).to_have_value("de")
    assert await ada.page.evaluate(CATALOGUES) == ["de.ftl"]
    await ada.page.reload()
    await expect(message(ada, "A word")).to_be_attached()
    await expect(dialog).to_have_count(0)


@wide_only
async def test_the_focus_is_visible_in_forced_colours_mode(people: People) -> None:
    ada = await people.arrive("Ada")
    await ada.page.emulate_media(forced_colors="active")
    press = ada.page.keyboard.press
    await ada.page.get_by_label("Your name").wait_for()
    await join_and_open(ada)
    await write(ada, "A word")
    elsewhere = (await ask(ada, "POST", "/api/channels", {"name": "plans", "type": "text"}))["id"]
    hook = await ask(ada, "POST", "/api/webhooks", {"name": "News", "channel_id": elsewhere})
    await ask(ada, "POST", f"/api/webhooks/{hook['id']}/{hook['token']}", {"text": "It rains"})
    await ada.show_channels()
    await expect(entry(ada, "plans")).to_contain_text("1 unread")
    assert await ada.page.evaluate(MARKS) == [True, True]
    await ada.hide_channels()
    await ada.page.locator("#messages-box").focus()
    for _ in range(5):
        await press("Shift+Tab")
        assert await ada.page.evaluate(FOCUS_RING) >= 2
    await ada.show_aside("Notifications")
    await expect(ada.page.get_by_role("menu")).to_be_visible()
    await press("ArrowDown")
    assert await ada.page.evaluate(FOCUS_RING) >= 2
    await press("Escape")
    await press("Control+k")
    chosen = ada.page.get_by_role("option", selected=True)
    await expect(chosen).to_be_visible()
    assert await chosen.evaluate("(element) => getComputedStyle(element).outlineStyle") == "solid"
    await press("Escape")
