"""Creates photographs, drawings, animations and videos for `benchmarks.media`, with Pillow and FFmpeg.

The files are synthetic: smooth colours with noise, which compress like photographs.
"""

from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import cast

import av
from av.video.stream import VideoStream
from PIL import Image, ImageDraw, ImageFilter


def photograph(width: int, height: int) -> bytes:
    """Return a photograph as a phone would save it, with about 2 bits per pixel."""
    noise = Image.effect_noise((width // 4, height // 4), 60).resize((width, height))
    colours = [noise.rotate(angle).filter(ImageFilter.GaussianBlur(2)) for angle in (0, 90, 180)]
    grain = Image.effect_noise((width, height), 12)
    image = Image.merge("RGB", [Image.blend(colour, grain, 0.2) for colour in colours])
    return _encoded(image, "JPEG", quality=90)


def screenshot(width: int, height: int) -> bytes:
    """Return a screenshot with windows and letters."""
    image = Image.new("RGB", (width, height), (245, 245, 250))
    draw = ImageDraw.Draw(image)
    for line in range(height // 14):
        draw.text(
            (20 + line % 7 * 9, 14 * line),
            "The quick brown fox jumps over the lazy dog. " * 6,
            fill=(40, 40, 60),
        )
    return _encoded(image, "PNG")


def animation(frames: int, width: int, height: int) -> bytes:
    images = [
        Image.effect_noise((width // 4, height // 4), 50).resize((width, height)) for _ in range(frames)
    ]
    images = [image.convert("P") for image in images]
    return _encoded(images[0], "GIF", save_all=True, append_images=images[1:], duration=80, loop=0)


def pictures() -> Iterator[tuple[str, str, bytes]]:
    """Return the description, job kind and file of each image."""
    yield "JPEG, 12 megapixels", "picture", photograph(4000, 3000)
    yield "JPEG, 48 megapixels", "picture", photograph(8000, 6000)
    yield "JPEG, 0.3 megapixels", "picture", photograph(640, 480)
    yield "PNG, a screenshot, 1920 x 1080", "picture", screenshot(1920, 1080)
    yield "PNG, noise, 12 megapixels", "picture", _encoded(_noise(4000, 3000), "PNG", compress_level=1)
    yield "GIF, 50 frames, 480 x 270", "picture", animation(50, 480, 270)
    yield "JPEG, 12 megapixels", "avatar", photograph(4000, 3000)
    yield "GIF, 30 frames, 200 x 200", "emoji", animation(30, 200, 200)


def _noise(width: int, height: int) -> Image.Image:
    return Image.merge("RGB", [Image.effect_noise((width, height), 40) for _ in range(3)])


def films(folder: Path, only: str = "", seconds: int = 60) -> Iterator[tuple[str, Path]]:
    """Return the description and path of each video."""
    for what, codec, size in (
        ("H.264 and AAC, 1280 x 720", "libx264", (1280, 720)),
        ("MPEG-4 and AAC, 1280 x 720", "mpeg4", (1280, 720)),
        ("MPEG-4 and AAC, 1920 x 1080", "mpeg4", (1920, 1080)),
    ):
        if only in codec:
            path = folder / f"{codec}-{size[0]}-{seconds}.mp4"
            _film(path, codec, size, seconds)
            yield what, path


def _film(path: Path, codec: str, size: tuple[int, int], seconds: int) -> None:
    """Encode FFmpeg's test pattern with grain, at 30 frames a second and with silent audio."""
    graph = av.filter.Graph()
    source = graph.add("testsrc2", f"size={size[0]}x{size[1]}:rate=30:duration={seconds}")
    grain = graph.add("noise", "alls=8:allf=t")
    pixels = graph.add("format", "yuv420p")
    sink = graph.add("buffersink")
    for one, other in ((source, grain), (grain, pixels), (pixels, sink)):
        one.link_to(other)
    graph.configure()
    with av.open(str(path), "w") as output:
        options = {"preset": "ultrafast"} if codec == "libx264" else {}
        pictures = cast(VideoStream, output.add_stream(codec, rate=30, options=options))
        pictures.width, pictures.height, pictures.pix_fmt = *size, "yuv420p"
        pictures.bit_rate = 4_000_000
        sound = output.add_stream("aac", rate=48_000)
        for number in range(seconds * 30):
            frame = graph.vpull()
            frame.pts, frame.time_base = number, Fraction(1, 30)
            frame.pict_type = av.video.frame.PictureType.NONE
            output.mux(pictures.encode(frame))
        for start in range(0, seconds * 48_000, 1024):
            silence = av.AudioFrame("fltp", "stereo", 1024)
            for plane in silence.planes:
                plane.update(bytes(plane.buffer_size))
            silence.sample_rate, silence.pts, silence.time_base = 48_000, start, Fraction(1, 48_000)
            output.mux(sound.encode(silence))
        output.mux(pictures.encode(None))
        output.mux(sound.encode(None))


def _encoded(image: Image.Image, format_: str, **options: object) -> bytes:
    file = BytesIO()
    image.save(file, format_, **options)
    return file.getvalue()
