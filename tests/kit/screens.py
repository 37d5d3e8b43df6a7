"""Saves screenshots of the web client's main views at four widths in both themes: `python -m
tests.kit.screens`.

The screenshots are saved in build/screens for visual inspection. At the two narrow widths, touch is the only
input. The machine needs a font with emoji, such as Noto Color Emoji. To take only some views, add their names
to the command.
"""

import argparse
import asyncio
import json
from pathlib import Path

from playwright.async_api import ViewportSize, expect

from svc.chat.access.permissions import Permission
from tests.kit.browser_users import DRAWER_UP_TO, People, Person, until_still
from tests.kit.community import ask, give, own_id
from tests.kit.docs_pictures import FACE, NAMES, community, converse, product_with_people
from tests.kit.screen_views import OWNER_VIEWS, PRIVATE_VIEWS, VIEWS, View
from tests.kit.text_channels import join_and_open, open_channel, write

SCREENS = Path(__file__).parents[2] / "build" / "screens"
PHONE, TABLET = ViewportSize(width=390, height=844), ViewportSize(width=768, height=1024)
LAPTOP, DESKTOP = ViewportSize(width=1280, height=800), ViewportSize(width=1920, height=1080)
THEMES = ("light", "dark")
Windows = list[tuple[Person, ViewportSize]]
# Other servers in the rail. Nothing responds at their URLs.
SERVERS = [
    {"origin": f"https://{host}", "token": "", "name": name, "picture": ""}
    for host, name in (("choir.example", "Choir"), ("chess.example", "Chess Club"))
]
SPECIAL = ("first-steps", "sign-in", "private", "rail", "news", "call", "stage")


async def save(person: Person, view: str) -> None:
    """Save the current view in both themes, without the pointer over any element."""
    page = person.page
    await page.mouse.move(0, 0)
    for theme in THEMES:
        # Without this, the rings around speakers would keep moving.
        await page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        await until_still(page)
        width = (page.viewport_size or LAPTOP)["width"]
        await page.screenshot(path=SCREENS / f"{view}-{width}-{theme}.png")


async def in_sizes(people: Windows, view: str) -> None:
    """Save the current view at several window sizes."""
    for person, size in people:
        await person.resize(size)
        await save(person, view)


async def take_views(
    windows: Windows, views: dict[str, View], wanted: list[str], *, skipped: set[str] | None = None
) -> None:
    """Save each view at each size. `skipped` are views that only the owner has."""
    for person, size in windows:
        await person.resize(size)
        for name, view in views.items():
            is_drawer = name == "channels" and size["width"] > DRAWER_UP_TO
            if name not in wanted or is_drawer or (person.name == NAMES[0] and name in (skipped or ())):
                continue
            async with view(person):
                await save(person, name)


async def take_sign_in(people: People, windows: Windows) -> None:
    guests = [await people.arrive("Guest", touch=touch) for touch in (True, False)]
    for guest in guests:
        await guest.page.get_by_label("Your name").wait_for()
    sizes = [size for _, size in windows]
    await in_sizes(list(zip([guests[0]] * 2 + [guests[1]] * 2, sizes, strict=True)), "sign-in")
    for guest in guests:
        await guest.page.get_by_role("button", name="I’m already a member").click()
    await in_sizes(list(zip([guests[0]] * 2 + [guests[1]] * 2, sizes, strict=True)), "sign-in-again")


async def take_first_steps(sizes: list[ViewportSize]) -> None:
    """Save the first and the last setup step that a new community's owner sees."""
    for touch in (True, False):
        async with product_with_people() as people:
            ada = await people.arrive("Ada Lovelace", touch=touch)
            await join_and_open(ada)
            windows = [(ada, size) for size in (sizes[:2] if touch else sizes[2:])]
            await expect(ada.page.locator(".first-steps")).to_be_visible()
            await in_sizes(windows, "first-steps")
            for _ in range(3):
                await ada.press("Skip")
            await in_sizes(windows, "last-step")


async def take_private(ada: Person, grace: Person, windows: Windows) -> None:
    for person, other in ((ada, "Grace Hopper"), (grace, "Ada Lovelace")):
        await person.resize(LAPTOP)
        await person.page.locator(".author", has_text=other).first.click()
        await person.page.get_by_role("dialog", name=other).get_by_role("button", name="Message").click()
        await expect(person.page.locator("#private-name")).to_have_text(other)
        field = person.page.locator("#private-draft")
        await expect(field).to_be_enabled()
        await field.fill(f"The key of the shed is under the mat, {other.split()[0]}.")
        await field.press("Control+Enter")
        await expect(person.page.locator("#private .pending")).to_have_count(0)
    await expect(ada.page.locator("#private .message")).to_have_count(2)
    await take_views(windows, PRIVATE_VIEWS, list(PRIVATE_VIEWS))
    for person in (ada, grace):
        await open_channel(person, "general")


async def take_rail(windows: Windows) -> None:
    """Save the window of a member of three servers."""
    for person in {person.name: person for person, _ in windows}.values():
        kept = f"svc.servers.{await own_id(person)}"
        await person.page.evaluate(
            "([name, list]) => { localStorage[name] = list; }",
            [kept, json.dumps({"list": json.dumps(SERVERS)})],
        )
        await person.page.reload()
        await expect(person.page.locator(".rail")).to_be_attached()
    for person, size in windows:
        await person.resize(size)
        await person.show_channels()
        await save(person, "rail")
        await person.hide_channels()


async def take_news(windows: Windows, writer: Person) -> None:
    """Save the window of a reader who has scrolled up while messages arrive."""
    readers = {person.name: person for person, _ in windows}.values()
    for person in readers:
        await person.page.locator("#messages-box").evaluate("(box) => { box.scrollTop = 0; }")
    for number in range(3):
        await write(writer, f"News {number} from the **beds**")
    await in_sizes(windows, "news")


async def take_call(people: list[Person], windows: Windows) -> None:
    for number, person in enumerate(people):
        await person.page.evaluate(FACE, 40 + 80 * number)
        await person.enter_call(camera=True)
    for person in people:
        await expect(person.page.locator("#people > li.with-video")).to_have_count(len(people))
        for other in people:
            if other is not person:
                await person.sees(other)
    await in_sizes(windows, "call")
    for person, size in windows:
        await person.resize(size)
        await open_channel(person, "general")
        await save(person, "call-elsewhere")
    for person in people:
        await person.press("Leave")


async def take_stage(people: list[Person], windows: Windows) -> None:
    ada = people[-1]
    channels = (await ask(ada, "GET", "/api/channels"))["channels"]
    room = next(channel["id"] for channel in channels if channel["type"] == "voice")
    await ask(ada, "PUT", f"/api/channels/{room}/overrides/role/member", {"deny": ["speak"]})
    for person in people:
        await person.enter_call()
    await expect(ada.page.locator("#audience li").first).to_be_visible()
    await in_sizes(windows, "stage")


async def take(wanted: list[str]) -> None:
    SCREENS.mkdir(parents=True, exist_ok=True)
    if "first-steps" in wanted:
        await take_first_steps([PHONE, TABLET, LAPTOP, DESKTOP])
    async with community(touch=NAMES[0]) as (people, ada, others):
        await converse(ada, others)
        grace = others[0]
        await give(ada, grace, [permission.name.lower() for permission in Permission if permission.name])
        windows: Windows = [(grace, PHONE), (grace, TABLET), (ada, LAPTOP), (ada, DESKTOP)]
        if "sign-in" in wanted:
            await take_sign_in(people, windows)
        for person in (grace, ada):
            await open_channel(person, "general")
        await take_views(windows, VIEWS, wanted, skipped=OWNER_VIEWS)
        if "private" in wanted:
            await take_private(ada, grace, windows)
        if "news" in wanted:
            await take_news(windows, others[1])
        if "rail" in wanted:
            await take_rail(windows)
        if "call" in wanted:
            await take_call([*others[:3], ada], windows)
        if "stage" in wanted:
            await take_stage([*others[:3], ada], windows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("views", nargs="*", default=[*SPECIAL, *VIEWS])
    asyncio.run(take(parser.parse_args().views))


if __name__ == "__main__":
    main()
