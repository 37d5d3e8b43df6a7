"""Shares a screen with small print, and checks that a viewer sees it at full size and contrast.

This module does not depend on the simulated network links.
"""

from tests.kit.browser_users import Person

# A page of small print. A clock in its corner moves, because an unchanged canvas sends no frames.
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
# Returns the colour of the margin, and the mean contrast between neighbouring pixels, which blurring lowers.
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
SHARP = 0.85  # as a fraction of the source's contrast
# Waits in the viewer's page, where a check needs no round trip. Returns the time at which the print is sharp,
# or null at the deadline.
WAIT = f"""async ([source, sharp, deadlineMs]) => {{
  const look = {LOOK};
  for (const end = Date.now() + deadlineMs; Date.now() < end;) {{
    const shown = look("#screens video");
    const isNew = shown?.paper.every((part, at) => Math.abs(part - source.paper[at]) < 24);
    if (isNew && shown.width === source.width && shown.contrast >= sharp * source.contrast) return Date.now();
    await new Promise((again) => setTimeout(again, 50));
  }}
  return null;
}}"""


async def sharp_at_ms(viewer: Person, sharer: Person, within_s: float) -> float | None:
    """Return the time, by the machine's clock, at which the viewer sees the current print sharply, or None if
    `within_s` passes first.
    """
    source = await sharer.page.evaluate(LOOK, "")
    at_ms: float | None = await viewer.page.evaluate(WAIT, [source, SHARP, 1000 * within_s])
    return at_ms
