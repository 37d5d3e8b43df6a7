"""Measures calls over slow links, with LiveKit and with this service.

Both services take turns sending the same video and audio to the same Chromium over the same kernel-emulated
link. Build LiveKit's server with `go install github.com/livekit/livekit-server/cmd/server@v1.11.0`, and get
its client with `npm install livekit-client@2.23`. The program prints, for each link, the medians of all
rounds: the fraction of concealed audio, and the height, frame rate and freeze time of the video (means of all
cameras). Needs root and Linux.
"""

import argparse
import asyncio
import json
import shutil
import socket
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jwt

from benchmarks.simulated_devices import NOISY_CAPTURE
from svc.tools.bench.server import stop
from tests.kit.browser_users import WIDE, People, Person, bare_chromium
from tests.kit.delayed_link import delayed
from tests.kit.home_networks import SERVER, NetworkNamespace, home_networks, people_in, why_not
from tests.kit.narrow_call import NarrowCall, narrow_call
from tests.kit.wait import wait_until

NAMES = ("Grace", "Alan", "Edsger", "Barbara", "Frances", "Donald")
HTTP_PORT, SIGNALLING_PORT, MEDIA_PORT = 8080, 7880, 7882
API_KEY, API_SECRET = "benchmark", "a secret of this benchmark, long enough"
TOKEN_LIFETIME_S = 3_600
WIDE_KBPS = 8_000
NARROW_KBPS, GROWN_KBPS = 300, 4_000
BACK_WITHIN_S = 45.0
FULL = 0.9  # This fraction of the frame rate counts as full, because browsers occasionally drop a frame.


@dataclass(frozen=True, slots=True)
class Link:
    kbps: int
    lost_percent: int = 0
    delay_ms: int = 0  # in each direction

    def __str__(self) -> str:
        loss = f", {self.lost_percent} % loss" if self.lost_percent else ""
        return f"{self.kbps:,} k{loss}" + (f", {self.delay_ms} ms one way" if self.delay_ms else "")


LINKS = (Link(8_000), Link(2_000), Link(800), Link(NARROW_KBPS))
LOSSY = Link(WIDE_KBPS, 5)
LONG = Link(2_000, delay_ms=200)


@dataclass(frozen=True, slots=True)
class Figures:
    concealed: float
    height: float
    rate: float
    frozen: float


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", type=Path, help="LiveKit's program; default: measure only svc")
    parser.add_argument("--client", type=Path, help="livekit-client.umd.js")
    parser.add_argument("--cameras", type=int, nargs="+", default=[1, 4], help="number of cameras, up to 6")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--settle", type=float, default=10.0, metavar="S")
    parser.add_argument("--seconds", type=float, default=20.0, help="duration for each link")
    return parser


async def compare(options: argparse.Namespace) -> None:
    """Measure every link with each system and print a row for each."""
    executable = bare_chromium()
    if reason := why_not() or ("" if executable else "Chromium is missing; ci/setup installs it"):
        raise SystemExit(reason)
    systems = ("ours", "LiveKit") if options.server else ("ours",)
    columns = [f"{system}: concealed / height × fps / frozen, s/min" for system in systems]
    print(f"| link, cameras | {' | '.join(columns)} |")
    print("|---" * (1 + len(systems)) + "|")
    for cameras in options.cameras:
        rows: dict[str, dict[str, list[Figures]]] = defaultdict(lambda: defaultdict(list))
        for _ in range(options.rounds):
            for system in systems:
                async for link, result in one_call(system, NAMES[:cameras], str(executable), options):
                    rows[link][system].append(result)
                    print(system, cameras, link, result, file=sys.stderr, flush=True)
        for link, by_system in rows.items():
            cells = " | ".join(cell(by_system[system]) for system in systems)
            print(f"| {link}, {cameras} | {cells} |", flush=True)


async def one_call(
    system: str, names: Sequence[str], executable: str, options: argparse.Namespace
) -> AsyncIterator[tuple[str, Figures]]:
    """Measure every link during one call. Yield each link's name and figures."""
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        call: AbstractAsyncContextManager[NarrowCall]
        if system == "ours":
            call = narrow_call(
                folder, executable, names=names, capture=NOISY_CAPTURE, viewport=WIDE, watching=False
            )
        else:
            call = livekit_call(folder, options.server, options.client, executable, names)
        async with call as pages:
            async for result in measure(pages, len(names), options.settle, options.seconds):
                yield result


async def measure(
    call: NarrowCall, cameras: int, settle_s: float, seconds: float
) -> AsyncIterator[tuple[str, Figures]]:
    for link in LINKS:
        await call.home.shape(link.kbps)
        yield str(link), await figures(call, settle_s, seconds)
    began = time.monotonic()
    await call.home.shape(GROWN_KBPS)
    while time.monotonic() - began < BACK_WITHIN_S:
        shown = await call.cameras(1.0)
        if len(shown) == cameras and all(
            rate >= FULL * NOISY_CAPTURE.frame_rate and height >= NOISY_CAPTURE.height
            for rate, height, _ in shown
        ):
            break
    yield f"{NARROW_KBPS} k → {GROWN_KBPS:,} k, s", Figures(time.monotonic() - began, 0, 0, 0)
    await call.home.shape(LOSSY.kbps)
    await call.home.loses(LOSSY.lost_percent)
    yield str(LOSSY), await figures(call, settle_s, seconds)
    await call.home.passes()
    await call.home.shape(LONG.kbps)
    async with delayed(call.home, LONG.delay_ms / 1000):
        yield str(LONG), await figures(call, settle_s, seconds)


async def figures(call: NarrowCall, settle_s: float, seconds: float) -> Figures:
    await asyncio.sleep(settle_s)
    concealed, cameras = await asyncio.gather(call.concealed(seconds), call.cameras(seconds))
    shown = [height for _, height, _ in cameras if height]
    return Figures(
        100 * concealed,
        statistics.fmean(shown or [0]),
        statistics.fmean([rate for rate, _, _ in cameras] or [0]),
        60 * statistics.fmean([frozen for _, _, frozen in cameras] or [0]),
    )


def cell(rounds: Sequence[Figures]) -> str:
    def median(values: Iterable[float]) -> float:
        return statistics.median(values)

    if all(run.rate == run.height == 0 for run in rounds):
        return f"{median(run.concealed for run in rounds):.0f}"
    return (
        f"{median(run.concealed for run in rounds):.1f} % / {median(run.height for run in rounds):.0f}"
        f" × {median(run.rate for run in rounds):.1f} / {median(run.frozen for run in rounds):.0f}"
    )


@asynccontextmanager
async def livekit_call(
    folder: Path, server: Path, client: Path, executable: str, names: Sequence[str]
) -> AsyncIterator[NarrowCall]:
    """Start a call over LiveKit while the link is still fast, and wait until all video arrives."""
    shutil.copy(client, folder / "livekit-client.umd.js")
    shutil.copy(Path(__file__).with_suffix(".html"), folder / "index.html")
    config = {
        "port": SIGNALLING_PORT,
        "bind_addresses": [SERVER],
        "rtc": {
            "udp_port": MEDIA_PORT,
            "tcp_port": 0,
            "node_ip": SERVER,
            "enable_loopback_candidate": True,
            # LiveKit must respond from the address that the home networks can reach. This address belongs to
            # the loopback device.
            "ips": {"includes": [f"{SERVER}/32"]},
        },
        "keys": {API_KEY: API_SECRET},
    }
    page = f"http://{SERVER}:{HTTP_PORT}"
    async with home_networks("ada", "others") as world:
        commands = (
            (str(server), "--config-body", json.dumps(config)),
            (
                sys.executable,
                "-m",
                "http.server",
                "--bind",
                SERVER,
                "--directory",
                str(folder),
                str(HTTP_PORT),
            ),
        )
        programs = [
            await asyncio.create_subprocess_exec(
                *world.server.inside, *command, stdout=DEVNULL, stderr=DEVNULL
            )
            for command in commands
        ]
        try:
            async with (
                people_in(world.homes["others"], page, executable, service_worker=True) as people,
                people_in(world.homes["ada"], page, executable, viewport=WIDE, service_worker=True) as alone,
            ):
                for port in (HTTP_PORT, SIGNALLING_PORT):
                    await wait_until(
                        f"port {port} is open", partial(listens, world.server, port), within_s=10
                    )
                ada = await joined(alone, "Ada", publishes=False)
                others = [await joined(people, name, publishes=True) for name in names]
                call = NarrowCall(world.homes["ada"], world.server, ada, tuple(others))
                await wait_until("every camera is visible", partial(all_seen, call), within_s=15)
                yield call
        finally:
            for program in programs:
                await stop(program)


async def listens(network_namespace: NetworkNamespace, port: int) -> bool:
    with network_namespace.socket(socket.AF_INET) as probe:
        try:
            await asyncio.get_running_loop().sock_connect(probe, (SERVER, port))
        except OSError:
            return False
    return True


async def joined(people: People, name: str, *, publishes: bool) -> Person:
    person = await people.arrive(name, capture=NOISY_CAPTURE)
    now = int(time.time())
    grants = {"roomJoin": True, "room": "calls", "canPublish": publishes, "canSubscribe": not publishes}
    claims = {"iss": API_KEY, "sub": name, "nbf": now, "exp": now + TOKEN_LIFETIME_S, "video": grants}
    token = jwt.encode(claims, API_SECRET, algorithm="HS256")
    options = {"url": f"ws://{SERVER}:{SIGNALLING_PORT}", "token": token, "publishes": publishes}
    await person.page.evaluate("(options) => join(options)", options)
    return person


async def all_seen(call: NarrowCall) -> bool:
    cameras = await call.cameras(1.0)
    return len(cameras) == len(call.others) and all(rate for rate, *_ in cameras)


if __name__ == "__main__":
    asyncio.run(compare(arguments().parse_args()))
