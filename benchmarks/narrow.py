"""A call on a line that becomes narrow and wide again. python -m benchmarks.narrow

Two cameras and two voices come to a page whose line the kernel shapes to 350 kbit/s, and after a while
to 2 Mbit/s (tests.kit.narrow_call). Prints how much of the sound is concealed, and when all of the
pictures come again. Needs root and Linux.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from tests.kit.home_networks import why_not
from tests.kit.narrow_call import NARROW_KBPS, WIDE_KBPS, NarrowCall, narrow_call
from tests.kit.people import chromium

NARROW_S, WIDE_S, STEP_S = 30, 40, 5
ALL = 0.9  # Of the pictures; the browser drops one now and then itself.


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    executable = chromium()
    if reason := why_not() or ("" if executable else "Chromium is missing; ci/setup installs it"):
        raise SystemExit(reason)
    with tempfile.TemporaryDirectory() as folder:
        async with narrow_call(Path(folder), str(executable)) as call:
            steps = [f"{start}-{start + STEP_S} s" for start in range(0, NARROW_S, STEP_S)]
            print(f"| concealed sound, % | {' | '.join(steps)} | all pictures again after, s |")
            print(f"|{'---|' * (len(steps) + 2)}")
            for number in range(1, asked.rounds + 1):
                print(f"| round {number} | {await measured(call)} |", flush=True)


async def measured(call: NarrowCall) -> str:
    await call.home.shape(NARROW_KBPS)
    shares = [await call.concealed(STEP_S) for _ in range(0, NARROW_S, STEP_S)]
    began = time.monotonic()
    await call.home.shape(WIDE_KBPS)
    while (share := await call.pictures(1.0)) < ALL and time.monotonic() - began < WIDE_S:
        pass
    back = f"{time.monotonic() - began:.0f}" if share >= ALL else "never"
    return " | ".join([*(f"{100 * each:.1f}" for each in shares), back])


if __name__ == "__main__":
    asyncio.run(main())
