"""Take the pictures of README.md and docs/using.md by `python -m tests.kit.docs_pictures`.

A small community with a conversation and a call. Look at the pictures before you commit them.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.async_api import expect

from tests.kit.community import ask
from tests.kit.people import WIDE, People, Person, chromium, people_at, until_still
from tests.kit.product import running_product
from tests.kit.text_channels import come_to_read, open_channel, write

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
CHANNELS = [
    ("announcements", "text", "News of the club"),
    ("garden", "text", "Beds, seeds and the watering plan"),
    ("kitchen", "text", ""),
    ("music", "text", ""),
    ("Workshop", "voice", ""),
]
NAMES = ("Grace Hopper", "Alan Turing", "Katherine Johnson", "Edsger Dijkstra")


@asynccontextmanager
async def community() -> AsyncIterator[tuple[People, Person, list[Person]]]:
    """Bring five people into a new community. The first one owns it."""
    with TemporaryDirectory() as folder:
        async with (
            running_product(Path(folder) / "data") as product,
            people_at(product.url, chromium() or "", viewport=WIDE) as people,
        ):
            ada = await people.arrive("Ada Lovelace")
            await come_to_read(ada)
            for name, kind, topic in CHANNELS:
                wish = {"name": name, "type": kind} | ({"topic": topic} if topic else {})
                await ask(ada, "POST", "/api/channels", wish)
            others = [await people.arrive(name) for name in NAMES]
            for person in others:
                await come_to_read(person)
            yield people, ada, others


async def converse(ada: Person, others: list[Person]) -> None:
    grace, alan, katherine, edsger = others
    await write(ada, "Good morning! The **garden day** is on Saturday, 10 o'clock. Who brings what?")
    await write(grace, "I bring:\n- two spades\n- gloves for everybody\n- seeds")
    code = "```python\ndef seats(people, table=8):\n    return -(-people // table)\n```"
    await write(alan, f"Bread and cheese from me, and this for the seating plan:\n{code}")
    await write(alan, "It says we need three tables.")
    await write(katherine, "Three is right. I can pick up @Ada Lovelace at nine, with space for two more.")
    await write(edsger, "I will bring *one* bench, as in https://example.org/benches.")
    await write(ada, "Perfect!")
    await open_channel(grace, "garden")
    await write(grace, "The tomatoes are in.")
    await open_channel(alan, "music")
    await write(alan, "@Ada Lovelace listen to this")


async def take() -> None:
    async with community() as (_, ada, others):
        await converse(ada, others)
        page = ada.page
        await page.get_by_role("button", name="Members").first.click()
        await until_still(page)
        await page.screenshot(path=PICTURES / "conversation.png")
        await page.keyboard.press("Escape")
        await page.evaluate("document.activeElement.blur()")
        await page.emulate_media(color_scheme="dark")
        await page.set_viewport_size({"width": 390, "height": 780})
        await until_still(page)
        await page.screenshot(path=PICTURES / "phone.png")
        await page.set_viewport_size(WIDE)
        for person in (*others[:3], ada):
            await person.enter_call(camera=True)
        await expect(page.locator("#people > li.with-video")).to_have_count(4)
        for person in others[:3]:
            await ada.sees(person)
        await page.screenshot(path=PICTURES / "call.png")


if __name__ == "__main__":
    asyncio.run(take())
