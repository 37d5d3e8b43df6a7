"""Measures audio over a link that loses packets.

Two people are talking. The first uses Chromium on a link without loss. The second uses Chromium or Firefox on
a link that has a delay and loses packets in both directions. For each link and browser, the program prints
the concealed fraction of the audio that each person hears, and the number of bytes on the link, including
headers, relative to the number without loss. In row A15 packets are lost independently, and in row A4 in
bursts. The simulated microphones record speech without pauses.
"""

import argparse
import asyncio
import socket
import tempfile
import wave
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np

from tests.kit.browser_users import FLAGS, Person, chromium, people_at
from tests.kit.community import ask
from tests.kit.firefox import FirefoxPerson, firefox, running_firefox
from tests.kit.page_relay import firefox_behind, join_behind
from tests.kit.page_statistics import Watcher
from tests.kit.relay import Relay, relay
from tests.kit.svc_up import running_svc_up

SPEECH = Path(__file__).parents[1] / "tests" / "data" / "speech.opus"
LOUD = 300  # an amplitude, up to 32,768; quieter parts of the recording count as pauses
PIECE = 960  # 20 ms, in samples
SEED = 20_260_131
CONCEALED = """async () => {
  const all = [...(await svc.call.pc.getStats()).values()].filter(({ type }) => type === "inbound-rtp");
  const sum = (name) => all.reduce((total, entry) => total + (entry[name] ?? 0), 0);
  return [sum("concealedSamples") - sum("silentConcealedSamples"), sum("totalSamplesReceived")];
}"""


@dataclass(frozen=True, slots=True)
class Link:
    name: str
    loss: float
    burst: float | None = None


LINKS = (
    Link("A15: 2 %", 0.02),
    Link("A15: 5 %", 0.05),
    Link("A15: 15 %", 0.15),
    Link("A4: 5 % in bursts of 4", 0.05, 4.0),
)
CLEAN = Link("", 0.0)


@dataclass(frozen=True, slots=True)
class Measured:
    concealed_there: float  # concealed fraction of the audio that the person on the link hears
    concealed_here: float  # concealed fraction of the audio that the other person hears
    down: float  # bytes per second on the link
    up: float


def speech_without_pauses(path: Path) -> None:
    """Write a recording for a fake microphone, which repeats the recording forever."""
    with wave.open(str(path), "wb") as file, av.open(str(SPEECH)) as speech:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(48_000)
        resampler = av.AudioResampler("s16", "mono", 48_000)
        frames = [
            frame.to_ndarray()[0]
            for decoded in speech.decode(audio=0)
            for frame in resampler.resample(decoded)
        ]
        samples = np.concatenate(frames)
        for start in range(0, len(samples) - PIECE, PIECE):
            piece = samples[start : start + PIECE]
            if np.abs(piece).max() >= LOUD:
                file.writeframes(piece.tobytes())


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="duration for each link")
    parser.add_argument("--settle", type=float, default=10.0, metavar="S")
    parser.add_argument("--round-trip", type=float, default=60.0, metavar="MS")
    parser.add_argument("--browser", nargs="+", default=["chromium", "firefox"])
    parser.add_argument("--rows", nargs="+", choices=("A4", "A15"), default=["A4", "A15"])
    parser.add_argument("--encrypted", action="store_true", help="use a channel with end-to-end encryption")
    return parser


async def measure(options: argparse.Namespace) -> None:
    """Measure every link with each browser and print a row for each."""
    print("| link | browser | hears, % concealed | is heard, % concealed | bytes down | up |")
    print("|---|---|---|---|---|---|", flush=True)
    for browser in options.browser:
        async with talk(browser, options.round_trip / 2000, options.encrypted) as (ada, other, link):
            await asyncio.gather(ada.hears(other), other.hears(ada))
            clean = await measured(ada, other, link, CLEAN, options.settle, options.seconds)
            print(row("no loss", browser, clean, clean), flush=True)
            for plan in LINKS:
                if plan.name.partition(":")[0] not in options.rows:
                    continue
                result = await measured(ada, other, link, plan, options.settle, options.seconds)
                print(row(plan.name, browser, result, clean), flush=True)


def row(name: str, browser: str, result: Measured, clean: Measured) -> str:
    shares = f"{100 * result.concealed_there:.2f} | {100 * result.concealed_here:.2f}"
    return (
        f"| {name} | {browser} | {shares} | x {result.down / clean.down:.2f} | x {result.up / clean.up:.2f} |"
    )


async def measured(
    ada: Watcher, other: Watcher, relay: Relay, link: Link, settle_s: float, seconds: float
) -> Measured:
    relay.loss, relay.burst = link.loss, link.burst
    await asyncio.sleep(settle_s)
    pages = (other, ada)
    before = [await page.evaluate(CONCEALED) for page in pages]
    octets = relay.octets.copy()
    await asyncio.sleep(seconds)
    after = [await page.evaluate(CONCEALED) for page in pages]
    shares = [(now[0] - then[0]) / (now[1] - then[1]) for then, now in zip(before, after, strict=True)]
    down, up = ((relay.octets[way] - octets[way]) / seconds for way in ("down", "up"))
    return Measured(shares[0], shares[1], down, up)


@asynccontextmanager
async def talk(
    browser: str, delay_s: float, encrypted: bool
) -> AsyncIterator[tuple[Person, Person | FirefoxPerson, Relay]]:
    """Start a call between two people. The second is behind the link, which at first loses no packets."""
    executable = chromium()
    if executable is None:
        raise SystemExit("Chromium is missing; ci/setup installs it")
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        speech_without_pauses(speech := folder / "speech.wav")
        flags = (*FLAGS, f"--use-file-for-fake-audio-capture={speech}")
        # Firefox cannot send to a loopback address from the address that it has gathered.
        host = "127.0.0.1" if browser == "chromium" else own_address()
        link = await stack.enter_async_context(relay(loss=0.0, seed=SEED, delay_s=delay_s, host=host))
        product = await stack.enter_async_context(running_svc_up(folder / "data"))
        people = await stack.enter_async_context(people_at(product.url, executable, flags=flags))
        ada = await people.arrive("Ada")
        await ada.come_in()
        if encrypted:
            channels = (await ask(ada, "GET", "/api/channels"))["channels"]
            voice = next(channel["id"] for channel in channels if channel["type"] == "voice")
            await ask(ada, "PATCH", f"/api/channels/{voice}", {"encrypted": True})
        await ada.enter_call()
        if browser == "chromium":
            grace = await people.arrive("Grace", link=link)
            await grace.join(camera=False)
            yield ada, grace, link
            return
        path = firefox()
        if path is None:
            raise SystemExit("Firefox is missing; ci/setup installs it")
        fox = await stack.enter_async_context(running_firefox(path, folder / "profile"))
        other = await fox.arrive("Grace", product.url, before=firefox_behind(link))
        await join_behind(link, other)
        yield ada, other, link


def own_address() -> str:
    """Return this machine's address. Connecting the socket sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])


if __name__ == "__main__":
    asyncio.run(measure(arguments().parse_args()))
