"""Measures how badly audio is affected by video on the same service, even beyond saturation.

One person's audio goes to ten people. It is sent as five hundred packets a second, so that even short delays
are detected. Another room on the same service has a camera and fifty receivers. The table shows the lost
packets alongside the packets that the service reports as dropped.
"""

import asyncio
import re
import urllib.request
from collections import Counter
from dataclasses import dataclass

from benchmarks.sfu_comparison import Options, options, silent
from svc.tools.bench.measurement import Measurement
from svc.tools.bench.room_clients import RoomClients, room_clients
from svc.tools.bench.scenario import Scenario
from svc.tools.bench.server import own_server

AUDIO, AUDIO_PPS = Scenario(1, 10, size=100, audio=True), 500
FRAMES = 10  # keyframes per second from each camera below; each keyframe is a burst
DROPPED = re.compile(r"svc_sfu_dropped_(\w+)_total ([-+.e\d]+)")


@dataclass(frozen=True, slots=True)
class OtherRoom:
    """The traffic in the other room."""

    what: str
    camera: Scenario
    pps: int


CASES = (
    OtherRoom("nothing", Scenario(1, 50), 0),
    OtherRoom("50 x 300 packets/s", Scenario(1, 50), 300),
    OtherRoom("50 x keyframes of 60 packets", Scenario(1, 50, burst=60), 60 * FRAMES),
    OtherRoom("50 x keyframes of 200 packets", Scenario(1, 50, burst=200), 200 * FRAMES),
    OtherRoom("50 x 8,000 packets/s", Scenario(1, 50), 8000),
    OtherRoom("50 x 18,000 packets/s", Scenario(1, 50), 18_000),
    OtherRoom("50 x 27,000 packets/s", Scenario(1, 50), 27_000),
)


async def main(chosen: Options) -> None:
    print(
        "| video in another room | audio: loss % | p50 us | p99 us | max us "
        "| video: packets/s | loss % | p99 us | dropped |"
    )
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for case in CASES:
        async with (
            own_server(AUDIO.clients + case.camera.clients) as server,
            room_clients(server.url, AUDIO, server.pid) as listeners,
            room_clients(server.url, case.camera, server.pid) as watchers,
        ):
            await listeners.assemble(silent)
            await watchers.assemble(silent)
            print(await row(case, server.url, listeners, watchers, chosen.seconds), flush=True)


async def row(
    case: OtherRoom, url: str, listeners: RoomClients, watchers: RoomClients, seconds: float
) -> str:
    await watchers.meter.warm_up(case.pps, 1.0)
    before = await dropped(url)
    # The video starts before the measured audio and ends after it.
    video = asyncio.create_task(watchers.meter.measure(case.pps, seconds + 1.0, silent))
    received = await listeners.meter.measure(AUDIO_PPS, seconds, silent)
    seen = await video
    counted = await dropped(url) - before
    return " | ".join([f"| {case.what}", *of_audio(received), *of_video(seen), of_drops(counted)]) + " |"


def of_audio(measurement: Measurement) -> list[str]:
    return [
        f"{measurement.loss_percent:.2f}",
        *(f"{us or 0:,.0f}" for us in (measurement.p50_us, measurement.p99_us, measurement.max_us)),
    ]


def of_video(measurement: Measurement) -> list[str]:
    return [
        f"{measurement.packets_per_s:,.0f}",
        f"{measurement.loss_percent:.2f}",
        f"{measurement.p99_us or 0:,.0f}",
    ]


def of_drops(counted: Counter[str]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in counted.items()) or "nothing"


async def dropped(url: str) -> Counter[str]:
    """Return the number of packets that the service reports as dropped, by reason."""

    def fetch() -> str:
        with urllib.request.urlopen(url.replace("ws:", "http:") + "/metrics", timeout=5) as answer:
            return str(answer.read(), "utf-8")

    return Counter(
        {reason: int(float(count)) for reason, count in DROPPED.findall(await asyncio.to_thread(fetch))}
    )


if __name__ == "__main__":
    asyncio.run(main(options()))
