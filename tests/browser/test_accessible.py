"""axe-core finds nothing in the views of the page, at both sizes and in both themes.

It sees what can be seen by a program: names, roles, contrast, order. Whether the keyboard is enough is tested
where things are done.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.kit.packages import npm_packages
from tests.kit.people import People, Person, until_still
from tests.kit.text_channels import box, press_at, write

AXE = Path(__file__).parents[1] / "axe"
SIZES = {"wide": {"width": 1280, "height": 800}, "narrow": {"width": 390, "height": 780}}
FOUND = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary: why }) => (
    `${id}: ${target.join(" ")}: ${why.split("\\n")[1] ?? ""}`)));
}"""


@pytest.fixture
async def axe() -> AsyncIterator[str]:
    folder = await npm_packages(AXE)
    yield (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


async def look(person: Person, axe: str, where: str, found: list[str]) -> None:
    if not await person.page.evaluate("'axe' in window"):
        await person.page.evaluate(axe)
    await until_still(person.page)
    found += [f"{where}: {each}" for each in await person.page.evaluate(FOUND)]


async def close(person: Person) -> None:
    await person.page.keyboard.press("Escape")
    await expect(person.page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_nothing_keeps_anybody_out(people: People, axe: str, size: str, theme: Any) -> None:
    found: list[str] = []
    ada = await people.arrive("Ada")
    await ada.page.set_viewport_size(SIZES[size])  # type: ignore[arg-type]
    await ada.page.emulate_media(color_scheme=theme)
    await ada.page.get_by_label("Your name").wait_for()
    await look(ada, axe, "arriving", found)
    await ada.page.get_by_label("Your name").fill("Ada")
    await ada.press("Join")
    await expect(box(ada)).to_be_visible()
    await look(ada, axe, "an empty channel", found)

    await write(ada, "Hello **all**, see https://example.org and `this`, ||hidden||")
    await write(ada, "# Title\n- one\n- two\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```")
    first = ada.page.locator(".message").first
    await press_at(first, "React")
    await look(ada, axe, "a message with its actions", found)
    await ada.press("👍")
    await look(ada, axe, "a channel with messages", found)

    asides = ["Members", "Search", "Pinned messages", "Threads that you follow", "Mentions"]
    for name in asides:
        await ada.press(name)
        await expect(ada.page.locator(".aside-body")).to_be_visible()
        await look(ada, axe, name, found)
        await ada.page.locator(".aside-body").get_by_role("button", name="Close").click()

    opened: dict[str, Callable[[], Awaitable[None]]] = {
        "the switcher": lambda: ada.page.keyboard.press("Control+k"),
        "the shortcuts": lambda: ada.page.keyboard.press("Control+/"),
        "a profile": lambda: first.locator(".author").click(),
    }
    for name, show in opened.items():
        await show()
        await expect(ada.page.get_by_role("dialog")).to_be_visible()
        await look(ada, axe, name, found)
        await close(ada)

    if size == "narrow":
        await ada.press("Show the channels")
        await look(ada, axe, "the list of channels", found)
    await ada.press("Settings")
    await expect(ada.page.get_by_role("dialog", name="Settings")).to_be_visible()
    pages = ada.page.get_by_role("navigation", name="Settings pages").get_by_role("button")
    for number in range(await pages.count()):
        await pages.nth(number).click()
        await look(ada, axe, await pages.nth(number).inner_text(), found)
    await close(ada)

    await ada.press("Join Voice with…")
    await look(ada, axe, "before a call", found)
    await ada.press("Join the call")
    await ada.is_connected()
    await look(ada, axe, "a call", found)
    await ada.press("More call options")
    await look(ada, axe, "the menu of a call", found)
    assert not found, "\n".join(found)
