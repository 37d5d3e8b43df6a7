"""A shared screen without motion becomes sharp for newcomers, for hidden tabs, and after a gap in the link.

`python -m benchmarks.adaptation`, row A8, measures how soon.
"""

from typing import Any

from tests.browser.calls.test_layers_shown import AUTOMATIC
from tests.kit.people import People, Person
from tests.kit.relay import relay
from tests.kit.waiting import wait_until

SEED = 8
# A page of small print. A clock in its corner moves, because a canvas sends no frames while it is unchanged.
SHARES_PRINT = """() => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1280, height: 720 });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  window.print = (paper) => {
    pen.fillStyle = paper;
    pen.fillRect(0, 0, 1280, 720);
    pen.fillStyle = "black";
    pen.font = "15px sans-serif";
    const words = `${paper}: the quick brown fox jumps over the lazy dog. `.repeat(4);
    for (let link = 1; link < 36; link++) pen.fillText(words, 10 + (link % 7) * 3, link * 19);
  };
  window.print("white");
  window.printed = canvas;
  setInterval(() => pen.fillText(String(performance.now()), 1150, 715), 200);
  navigator.mediaDevices.getDisplayMedia = async () => canvas.captureStream();
}"""
# The colour of the margin, and the mean contrast of neighbouring pixels, which blur lowers.
LOOK = """(selector) => {
  const shown = selector ? document.querySelector(selector) : window.printed;
  const [width, height] = [shown?.videoWidth ?? shown?.width ?? 0, shown?.videoHeight ?? shown?.height ?? 0];
  if (!width || !height) return null;
  const copy = Object.assign(document.createElement("canvas"), { width, height });
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(shown, 0, 0);
  const { data } = pen.getImageData(0, 0, width, height * 0.9);
  let contrast = 0;
  for (let at = 4; at < data.length; at += 4) contrast += Math.abs(data[at + 1] - data[at - 3]);
  return { width, paper: [...data.slice(0, 3)], contrast: (contrast * 4) / data.length };
}"""
SET_VISIBILITY = """(visibility) => {
  Object.defineProperty(document, "visibilityState", { configurable: true, get: () => visibility });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
IS_PAUSED = """async () => {
  const { mid } = svc.call.tracks.find(({ source }) => source === "screen");
  const received = async () => [...(await svc.call.pc.getStats()).values()]
    .find((entry) => entry.type === "inbound-rtp" && entry.mid === mid).packetsReceived;
  const before = await received();
  await new Promise((again) => setTimeout(again, 1000));
  return await received() === before;
}"""
SHARP = 0.85  # fraction of the source's contrast
WITHIN_S = 20


async def sees_it_sharp(person: Person, sharer: Person) -> None:
    """Wait until the current screen is shown in its full size and contrast."""
    source: dict[str, Any] = await sharer.page.evaluate(LOOK, "")

    async def so() -> bool:
        shown = await person.page.evaluate(LOOK, "#screens video")
        if shown is None or shown["width"] != source["width"]:
            return False
        is_new = all(abs(a - b) < 24 for a, b in zip(shown["paper"], source["paper"], strict=True))
        return is_new and shown["contrast"] >= SHARP * source["contrast"]

    await wait_until(f"{person.name} sees the screen sharp", so, within_s=WITHIN_S)


async def test_a_screen_without_motion_is_sharp_for_late_comers_hidden_tabs_and_after_a_gap(
    people: People,
) -> None:
    async with relay(loss=0, seed=SEED) as link:
        ada = await people.arrive("Ada")
        await ada.join(camera=False)
        await ada.page.evaluate(SHARES_PRINT)
        await ada.press("Share screen")
        await ada.page.wait_for_function(
            "() => document.querySelector('#screens video')?.videoWidth === 1280"
        )

        grace = await people.arrive("Grace", link=link)
        await grace.come_in()
        await grace.page.evaluate(AUTOMATIC)
        await grace.page.reload()
        await grace.enter_call()
        await sees_it_sharp(grace, ada)

        await grace.page.evaluate(SET_VISIBILITY, "hidden")

        async def paused() -> bool:
            return bool(await grace.page.evaluate(IS_PAUSED))

        await wait_until("a hidden tab gets no pictures", paused, within_s=WITHIN_S)
        await ada.page.evaluate("window.print('lightyellow')")
        await grace.page.evaluate(SET_VISIBILITY, "visible")
        await sees_it_sharp(grace, ada)

        link.loss = 1
        await ada.page.evaluate("window.print('lightblue')")
        before = link.lost["down"]

        async def gap() -> bool:
            return link.lost["down"] >= before + 40

        await wait_until("a gap of about a second", gap, within_s=WITHIN_S)
        link.loss = 0
        await sees_it_sharp(grace, ada)
        await grace.hears(ada)
