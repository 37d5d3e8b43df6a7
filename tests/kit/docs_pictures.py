"""Takes the screenshots in README.md and docs/using.md: `python -m tests.kit.docs_pictures`.

They show a small community with a conversation and a call. The machine needs a font with emoji, such as Noto
Color Emoji. Look at the screenshots before you commit them.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from math import sin
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image, ImageDraw, ImageFilter
from playwright.async_api import Page, expect

from tests.kit.browser_users import WIDE, People, Person, chromium, people_at, until_still
from tests.kit.community import ask, own_id
from tests.kit.pictures import encoded
from tests.kit.svc_up import running_svc_up
from tests.kit.text_channels import do, join_and_open, open_channel, write

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
CHANNELS = [
    ("announcements", "text", "News of the club"),
    ("garden", "text", "Beds, seeds and the watering plan"),
    ("kitchen", "text", ""),
    ("music", "text", ""),
    ("Workshop", "voice", ""),
]
NAMES = ("Grace Hopper", "Alan Turing", "Katherine Johnson", "Edsger Dijkstra")
# The roles with their colours. Each role is given to one of the other members.
ROLES = (("Gardeners", 0xE07A1F), ("Bakers", 0x9B59B6), ("Drivers", 0x2E86DE))
SKY, HILLS = (120, 175, 235), (120, 170, 100)
# A generated face replaces the browser's test pattern. The hue identifies the person.
FACE = """(hue) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 640, height: 480 });
  const brush = canvas.getContext("2d");
  const fill = (from, to, path) => {
    const colours = brush.createLinearGradient(0, 0, 640, 480);
    colours.addColorStop(0, from);
    colours.addColorStop(1, to);
    brush.fillStyle = colours;
    brush.fill(path);
  };
  const shape = (draw) => { const path = new Path2D(); draw(path); return path; };
  const draw = () => {
    const sway = 4 * Math.sin(performance.now() / 900);
    fill(`oklch(0.86 0.06 ${hue})`, `oklch(0.66 0.1 ${hue + 50})`,
      shape((path) => path.rect(0, 0, 640, 480)));
    fill(`oklch(0.55 0.13 ${hue + 180})`, `oklch(0.4 0.12 ${hue + 200})`,
      shape((path) => path.ellipse(320 + sway / 2, 500, 190, 170, 0, 0, 7)));
    fill("oklch(0.36 0.06 50)", "oklch(0.26 0.04 40)",
      shape((path) => path.ellipse(320 + sway, 205, 112, 122, 0, 0, 7)));
    fill("oklch(0.83 0.07 60)", "oklch(0.72 0.08 50)",
      shape((path) => path.ellipse(320 + sway, 232, 88, 108, 0, 0, 7)));
    for (const eye of [-32, 32]) fill("#333", "#333",
      shape((path) => path.arc(320 + eye + sway, 222, 7, 0, 7)));
    brush.strokeStyle = "#7a3b32";
    brush.lineWidth = 6;
    brush.lineCap = "round";
    brush.beginPath();
    brush.arc(320 + sway, 262, 30, 0.35, 2.8);
    brush.stroke();
    setTimeout(draw, 60);
  };
  draw();
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (constraints) => {
    if (!constraints.video) return open(constraints);
    const stream = canvas.captureStream(15);
    if (constraints.audio) stream.addTrack((await open({ audio: constraints.audio })).getAudioTracks()[0]);
    return stream;
  };
}"""


@asynccontextmanager
async def product_with_people() -> AsyncIterator[People]:
    """Run a new server, which people can visit with browsers."""
    with TemporaryDirectory() as folder:
        async with (
            running_svc_up(Path(folder) / "data") as product,
            people_at(product.url, chromium() or "", viewport=WIDE) as people,
        ):
            yield people


@asynccontextmanager
async def community(touch: str = "") -> AsyncIterator[tuple[People, Person, list[Person]]]:
    """Have five people join a new community, owned by the first. The member named `touch` has a phone."""
    async with product_with_people() as people:
        ada = await people.arrive("Ada Lovelace")
        await join_and_open(ada)
        for name, kind, topic in CHANNELS:
            channel = {"name": name, "type": kind} | ({"topic": topic} if topic else {})
            await ask(ada, "POST", "/api/channels", channel)
        await ask(ada, "PATCH", "/api/settings", {"name": "Allotment Club"})
        others = [await people.arrive(name, touch=name == touch) for name in NAMES]
        for person in others:
            await join_and_open(person)
        for rank, ((name, colour), person) in enumerate(zip(ROLES, others, strict=False)):
            described = {"name": name, "color": colour, "rank": 300 - rank, "hoisted": True}
            role = await ask(ada, "POST", "/api/roles", described)
            await ask(ada, "PUT", f"/api/members/{await own_id(person)}/roles/{role['id']}")
        yield people, ada, others


def landscape(width: int = 1200, height: int = 640) -> Image.Image:
    """Return an image of hills under the sky."""
    image = Image.new("RGB", (width, height), SKY)
    draw = ImageDraw.Draw(image)
    draw.ellipse((width * 0.68, height * 0.14, width * 0.68 + 120, height * 0.14 + 120), fill=(255, 244, 214))
    for hill in range(4):
        top = height * (0.45 + 0.14 * hill)
        line = [(x, top + 36 * sin(x / width * 6 + hill * 2)) for x in range(0, width + 8, 8)]
        shade = tuple(int(part * (1 - 0.18 * hill)) for part in HILLS)
        draw.polygon([(0, height), *line, (width, height)], fill=shade)
    return image.filter(ImageFilter.GaussianBlur(1))


async def converse(ada: Person, others: list[Person]) -> None:
    grace, alan, katherine, edsger = others
    await write(ada, "Good morning! The **garden day** is on Saturday, 10 o'clock. Who brings what?")
    await write(grace, "I bring:\n- two spades\n- gloves for everybody\n- seeds")
    picture = {"name": "beds.png", "mimeType": "image/png", "buffer": encoded(landscape(), "PNG")}
    await grace.page.locator("#files").set_input_files(picture)  # type: ignore[arg-type]
    await expect(grace.page.locator(".upload-list [data-state=done]")).to_be_visible()
    await write(grace, "The beds this morning")
    code = "```python\ndef seats(people, table=8):\n    return -(-people // table)\n```"
    await write(alan, f"Bread and cheese from me, and this for the seating plan:\n{code}")
    await write(alan, "It says we need three tables.")
    await write(katherine, "Three is right. I can pick up @Ada Lovelace at nine, with space for two more.")
    await write(edsger, "I will bring *one* bench, as in https://example.org/benches.")
    await write(ada, "Perfect!")
    for person, text, sign in (
        (grace, "I will bring", "👍"),
        (alan, "I will bring", "👍"),
        (katherine, "The beds", "❤️"),
        (ada, "The beds", "❤️"),
        (ada, "Three is right", "🎉"),
    ):
        await do(person, text, "React")
        await person.press(sign)
    await open_channel(grace, "garden")
    await write(grace, "The tomatoes are in.")
    await open_channel(alan, "music")
    await write(alan, "@Ada Lovelace listen to this")


async def save(page: Page, name: str, *, is_video: bool = False) -> None:
    """Save a small screenshot of the page, losslessly unless it shows videos."""
    await until_still(page)
    shot = Image.open(BytesIO(await page.screenshot()))
    shot.convert("RGB").save(PICTURES / f"{name}.webp", method=6, quality=88, lossless=not is_video)


async def take() -> None:
    async with community() as (_, ada, others):
        await converse(ada, others)
        page = ada.page
        await page.get_by_role("button", name="Members").first.click()
        await page.mouse.move(0, 0)
        await save(page, "conversation")
        await page.keyboard.press("Escape")
        await page.evaluate("document.activeElement.blur()")
        await page.emulate_media(color_scheme="dark")
        await page.set_viewport_size({"width": 390, "height": 780})
        await save(page, "phone")
        await page.set_viewport_size(WIDE)
        for number, person in enumerate((*others[:3], ada)):
            await person.page.evaluate(FACE, 40 + 80 * number)
            await person.enter_call(camera=True)
        await expect(page.locator("#people > li.with-video")).to_have_count(4)
        for person in others[:3]:
            await ada.sees(person)
        await save(page, "call", is_video=True)


if __name__ == "__main__":
    asyncio.run(take())
