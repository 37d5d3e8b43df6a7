"""Measures a camera that nobody is watching (A10). python -m benchmarks.unwatched_video

Ada sends a camera in three encodings. Grace, in a separate browser, pauses the video, resumes it, and
requests only the smallest encoding. For each change, the program prints the time from Grace's request until
Ada's page gets the service's `layers_wanted`, and the time from then until the encoders are set. It then
prints the CPU time of Ada's browser in each state, with her own video hidden.
"""

import argparse
import asyncio
from statistics import median

from playwright.async_api import Browser

from benchmarks.two_browsers import two_browsers
from tests.kit import encoder_log
from tests.kit.browser_users import Capture, Person
from tests.kit.encoder_log import Entry
from tests.kit.narrow_call import HIDDEN
from tests.kit.wait import wait_until

CAPTURE = Capture(960, 540, 30)
CHANGES = (
    ("nobody watches", "{ paused: true }", (False, False)),
    ("all again", "{ paused: false, max_spatial_layer: -1 }", (True, True)),
    ("the smallest alone", "{ paused: false, max_spatial_layer: 0 }", (True, False)),
    ("the largest again", "{ paused: false, max_spatial_layer: -1 }", (True, True)),
)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="duration of each processor time measurement"
    )
    return parser


async def measure(options: argparse.Namespace) -> None:
    """Measure the times for all changes, then the CPU time."""
    async with two_browsers() as (first, second):
        ada = await first.arrive("Ada", capture=CAPTURE)
        await ada.page.add_init_script(encoder_log.SCRIPT)
        await ada.page.reload()
        grace = await second.arrive("Grace", capture=CAPTURE)
        await ada.join()
        await grace.join(camera=False)
        await grace.sees(ada, frames=60)
        await measure_times(ada, grace, options.rounds)
        await measure_processor(ada, grace, options.seconds)


async def measure_times(ada: Person, grace: Person, rounds: int) -> None:
    times: dict[str, list[tuple[float, float]]] = {name: [] for name, *_ in CHANGES}
    for _ in range(rounds):
        for name, changes, ends in CHANGES:
            times[name].append(await times_of(ada, grace, changes, ends))
    print("| change | request to layers_wanted, ms: median, max | from there to set, ms |\n|---|---|---|")
    for name, samples in times.items():
        columns = [f"{median(column):.0f}, {max(column):.0f}" for column in zip(*samples, strict=True)]
        print(f"| {name} | {' | '.join(columns)} |", flush=True)


async def times_of(ada: Person, grace: Person, changes: str, ends: tuple[bool, bool]) -> tuple[float, float]:
    """Return the time from a change until the page gets the request, and from then until the request takes
    effect.
    """
    requested_ms = await encoder_log.request_layers(grace, await camera_of(grace), changes)

    async def first(event: str) -> Entry | None:
        log = await encoder_log.entries(ada, requested_ms)
        fits = (
            entry
            for entry in log
            if entry.event == event and (entry.encodings[0], entry.encodings[-1]) == ends
        )
        return next(fits, None)

    async def done() -> bool:
        return await first("set") is not None

    await wait_until(f"the encodings match {changes}", done, within_s=15)
    wanted, done_at = await first("wanted"), await first("set")
    assert wanted and done_at
    # Wait as long as the service waits between two such events.
    await asyncio.sleep(1.0)
    return wanted.at_ms - requested_ms, done_at.at_ms - wanted.at_ms


async def camera_of(grace: Person) -> str:
    return (await grace.statistics()).track("Ada").track_id


async def measure_processor(ada: Person, grace: Person, seconds: float) -> None:
    browser = ada.page.context.browser
    assert browser
    # Without a graphics processor, drawing Ada's own video costs more than encoding it.
    await ada.page.evaluate(HIDDEN)
    print("| Ada's browser | processor time, % of a core |\n|---|---|")
    for name, changes, _ in (CHANGES[1], CHANGES[2], CHANGES[0]):
        await encoder_log.request_layers(grace, await camera_of(grace), changes)
        await asyncio.sleep(5.0)
        before = await processor_s(browser)
        await asyncio.sleep(seconds)
        print(f"| {name} | {100 * (await processor_s(browser) - before) / seconds:.0f} |", flush=True)


async def processor_s(browser: Browser) -> float:
    """Return the CPU time of all of a browser's processes."""
    session = await browser.new_browser_cdp_session()
    processes = await session.send("SystemInfo.getProcessInfo")
    await session.detach()
    return sum(float(process["cpuTime"]) for process in processes["processInfo"])


if __name__ == "__main__":
    asyncio.run(measure(arguments().parse_args()))
