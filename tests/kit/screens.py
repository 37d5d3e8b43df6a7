"""Saves screenshots of the page's main views at four widths in both themes: `python -m tests.kit.screens`.

They are for people to look at, and are saved in build/screens. The two narrow widths have fingers as the only
input. The machine needs a font with emoji, such as Noto Color Emoji. Names of views after the command take
only these.
"""

import argparse
import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from playwright.async_api import ViewportSize, expect

from tests.kit.docs_pictures import FACE, NAMES, community, converse
from tests.kit.people import DRAWER_UP_TO, Person, until_still
from tests.kit.text_channels import open_channel

SCREENS = Path(__file__).parents[2] / "build" / "screens"
PHONE, TABLET = ViewportSize(width=390, height=844), ViewportSize(width=768, height=1024)
LAPTOP, DESKTOP = ViewportSize(width=1280, height=800), ViewportSize(width=1920, height=1080)
THEMES = ("light", "dark")
View = Callable[[Person], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def conversation(person: Person) -> AsyncIterator[None]:
    await open_channel(person, "general")
    yield


@asynccontextmanager
async def empty_channel(person: Person) -> AsyncIterator[None]:
    await open_channel(person, "kitchen")
    yield
    await open_channel(person, "general")


@asynccontextmanager
async def channels(person: Person) -> AsyncIterator[None]:
    await person.show_channels()
    yield
    await person.hide_channels()


@asynccontextmanager
async def search(person: Person) -> AsyncIterator[None]:
    await person.show_aside("Search")
    await person.page.get_by_role("searchbox").fill("three")
    await person.page.keyboard.press("Enter")
    await expect(person.page.locator(".message-line").first).to_be_visible()
    yield
    await person.page.locator(".aside-body").get_by_role("button", name="Close").click()


@asynccontextmanager
async def profile(person: Person) -> AsyncIterator[None]:
    await person.page.locator(".author", has_text="Alan").first.click()
    await expect(person.page.get_by_role("dialog")).to_be_visible()
    yield
    await person.page.keyboard.press("Escape")
    await expect(person.page.get_by_role("dialog")).to_have_count(0)


@asynccontextmanager
async def settings(person: Person) -> AsyncIterator[None]:
    await person.show_channels()
    await person.press("Settings")
    await expect(person.page.get_by_role("dialog", name="Settings")).to_be_visible()
    yield
    await person.page.keyboard.press("Escape")
    await expect(person.page.get_by_role("dialog")).to_have_count(0)
    await person.hide_channels()


@asynccontextmanager
async def emoji(person: Person) -> AsyncIterator[None]:
    await person.press("Choose an emoji")
    await expect(person.page.get_by_role("gridcell").first).to_be_visible()
    yield
    await person.page.keyboard.press("Escape")


VIEWS: dict[str, View] = {
    "conversation": conversation,
    "channels": channels,
    "empty-channel": empty_channel,
    "search": search,
    "profile": profile,
    "emoji": emoji,
    "settings": settings,
}


async def save(person: Person, view: str) -> None:
    """Save the current view in both themes. The pointer is moved to where it hovers over nothing."""
    page = person.page
    await page.mouse.move(0, 0)
    for theme in THEMES:
        # The rings of speakers would never be still.
        await page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        await until_still(page)
        width = (page.viewport_size or LAPTOP)["width"]
        await page.screenshot(path=SCREENS / f"{view}-{width}-{theme}.png")


async def in_sizes(people: list[tuple[Person, ViewportSize]], view: str) -> None:
    """Save the current view at several window sizes."""
    for person, size in people:
        await person.page.set_viewport_size(size)
        await save(person, view)


async def take(wanted: list[str]) -> None:
    SCREENS.mkdir(parents=True, exist_ok=True)
    async with community(touch=NAMES[0]) as (people, ada, others):
        await converse(ada, others)
        windows = [(others[0], PHONE), (others[0], TABLET), (ada, LAPTOP), (ada, DESKTOP)]
        if "sign-in" in wanted:
            guests = [await people.arrive("Guest", touch=touch) for touch in (True, False)]
            for guest in guests:
                await guest.page.get_by_label("Your name").wait_for()
            await in_sizes(
                list(zip([guests[0]] * 2 + [guests[1]] * 2, [size for _, size in windows], strict=True)),
                "sign-in",
            )
        for person, size in windows:
            await person.page.set_viewport_size(size)
            for view in wanted:
                if view not in VIEWS or (view == "channels" and size["width"] > DRAWER_UP_TO):
                    continue
                async with VIEWS[view](person):
                    await save(person, view)
        if "call" in wanted:
            for number, person in enumerate((*others[:3], ada)):
                await person.page.evaluate(FACE, 40 + 80 * number)
                await person.enter_call(camera=True)
            await expect(ada.page.locator("#people > li.with-video")).to_have_count(4)
            await in_sizes(windows, "call")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("views", nargs="*", default=["sign-in", *VIEWS, "call"])
    asyncio.run(take(parser.parse_args().views))


if __name__ == "__main__":
    main()
