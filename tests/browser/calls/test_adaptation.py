"""A camera is sent at the size of its widest tile, and not at all while nobody is watching.

See docs/signalling.md, "Several encodings" and "Unwatched video".
"""

from collections.abc import Sequence

from playwright.async_api import Page, ViewportSize

from tests.kit.browser_users import Capture, People, Person
from tests.kit.wait import wait_until

CAPTURE = Capture(640, 360, 15)
# The bitrate (kbit/s) and scale of each encoding that is being sent.
ENCODINGS = """() => {
  const sender = svc.call.pc.getSenders().find(({ track }) => track?.kind === "video");
  return (sender?.getParameters().encodings ?? []).filter(({ active }) => active)
    .map(({ maxBitrate, scaleResolutionDownBy }) => [maxBitrate / 1000, scaleResolutionDownBy]);
}"""
SMALLEST, NEXT = [150, 2], [450, 1]
# Window sizes for a small and a large tile, each with the encodings that Ada must send. While anybody is
# watching, the smallest encoding is always sent.
SMALL, LARGE = (
    (ViewportSize(width=340, height=400), [SMALLEST]),
    (ViewportSize(width=900, height=700), [SMALLEST, NEXT]),
)


async def encodes(person: Person, expected: Sequence[object]) -> None:
    async def so() -> bool:
        encodings: list[object] = await person.page.evaluate(ENCODINGS)
        return encodings == list(expected)

    await wait_until(f"{person.name} encodes as {expected}", so, within_s=15)


async def open_text_channel(page: Page) -> None:
    await page.locator("#text-channels .channel").first.click()


async def test_a_camera_is_sent_at_the_size_of_its_widest_tile_and_not_at_all_without_viewers(
    people: People,
) -> None:
    ada = await people.arrive("Ada", capture=CAPTURE)
    await ada.join()
    await encodes(ada, [])
    grace = await people.arrive("Grace", capture=CAPTURE)
    await grace.join(camera=False)
    for window, encoding in (SMALL, LARGE, SMALL):
        await grace.resize(window)
        await encodes(ada, encoding)
        await grace.sees(ada)
    await grace.resize(LARGE[0])
    await encodes(ada, LARGE[1])
    await open_text_channel(grace.page)
    await encodes(ada, [])
    await grace.hears(ada)
    await grace.page.go_back()
    await encodes(ada, LARGE[1])
    await grace.sees(ada)
