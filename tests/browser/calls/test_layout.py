"""Calls with up to twenty-five people fit on computers and phones, with and without a shared screen.

With VIEWS=1, screenshots are saved in build/pictures/views for visual inspection. The cameras send generated
video.
"""

from contextlib import AsyncExitStack

import pytest
from playwright.async_api import expect

from tests.browser.test_accessibility import axe, expect_accessible, save_view
from tests.kit.browser_users import Capture, People, Person, until_still
from tests.kit.silent_members import silent_people
from tests.kit.svc_up import SvcUp
from tests.kit.wait import wait_until

__all__ = ["axe"]

SIZES = ((1280, 800), (390, 844))
LONG = "Bartholomew Featherstonehaugh II"
CROWDS = (("Grace",), (LONG, "Alan", "Edsger"), ("Barbara", *"CDEFGH"), ("Niklaus", *"IJKLMNOPQRST"))
MANY = 12
# Describes the elements that do not fit. Only lists may scroll, and only if their tiles would otherwise be
# too small.
MISFITS = """([people, screens]) => {
  const found = [];
  const box = (element) => element.getBoundingClientRect();
  const stage = box(document.getElementById("stage"));
  const say = (what, element) => {
    const { left, top, right, bottom } = box(element);
    found.push(`${what}: ${element.textContent} ${[left, top, right, bottom].map(Math.round)}`);
  };
  const within = (inner, outer) => inner.left >= outer.left - 1 && inner.right <= outer.right + 1;
  const tiles = [...document.querySelectorAll("#stage .tile")];
  if (tiles.length !== people + screens) found.push(`${tiles.length} tiles`);
  for (const tile of tiles) {
    const [own, list] = [box(tile), tile.parentElement];
    const scrolled = list.scrollHeight > list.clientHeight + 1 || list.scrollWidth > list.clientWidth + 1;
    if (!scrolled && !(within(own, stage) && own.bottom <= stage.bottom + 1)) say("outside", tile);
    if (scrolled && innerWidth > 1000 && !screens) say("scrolled", tile);
    if (own.width < 150) say("too small", tile);
    const parts = [...tile.querySelectorAll(".label, .avatar")];
    for (const part of parts) if (!within(box(part), own)) say("cut", part);
  }
  for (const screen of document.querySelectorAll("#screens .tile")) {
    if (box(screen).width < 0.6 * stage.width) say("a small screen", screen);
  }
  for (const control of document.querySelectorAll(".call-controls button")) {
    const own = box(control);
    const seen = own.left >= 0 && own.right <= innerWidth && own.bottom <= innerHeight;
    if (!seen || own.height < 44) say("control", control);
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page is too wide");
  return found;
}"""

# Turns on cameras for all other participants. The page generates their videos, because one machine cannot run
# that many browsers.
CAMERAS_ON = """() => {
  const { call, people } = svc;
  const others = people.filter(({ nickname }) => nickname !== "Ada");
  const shown = others.map(({ id: userId }, index) => {
    const pen = Object.assign(document.createElement("canvas"), { width: 320, height: 180 }).getContext("2d");
    const fill = (colour, ...where) => Object.assign(pen, { fillStyle: colour }).fillRect(...where);
    const draw = () => {
      fill(`hsl(${index * 47} 45% 40%)`, 0, 0, 320, 180);
      fill("#fca", 125, 40, 70, 85);
      fill("#335", 100, 125, 120, 55);
    };
    window.drawing = [...(window.drawing ?? []), setInterval(draw, 200)];
    const [track] = pen.canvas.captureStream().getVideoTracks();
    const receiver = { track, getSynchronizationSources: () => [] };
    return { mid: "", trackId: `drawn ${index}`, userId, source: "camera", receiver };
  });
  const { get } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(call), "tracks");
  Object.defineProperty(call, "tracks", { configurable: true, get: () => [...get.call(call), ...shown] });
  call.dispatchEvent(new Event("tracks"));
}"""
CAMERAS_OFF = """() => {
  for (const each of window.drawing.splice(0)) clearInterval(each);
  delete svc.call.tracks;
  svc.call.dispatchEvent(new Event("tracks"));
}"""
# Whether all displayed cameras and screens are playing.
PICTURED = """() => [...document.querySelectorAll("#stage .with-video video")].every(
  ({ readyState, currentTime }) => readyState > 2 && currentTime > 0,
)"""


async def fits(ada: Person, people: int, *, screens: int = 0, cameras: int = 1) -> None:
    await expect(ada.page.locator("#stage .tile")).to_have_count(people + screens)
    for width, height in SIZES:
        await ada.resize({"width": width, "height": height})
        misfits: list[str] = []

        async def none(misfits: list[str] = misfits) -> bool:
            misfits[:] = await ada.page.evaluate(MISFITS, [people, screens])
            return not misfits

        try:
            await wait_until("all tiles fit", none, within_s=10)
        except AssertionError:
            pytest.fail(f"{people} people, {screens} screens at {width}: {misfits}")
        await until_still(ada.page)
        await ada.page.wait_for_function(PICTURED)
        name = f"crowd-{people}-{screens}-{width}" if cameras == 1 else f"cameras-{cameras}-{width}"
        await save_view(ada.page, name)


async def test_calls_with_up_to_twenty_five_people_fit_in_windows_of_every_size(
    people: People, product: SvcUp
) -> None:
    ada = await people.arrive("Ada", capture=Capture(320, 180, 5))
    await ada.join(camera=True)
    async with AsyncExitStack() as stack:
        size = 1
        for crowd in ((), *CROWDS):
            await stack.enter_async_context(silent_people(product.url, crowd))
            size += len(crowd)
            await fits(ada, size)
            await ada.press("Share screen")
            await fits(ada, size, screens=1)
            await ada.press("Stop sharing")
            if size >= MANY:
                await ada.page.evaluate(CAMERAS_ON)
                await expect(ada.page.locator("#people .with-video")).to_have_count(size)
                await fits(ada, size, cameras=size)
                await ada.page.evaluate(CAMERAS_OFF)
        assert size == 25
        await expect(ada.page.locator("#people-count")).to_have_text("25 people")


async def test_touching_a_tile_shows_its_buttons_without_pressing_one(people: People, axe: str) -> None:
    ada, grace = await people.arrive("Ada"), await people.arrive("Grace", touch=True)
    await ada.join(camera=False)
    alone, own_tile = ada.page.locator(".alone"), ada.page.locator("#people .person")
    await expect(alone.get_by_role("button", name="Invite people")).to_be_visible()
    text, picture = await alone.bounding_box(), await own_tile.bounding_box()
    assert text is not None and picture is not None
    assert text["y"] >= picture["y"] + picture["height"], "The text covers the tile"
    await grace.join(camera=False)
    phone = grace.page
    await grace.resize({"width": 390, "height": 844})
    tile = phone.locator("#people .person").filter(has_text="Ada")
    actions = tile.locator(".tile-actions")
    # The mouse may still be over the tile.
    await phone.mouse.move(0, 0)
    await expect(actions).to_have_css("opacity", "0")
    box = await tile.bounding_box()
    assert box is not None
    # Tap where the fullscreen button will appear
    await tile.tap(position={"x": box["width"] - 25, "y": 25})
    await expect(actions).to_have_css("opacity", "1")
    await expect_accessible(grace, axe, "the menu of a tile")
    assert await phone.evaluate("document.fullscreenElement") is None
    pin = tile.get_by_role("button", name="Pin Ada")
    size = await pin.bounding_box()
    assert size is not None and min(size["width"], size["height"]) >= 44
    await pin.tap()
    await expect(phone.locator("#screens .name")).to_have_text(["Ada"])
