"""Receives a track for an aiortc client, counts its packets, and analyses its video and audio.

It requests lost packets as persistently as a browser, and does not negotiate.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress

from aiortc import RTCRtpReceiver
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from aiortc.rtcrtptransceiver import RTCRtpTransceiver
from aiortc.rtp import RtpPacket
from av import AudioFrame, VideoFrame

from svc.sfu.codecs import VIDEO
from tests.kit.synthetic_media import pitch_of, samples_of, shade_of

# 200 ms, which is long enough to determine a pitch.
HEARD_FRAMES = 10
NACK_INTERVAL_S = 0.1
# a few seconds of audio
KEPT_PAYLOADS = 400
RTX = {codec.rtx_payload_type for codec in VIDEO}


class Incoming:
    """Another person's track, which arrives in a media section."""

    def __init__(self, transceiver: RTCRtpTransceiver, mid: str, published: Mapping[str, str]) -> None:
        self.mid = mid
        self.track_id = published["track_id"]
        self.user_id = published["user_id"]
        self.source = published["source"]
        self.frames = 0
        self.numbers: list[int] = []  # sequence numbers in order of arrival, without RTX packets
        self.payload_types: set[int] = set()
        self.payloads: deque[bytes] = deque(maxlen=KEPT_PAYLOADS)  # in order of arrival, without RTX
        self.shade: int | None = None
        self._ssrc = 0
        self._received: deque[Sequence[int]] = deque(maxlen=HEARD_FRAMES)
        self._tap(transceiver.receiver)
        self._playing = asyncio.create_task(self._play(transceiver.receiver.track))
        self._tasks = [self._playing]
        if transceiver.kind == "video":
            self._tasks.append(asyncio.create_task(self._insist(transceiver.receiver)))

    @property
    def ended(self) -> bool:
        return self._playing.done()

    @property
    def packets(self) -> int:
        return len(self.numbers)

    @property
    def pitch_hz(self) -> float:
        """Return the pitch of the last 200 ms of audio in Hz."""
        return pitch_of([sample for samples in self._received for sample in samples])

    async def stop(self) -> None:
        """Stop receiving."""
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)

    async def _play(self, track: MediaStreamTrack) -> None:
        with suppress(MediaStreamError):
            while True:
                frame = await track.recv()
                self.frames += 1
                if isinstance(frame, AudioFrame):
                    self._received.append(samples_of(frame))
                elif isinstance(frame, VideoFrame):
                    self.shade = shade_of(frame)

    async def _insist(self, receiver: RTCRtpReceiver) -> None:
        """Request missing packets repeatedly, as browsers do. aiortc itself would wait until the next packet
        is lost.
        """
        missing: set[int] = receiver._RTCRtpReceiver__nack_generator.missing  # type: ignore[attr-defined]
        while True:
            await asyncio.sleep(NACK_INTERVAL_S)
            if missing:
                await receiver._send_rtcp_nack(self._ssrc, sorted(missing))

    def _tap(self, receiver: RTCRtpReceiver) -> None:
        take = receiver._handle_rtp_packet

        async def note(packet: RtpPacket, arrival_time_ms: int) -> None:
            if packet.payload_type not in RTX:
                self.numbers.append(packet.sequence_number)
                self.payloads.append(packet.payload)
                self.payload_types.add(packet.payload_type)
                self._ssrc = packet.ssrc
            await take(packet, arrival_time_ms)

        receiver._handle_rtp_packet = note  # type: ignore[method-assign]
