"""Measures calls over links that are too slow for them. python -m benchmarks.adaptation [--rows A1 A2 ...]

Video and audio reach a page over a link whose rate the kernel limits (tests.kit.narrow_call). The page's
requests and the service determine which media the page receives. Each row has a name and can be selected. Row
A14 is a table of links. For the settled call, the output shows the share of concealed audio, the height,
frame rate and freeze time of the video (means of all cameras), and the link's queue, that is, the growth of
the round-trip time. Rows A4, A8, A10, A12, A13 and A15 have their own tables, such as that of
benchmarks.voice. A13 needs `--server` and `--client` (benchmarks.livekit). Needs root and Linux.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from benchmarks import livekit, sharpness, unwatched_video, voice
from benchmarks.simulated_devices import NOISY_CAPTURE
from tests._rtp.link_plans import Run, violations
from tests._rtp.test_bandwidth_plans import PLANS, SEEDS
from tests.kit.browser_users import WIDE, Capture, bare_chromium
from tests.kit.home_networks import why_not
from tests.kit.narrow_call import NarrowCall, narrow_call

LINES_KBPS = (8_000, 2_000, 800, 300)
WIDE_KBPS, WIDE_AGAIN_KBPS, LOSSY_KBPS, NARROW_KBPS = 8_000, 4_000, 2_000, 300
# Even audio hardly fits at this rate per microphone, so all video is paused.
PAUSED_KBPS_PER_VOICE = 50
NAMES = ("Grace", "Alan", "Edsger", "Barbara", "Frances", "Donald")
CAPTURE = Capture(480, 270, 12)
ALL = 0.9  # This fraction of the frames counts as all frames, because browsers occasionally drop a frame.
BACK_WITHIN_S = 45.0
SILENT = 24
MANY = 25
# After this time, CUBIC has reached its share of the bandwidth.
DOWNLOAD_SETTLES_S = 30.0
SHORT_QUEUE_S = 0.1
WINDOW_S = 0.5  # the period over which a frame rate is measured


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    every = (*IN_CALLS, *PROGRAMS)
    parser.add_argument("--rows", nargs="+", choices=every, default=[row for row in every if row != "A13"])
    parser.add_argument("--cameras", type=int, nargs="+", default=[1, 4], help="number of cameras, up to 6")
    parser.add_argument("--settle", type=float, default=10.0, metavar="S")
    parser.add_argument("--seconds", type=float, default=20.0, help="duration for each link")
    parser.add_argument("--server", help="LiveKit's program, for A13")
    parser.add_argument("--client", help="livekit-client.umd.js, for A13")
    options = parser.parse_args()
    executable = bare_chromium()
    if reason := why_not() or ("" if executable else "Chromium is missing; ci/setup installs it"):
        raise SystemExit(reason)
    if rows := [row for row in options.rows if row in IN_CALLS]:
        print("| row, cameras | concealed, % | height × fps | frozen, s/min and camera | queue, ms |")
        print("|---|---|---|---|---|")
        for cameras in options.cameras:
            for capture, watching in ((CAPTURE, False), (CAPTURE, True), (NOISY_CAPTURE, False)):
                these = [
                    row for row in rows if (CAPTURES.get(row, CAPTURE), row in WATCHED) == (capture, watching)
                ]
                await measure_calls(these, cameras, capture, watching, options)
    for row in options.rows:
        if row in PROGRAMS:
            print(flush=True)
            await PROGRAMS[row](options)


async def measure_calls(
    rows: Sequence[str], cameras: int, capture: Capture, watching: bool, options: argparse.Namespace
) -> None:
    """Measure these rows of the table in one call."""
    if not rows:
        return
    with tempfile.TemporaryDirectory() as folder:
        call = narrow_call(
            Path(folder),
            str(bare_chromium()),
            names=NAMES[:cameras],
            capture=capture,
            viewport=WIDE,
            watching=watching,
            # Receive-only members count only packets in this codec.
            codec="VP8" if watching else "",
        )
        async with call as measured:
            for row in rows:
                await measured.home.passes()
                await IN_CALLS[row](measured, options.settle, options.seconds)


async def from_wide_to_narrow(call: NarrowCall, settle_s: float, seconds: float) -> None:
    """Measure A1: after the link narrows, the queue becomes short within a second, and the audio is not
    interrupted.
    """
    kbps = 800
    await call.home.shape(WIDE_KBPS)
    await asyncio.sleep(settle_s)
    await call.home.shape(kbps)
    queues, after = await asyncio.gather(
        call.longest_queues(kbps, seconds), measured_after(call, 1.0, seconds - 1.0)
    )
    long = [number / 10 for number, queue in enumerate(queues) if queue >= SHORT_QUEUE_S]
    settled = queues[10:]
    queue = 1000 * sorted(settled)[int(0.95 * len(settled))]
    line = f"8 M → 800 k, short queue after {max(long, default=0):.1f} s, from 1 s on"
    show("A1", line, call, f"{after}{queue:.0f}, {sum(queue_s >= SHORT_QUEUE_S for queue_s in settled)} long")


async def from_narrow_to_wide(call: NarrowCall, settle_s: float, _seconds: float) -> None:
    """Measure A2: after the link widens, the service raises the first video within 2 s, and all video is back
    within 6 s.
    """
    await returning(call, settle_s, NARROW_KBPS, WIDE_KBPS, "A2")


async def with_random_loss(call: NarrowCall, settle_s: float, seconds: float) -> None:
    """Measure A3: random loss does not reduce the quality of video that is within the link's capacity."""
    await call.home.shape(LOSSY_KBPS)
    await call.home.loses(10)
    await asyncio.sleep(settle_s)
    after, share = await asyncio.gather(measured_after(call, 0, seconds, LOSSY_KBPS), call.pictures(seconds))
    show("A3", f"2 M and 10 % loss, {100 * share:.0f} % of the pictures", call, after)


async def next_to_a_download(call: NarrowCall, settle_s: float, seconds: float) -> None:
    """Measure A5: the call shares a link with a TCP download (CUBIC). Either of them alone could fill the
    link.
    """
    await call.home.shape(WIDE_AGAIN_KBPS)
    async with call.download() as download_kbps:
        await asyncio.sleep(max(settle_s, DOWNLOAD_SETTLES_S))
        after, (media, _), download = await asyncio.gather(
            measured_after(call, 0, seconds, WIDE_AGAIN_KBPS),
            call.media_kbps(seconds),
            download_kbps(seconds),
        )
    share = 100 * media / (media + download)
    show("A5", f"4 M next to a download of {download:,.0f} k: {media:,.0f} k, {share:.0f} %", call, after)


async def one_in_trouble(call: NarrowCall, settle_s: float, seconds: float) -> None:
    """Measure A6: one receiver's slow link does not affect the other members, most of whom only receive."""
    rates: list[list[float]] = []
    packets: list[list[int]] = []
    async with silent_members(call, SILENT) as received:
        for kbps in (WIDE_KBPS, NARROW_KBPS):
            await call.home.shape(kbps)
            await asyncio.sleep(settle_s)
            before = await received()
            seen = await asyncio.gather(*(call.cameras(seconds, other) for other in call.others))
            packets.append([now - then for now, then in zip(await received(), before, strict=True)])
            rates.append([sum(rate for rate, _, _ in cameras) for cameras in seen])
    pictures, traffic = (
        100
        * max((abs(after / before - 1) for before, after in zip(*series, strict=True) if before), default=0)
        for series in (rates, packets)
    )
    received_pps, fps = min(packets[0]) / seconds, min(rates[0])
    what = (
        f"packets of {SILENT} others ({received_pps:.0f}/s) differ by {traffic:.1f} % at most, "
        f"frame rates ({fps:.0f} fps in all) by {pictures:.1f} %"
    )
    show("A6", f"one receiver at 300 k: {what}", call)


@asynccontextmanager
async def silent_members(call: NarrowCall, count: int) -> AsyncIterator[Callable[[], Awaitable[list[int]]]]:
    """Add members who only receive. Yield a function that returns the number of packets that each member has
    received.
    """
    async with running(call, "tests.kit.silent_members", str(count)) as (orders, lines):

        async def received() -> list[int]:
            orders.write(b"\n")
            counts: list[int] = json.loads(await lines.readline())
            return counts

        yield received


@asynccontextmanager
async def running(
    call: NarrowCall, module: str, count: str
) -> AsyncIterator[tuple[StreamWriter, StreamReader]]:
    """Run a program, in the server's network, that joins several members to the call. Yield its stdin and
    stdout once all of them have joined.
    """
    process = await asyncio.create_subprocess_exec(
        *(*call.server.inside, sys.executable, "-m", module, call.url, count), stdin=PIPE, stdout=PIPE
    )
    assert process.stdin and process.stdout
    try:
        await process.stdout.readline()
        yield process.stdin, process.stdout
    finally:
        process.stdin.close()
        await process.wait()


async def from_paused(call: NarrowCall, settle_s: float, _seconds: float) -> None:
    """Measure A7: paused video returns within 5 s."""
    await returning(call, settle_s, PAUSED_KBPS_PER_VOICE * len(call.others), WIDE_AGAIN_KBPS, "A7")


async def links(call: NarrowCall, settle_s: float, seconds: float) -> None:
    """Measure A14: four cameras, or one camera, over links of various bandwidths."""
    for kbps in LINES_KBPS:
        await call.home.shape(kbps)
        show("A14", f"{kbps:,} k", call, await measured_after(call, settle_s, seconds, kbps))
    await returning(call, 0, NARROW_KBPS, WIDE_AGAIN_KBPS, "A14")
    await call.home.shape(WIDE_KBPS)
    await call.home.loses(5)
    show("A14", "8,000 k and 5 % loss", call, await measured_after(call, settle_s, seconds, WIDE_KBPS))


IN_CALLS: dict[str, Callable[[NarrowCall, float, float], Awaitable[None]]] = {
    "A1": from_wide_to_narrow,
    "A2": from_narrow_to_wide,
    "A3": with_random_loss,
    "A5": next_to_a_download,
    "A6": one_in_trouble,
    "A7": from_paused,
    "A14": links,
}


# Four cameras with frames that are cheap to encode send 0.6 Mbit/s, less than a fair share of 4 Mbit/s.
CAPTURES = {"A5": NOISY_CAPTURE}
# Stores the time at which the service first reports more layers of a video than it sent when this script
# started.
AWAIT_RAISE = """() => {
  const level = ({ paused, spatial, temporal }) => paused ? -1 : 3 * Math.max(spatial, 0) + temporal;
  const before = svc.call.layers;
  window.raisedAtMs = 0;
  window.raiseWatch?.abort();
  window.raiseWatch = new AbortController();
  const watch = () => {
    const tracks = [...svc.call.layers].filter(([id]) => before.has(id));
    if (tracks.some(([id, now]) => level(now) > level(before.get(id)))) window.raisedAtMs ||= Date.now();
  };
  svc.call.addEventListener("layers", watch, { signal: window.raiseWatch.signal });
}"""
# In these rows, the senders also receive video.
WATCHED = {"A6"}


async def of_voices(row: str, options: argparse.Namespace) -> None:
    """Measure A4 or A15: audio over links that lose packets."""
    times = {"seconds": options.seconds, "settle": options.settle}
    await voice.measure(defaults(voice.arguments(), rows=[row], **times))


async def of_sharpness(_options: argparse.Namespace) -> None:
    """Measure A8: the time until shared text becomes sharp."""
    await sharpness.measure(defaults(sharpness.arguments()))


async def of_unwatched(_options: argparse.Namespace) -> None:
    """Measure A10: a camera that nobody is watching."""
    await unwatched_video.measure(defaults(unwatched_video.arguments()))


async def of_estimator(_options: argparse.Namespace) -> None:
    """Measure A12: the bandwidth estimator on all links, simulated in virtual time."""
    began = time.monotonic()
    violating = sum(bool(violations(Run(plan, seed).play())) for plan in PLANS for seed in SEEDS)
    took = time.monotonic() - began
    print(
        f"A12: {len(PLANS) * len(SEEDS)} links in {took:.1f} s, {violating} not within their bounds",
        flush=True,
    )


async def of_many_cameras(options: argparse.Namespace) -> None:
    """Measure A9: a page that shows 25 cameras, including its own."""
    with tempfile.TemporaryDirectory() as folder:
        call = narrow_call(
            Path(folder), str(bare_chromium()), names=NAMES[:1], capture=CAPTURE, viewport=WIDE
        )
        async with call as measured, running(measured, "tests.kit.camera_members", str(MANY - 2)):
            await measured.ada.press("Start camera")
            await asyncio.sleep(options.settle)
            (down, up), cameras = await asyncio.gather(
                measured.media_kbps(options.seconds), measured.cameras(options.seconds)
            )
    rates = [rate for rate, _, _ in cameras if rate]
    print(
        f"A9: {down / 1000:.1f} Mbit/s down, {up / 1000:.1f} Mbit/s up, {len(rates)} of {MANY - 1} cameras "
        f"at {sum(rates) / max(1, len(rates)):.1f} fps, the slowest at {min(rates, default=0):.1f}",
        flush=True,
    )


async def of_livekit(options: argparse.Namespace) -> None:
    """Measure A13: this service and LiveKit over slow links."""
    if not options.server or not options.client:
        raise SystemExit("A13 needs --server and --client: see python -m benchmarks.livekit --help")
    paths = {"server": Path(options.server), "client": Path(options.client)}
    await livekit.compare(defaults(livekit.arguments(), **paths, cameras=options.cameras))


def defaults(parser: argparse.ArgumentParser, **changes: object) -> argparse.Namespace:
    """Return another benchmark's default options with the given changes."""
    return parser.parse_args([], argparse.Namespace(**changes))


PROGRAMS: dict[str, Callable[[argparse.Namespace], Awaitable[None]]] = {
    "A4": partial(of_voices, "A4"),
    "A8": of_sharpness,
    "A9": of_many_cameras,
    "A10": of_unwatched,
    "A12": of_estimator,
    "A13": of_livekit,
    "A15": partial(of_voices, "A15"),
}


async def returning(call: NarrowCall, settle_s: float, narrow: int, wide: int, row: str) -> None:
    """Widen a link. Print the times until the service raises the layers of a camera, until a camera improves,
    until every camera shows video, and until nearly all frames arrive again.
    """
    await call.home.shape(narrow)
    await asyncio.sleep(settle_s)
    before = [rate for rate, _, _ in await call.cameras(3.0)]
    await call.ada.page.evaluate(AWAIT_RAISE)
    began, began_ms = time.monotonic(), 1000 * time.time()
    await call.home.shape(wide)
    (first_s, pictures_s), whole_s = await asyncio.gather(
        first_pictures(call, before, began), whole_pictures(call, began)
    )
    raised_ms = await call.ada.page.evaluate("() => window.raisedAtMs")
    raised = f"raised after {(raised_ms - began_ms) / 1000:.1f} s" if raised_ms else "not raised"
    back = f"all back after {whole_s:.1f} s" if whole_s else "not all back"
    times = f"{raised}, first after {first_s:.1f} s, each after {pictures_s:.1f} s, {back}"
    show(row, f"{narrow:,} k → {wide:,} k, {times}", call)


async def first_pictures(call: NarrowCall, before: Sequence[float], began: float) -> tuple[float, float]:
    """Return the times until some camera improves, and until every camera has shown a new frame. A time is 0
    if it exceeds the limit.

    A camera that showed nothing improves with its first frame. Any other camera improves once its frame rate
    over half a second is higher.
    """
    raised_s = pictures_s = 0.0
    seen: list[tuple[float, list[int]]] = []
    while not (raised_s and pictures_s) and time.monotonic() - began < BACK_WITHIN_S:
        seen.append((time.monotonic() - began, await call.frames()))
        elapsed, frames = seen[-1]
        start = seen[0][1]
        past_s, past = max(
            (sample for sample in seen if elapsed - sample[0] >= WINDOW_S), default=(elapsed, frames)
        )
        more = any(
            now - then > (1.5 * rate + 1) * (elapsed - past_s) if rate else now > first
            for now, then, first, rate in zip(frames, past, start, before, strict=True)
        )
        raised_s = raised_s or (elapsed if more else 0.0)
        all_new = all(now > first for now, first in zip(frames, start, strict=True))
        pictures_s = pictures_s or (elapsed if all_new else 0.0)
        await asyncio.sleep(0.1)
    return raised_s, pictures_s


async def whole_pictures(call: NarrowCall, began: float) -> float:
    """Return the time until nearly all frames arrive again, or 0 if it exceeds the limit."""
    while time.monotonic() - began < BACK_WITHIN_S:
        if await call.pictures(1.0) >= ALL:
            return time.monotonic() - began
    return 0.0


async def measured_after(call: NarrowCall, settle_s: float, seconds: float, kbps: int = 0) -> str:
    """Return the cells of a table row. They include the link's queue if the link's rate is given."""
    await asyncio.sleep(settle_s)
    concealed, pictures, queues = await asyncio.gather(
        call.concealed(seconds), call.cameras(seconds), call.longest_queues(kbps, seconds if kbps else 0)
    )
    shown = [camera for camera in pictures if camera[0] > 0]
    height = sum(height for _, height, _ in shown) / len(shown) if shown else 0
    rate = sum(rate for rate, _, _ in pictures) / max(1, len(pictures))
    frozen = 60 * sum(share for _, _, share in pictures) / max(1, len(pictures))
    queue = f"{1000 * sorted(queues)[int(0.95 * len(queues))]:.0f}" if queues else ""
    return f"{100 * concealed:.1f} | {height:.0f} × {rate:.1f}, {len(shown)} shown | {frozen:.0f} | {queue}"


def show(row: str, link: str, call: NarrowCall, cells: str = "| | |") -> None:
    print(f"| {row}: {link}, {len(call.others)} | {cells} |", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
