"""Measures the media that a page sends and receives, according to its WebRTC statistics.

Tracks are matched to names by `window.svc`, an object that the page provides. All counts restart with each
connection.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.kit.wait import wait_until

# The time window is longer than the pause between two beeps, and the energy is less than a beep produces.
SILENCE_S, HEARD = 1.0, 1e-6

SCRIPT = """
async () => {
  const statistics = [...((await svc.call?.pc?.getStats()) ?? new Map()).values()];
  const byId = new Map(statistics.map((entry) => [entry.id, entry]));
  const names = new Map(svc.people.map(({ id, nickname }) => [id, nickname]));
  const codec = ({ codecId }) => byId.get(codecId)?.mimeType ?? "";
  const remote = ({ remoteId }) => byId.get(remoteId) ?? {};
  return {
    at: performance.now() / 1000,
    received: (svc.call?.tracks ?? []).flatMap(({ mid, trackId, userId, source }) => statistics
      .filter((entry) => entry.type === "inbound-rtp" && entry.mid === mid)
      .map((entry) => ({ name: names.get(userId) ?? userId, source, track_id: trackId, codec: codec(entry),
        frames: entry.framesDecoded ?? 0, energy: entry.totalAudioEnergy ?? 0,
        packets: entry.packetsReceived ?? 0, packets_lost: entry.packetsLost ?? 0,
        nacks: entry.nackCount ?? 0, plis: entry.pliCount ?? 0,
        packets_resent: entry.retransmittedPacketsReceived ?? 0,
        fec_used: (entry.fecPacketsReceived ?? 0) - (entry.fecPacketsDiscarded ?? 0),
        samples: entry.totalSamplesReceived ?? 0, concealed: entry.concealedSamples ?? 0,
        playout_ms: entry.estimatedPlayoutTimestamp ?? 0,
        clock_lag_ms: remote(entry).timestamp - remote(entry).remoteTimestamp }))),
    sent: statistics.filter(({ type }) => type === "outbound-rtp").map((entry) => ({ mid: entry.mid,
      codec: codec(entry), target_bps: entry.targetBitrate ?? 0,
      scalability: entry.scalabilityMode ?? "", frames: entry.framesEncoded ?? 0,
      packets: entry.packetsSent ?? 0,
      nacks: entry.nackCount ?? 0, packets_resent: entry.retransmittedPacketsSent ?? 0,
      round_trip_s: remote(entry).roundTripTime ?? null,
      fraction_lost: remote(entry).fractionLost ?? null })),
    srtp_ciphers: statistics
      .filter(({ type }) => type === "transport").map(({ srtpCipher: cipher }) => cipher ?? ""),
  };
}
"""


@dataclass(frozen=True, slots=True)
class Received:
    """A track that a page receives: its sender, its kind, and how much of it has been received."""

    name: str
    source: str
    track_id: str
    codec: str
    frames: int  # Decoded frames. 0 for audio.
    energy: float  # Energy of the played audio. 0 for video.
    packets: int
    packets_lost: int
    nacks: int  # Retransmission requests sent by the page.
    plis: int  # Keyframe requests sent by the page.
    packets_resent: int  # Packets received as RTX.
    fec_used: int  # Lost audio packets that were recovered from a later packet. 0 for video.
    samples: int  # Samples of the played audio. 0 for video.
    concealed: int  # Lost samples that were concealed.
    playout_ms: float  # The playback position, by the sender's clock. 0 if unknown.
    clock_lag_ms: float | None  # Arrival time minus sending time of the last sender report.


@dataclass(frozen=True, slots=True)
class Sent:
    """A track that a page sends, with all encodings combined."""

    mid: str
    codec: str
    target_bps: float
    scalability: str  # The scalability mode, such as L1T3 for three temporal layers.
    frames: int  # Encoded frames. 0 for audio.
    packets: int
    nacks: int  # Retransmission requests sent by the service.
    packets_resent: int
    # This field and the next are from the receiver's reports, and are None before the first report.
    round_trip_s: float | None
    fraction_lost: float | None


@dataclass(frozen=True, slots=True)
class Statistics:
    at: float  # Seconds, by the page's own clock.
    received: tuple[Received, ...]
    sent: tuple[Sent, ...]
    srtp_ciphers: tuple[str, ...]

    def track(self, name: str, source: str = "camera") -> Received:
        """Return the only track from this person and source. Raises LookupError if there is none."""
        for track in self.received:
            if (track.name, track.source) == (name, source):
                return track
        raise LookupError(f"nothing is received from the {source} of {name}")

    @property
    def encoded(self) -> int:
        """Return the numbers of frames encoded for the page's camera and screen."""
        return sum(track.frames for track in self.sent)

    def frames(self, name: str, source: str = "camera") -> int:
        return sum(track.frames for track in self.received if (track.name, track.source) == (name, source))

    def energy(self, name: str, source: str = "mic") -> float:
        return sum(track.energy for track in self.received if (track.name, track.source) == (name, source))


def _by_section(encodings: Sequence[Sent]) -> tuple[Sent, ...]:
    """Combine each track's encodings: add up bits and packets, and use the most active encoding's frame
    count.
    """
    sections: dict[str, list[Sent]] = {}
    for encoding in encodings:
        sections.setdefault(encoding.mid, []).append(encoding)
    return tuple(
        replace(
            max(section, key=lambda encoding: encoding.frames),
            target_bps=sum(encoding.target_bps for encoding in section),
            packets=sum(encoding.packets for encoding in section),
            nacks=sum(encoding.nacks for encoding in section),
            packets_resent=sum(encoding.packets_resent for encoding in section),
        )
        for section in sections.values()
    )


class Watcher:
    """A person at a page. `evaluate` runs a JavaScript function in the page and returns its result."""

    def __init__(self, name: str, evaluate: Callable[[str], Awaitable[Any]]) -> None:
        self.name = name
        self.evaluate = evaluate

    async def statistics(self) -> Statistics:
        statistics = await self.evaluate(SCRIPT)
        return Statistics(
            at=statistics["at"],
            received=tuple(Received(**track) for track in statistics["received"]),
            sent=_by_section([Sent(**track) for track in statistics["sent"]]),
            srtp_ciphers=tuple(statistics["srtp_ciphers"]),
        )

    async def sees(
        self, other: "Watcher", *, source: str = "camera", frames: int = 5, within_s: float = 15.0
    ) -> None:
        """Wait until the given number of new frames from a person are decoded, each within the time limit.

        The frame rate depends on the machine, and a busy machine decodes few frames.
        """
        before = (await self.statistics()).frames(other.name, source)
        seen = 0

        async def more() -> bool:
            nonlocal seen
            now = (await self.statistics()).frames(other.name, source)
            # A new connection counts from zero again.
            last, seen = seen, now - (before if now >= before else 0)
            return seen > last

        while seen < frames:
            what = f"{self.name} sees the {source} of {other.name}, picture {seen + 1} of {frames}"
            await self._until(what, more, within_s)

    async def hears(self, other: "Watcher", *, source: str = "mic", within_s: float = 15.0) -> None:
        before = (await self.statistics()).energy(other.name, source)

        async def receives_sound() -> bool:
            nonlocal before
            now = (await self.statistics()).energy(other.name, source)
            # A new connection counts from zero again.
            last, before = before, min(before, now)
            return now > last

        await self._until(f"{self.name} hears the {source} of {other.name}", receives_sound, within_s)

    async def hears_nothing_of(self, other: "Watcher", *, within_s: float = 10.0) -> None:
        """Wait until no audio arrives from a simulated microphone, which beeps all the time."""

        async def silent() -> bool:
            before = (await self.statistics()).energy(other.name)
            await asyncio.sleep(SILENCE_S)
            return (await self.statistics()).energy(other.name) - before < HEARD

        await self._until(f"{self.name} hears nothing of {other.name}", silent, within_s)

    async def _until(self, what: str, condition: Callable[[], Awaitable[bool]], within_s: float) -> None:
        """Wait as `wait_until` does. The error lists the tracks that the page has received."""
        try:
            await wait_until(what, condition, within_s=within_s)
        except AssertionError as failure:
            received = "\n".join(map(str, (await self.statistics()).received)) or "nothing"
            raise AssertionError(f"{failure}\nreceived:\n{received}") from None
