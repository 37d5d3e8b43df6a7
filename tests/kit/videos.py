"""Creates test videos with PyAV, in the codecs and containers that cameras, browsers and attackers use."""

import math
import struct
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import cast

import av
from av.audio.stream import AudioStream
from av.video.stream import VideoStream

from tests.kit.pictures import SECRET

# The location of Berlin, in the form that cameras write.
PLACE = "+52.5200+013.4050/"


def video(
    codec: str = "libx264",
    sound: str | None = "aac",
    container: str = "mp4",
    *,
    size: tuple[int, int] = (96, 64),
    frames: int = 50,
    fps: int = 25,
    pixels: str = "yuv420p",
    metadata: bool = False,
    colour: Mapping[str, int] = MappingProxyType({}),
) -> bytes:
    """Encode a video that is red at the top and blue at the bottom, with increasing brightness and a tone.

    `colour` contains the colour tags for the frames (H.273).

    Encoding runs in a separate thread: as root, the AV1 encoder gives real-time priority to the calling
    thread, and all threads that it starts later would inherit the priority.
    """
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(
            _video, codec, sound, container, size, frames, fps, pixels, metadata, colour
        ).result()


def _video(
    codec: str,
    sound: str | None,
    container: str,
    size: tuple[int, int],
    frames: int,
    fps: int,
    pixels: str,
    metadata: bool,
    colour: Mapping[str, int],
) -> bytes:
    file = BytesIO()
    options = {"movflags": "use_metadata_tags"} if metadata and container in ("mp4", "mov") else {}
    with av.open(file, "w", format=container, options=options) as output:
        if metadata:
            output.metadata.update(_tags())
        pictures = cast(VideoStream, output.add_stream(codec, rate=fps))
        pictures.width, pictures.height, pictures.pix_fmt = *size, pixels
        for tag, value in colour.items():
            setattr(pictures.codec_context, tag, value)
        tone = cast(AudioStream, output.add_stream(sound, rate=48_000)) if sound else None
        if tone is not None:
            tone.codec_context.layout = "stereo"
            tone.codec_context.open()
        for number in range(frames):
            frame = _frame(size, number, fps)
            output.mux(pictures.encode(frame))
        output.mux(pictures.encode(None))
        if tone is not None:
            _add_tone(output, tone, frames / fps)
    return file.getvalue()


def sound() -> bytes:
    """Encode a tone without video."""
    file = BytesIO()
    with av.open(file, "w", format="mp4") as output:
        tone = output.add_stream("aac", rate=48_000)
        tone.codec_context.layout = "stereo"
        tone.codec_context.open()
        _add_tone(output, tone, 1.0)
    return file.getvalue()


def sound_file(container: str, codec: str, seconds: float = 2.0, rate: int = 48_000) -> bytes:
    """Encode a tone in its own container, as players and recorders write it."""
    file = BytesIO()
    with av.open(file, "w", format=container) as output:
        tone = cast(AudioStream, output.add_stream(codec, rate=rate))
        tone.codec_context.layout = "stereo"
        tone.codec_context.open()
        _add_tone(output, tone, seconds)
    return file.getvalue()


def _tags() -> dict[str, str]:
    return {
        "location": PLACE,
        "com.apple.quicktime.location.ISO6709": PLACE,
        "comment": SECRET.decode(),
        "artist": SECRET.decode(),
        "title": SECRET.decode(),
    }


def _frame(size: tuple[int, int], number: int, fps: int) -> av.VideoFrame:
    width, height = size
    bright = 150 + number % 100
    row = bytes((bright, 20, 20)) * width, bytes((20, 20, bright)) * width
    frame = av.VideoFrame(width, height, "rgb24")
    stride = frame.planes[0].line_size
    lines = [row[y * 2 // height].ljust(stride, b"\0") for y in range(height)]
    frame.planes[0].update(b"".join(lines))
    frame.pts, frame.time_base = number, Fraction(1, fps)
    return frame


def _add_tone(output: av.container.OutputContainer, tone: AudioStream, seconds: float) -> None:
    context = tone.codec_context
    resampler = av.AudioResampler(
        context.format, context.layout, 48_000, frame_size=context.frame_size or None
    )
    for start in range(0, int(48_000 * seconds), 960):
        samples = [int(8000 * math.sin(at / 20)) for at in range(start, start + 960)]
        frame = av.AudioFrame("s16", "stereo", 960)
        frame.planes[0].update(b"".join(struct.pack("<hh", sample, sample) for sample in samples))
        frame.sample_rate, frame.pts, frame.time_base = 48_000, start, Fraction(1, 48_000)
        for resampled in resampler.resample(frame):
            output.mux(tone.encode(resampled))
    output.mux(tone.encode(None))


def box(kind: bytes, *content: bytes) -> bytes:
    """Return a box for an MP4 file."""
    body = b"".join(content)
    return struct.pack(">I", 8 + len(body)) + kind + body


def with_places(mp4: bytes) -> bytes:
    """Add metadata as a phone does: a location in `udta`, XMP in a `uuid` box, and a name in free space."""
    path = PLACE.encode()
    xyz = box(b"udta", box(b"\xa9xyz", struct.pack(">HH", len(path), 0x15C7), path))
    xmp = box(b"uuid", bytes.fromhex("BE7ACFCB97A942E89C71999491E3AFAC"), b"<x:xmpmeta>", SECRET, path)
    return _with_in_moov(mp4, xyz) + xmp + box(b"free", SECRET)


def _with_in_moov(mp4: bytes, added: bytes) -> bytes:
    """Insert boxes into the index. The index is the last box in these files, so no offsets change."""
    at = mp4.rindex(b"moov") - 4
    size = struct.unpack(">I", mp4[at : at + 4])[0]
    return (
        mp4[:at] + struct.pack(">I", size + len(added)) + mp4[at + 4 : at + size] + added + mp4[at + size :]
    )


def turned(mp4: bytes) -> bytes:
    """Rotate a video as a phone that is held upright does: the frames are stored sideways, and a matrix
    rotates them.
    """
    at = mp4.index(b"tkhd") + 4 + 40
    unit, minus, w = 0x00010000, 0xFFFF0000, 0x40000000
    return mp4[:at] + struct.pack(">9I", 0, unit, 0, minus, 0, 0, 0, 0, w) + mp4[at + 36 :]


def opened(data: bytes | Path) -> av.container.InputContainer:
    return av.open(BytesIO(data) if isinstance(data, bytes) else str(data), "r")


def first_frame(data: bytes | Path) -> av.VideoFrame:
    with opened(data) as container:
        return next(container.decode(video=0))
