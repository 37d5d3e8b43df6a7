"""Measures how quickly a call and the chat recover from network outages.

    python -m benchmarks.outages [--times 20] [--client firefox] [--ipv6] [OUTAGE ...]

In a checkout, `svc bench outages` runs the same program. A page in Chromium and another client are in a call,
each behind its own router (tests.kit.home_networks). The client goes through each outage several times within
one call. All times are in seconds. The first two start when the network is restored: until both hear each
other without further interruption, and until a message written during the outage is displayed. The third is
measured from the start of the outage until the page reports the problem. Needs Linux and root.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.kit.outages import CLIENTS, OUTAGES, Healed, Outage, outage, talking, why_not

TIMES = 20
# The service limits ICE restarts to one per 10 s in the long run, because no real network fails more often.
PERIOD_S = 12.0
# A recovery that takes longer counts as late.
GOAL_S = 5.0
COLUMNS = ("sound: p50", "worst", "late", "chat: p50", "worst", "said: worst")


async def main() -> None:
    options = _arguments()
    if reason := why_not(options.client):
        raise SystemExit(reason)
    print(f"| {'outage':<44} | times | {' | '.join(COLUMNS)} |")
    for case in map(outage, options.outages or [case.name for case in OUTAGES]):
        with tempfile.TemporaryDirectory() as folder:
            async with talking(Path(folder), options.client, (6,) if options.ipv6 else (4,)) as talk:
                outcomes = []
                for _ in range(options.times):
                    next_one = asyncio.create_task(asyncio.sleep(PERIOD_S))
                    outcomes.append(await talk.through(case, options.seconds if case.lasts_s else None))
                    await next_one
                    print(f"{case.name}: {outcomes[-1]}", file=sys.stderr, flush=True)
        print(_line(case, outcomes), flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [case.name for case in OUTAGES]
    parser.add_argument("outages", nargs="*", choices=[*names, []], metavar="OUTAGE", help=", ".join(names))
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--client", choices=list(CLIENTS), default="chromium", help="client to measure")
    parser.add_argument("--ipv6", action="store_true", help="use only IPv6, without NAT")
    parser.add_argument(
        "--seconds", type=float, help="duration of every outage that has one; default: as in its name"
    )
    return parser.parse_args()


def _line(case: Outage, outcomes: Sequence[Healed]) -> str:
    sound, chat = [result.sound_s for result in outcomes], [result.chat_s for result in outcomes]
    slowest = max(result.problem_shown_s for result in outcomes)
    late = sum(time_s > GOAL_S for time_s in sound)
    cells = [f"{statistics.median(sound):.1f} s", f"{max(sound):.1f} s", str(late)]
    cells += (
        [f"{statistics.median(chat):.1f} s", f"{max(chat):.1f} s"]
        if case.chat_too and any(chat)
        else ["–", "–"]
    )
    cells.append(f"{slowest:.1f} s" if slowest else "–")
    return f"| {case.what:<44} | {len(outcomes):5} | {' | '.join(cells)} |"


if __name__ == "__main__":
    asyncio.run(main())
