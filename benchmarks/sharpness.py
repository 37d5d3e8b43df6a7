"""Measures how soon shared text becomes sharp (A8). python -m benchmarks.sharpness [--rounds 17] [--hidden
60]

Ada shares a still page of small print, and Grace watches. Each round has three cases: Grace joins late, she
returns to a tab that was hidden while the print changed, and she loses her connection for a second, during
which the print changes. For each case, the program prints how many times the text was sharp within 2 s, and
the median and longest time: from the click to join, from the return to the tab, and from the end of the gap.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import cycle
from statistics import median

from benchmarks.two_browsers import two_browsers
from tests.kit.people import Person
from tests.kit.relay import Relay, relay
from tests.kit.shared_print import SET_VISIBILITY, SHARES_PRINT, sharp_at_ms

AUTOMATIC = "() => { localStorage['svc.callSettings'] = JSON.stringify({ quality: 'automatic' }); }"
PAPERS = cycle(("lightyellow", "lightblue", "lightgreen", "white"))
GOAL_S, WITHIN_S = 2.0, 20.0
GAP_S, BETWEEN_S = 1.0, 3.0
SEED = 8


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=17)
    parser.add_argument("--hidden", type=float, default=60.0, metavar="S", help="how long the tab is hidden")
    return parser


async def measure(options: argparse.Namespace) -> None:
    """Measure all cases in turn, and print a row for each case."""
    async with two_browsers(still=True) as (first, second), relay(loss=0, seed=SEED) as link:
        ada, grace = await first.arrive("Ada"), await second.arrive("Grace", link=link)
        await ada.join(camera=False)
        await ada.page.evaluate(SHARES_PRINT)
        await ada.press("Share screen")
        await grace.come_in()
        await grace.page.evaluate(AUTOMATIC)
        await grace.page.reload()
        await grace.enter_call()
        await sharp_at_ms(grace, ada, WITHIN_S)
        cases: dict[str, Callable[[], Awaitable[float]]] = {
            "a late joiner": lambda: join_late(grace),
            "a tab that was hidden": lambda: come_back(ada, grace, options.hidden),
            "a gap of 1 s": lambda: after_a_gap(ada, link),
        }
        found: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(options.rounds):
            for name, happens in cases.items():
                began_ms = await happens()
                at_ms = await sharp_at_ms(grace, ada, WITHIN_S)
                found[name].append((at_ms - began_ms) / 1000 if at_ms else WITHIN_S)
                await asyncio.sleep(BETWEEN_S)
    print("| A8: shared text after | sharp within 2 s | median, s | longest, s |\n|---|---|---|---|")
    for name, times in found.items():
        soon = f"{sum(each <= GOAL_S for each in times)} of {len(times)}"
        print(f"| {name} | {soon} | {median(times):.1f} | {max(times):.1f} |", flush=True)


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


async def after_a_gap(ada: Person, link: Relay) -> float:
    link.loss = 1
    await ada.page.evaluate("(paper) => window.print(paper)", next(PAPERS))
    await asyncio.sleep(GAP_S)
    link.loss = 0
    return 1000 * time.time()


if __name__ == "__main__":
    asyncio.run(measure(arguments().parse_args()))
