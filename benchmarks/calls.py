"""Measures the cost of a call for a page in Chromium, and the time to its first audio and video.

One member is in the room with a microphone and a camera. A second page repeatedly joins with a click and
leaves. The program measures the time from the click to the first audio played and the first frame displayed,
and then counts the objects that remain after 200 joins and leaves and a garbage collection. It waits between
timed joins, because the server allows a member ten requests a second and delays the rest. Finally it compares
moving tiles with bare <video> elements for the same tracks in the same page, by the main thread's CPU time.
--tiles 0 omits the comparison.
"""

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.async_api import CDPSession, Page

from tests.kit.browser_users import Capture, People, Person, chromium, people_at
from tests.kit.svc_up import running_svc_up

JOINS, STAYS, TILES = 50, 200, 12
WARM_UP = 10
PAUSE_S = 0.5
DEADLINE_MS = 30_000
LOOK_S = 20.0
COLLECTIONS = 8
COUNTED = ("RTCPeerConnection", "MediaStreamTrack", "AudioContext", "WebSocket", "HTMLVideoElement")
SMALL = Capture(160, 120, 8)

# The browser reports both: a source is listed once one of its packets has been played, and a frame is counted
# once it has been displayed.
JOIN = """async (deadline) => {
  const start = performance.now();
  let stop;
  const after = () => performance.now() - start;
  const sound = new Promise((resolve) => {
    const look = () => {
      const voices = svc.call?.tracks.filter(({ source }) => source === "mic") ?? [];
      if (voices.some(({ receiver }) => receiver.getSynchronizationSources().length)) resolve(after());
      else setTimeout(look, 2);
    };
    look();
  });
  const picture = new Promise((resolve) => {
    const seen = new WeakSet();
    const look = () => {
      for (const video of document.querySelectorAll("#people .with-video video")) {
        if (!seen.has(video)) video.requestVideoFrameCallback(() => resolve(after()));
        seen.add(video);
      }
    };
    const changes = { subtree: true, childList: true, attributes: true, attributeFilter: ["class"] };
    const observer = new MutationObserver(look);
    observer.observe(document.body, changes);
    stop = () => observer.disconnect();
  });
  document.querySelector("#voice-channels .channel").click();
  const late = new Promise((_, reject) => { setTimeout(() => reject(new Error("nothing came")), deadline); });
  return Promise.race([Promise.all([sound, picture]), late]).finally(stop);
}"""
LEAVE = """async () => {
  document.getElementById("leave").click();
  while (svc.call) await new Promise((resolve) => { setTimeout(resolve, 10); });
}"""
MOVING = """(count) => {
  const videos = [...document.querySelectorAll("#people .with-video video")];
  return videos.filter(({ readyState }) => readyState > 2).length >= count;
}"""
# Shows only the tracks, in bare <video> elements without any of the page's code.
BARE = """() => {
  RTCPeerConnection.prototype.getStats = () => new Promise(() => {});
  const videos = [...document.querySelectorAll("#people video")].map((old) => {
    const video = document.createElement("video");
    Object.assign(video, { muted: true, autoplay: true, srcObject: old.srcObject });
    const { width, height } = old.getBoundingClientRect();
    Object.assign(video.style, { width: `${width}px`, height: `${height}px` });
    return video;
  });
  document.body.replaceChildren(...videos);
}"""


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--joins", type=int, default=JOINS)
    parser.add_argument("--stays", type=int, default=STAYS)
    parser.add_argument("--tiles", type=int, default=TILES)
    options = parser.parse_args()
    executable = chromium()
    if executable is None:
        raise SystemExit("Chromium is missing; ci/setup installs it.")
    with tempfile.TemporaryDirectory() as folder:
        async with (
            running_svc_up(Path(folder) / "data") as product,
            people_at(product.url, executable) as people,
        ):
            await measure(people, options.joins, options.stays, options.tiles)
            if people.faults:
                print("\n".join(people.faults))


async def measure(people: People, joins: int, stays: int, tiles: int) -> None:
    host = await people.arrive("There", capture=Capture(640, 360, 15))
    await host.join(camera=True)
    comer = await people.arrive("Comer")
    await comer.come_in()
    print_times(await stay_often(comer.page, joins, PAUSE_S))
    if stays:
        await stay_often(comer.page, max(0, WARM_UP - joins))
        inspector = await comer.page.context.new_cdp_session(comer.page)
        before = await left_behind(inspector)
        await stay_often(comer.page, stays)
        print_left(before, await left_behind(inspector), stays)
    if tiles:
        await host.press("Leave")
        await measure_tiles(people, comer, tiles)


async def stay_often(page: Page, often: int, pause_s: float = 0) -> list[tuple[float, float]]:
    """Join and leave repeatedly. For each stay, return the times to first audio and first video in ms."""
    stays = []
    for _ in range(often):
        await asyncio.sleep(pause_s)
        sound, picture = await page.evaluate(JOIN, DEADLINE_MS)
        stays.append((sound, picture))
        await page.evaluate(LEAVE)
    return stays


def print_times(stays: Sequence[tuple[float, float]]) -> None:
    if not stays:
        return
    print(f"| {len(stays)} joins, ms from the click to | median | p95 | worst |\n|---|---|---|---|")
    for name, values in zip(("first sound", "first picture"), zip(*stays, strict=True), strict=True):
        ordered = sorted(values)
        p95 = ordered[int(0.95 * (len(ordered) - 1))]
        print(f"| {name} | {statistics.median(ordered):.0f} | {p95:.0f} | {ordered[-1]:.0f} |")


async def left_behind(inspector: CDPSession) -> dict[str, int]:
    """Return the number of objects in the page after garbage collection."""
    await inspector.send("Performance.enable")
    await inspector.send("HeapProfiler.enable")
    # Objects that close asynchronously, such as audio, are released only after a while.
    for _ in range(COLLECTIONS):
        await inspector.send("HeapProfiler.collectGarbage")
        await asyncio.sleep(1.0)
    metrics = await metrics_of(inspector)
    objects_left = {
        "JavaScript heap, KB": int(metrics["JSHeapUsedSize"] / 1000),
        "DOM nodes": int(metrics["Nodes"]),
        "event listeners": int(metrics["JSEventListeners"]),
    }
    for name in COUNTED:
        prototype = await inspector.send("Runtime.evaluate", {"expression": f"{name}.prototype"})
        of = {"prototypeObjectId": prototype["result"]["objectId"], "objectGroup": "counted"}
        objects = (await inspector.send("Runtime.queryObjects", of))["objects"]
        wanted = {
            "objectId": objects["objectId"],
            "functionDeclaration": "function () { return this.length; }",
        }
        objects_left[name] = (await inspector.send("Runtime.callFunctionOn", wanted))["result"]["value"]
        await inspector.send("Runtime.releaseObjectGroup", {"objectGroup": "counted"})
    return objects_left


def print_left(before: dict[str, int], after: dict[str, int], stays: int) -> None:
    print(f"\n| left behind | before | after {stays} joins and leaves |\n|---|---|---|")
    for name, count in before.items():
        print(f"| {name} | {count:,} | {after[name]:,} |")


async def metrics_of(inspector: CDPSession) -> dict[str, float]:
    metrics = (await inspector.send("Performance.getMetrics"))["metrics"]
    return {metric["name"]: metric["value"] for metric in metrics}


async def measure_tiles(people: People, viewer: Person, tiles: int) -> None:
    """Return the CPU use of the viewer's main thread in percent, with the page's tiles and with bare
    elements.
    """
    for number in range(tiles):
        sender = await people.arrive(f"Tile {number + 1}", capture=SMALL)
        await sender.join(camera=True)
    await viewer.page.evaluate("() => document.querySelector('#voice-channels .channel').click()")
    await viewer.page.wait_for_function(MOVING, arg=tiles, timeout=10 * DEADLINE_MS)
    inspector = await viewer.page.context.new_cdp_session(viewer.page)
    await inspector.send("Performance.enable", {"timeDomain": "threadTicks"})
    ours = await main_thread(inspector)
    await viewer.page.evaluate(BARE)
    bare = await main_thread(inspector)
    print(f"\n| {tiles} moving tiles | main thread, % of a core |\n|---|---|")
    print(f"| the page | {ours:.1f} |\n| bare elements | {bare:.1f} |\n| what we add | {ours - bare:.1f} |")


async def main_thread(inspector: CDPSession) -> float:
    await asyncio.sleep(LOOK_S / 4)
    before = await metrics_of(inspector)
    await asyncio.sleep(LOOK_S)
    after = await metrics_of(inspector)
    # Use the thread's CPU time, because the browser reports only wall time.
    passed = after["Timestamp"] - before["Timestamp"]
    return 100 * (after["TaskDuration"] - before["TaskDuration"]) / passed


if __name__ == "__main__":
    asyncio.run(main())
