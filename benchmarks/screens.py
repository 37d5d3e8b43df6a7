"""Measures a shared screen with each preset.

A member shares 1920x1080 pixels with one viewer, in Chromium, using the complete product: text that is
scrolled now and then, and a video, each with both presets. The program prints the frame size, the frames per
second and the kilobits per second that the viewer received, for all temporal layers and for the lowest layer
alone.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.kit.browser_users import Capture, Person, chromium, people_at
from tests.kit.svc_up import running_svc_up

SETTLE_S = 20  # During this time, Chromium estimates the bandwidth of the link.
PRESETS = {"text": "Share text: sharp", "motion": "Share motion: smooth"}
SHOWN = ("text", "a film")
ALL, LOWEST = -1, 0
SCREEN = """(film) => {
  const [width, height, line] = [1920, 1080, 24];
  const number = (below) => Math.floor(Math.random() * below);
  const word = () => Math.random().toString(36).slice(2, 3 + number(8));
  const pen = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
  const write = (y) => {
    Object.assign(pen, { fillStyle: "#fff", font: "16px monospace" }).fillRect(0, y, width, line);
    pen.fillStyle = "#000";
    pen.fillText(Array.from({ length: 30 }, word).join(" "), 8, y + 17);
  };
  const scroll = (lines) => {
    pen.drawImage(pen.canvas, 0, -line * lines);
    for (let each = lines; each > 0; each--) write(height - line * each);
  };
  const move = (tick) => {
    const colours = pen.createLinearGradient((tick * 16) % width, 0, width, height);
    ["#246", "#e94", "#5b3", "#c38"].forEach((colour, index) => colours.addColorStop(index / 3, colour));
    Object.assign(pen, { fillStyle: colours }).fillRect(0, 0, width, height);
    for (let each = 0; each < 40; each++) {
      pen.fillStyle = `hsl(${each * 9} 60% 50%)`;
      const [x, y] = [each * 211 + tick * (3 + each % 7), each * 97 + tick * (2 + each % 5)];
      pen.fillRect(x % width, y % height, 140, 90);
    }
  };
  navigator.mediaDevices.getDisplayMedia = async ({ video: { frameRate } }) => {
    const stream = pen.canvas.captureStream(frameRate);
    for (let y = 0; y < height; y += line) write(y);
    let tick = 0;
    const timer = setInterval(() => {
      if (stream.getVideoTracks()[0].readyState === "ended") clearInterval(timer);
      tick += 1;
      if (film) move(tick);
      else if (tick % 60 === 0) scroll(1 + number(6));
      else write(height - line); // Simulate typing.
    }, 1000 / 60);
    return stream;
  };
}"""
RECEIVED = """async () => {
  const screen = svc.call.tracks.find(({ source }) => source === "screen");
  const found = [...(await screen.receiver.getStats()).values()].find(({ type }) => type === "inbound-rtp");
  const { timestamp, bytesReceived, headerBytesReceived, framesReceived: frames } = found;
  const size = `${found.frameWidth}x${found.frameHeight}`;
  return { timestamp, bytes: bytesReceived + headerBytesReceived, frames, size };
}"""
LAYER = """(layer) => {
  const { trackId } = svc.call.tracks.find(({ source }) => source === "screen");
  svc.call.setLayer(trackId, layer);
}"""


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    executable = chromium()
    if executable is None:
        raise SystemExit("Chromium is missing; ci/setup installs it.")
    with tempfile.TemporaryDirectory() as folder:
        async with (
            running_svc_up(Path(folder) / "data") as product,
            people_at(product.url, executable) as people,
        ):
            sharer = await people.arrive("Sharer")
            viewer = await people.arrive("Viewer", capture=Capture(160, 120, 5))
            for person in (sharer, viewer):
                await person.join(camera=False, microphone=False)
            print("| preset | shows | size | fps | kbit/s | lowest layer: fps | kbit/s |")
            print("|---|---|---|---|---|---|---|")
            for preset in PRESETS:
                for shown in SHOWN:
                    figures = await measured(sharer, viewer, preset, shown, options.seconds)
                    print(f"| {preset} | {shown} | {figures} |", flush=True)
            if people.faults:
                print("\n".join(people.faults))


async def measured(sharer: Person, viewer: Person, preset: str, shown: str, seconds: float) -> str:
    await sharer.page.evaluate(SCREEN, shown != "text")
    await sharer.press("More call options")
    await sharer.page.get_by_role("menu").get_by_text(PRESETS[preset], exact=True).click()
    await sharer.press("Share screen")
    await viewer.sees(sharer, source="screen")
    await asyncio.sleep(SETTLE_S)
    size, all_layers = await rates(viewer, ALL, seconds)
    _, lowest = await rates(viewer, LOWEST, seconds)
    await sharer.press("Stop sharing")
    return f"{size} | {all_layers} | {lowest}"


async def rates(viewer: Person, layer: int, seconds: float) -> tuple[str, str]:
    """Return the frame size, the frame rate, and the bitrate in kbit/s."""
    await viewer.page.evaluate(LAYER, layer)
    before: Mapping[str, float] = await viewer.page.evaluate(RECEIVED)
    await asyncio.sleep(seconds)
    after = await viewer.page.evaluate(RECEIVED)
    passed = (after["timestamp"] - before["timestamp"]) / 1000
    pictures = (after["frames"] - before["frames"]) / passed
    kbps = (after["bytes"] - before["bytes"]) * 8 / 1000 / passed
    return str(after["size"]), f"{pictures:.1f} | {kbps:.0f}"


if __name__ == "__main__":
    asyncio.run(main())
