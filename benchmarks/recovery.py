"""Measures how long two people in a call cannot hear each other after a failure.

    python -m benchmarks.recovery [--times 10] [--sfus 2]

Two pages in Chromium are in a call with cameras, using the complete product. In each round, the media service
is killed, then both signalling sockets are cut while the service is running, and then the chat server is
killed. The program prints the longest time that a page went without audio from the other page, and the number
of seconds until the killed program listened again. Without loss, audio arrives every 20 ms or so. A round
takes half a minute, because `svc up` restarts a program without delay only if it has run for that long.

With `--sfus 2`, the pages are connected to two media services, which relay their tracks to each other. One
service is killed, or is paused so that it closes no connections, and does not return. The member who was
connected to it moves to the other service. The result is the longest silence that either member hears.
"""

import argparse
import asyncio
import os
import re
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

from playwright.async_api import Page, WebSocketRoute

from svc.tools.supervisor import STEADY_S
from tests.end_to_end.test_several_sfus import installation
from tests.kit.browser_users import People, Person, chromium, people_at
from tests.kit.page_relay import SIGNALLING
from tests.kit.sfu_process import running_sfu
from tests.kit.svc_up import SvcUp, running_svc_up

TIMES = 10
# The seconds between two failures in a round, and how long a program runs beyond STEADY_S before it is
# killed.
SETTLE_S, BEYOND_S = 3.0, 3.0
DEADLINE_MS = 60_000
# The close code that the web client gets when its connection breaks.
LOST = 4000
# Waits until the call has restarted or its signalling is back, and until audio has then arrived for a while.
# The call does not restart on a page that `stays` on its media service.
WATCH = """([deadline, stays]) => {
  const [begun, first] = [performance.now(), svc.call.pc];
  let [broke, longest, latest, since] = [stays, 0, 0, begun];
  window.heard = new Promise((resolve, reject) => {
    const look = () => {
      const now = performance.now();
      const voices = svc.call.tracks.filter(({ source }) => source === "mic");
      const times = voices.map(({ receiver }) => receiver.getSynchronizationSources()[0]?.timestamp ?? 0);
      const came = Math.max(0, ...times);
      longest = Math.max(longest, now - since);
      if (came > latest) [latest, since] = [came, now];
      broke ||= svc.call.pc !== first || !svc.call.signalled;
      if (broke && svc.call.signalled && now - begun > 3000 && now - since < 200) resolve(longest);
      else if (now - begun > deadline) reject(new Error("nothing came"));
      else setTimeout(look, 5);
    };
    look();
  });
}"""


class Signalling:
    """The signalling sockets of several pages. The benchmark can cut them."""

    def __init__(self) -> None:
        self._latest: dict[Page, tuple[WebSocketRoute, WebSocketRoute]] = {}

    async def watch(self, page: Page) -> None:
        """Watch the sockets that a page opens from now on. Call this before the page joins a call."""

        def opened(client: WebSocketRoute) -> None:
            self._latest[page] = client, client.connect_to_server()

        await page.route_web_socket(SIGNALLING, opened)

    async def cut(self) -> None:
        await asyncio.gather(*(end.close(code=LOST) for ends in self._latest.values() for end in ends))


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=TIMES)
    parser.add_argument("--sfus", type=int, default=1, choices=[1, 2])
    options = parser.parse_args()
    executable = chromium()
    if executable is None:
        raise SystemExit("Chromium is missing; ci/setup installs it.")
    if options.sfus == 2:
        await measure_moves(executable, options.times)
        return
    with tempfile.TemporaryDirectory() as folder:
        async with (
            running_svc_up(Path(folder) / "data") as product,
            people_at(product.url, executable) as people,
        ):
            await measure(product, people, options.times)
            if people.faults:
                print("\n".join(people.faults))


async def measure(product: SvcUp, people: People, times: int) -> None:
    signalling = Signalling()
    pair = [await people.arrive(name) for name in ("Ada", "Grace")]
    for person in pair:
        await signalling.watch(person.page)
        await person.join()
    await hear_each_other(pair)
    breaks: dict[str, tuple[Callable[[], Awaitable[None]], str]] = {
        "the media service is killed": (partial(kill, product, "sfu"), "sfu"),
        "signalling is cut": (signalling.cut, ""),
        "the chat server is killed": (partial(kill, product, "chat"), "chat"),
    }
    times_by_break: dict[str, list[tuple[float, float]]] = {what: [] for what in breaks}
    for _ in range(times):
        next_round = asyncio.create_task(asyncio.sleep(STEADY_S + BEYOND_S))
        for what, (happen, killed) in breaks.items():
            begin, silent = await silence(pair, happen)
            listening = listening_since(product, killed) - begin if killed else 0.0
            times_by_break[what].append((listening, silent))
            print(f"{what}: {times_by_break[what][-1]}", file=sys.stderr, flush=True)
            await asyncio.sleep(SETTLE_S)
        await next_round
    print_times(times_by_break)


async def hear_each_other(pair: Sequence[Person]) -> None:
    await asyncio.gather(pair[0].hears(pair[1]), pair[1].hears(pair[0]))


async def measure_moves(executable: str, times: int) -> None:
    """Measure the loss of one of a room's two media services, in a new installation each time."""
    times_by_fault: dict[str, list[tuple[float, float]]] = {}
    for what in [killed := "one of two media services is killed", "one of them vanishes"] * times:
        with tempfile.TemporaryDirectory() as folder:
            async with (
                running_sfu() as one,
                running_sfu() as two,
                installation(Path(folder), one, two, rooms=(), room_size=1) as chat,
                people_at(f"{chat.address}/#invite={chat.invite}", executable) as people,
            ):
                pair = [await people.arrive(name) for name in ("Ada", "Grace")]
                for person in pair:
                    await person.join()
                await hear_each_other(pair)
                await asyncio.sleep(SETTLE_S)

                async def freeze() -> None:
                    two.signal(signal.SIGSTOP)

                _, silent = await silence(pair, two.kill if what is killed else freeze, stays=True)
                if what is not killed:
                    await two.kill()
                times_by_fault.setdefault(what, []).append((0.0, silent))
                print(f"{what}: {silent:.2f} s", file=sys.stderr, flush=True)
    print_times(times_by_fault)


async def kill(product: SvcUp, program: str) -> None:
    os.kill(product.program(program), signal.SIGKILL)


async def silence(
    pair: Sequence[Person], happen: Callable[[], Awaitable[None]], *, stays: bool = False
) -> tuple[float, float]:
    """Return the wall-clock time of the failure, and the longest silence that either person hears, in
    seconds.
    """
    for person in pair:
        await person.page.evaluate(WATCH, [DEADLINE_MS, stays])
    begin = time.time()
    await happen()
    silences = [await person.page.evaluate("() => window.heard") for person in pair]
    return begin, max(silences) / 1000


def listening_since(product: SvcUp, program: str) -> float:
    """Return the wall-clock time at which the program last logged that it was listening."""
    lines = re.findall(rf"^(\S+) INFO {program}\.app listening", product.output, re.MULTILINE)
    return datetime.fromisoformat(lines[-1]).timestamp()


def print_times(times_by_fault: dict[str, list[tuple[float, float]]]) -> None:
    print("| seconds | times | until it listens again: median | worst | without sound: median | worst |")
    print("|---|---|---|---|---|---|")
    for what, times in times_by_fault.items():
        listening, answering = zip(*times, strict=True)
        cells = [*middle_and_worst(listening), *middle_and_worst(answering)]
        print(f"| {what} | {len(times)} | {' | '.join(cells)} |")


def middle_and_worst(values: Sequence[float]) -> tuple[str, str]:
    if not any(values):
        return "–", "–"
    return f"{statistics.median(values):.2f}", f"{max(values):.2f}"


if __name__ == "__main__":
    asyncio.run(main())
