"""Measures how soon shared text becomes sharp (A8). python -m benchmarks.sharpness [--rounds 17] [--hidden
60]

Ada shares a still page of small print, alongside her camera and microphone. Grace watches from home, over a
link whose rate the kernel limits. Each round has four cases. Grace joins late. She returns to a tab that was
hidden while the print changed. Her link is too slow for all video for five seconds, and the print changes in
that time. Her link carries no media at all for a second, and the print changes in that time. For each case,
the program prints how many times the text was sharp within 2 s, and the median and longest time. The time
starts at the click to join, at the return to the tab, at the end of the slow period, or at the end of the
gap. Needs root and Linux.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import cycle
from pathlib import Path
from statistics import median

from benchmarks.simulated_devices import NOISY_CAPTURE
from tests.kit.browser_users import WIDE, Person, bare_chromium
from tests.kit.home_networks import UDP, Home, home_networks, people_in, server_in, why_not
from tests.kit.shared_print import SET_VISIBILITY, SHARES_PRINT, sharp_at_ms

PAPERS = cycle(("lightyellow", "lightblue", "lightgreen", "white"))
GOAL_S, WITHIN_S = 2.0, 20.0
WIDE_KBPS = 8_000
DIP_S, GAP_S, BETWEEN_S = 5.0, 1.0, 3.0
# Whether the service sends less of some video than Grace's page requests, because of her link.
IS_LOWERED = "() => [...svc.call.layers.values()].some(({ reason }) => reason === 'line')"


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=17)
    parser.add_argument("--hidden", type=float, default=60.0, metavar="S", help="how long to hide the tab")
    parser.add_argument("--dip", type=int, default=800, metavar="KBPS", help="the link's rate during a dip")
    return parser


@asynccontextmanager
async def shared_print() -> AsyncIterator[tuple[Person, Person, Home]]:
    """Start a call in which Ada shares a page of print, and Grace sees it sharply over her home link."""
    executable = bare_chromium()
    if reason := why_not() or ("" if executable else "Chromium is missing; ci/setup installs it"):
        raise SystemExit(reason)
    with tempfile.TemporaryDirectory() as folder:
        async with (
            home_networks("ada", "grace") as world,
            server_in(world, Path(folder) / "data") as product,
            people_in(world.homes["ada"], product.url, str(executable), viewport=WIDE) as first,
            people_in(world.homes["grace"], product.url, str(executable), viewport=WIDE) as second,
        ):
            link = world.homes["grace"]
            await link.shape(WIDE_KBPS)
            ada = await first.arrive("Ada", capture=NOISY_CAPTURE)
            grace = await second.arrive("Grace", capture=NOISY_CAPTURE)
            await ada.join()
            await ada.page.evaluate(SHARES_PRINT)
            await ada.press("Share screen")
            await grace.join(camera=False)
            await sharp_at_ms(grace, ada, WITHIN_S)
            yield ada, grace, link


async def measure(options: argparse.Namespace) -> None:
    """Measure all cases in turn and print a row for each case."""
    async with shared_print() as (ada, grace, link):
        lowered: list[bool] = []
        cases: dict[str, Callable[[], Awaitable[float]]] = {
            "a late joiner": lambda: join_late(grace),
            "a tab that was hidden": lambda: come_back(ada, grace, options.hidden),
            f"a dip to {options.dip} kbit/s": lambda: after_a_dip(ada, grace, link, options.dip, lowered),
            "a gap of 1 s": lambda: after_a_gap(ada, link),
        }
        times_by_case: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(options.rounds):
            for name, happens in cases.items():
                began_ms = await happens()
                at_ms = await sharp_at_ms(grace, ada, WITHIN_S)
                times_by_case[name].append((at_ms - began_ms) / 1000 if at_ms else WITHIN_S)
                await asyncio.sleep(BETWEEN_S)
    print("| A8: shared text after | sharp within 2 s | median, s | longest, s |\n|---|---|---|---|")
    for name, times in times_by_case.items():
        soon = f"{sum(time_s <= GOAL_S for time_s in times)} of {len(times)}"
        print(f"| {name} | {soon} | {median(times):.1f} | {max(times):.1f} |", flush=True)
    print(f"\nThe service lowered video in {sum(lowered)} of {len(lowered)} dips.", flush=True)


async def join_late(grace: Person) -> float:
    await grace.press("Leave")
    began = time.time()
    await grace.enter_call()
    return 1000 * began


async def come_back(ada: Person, grace: Person, hidden_s: float) -> float:
    await grace.page.evaluate(SET_VISIBILITY, "hidden")
    await asyncio.sleep(hidden_s)
    await ada.page.evaluate("(paper) => window.print(paper)", next(PAPERS))
    began = time.time()
    await grace.page.evaluate(SET_VISIBILITY, "visible")
    return 1000 * began


async def after_a_dip(ada: Person, grace: Person, link: Home, kbps: int, lowered: list[bool]) -> float:
    """Return the time at which a dip ends. Append to `lowered` whether video was lowered by then."""
    await link.shape(kbps)
    await asyncio.sleep(DIP_S / 2)
    await ada.page.evaluate("(paper) => window.print(paper)", next(PAPERS))
    await asyncio.sleep(DIP_S / 2)
    lowered.append(bool(await grace.page.evaluate(IS_LOWERED)))
    await link.shape(WIDE_KBPS)
    return 1000 * time.time()


async def after_a_gap(ada: Person, link: Home) -> float:
    await link.drops(UDP)
    await ada.page.evaluate("(paper) => window.print(paper)", next(PAPERS))
    await asyncio.sleep(GAP_S)
    await link.passes()
    return 1000 * time.time()


if __name__ == "__main__":
    asyncio.run(measure(arguments().parse_args()))
