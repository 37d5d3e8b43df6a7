"""Measures the cost of end-to-end encryption for a page in a call of five people, in Chromium.

Five pages in one browser, each with a microphone and a camera, alternate between an encrypted voice channel
and the same channel without encryption. Once all five receive video from all others, the program measures the
CPU time that the kernel counts for all threads of the pages' processes. Pages encrypt and decrypt frames in a
worker, and WebCrypto runs in the browser's thread pool. The threads with the largest differences are listed.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import expect

from tests.kit.browser_users import Capture, People, Person, chromium, people_at
from tests.kit.community import ask
from tests.kit.svc_up import running_svc_up

PEOPLE, ROUNDS, LOOK_S, SETTLE_S = 5, 3, 20.0, 8.0
CAPTURE = Capture(320, 180, 15)
LISTED = 4
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Each audio packet contains one frame.
FRAMES = """async () => {
  const all = [...(await svc.call.pc.getStats()).values()];
  const of = (kind) => ["Received", "Sent"].map((way) => (kind === "video" ? "frames" : "packets") + way);
  return all.filter(({ type }) => ["inbound-rtp", "outbound-rtp"].includes(type))
    .reduce((sum, each) => sum + of(each.kind).reduce((most, name) => most + (each[name] ?? 0), 0), 0);
}"""


@dataclass(frozen=True, slots=True)
class Cost:
    """One page's cost per second: the frames sent and received, and the percentage of a core by thread."""

    frames: float
    threads: Counter[str]

    @property
    def percent(self) -> float:
        return sum(self.threads.values())


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=LOOK_S)
    options = parser.parse_args()
    executable = chromium()
    if executable is None:
        raise SystemExit("Chromium is missing; ci/setup installs it.")
    with tempfile.TemporaryDirectory() as folder:
        async with (
            running_svc_up(Path(folder) / "data") as product,
            people_at(product.url, executable) as people,
        ):
            await measure(people, options.rounds, options.seconds)
            if people.faults:
                print("\n".join(people.faults))


async def measure(people: People, rounds: int, seconds: float) -> None:
    everybody = [await people.arrive(f"Person {number + 1}", capture=CAPTURE) for number in range(PEOPLE)]
    for person in everybody:
        await person.come_in()
    channels = (await ask(everybody[0], "GET", "/api/channels"))["channels"]
    [path] = [f"/api/channels/{channel['id']}" for channel in channels if channel["type"] == "voice"]
    costs: dict[bool, list[Cost]] = {False: [], True: []}
    for _ in range(rounds):
        for encrypted in (True, False):
            await ask(everybody[0], "PATCH", path, {"encrypted": encrypted})
            costs[encrypted].append(await one_call(everybody, seconds))
    print_costs(costs[False], costs[True])


async def one_call(everybody: Sequence[Person], seconds: float) -> Cost:
    for person in everybody:
        await person.enter_call(camera=True)
    for person in everybody:
        for other in everybody:
            if other is not person:
                await person.sees(other, frames=1, within_s=60)
    await asyncio.sleep(SETTLE_S)
    before, frames, since = renderer_ticks(), await frames_of(everybody), time.monotonic()
    await asyncio.sleep(seconds)
    after, more = renderer_ticks(), await frames_of(everybody)
    passed = time.monotonic() - since
    for person in everybody:
        await person.press("Leave")
        await expect(person.page.locator("#call-state")).to_have_count(0)
    person_s = passed * len(everybody)
    threads = {name: 100 * count / TICKS_PER_S / person_s for name, count in (after - before).items()}
    return Cost((more - frames) / person_s, Counter(threads))


async def frames_of(everybody: Sequence[Person]) -> int:
    return sum([await person.page.evaluate(FRAMES) for person in everybody])


def renderer_ticks() -> Counter[str]:
    """Return the CPU time of each thread, by thread name, in the renderer processes that this process has
    started.
    """
    parents, pages = dict[int, int](), list[int]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int(fields(folder / "stat")[1])
            if b"--type=renderer" in (folder / "cmdline").read_bytes():
                pages.append(int(folder.name))
        except OSError:
            continue  # The process has ended.
    ticks = Counter[str]()
    for page in pages:
        if os.getpid() not in ancestors(page, parents):
            continue
        for task in Path(f"/proc/{page}/task").iterdir():
            name = "main" if task.name == str(page) else (task / "comm").read_text().strip()
            ticks[name] += sum(int(count) for count in fields(task / "stat")[11:13])
    return ticks


def fields(stat: Path) -> list[str]:
    """Return the fields that follow the process name: state, parent, and so on. The process name may contain
    spaces (proc(5)).
    """
    return stat.read_text().rpartition(")")[2].split()


def ancestors(process: int, parents: dict[int, int]) -> set[int]:
    pids = set[int]()
    while process := parents.get(process, 0):
        pids.add(process)
    return pids


def print_costs(plain: Sequence[Cost], sealed: Sequence[Cost]) -> None:
    def row(name: str, off: float, on: float) -> None:
        print(f"| {name} | {off:.1f} | {on:.1f} | {on - off:+.1f} |")

    off, on = (statistics.median(cost.percent for cost in costs) for costs in (plain, sealed))
    print(f"| {PEOPLE} people, of one page, median of {len(plain)} | plain | encrypted | difference |")
    print("|---|---|---|---|")
    row("% of a core", off, on)
    by_thread = {
        name: [statistics.median(cost.threads[name] for cost in costs) for costs in (plain, sealed)]
        for name in {name for cost in (*plain, *sealed) for name in cost.threads}
    }
    largest = sorted(by_thread, key=lambda name: -abs(by_thread[name][1] - by_thread[name][0]))
    for name in largest[:LISTED]:
        row(f"of that in {name}", *by_thread[name])
    row("frames a second", *(statistics.median(cost.frames for cost in costs) for costs in (plain, sealed)))
    print("every round, % of a core: plain " + ", ".join(f"{cost.percent:.1f}" for cost in plain), end="; ")
    print("encrypted " + ", ".join(f"{cost.percent:.1f}" for cost in sealed))


if __name__ == "__main__":
    asyncio.run(main())
