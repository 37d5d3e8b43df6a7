"""What the page looks like, as pictures: those of README.md and docs/using.md are copies of what this writes.

They land in build/pictures, to be looked at, at both sizes and in both themes.
"""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from aiohttp import ClientSession
from playwright.async_api import expect

from tests.chat.member import ChatServer
from tests.kit.people import People, Person, until_still
from tests.kit.product import Product
from tests.kit.text_channels import open_channel, press_at, write

PICTURES = Path(__file__).parents[2] / "build" / "pictures"
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 780}
TALK = (
    "The **garden day** is on Saturday. Who brings what?",
    "- two spades\n- gloves\n- seeds",
    "> Who brings what?\n\nI bring bread, and this:\n"
    "```python\ndef seats(people, table=8):\n    return -(-people // table)\n```",
)


async def pictured(person: Person, name: str) -> None:
    await until_still(person.page)
    await person.page.screenshot(path=PICTURES / f"{name}.png")


async def test_the_page_is_pictured_at_both_sizes(people: People, product: Product) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    url = urlsplit(product.url)
    (invite,) = parse_qs(url.fragment)["invite"]
    ada, grace = await people.arrive("Ada Lovelace"), await people.arrive("Grace Hopper")
    await ada.page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    await grace.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    await grace.page.emulate_media(color_scheme="dark")
    await pictured(ada, "arriving-wide")
    await ada.come_in()
    await open_channel(ada, "general")
    await grace.page.get_by_label("Your name").fill(grace.name)
    await pictured(grace, "arriving-narrow")
    await grace.press("Join")
    await expect(grace.page.locator("#draft")).to_be_visible()
    address = f"{url.scheme}://{url.netloc}"
    async with (
        ClientSession(address) as http,
        ChatServer(address, http, invite).member("Alan Turing") as alan,
    ):
        await write(ada, TALK[0])
        await write(grace, TALK[1])
        await alan.ask("message_send", channel_id="general", text=TALK[2])
        await expect(ada.page.locator(".message pre")).to_be_visible()
        await press_at(ada.page.locator(".message").first, "React")
        await ada.press("✅")
        await ada.press("Members")
        await expect(ada.page.get_by_role("region", name="3 members")).to_be_visible()
        views: dict[str, Callable[[], Awaitable[None]]] = {
            "switcher": lambda: ada.page.keyboard.press("Control+k"),
            "settings": lambda: ada.press("Settings"),
        }
        for person in (ada, grace):  # A message under the pointer shows its buttons.
            await person.page.mouse.move(0, 0)
        await pictured(ada, "conversation-wide")
        await pictured(grace, "conversation-narrow")
        for name, show in views.items():
            await show()
            await expect(ada.page.get_by_role("dialog")).to_be_visible()
            await pictured(ada, f"{name}-wide")
            await ada.page.keyboard.press("Escape")
        await ada.press("Close")
    await ada.enter_call(camera=True)
    await grace.press("Show the channels")
    await pictured(grace, "channels-narrow")
    await grace.enter_call(camera=True)
    await ada.sees(grace)
    await pictured(ada, "call-wide")
    await pictured(grace, "call-narrow")
    await ada.press("Share screen")
    await grace.sees(ada, source="screen")
    await pictured(ada, "screen-wide")
    sizes = {path.stem: path.stat().st_size for path in PICTURES.glob("*.png")}
    assert all(size > 5_000 for size in sizes.values()), json.dumps(sizes)
