"""Messages stay in place when the server accepts them, and a new message restyles only a part of the page.

Phones' notches and home indicators do not cover any control.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Locator, Route, expect

from tests.browser import test_private
from tests.browser.test_private import private, private_message, send_message
from tests.kit.browser_users import (
    NARROW,
    People,
    Person,
    both_widths,
    narrow_only,
    until_still,
    wide_daily,
    wide_only,
)
from tests.kit.community import post
from tests.kit.text_channels import LiveConnection, box, do, message, press_at, write

# Returns the positions of the messages and of the elements in the last message.
POSITIONS = """() => {
  const messages = [...document.querySelectorAll(".message")];
  const parts = ".avatar, .author, .byline time, .replied, .text";
  return [...messages, ...messages.at(-1).querySelectorAll(parts)]
    .map((each) => [each.className.split(" ")[0], each.getBoundingClientRect()])
    .map(([name, { x, y, height }]) => [name, Math.round(x), Math.round(y), Math.round(height)]);
}"""

# The safe-area insets of a phone in both orientations. In portrait, the notch is at the top. In landscape,
# there are insets on both sides. The home indicator is always at the bottom.
UPRIGHT = {"top": 47, "bottom": 34, "left": 0, "right": 0}
SIDEWAYS = {"top": 0, "bottom": 21, "left": 44, "right": 44}
# Returns controls in the topmost layer that extend into a safe-area inset and cannot be scrolled out of it.
UNDER = """(insets) => {
  const layers = document.querySelectorAll("dialog[open], :popover-open, [data-drawer=open] .sidebar");
  const root = [...layers].at(-1) ?? document.body;
  const scrolls = (element, side) => element !== null && (scrolls(element.parentElement, side) ||
    (/auto|scroll/.test(getComputedStyle(element)[`overflow${side === "Height" ? "Y" : "X"}`]) &&
      element[`scroll${side}`] > element[`client${side}`]));
  return [...root.querySelectorAll("button, input:not([type=file]), select, textarea")]
    .filter((each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .filter((each) => {
      const { left, right, top, bottom, width } = each.getBoundingClientRect();
      if (width <= 1 || bottom < 0 || top > innerHeight) return false;
      const beside = left < insets.left || right > innerWidth - insets.right;
      if (beside && !scrolls(each, "Width")) return true;
      return !scrolls(each, "Height") && (top < insets.top || bottom > innerHeight - insets.bottom);
    })
    .map((each) => each.ariaLabel || each.textContent || each.id);
}"""


async def keeps_clear(person: Person, where: str) -> None:
    """Check in both orientations that no control extends into a safe-area inset."""
    tools = await person.page.context.new_cdp_session(person.page)
    before = person.page.viewport_size
    assert before is not None
    for insets, size in ((UPRIGHT, NARROW), (SIDEWAYS, {"width": 844, "height": 390})):
        await person.resize({"width": size["width"], "height": size["height"]})
        await tools.send("Emulation.setSafeAreaInsetsOverride", {"insets": insets})
        await until_still(person.page)
        assert await person.page.evaluate(UNDER, insets) == [], where
    await tools.send("Emulation.setSafeAreaInsetsOverride", {"insets": {}})
    await person.resize(before)
    await tools.detach()


@narrow_only
async def test_no_control_is_under_the_notch_or_the_home_indicator(
    people: People,
) -> None:
    ada = await people.arrive("Ada", touch=True, reads="general")
    page = ada.page
    await write(ada, "Hello")
    await keeps_clear(ada, "a channel")
    await ada.show_aside("Members")
    await keeps_clear(ada, "the members")
    await page.locator(".aside-body").get_by_role("button", name="Close").tap()
    await page.get_by_role("button", name="Choose emoji").tap()
    await expect(page.get_by_role("gridcell").first).to_be_visible()
    await keeps_clear(ada, "the emoji picker")
    await page.keyboard.press("Escape")
    await message(ada, "Hello").click(button="right")
    await expect(page.get_by_role("menu")).to_be_visible()
    await keeps_clear(ada, "the menu of a message")
    await page.keyboard.press("Escape")
    await ada.show_channels()
    await keeps_clear(ada, "the list of channels")
    await page.get_by_role("button", name="Settings", exact=True).tap()
    await expect(page.get_by_role("dialog", name="Settings")).to_be_visible()
    await keeps_clear(ada, "the settings")
    await page.keyboard.press("Escape")
    await ada.enter_call()
    await keeps_clear(ada, "a call")


async def stays_in_place(person: Person, field: Locator, text: str, release: Callable[[], None]) -> None:
    """Write a message while requests are held back. Check that nothing moves when they are released."""
    await field.fill(text)
    await field.press("Control+Enter")
    await expect(person.page.locator(".pending")).to_have_count(1)
    before = await person.page.evaluate(POSITIONS)
    release()
    await expect(person.page.locator(".pending")).to_have_count(0)
    await expect(person.page.locator(".message.own .text").last).to_contain_text(text.split("\n")[0])
    assert await person.page.evaluate(POSITIONS) == before, text


@both_widths
async def test_a_message_stays_in_place_when_the_server_accepts_it(people: People) -> None:
    ada = await people.arrive("Ada", reads="general")
    grace = await people.join("Grace")
    line = LiveConnection()
    await line.intercept(ada)
    await ada.page.reload()
    await expect(box(ada)).to_be_enabled()

    async def keeps_its_place(text: str) -> None:
        line.hold("message_send")
        await stays_in_place(ada, box(ada), text, line.release)

    await keeps_its_place("The first message in the channel")
    await keeps_its_place("One that follows it\nwith a second line")
    await post(grace, "Who comes?")
    await expect(message(ada, "Who comes?")).to_be_visible()
    await keeps_its_place("One after somebody else's")
    await do(ada, "Who comes?", "Reply")
    await keeps_its_place("A reply")


@wide_daily
async def test_a_private_message_stays_in_place_when_the_server_accepts_it(people: People) -> None:
    ada, grace = await test_private.both(people)
    await private(ada, "Grace")
    await send_message(ada, "The first message in the conversation")
    await private(grace, "Ada")

    async def keeps_its_place(text: str) -> None:
        released = asyncio.Event()

        async def hold(route: Route) -> None:
            await released.wait()
            await route.continue_()

        await ada.page.route("**/api/private/conversations/*/messages", hold, times=1)
        await stays_in_place(ada, test_private.field(ada), text, released.set)

    await keeps_its_place("One that follows it\nwith a second line")
    await send_message(grace, "Who comes?")
    await expect(private_message(ada, "Who comes?")).to_be_visible()
    await keeps_its_place("One after somebody else's")
    await press_at(private_message(ada, "Who comes?"), "Reply")
    await keeps_its_place("A reply")


async def restyled_elements(person: Person, act: Callable[[], Awaitable[None]]) -> int:
    """Perform an action. Return the number of elements for which the browser computes styles meanwhile."""
    browser = person.page.context.browser
    assert browser is not None
    tools = await browser.new_browser_cdp_session()
    events: list[Any] = []
    complete = asyncio.Event()
    tools.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    tools.on("Tracing.tracingComplete", lambda _: complete.set())
    categories = "devtools.timeline,disabled-by-default-devtools.timeline"
    await tools.send("Tracing.start", {"categories": categories, "transferMode": "ReportEvents"})
    await act()
    await tools.send("Tracing.end")
    await complete.wait()
    await tools.detach()
    return sum(
        event["args"].get("elementCount", 0) for event in events if event["name"] == "UpdateLayoutTree"
    )


@wide_only
async def test_a_new_message_restyles_less_than_the_whole_page(people: People) -> None:
    # Because of two rules with :has(), each message once restyled the whole page several times.
    ada = await people.arrive("Ada", reads="general")
    for number in range(15):
        await write(ada, f"Message {number}")
    # Style sheets and icons that arrive in the meantime also restyle the page, so take the minimum.
    restyled = [await restyled_elements(ada, lambda: write(ada, "One more")) for _ in range(3)]
    assert 0 < min(restyled) < await ada.page.locator("*").count()
