"""Creates clips for video playback tests, with a simultaneous flash and tone, edit lists, or matrices.

A clip lasts a second and a half and consists of squares, which every codec encodes quickly.
"""

import array
import math
import struct
from collections.abc import Sequence
from fractions import Fraction
from io import BytesIO
from typing import cast

import av
from av.audio.stream import AudioStream
from av.video.stream import VideoStream
from PIL import Image

from tests.kit.videos import box, opened

FLASH_S, END_S, FPS = 1.0, 1.6, 25
_BRIGHT, _LOUD = 120, 2000
_UNIT = Fraction(1, 1000)
SIZE = (96, 64)
# The quarters have different colours, so that every rotation and reflection can be recognised.
QUARTERS = {"W": (255, 255, 255), "R": (255, 0, 0), "G": (0, 255, 0), "B": (0, 0, 255)}


def clip(
    codec: str,
    container: str,
    *sounds: tuple[str, str, int],
    pictures_from: float = 0,
    sound_from: float = 0,
    times: Sequence[float] = (),
    silent: int | None = None,
    default: int | None = None,
) -> bytes:
    """Return a clip that turns bright after a second, just as a tone begins. Tracks are (codec, layout,
    rate).

    The track `silent` has no tone. Players start with the track `default`.
    """
    file = BytesIO()
    with av.open(file, "w", format=container) as output:
        video = cast(VideoStream, output.add_stream(codec, rate=FPS))
        video.width, video.height, video.pix_fmt = *SIZE, "yuv420p"
        video.codec_context.time_base = _UNIT
        tracks = []
        for number, (sound, layout, rate) in enumerate(sounds):
            track = cast(AudioStream, output.add_stream(sound, rate=rate))
            track.codec_context.layout = layout
            track.codec_context.open()
            if default is not None:
                is_default = number == default
                track.disposition = av.stream.Disposition.default if is_default else av.stream.Disposition(0)
            tracks.append(track)
        for at in times or [number / FPS for number in range(round(pictures_from * FPS), round(END_S * FPS))]:
            frame = av.VideoFrame(*SIZE, "rgb24")
            frame.planes[0].update(bytes([255 if at >= FLASH_S else 20]) * frame.planes[0].buffer_size)
            frame.pts, frame.time_base = round(at * 1000), _UNIT
            output.mux(video.encode(frame))
        output.mux(video.encode(None))
        for number, track in enumerate(tracks):
            _add_tone(output, track, sound_from, 0 if number == silent else 12_000)
    return file.getvalue()


def _add_tone(
    output: av.container.OutputContainer, track: AudioStream, start_s: float, loudness: int
) -> None:
    context = track.codec_context
    rate, layout = context.sample_rate, context.layout
    resampler = av.AudioResampler(context.format, layout, rate, frame_size=context.frame_size or None)
    step = rate // 50
    for first in range(round(start_s * rate), round(END_S * rate) // step * step, step):
        samples = [
            int(loudness * math.sin(2 * math.pi * 440 * at / rate)) if at >= FLASH_S * rate else 0
            for at in range(first, first + step)
        ]
        frame = av.AudioFrame("s16", layout, step)
        frame.planes[0].update(b"".join(struct.pack("<h", sample) * layout.nb_channels for sample in samples))
        frame.sample_rate, frame.pts, frame.time_base = rate, first, Fraction(1, rate)
        for resampled in resampler.resample(frame):
            output.mux(track.encode(resampled))
    output.mux(track.encode(None))


def flash(data: bytes) -> tuple[float | None, float | None]:
    """Return the times in seconds at which a clip turns bright and its tone begins."""
    with opened(data) as container:
        bright = next(
            (frame.time for frame in container.decode(video=0) if bytes(frame.planes[0])[0] > _BRIGHT), None
        )
    with opened(data) as container:
        if not container.streams.audio:
            return bright, None
        resampler = av.AudioResampler("s16", "mono", 48_000)
        for frame in container.decode(audio=0):
            began_s = float((frame.pts or 0) * (frame.time_base or 0))
            for resampled in resampler.resample(frame):
                samples = array.array("h", bytes(resampled.planes[0])[: resampled.samples * 2])
                for at, sample in enumerate(samples):
                    if abs(sample) > _LOUD:
                        return bright, began_s + at / 48_000
    return bright, None


def edited(mp4: bytes, *cuts: Sequence[tuple[int, float | None]]) -> bytes:
    """Return the file with an edit list in each track.

    Each cut is a duration in ms and a start position in the track in seconds, or None for an empty edit.
    """
    at = mp4.rindex(b"moov") - 4
    size = int.from_bytes(mp4[at : at + 4])
    tracks = iter(cuts)
    moov = b"".join(
        _with_edits(part, next(tracks)) if part[4:8] == b"trak" else part
        for part in _parts(mp4[at + 8 : at + size])
    )
    return mp4[:at] + box(b"moov", moov) + mp4[at + size :]


def _with_edits(track: bytes, cuts: Sequence[tuple[int, float | None]]) -> bytes:
    header = track.index(b"mdhd")
    scale = int.from_bytes(track[header + 16 : header + 20])
    entries = b"".join(
        struct.pack(">IiI", duration, -1 if start is None else round(start * scale), 0x10000)
        for duration, start in cuts
    )
    edits = box(b"edts", box(b"elst", struct.pack(">II", 0, len(cuts)), entries))
    parts = [part for part in _parts(track[8:]) if part[4:8] != b"edts"]
    return box(b"trak", parts[0], edits, *parts[1:])


def _parts(content: bytes) -> list[bytes]:
    parts, at = [], 0
    while at < len(content):
        size = int.from_bytes(content[at : at + 4])
        parts.append(content[at : at + size])
        at += size
    return parts


def still(
    codec: str, container: str = "mp4", *, pixels: str = "yuv420p", aspect: Fraction | None = None
) -> bytes:
    """Return a clip whose frames have four quarters: white and red above green and blue."""
    image = Image.new("RGB", SIZE, QUARTERS["W"])
    for name, corner in (("R", (48, 0)), ("G", (0, 32)), ("B", (48, 32))):
        image.paste(QUARTERS[name], (*corner, corner[0] + 48, corner[1] + 32))
    return _moving(codec, container, [image] * 5, pixels, aspect, {})


def interlaced(codec: str, options: dict[str, str]) -> bytes:
    """Return an interlaced clip that shows a bar moving to the right.

    The lower field of each frame is the later one.
    """
    images = []
    for number in range(8):
        image = Image.new("RGB", SIZE, (20, 20, 20))
        for line in range(SIZE[1]):
            left = number * 8 + line % 2 * 4
            image.paste((235, 235, 235), (left, line, left + 16, line + 1))
        images.append(image)
    return _moving(codec, "mov", images, "yuv420p", None, options)


def _moving(
    codec: str,
    container: str,
    images: Sequence[Image.Image],
    pixels: str,
    aspect: Fraction | None,
    options: dict[str, str],
) -> bytes:
    file = BytesIO()
    with av.open(file, "w", format=container) as output:
        video = cast(VideoStream, output.add_stream(codec, rate=FPS, options=options))
        video.width, video.height, video.pix_fmt = *SIZE, pixels
        if aspect is not None:
            video.codec_context.sample_aspect_ratio = aspect
        for number, image in enumerate(images):
            frame = av.VideoFrame.from_image(image)  # type: ignore[no-untyped-call]
            frame.pts, frame.time_base = number, Fraction(1, FPS)
            output.mux(video.encode(frame))
        output.mux(video.encode(None))
    return file.getvalue()


def with_matrix(mp4: bytes, a: int, b: int, c: int, d: int) -> bytes:
    """Return the file with a matrix that moves the point (x, y) to (ax + cy, bx + dy)."""
    at = mp4.index(b"tkhd") + 4 + 40
    unit = 0x10000
    return (
        mp4[:at]
        + struct.pack(">9i", a * unit, b * unit, 0, c * unit, d * unit, 0, 0, 0, 0x40000000)
        + mp4[at + 36 :]
    )


def quarters(image: Image.Image) -> str:
    """Return the names of the colours in the corners of an image, row by row."""
    width, height = image.size
    places = ((4, 4), (width - 5, 4), (4, height - 5), (width - 5, height - 5))
    names = {tuple(value > 128 for value in colour): name for name, colour in QUARTERS.items()}
    pixels = [image.convert("RGB").getpixel(point) for point in places]
    return "".join(
        names.get(tuple(value > 128 for value in cast(tuple[int, ...], pixel)), "?") for pixel in pixels
    )


def first_image(data: bytes) -> tuple[Image.Image, av.VideoFrame]:
    """Return the first frame's image, rotated as the frame specifies, and the frame itself."""
    with opened(data) as container:
        frame = next(container.decode(video=0))
        image = Image.frombytes("RGB", (frame.width, frame.height), bytes(frame.to_ndarray(format="rgb24")))
        return image.rotate(frame.rotation, expand=True), frame


def frames_kept(data: bytes) -> int:
    """Return the number of frames in a file, including the frames that its edit list hides."""
    with av.open(BytesIO(data), "r", options={"ignore_editlist": "1"}) as container:
        return len(list(container.decode(video=0)))
