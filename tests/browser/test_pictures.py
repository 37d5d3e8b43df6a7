"""Saves screenshots in build/pictures for visual inspection, at both sizes and in both themes.

`python -m tests.kit.docs_pictures` takes the screenshots in README.md and docs/using.md.
"""

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientSession
from PIL import Image, ImageDraw
from playwright.async_api import expect

from tests.chat.chat_server import ChatServer
from tests.kit.browser_users import NARROW, WIDE, People, Person, until_still
from tests.kit.pictures import encoded
from tests.kit.svc_up import SvcUp
from tests.kit.text_channels import open_channel, press_at, write

PICTURES = Path(__file__).parents[2] / "build" / "pictures"
# Replaces Chromium's fake camera with a still image.
CAMERA = """async (picture) => {
  const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const { width, height } = image;
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const pen = canvas.getContext("2d");
  setInterval(() => pen.drawImage(image, 0, 0), 60);
  const open = navigator.mediaDevices.getUserMedia;
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    if (!constraints.video) return open(constraints);
    const heard = constraints.audio ? (await open({ audio: constraints.audio })).getTracks() : [];
    return new MediaStream([...heard, ...canvas.captureStream().getTracks()]);
  };
}"""
TALK = (
    "The **garden day** is on Saturday. Who brings what?",
    "- two spades\n- gloves\n- seeds",
    "> Who brings what?\n\nI bring bread, and this:\n"
    "```python\ndef seats(people, table=8):\n    return -(-people // table)\n```",
)


def portrait(wall: str, hair: str, skin: str, clothes: str) -> str:
    """Draw a person in front of a wall, as seen by a camera. Return the image in base64."""
    image = Image.new("RGB", (1280, 720), wall)
    draw = ImageDraw.Draw(image)
    draw.rectangle((820, 90, 1150, 420), fill="#f4efe2", outline="#8a7a5c", width=14)
    draw.polygon([(834, 406), (940, 240), (1010, 320), (1070, 260), (1136, 406)], fill="#7c9a7a")
    draw.ellipse((470, 120, 810, 560), fill=hair)
    draw.rounded_rectangle((330, 520, 950, 900), 180, fill=clothes)
    draw.rectangle((580, 430, 700, 560), fill=skin)
    draw.ellipse((520, 170, 760, 480), fill=skin)
    draw.pieslice((505, 150, 775, 400), 180, 360, fill=hair)
    for x in (585, 675):
        draw.ellipse((x, 305, x + 22, 327), fill="#2b2320")
    draw.arc((590, 340, 690, 420), 30, 150, fill="#7a3b33", width=7)
    return b64encode(encoded(image.resize((640, 360)), "PNG")).decode()


async def pictured(person: Person, name: str) -> None:
    await until_still(person.page)
    await person.page.screenshot(path=PICTURES / f"{name}.png")


@pytest.mark.nightly("takes pictures to look at; every view in them has daily tests")
async def test_screenshots_are_taken_at_both_sizes(people: People, product: SvcUp) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    url = urlsplit(product.url)
    (invite,) = parse_qs(url.fragment)["invite"]
    ada, grace = await people.arrive("Ada Lovelace"), await people.arrive("Grace Hopper")
    await ada.resize(WIDE)
    await grace.resize(NARROW)
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
        for person in (ada, grace):  # The pointer would make a message show its buttons.
            await person.page.mouse.move(0, 0)
        await pictured(ada, "conversation-wide")
        await pictured(grace, "conversation-narrow")
        for name, show in views.items():
            await show()
            await expect(ada.page.get_by_role("dialog")).to_be_visible()
            await pictured(ada, f"{name}-wide")
            await ada.page.keyboard.press("Escape")
        await ada.press("Close")
    await ada.page.evaluate(CAMERA, portrait("#cfd8d2", "#4a3226", "#e6b99a", "#2f6f68"))
    await grace.page.evaluate(CAMERA, portrait("#d9cfc0", "#1f1c22", "#b98563", "#7a3b5e"))
    await ada.enter_call(camera=True)
    await grace.press("Show channels")
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
