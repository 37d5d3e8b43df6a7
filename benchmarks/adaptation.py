"""Measure calls on lines that cannot carry them. python -m benchmarks.adaptation

One or four cameras and voices reach a page over a line that the kernel shapes (tests.kit.narrow_call); the
page decides by itself which layers it requests. For each line, once the call has settled, print the share of
concealed sound, and the height, rate and freeze time of the pictures (means of all cameras). After the
narrowest line, print when all pictures are back on a wide line. Needs root and Linux.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from tests.kit.home_networks import why_not
from tests.kit.narrow_call import NarrowCall, narrow_call
from tests.kit.people import WIDE, Capture, chromium

LINES_KBPS = (8_000, 2_000, 800, 300)
LOSSY_KBPS, LOST_PERCENT = 8_000, 5
WIDE_AGAIN_KBPS = 4_000
NAMES = ("Grace", "Alan", "Edsger", "Barbara")
CAPTURE = Capture(480, 270, 12)
ALL = 0.9  # Share of the pictures; the browser itself drops one now and then.
BACK_WITHIN_S = 45.0


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cameras", type=int, nargs="+", default=[1, 4], help="how many, up to 4")
    parser.add_argument("--settle", type=float, default=10.0, metavar="S")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each line is measured")
    asked = parser.parse_args()
    executable = chromium()
    if reason := why_not() or ("" if executable else "Chromium is missing; ci/setup installs it"):
        raise SystemExit(reason)
    print(
        "| line, cameras | concealed, % | height × pictures/s | frozen, s/min and camera |\n|---|---|---|---|"
    )
    for cameras in asked.cameras:
        with tempfile.TemporaryDirectory() as folder:
            call = narrow_call(
                Path(folder), str(executable), names=NAMES[:cameras], capture=CAPTURE, viewport=WIDE
            )
            async with call as there:
                await measure_lines(there, cameras, asked.settle, asked.seconds)


async def measure_lines(call: NarrowCall, cameras: int, settle_s: float, seconds: float) -> None:
    for kbps in LINES_KBPS:
        await call.home.shape(kbps)
        print(f"| {kbps:,} k, {cameras} | {await measured(call, settle_s, seconds)} |", flush=True)
    began = time.monotonic()
    await call.home.shape(WIDE_AGAIN_KBPS)
    while (share := await call.pictures(1.0)) < ALL and time.monotonic() - began < BACK_WITHIN_S:
        pass
    back = f"all back after {time.monotonic() - began:.0f} s" if share >= ALL else "not all back"
    print(f"| {LINES_KBPS[-1]:,} k → {WIDE_AGAIN_KBPS:,} k, {cameras} | {back} | | |", flush=True)
    await call.home.shape(LOSSY_KBPS)
    await call.home.loses(LOST_PERCENT)
    lossy = f"{LOSSY_KBPS:,} k and {LOST_PERCENT} % loss"
    print(f"| {lossy}, {cameras} | {await measured(call, settle_s, seconds)} |", flush=True)
    await call.home.passes()


async def measured(call: NarrowCall, settle_s: float, seconds: float) -> str:
    await asyncio.sleep(settle_s)
    concealed, pictures = await asyncio.gather(call.concealed(seconds), call.cameras(seconds))
    shown = [each for each in pictures if each[0] > 0]
    height = sum(height for _, height, _ in shown) / len(shown) if shown else 0
    rate = sum(rate for rate, _, _ in pictures) / max(1, len(pictures))
    frozen = 60 * sum(share for _, _, share in pictures) / max(1, len(pictures))
    return f"{100 * concealed:.1f} | {height:.0f} × {rate:.1f}, {len(shown)} shown | {frozen:.0f}"


if __name__ == "__main__":
    asyncio.run(main())
