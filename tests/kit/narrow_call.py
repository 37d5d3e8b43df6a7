"""Runs a group call in which Ada is behind a link that can be made slow, and the others send to her.

The kernel shapes the link (tests.kit.home_networks), so a test calls `why_not()` first. Ada's browser
provides the measurements. Her video quality is automatic, which is the default.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import AF_INET, IPPROTO_TCP, TCP_CONGESTION, socket

from playwright.async_api import ViewportSize

from tests.kit.browser_users import VIEWPORT, Capture, Person
from tests.kit.home_networks import SERVER, Home, NetworkNamespace, home_networks, people_in, server_in
from tests.kit.tcp_server import tcp_server

NARROW_KBPS, WIDE_KBPS = 350, 2_000
CAPTURE = Capture(320, 240, 15)
DOWNLOAD_PORT = 9000
# Returns the number of concealed samples outside silence, and the number of all samples, in all incoming
# audio.
CONCEALED = """async () => {
  const entries = [...(await svc.call.pc.getStats()).values()];
  const all = entries.filter(({ type, kind }) => type === "inbound-rtp" && kind === "audio");
  const sum = (name) => all.reduce((total, entry) => total + (entry[name] ?? 0), 0);
  return [sum("concealedSamples") - sum("silentConcealedSamples"), sum("totalSamplesReceived")];
}"""
# Returns, for each camera that Ada receives, the number of frames displayed, the height, and the seconds
# frozen.
CAMERAS = """async () => {
  const cameras = new Set(svc.call.tracks.filter(({ source }) => source === "camera").map(({ mid }) => mid));
  const entries = [...(await svc.call.pc.getStats()).values()];
  const seen = entries.filter(({ type, mid }) => type === "inbound-rtp" && cameras.has(mid));
  return seen.map(({ mid, framesDecoded, frameHeight, totalFreezesDuration }) => [
    mid, framesDecoded ?? 0, frameHeight ?? 0, totalFreezesDuration ?? 0]);
}"""
# Returns the number of bytes of all received media and of all sent media.
OCTETS = """async () => {
  const entries = [...(await svc.call.pc.getStats()).values()];
  const sum = (direction, ...names) => entries.filter(({ type }) => type === direction).reduce(
    (total, entry) => names.reduce((octets, name) => octets + (entry[name] ?? 0), total), 0);
  return [sum("inbound-rtp", "bytesReceived", "headerBytesReceived"),
          sum("outbound-rtp", "bytesSent", "headerBytesSent")];
}"""
# Hides every video, so that the page stops receiving them.
HIDDEN = """() => {
  const style = new CSSStyleSheet();
  style.replaceSync("video { display: none !important; }");
  document.adoptedStyleSheets.push(style);
}"""
AUTOMATIC = """() => {
  const settings = JSON.parse(localStorage["svc.callSettings"]);
  localStorage["svc.callSettings"] = JSON.stringify({ ...settings, quality: "automatic" });
}"""


@dataclass(frozen=True, slots=True)
class NarrowCall:
    home: Home
    server: NetworkNamespace
    ada: Person
    others: tuple[Person, ...]
    url: str = ""  # contains an invite if the call uses our own service

    async def concealed(self, seconds: float) -> float:
        """Return the concealed fraction of the audio in the next `seconds`."""
        before, all_before = await self.ada.page.evaluate(CONCEALED)
        await asyncio.sleep(seconds)
        after, all_after = await self.ada.page.evaluate(CONCEALED)
        return float((after - before) / max(1, all_after - all_before))

    async def cameras(self, seconds: float, receiver: Person | None = None) -> list[tuple[float, int, float]]:
        """Return each camera's frame rate, height, and fraction of time frozen.

        The receiver is Ada by default.
        """
        page = (receiver or self.ada).page
        before = {mid: values for mid, *values in await page.evaluate(CAMERAS)}
        await asyncio.sleep(seconds)
        after = {mid: values for mid, *values in await page.evaluate(CAMERAS)}
        return [
            ((frames - before[mid][0]) / seconds, height, (frozen - before[mid][2]) / seconds)
            for mid, (frames, height, frozen) in after.items()
            if mid in before
        ]

    async def frames(self) -> list[int]:
        """Return how many frames of each camera Ada has seen so far."""
        return [frames for _, frames, *_ in await self.ada.page.evaluate(CAMERAS)]

    async def media_kbps(self, seconds: float) -> tuple[float, float]:
        """Return the bitrates of the media that Ada receives and sends, without UDP and IP headers."""
        before = await self.ada.page.evaluate(OCTETS)
        await asyncio.sleep(seconds)
        after = await self.ada.page.evaluate(OCTETS)
        down, up = ((now - then) * 8 / 1000 / seconds for then, now in zip(before, after, strict=True))
        return down, up

    @asynccontextmanager
    async def download(self) -> AsyncIterator[Callable[[float], Awaitable[float]]]:
        """Download over TCP with CUBIC on Ada's link. Yield a function that measures the download rate in
        kbit/s.
        """
        received = 0
        connection = self.home.device.socket(AF_INET)

        async def read() -> None:
            nonlocal received
            while data := await reader.read(1 << 16):
                received += len(data)

        async def kbps(seconds: float) -> float:
            before = received
            await asyncio.sleep(seconds)
            return (received - before) * 8 / 1000 / seconds

        async with tcp_server(_send_zeros, None, None, sock=self._listener()):
            await asyncio.get_running_loop().sock_connect(connection, (SERVER, DOWNLOAD_PORT))
            reader, writer = await asyncio.open_connection(sock=connection)
            reading = asyncio.create_task(read())
            try:
                yield kbps
            finally:
                reading.cancel()
                writer.transport.abort()

    def _listener(self) -> socket:
        listener = self.server.socket(AF_INET)
        # An accepted connection inherits the congestion control algorithm.
        listener.setsockopt(IPPROTO_TCP, TCP_CONGESTION, b"cubic")
        listener.bind((SERVER, DOWNLOAD_PORT))
        return listener

    async def longest_queues(self, kbps: int, seconds: float) -> list[float]:
        """Return the length of the link's longest queue in each tenth of a second."""
        queues: list[float] = []
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            queues.append(await self.home.queue_s(kbps))
            await asyncio.sleep(max(0.0, now + 0.1 - time.monotonic()))
        return queues

    async def pictures(self, seconds: float) -> float:
        """Return the fraction of a sender's frames that arrive at Ada's page, for the worst sender."""
        everybody = (self.ada, *self.others)
        before = await asyncio.gather(*(person.statistics() for person in everybody))
        await asyncio.sleep(seconds)
        after = await asyncio.gather(*(person.statistics() for person in everybody))
        return min(
            (after[0].frames(person.name) - before[0].frames(person.name))
            / max(1, now.encoded - then.encoded)
            for person, then, now in zip(self.others, before[1:], after[1:], strict=True)
        )


async def _send_zeros(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(bytes(1 << 16))
        await writer.drain()


@asynccontextmanager
async def narrow_call(
    folder: Path,
    executable: str,
    *,
    names: Sequence[str] = ("Grace", "Alan"),
    capture: Capture = CAPTURE,
    viewport: ViewportSize = VIEWPORT,
    watching: bool = True,
    codec: str = "",
) -> AsyncIterator[NarrowCall]:
    """Start a call while the link is still fast, and wait until all video arrives.

    Unless `watching`, the others receive no video. This saves CPU time for more cameras. `codec` is
    the codec for sent video; by default, the page chooses.
    """
    async with (
        home_networks("ada", "others") as world,
        server_in(world, folder / "data") as product,
        people_in(world.homes["others"], product.url, executable, service_worker=True) as people,
        people_in(
            world.homes["ada"], product.url, executable, viewport=viewport, service_worker=True
        ) as alone,
    ):
        ada = await alone.arrive("Ada", capture=capture)
        others = [await people.arrive(name, capture=capture, codec=codec) for name in names]
        await ada.come_in()
        await ada.page.evaluate(AUTOMATIC)
        await ada.page.reload()
        await ada.enter_call()
        for other in others:
            await other.come_in()
            if not watching:
                await other.page.evaluate(HIDDEN)
            await other.enter_call(camera=True)
        await asyncio.gather(ada.hears(others[0]), *(ada.sees(other, frames=30) for other in others))
        yield NarrowCall(world.homes["ada"], world.server, ada, tuple(others), product.url)
