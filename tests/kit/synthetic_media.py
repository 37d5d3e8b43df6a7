"""Generates synthetic audio and video for tests, and recognises them at a receiver.

The pitch of a tone and the shade of a frame survive lossy codecs, so they identify the sender. This module
has no network code and no codecs.
"""

import asyncio
import math
import random
from array import array
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from aiortc.mediastreams import MediaStreamTrack
from av import AudioFrame, VideoFrame

SAMPLE_RATE = 48_000
SAMPLES_PER_FRAME = 960  # 20 ms
VIDEO_CLOCK_RATE = 90_000
WIDTH, HEIGHT, FRAME_RATE = 160, 120, 30


class Paced(MediaStreamTrack):
    """A source that hands out frames in real time."""

    def __init__(self, interval_s: float) -> None:
        super().__init__()
        self._interval_s = interval_s
        self._start: float | None = None
        self._number = -1

    async def next_number(self) -> int:
        """Wait until the next frame is due. Return its number."""
        now = asyncio.get_running_loop().time()
        self._start = now if self._start is None else self._start
        self._number += 1
        await asyncio.sleep(max(0.0, self._start + self._number * self._interval_s - now))
        return self._number


class Tone(Paced):
    """A sine wave."""

    kind = "audio"

    def __init__(self, pitch_hz: int) -> None:
        super().__init__(SAMPLES_PER_FRAME / SAMPLE_RATE)
        turn = 2 * math.pi * pitch_hz / SAMPLE_RATE
        second = (int(10_000 * math.sin(turn * position)) for position in range(SAMPLE_RATE))
        self._second = array("h", second).tobytes()

    async def recv(self) -> AudioFrame:
        number = await self.next_number()
        frame = AudioFrame(format="s16", layout="mono", samples=SAMPLES_PER_FRAME)
        size = 2 * SAMPLES_PER_FRAME
        start = number * size % len(self._second)
        frame.planes[0].update(self._second[start : start + size])
        frame.pts = number * SAMPLES_PER_FRAME
        frame.sample_rate = SAMPLE_RATE
        frame.time_base = Fraction(1, SAMPLE_RATE)
        return frame


class Picture(Paced):
    """A source of grey frames. A rich picture has noise in its upper half, and therefore many packets per
    frame.
    """

    kind = "video"

    def __init__(self, shade: int, *, rich: bool = False) -> None:
        super().__init__(1 / FRAME_RATE)
        self.shade = shade  # the shade of the next frames, which may change
        self._random = random.Random(shade) if rich else None

    async def recv(self) -> VideoFrame:
        number = await self.next_number()
        frame = VideoFrame(WIDTH, HEIGHT, "yuv420p")
        luma, *chroma = frame.planes
        pixels = bytearray([self.shade]) * luma.buffer_size
        if self._random:
            half = luma.buffer_size // 2
            pixels[:half] = self._random.randbytes(half)
        luma.update(bytes(pixels))
        for plane in chroma:
            plane.update(bytes([128]) * plane.buffer_size)
        frame.pts = number * VIDEO_CLOCK_RATE // FRAME_RATE
        frame.time_base = Fraction(1, VIDEO_CLOCK_RATE)
        return frame


def shade_of(frame: VideoFrame) -> int:
    """Return the shade of grey in the middle of a frame's lower half."""
    luma = frame.planes[0]
    return bytes(luma)[luma.line_size * (frame.height * 3 // 4) + frame.width // 2]


def samples_of(frame: AudioFrame) -> Sequence[int]:
    """Return the samples of the left channel."""
    channels = len(frame.layout.channels)
    return array("h", bytes(frame.planes[0])[: 2 * channels * frame.samples])[::channels]


def pitch_of(samples: Sequence[int]) -> float:
    """Return the pitch of a tone in Hz from its zero crossings, or 0 for silence."""
    if max(samples, default=0) < 1_000:
        return 0.0
    crossings = sum((one < 0) != (other < 0) for one, other in pairwise(samples))
    return crossings / 2 / (len(samples) / SAMPLE_RATE)
