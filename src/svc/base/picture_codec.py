"""Decodes an image with Pillow, rotates it upright, converts it to sRGB and re-encodes it.

Only the sandbox's child process imports this module, at the request of `svc.base.pictures`. The child cannot
open files. The output contains pixels only: EXIF, GPS, XMP, profiles, comments and text are dropped.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from os import fdopen
from typing import cast

from pi_heif import HeifImagePlugin  # type: ignore[import-untyped]
from pi_heif import options as heif
from PIL import (
    AvifImagePlugin,
    GifImagePlugin,
    Image,
    ImageCms,
    ImageMath,
    ImageOps,
    JpegImagePlugin,
    MpoImagePlugin,
    PngImagePlugin,
    WebPImagePlugin,
)

from svc.base.apng import compose_frames
from svc.base.blurhash import blurhash
from svc.base.icc_profiles import profile_of_code_points, profile_of_gamma
from svc.base.media_containers import HEAD_BYTES, code_points
from svc.base.sandbox_protocol import Outcome, Progress, Rejected

# Exceeding Pillow's limit only triggers a warning. Exceeding ours is an error, and ours counts every frame.
Image.MAX_IMAGE_PIXELS = None
# Only a job that decodes HEIC may start threads.
AvifImagePlugin.DEFAULT_MAX_THREADS = 1
# libheif assembles a photo on this thread, but its decoder still starts a thread for each tile.
heif.DECODE_THREADS = 0
heif.DEPTH_IMAGES = heif.AUX_IMAGES = heif.THUMBNAILS = False
PLUGINS = (GifImagePlugin, HeifImagePlugin, JpegImagePlugin, MpoImagePlugin, PngImagePlugin, WebPImagePlugin)
# `svc.base.pictures` checks all brands of a container. These two plugins would check only the first.
for _name in ("AVIF", "HEIF"):
    Image.register_open(_name, Image.OPEN[_name][0], None)

_ANIMATED = ("GIF", "WEBP", "PNG", "AVIF")
_MAX_SIDE = 16_383
QUALITY = {"WEBP": 85, "AVIF": 70}
THUMBNAIL_QUALITY = 75
# With lossless compression, drawings and screenshots are smaller and their text stays sharp.
LOSSLESS_COLOURS = 1024
LOSSLESS_PIXELS = 2_000_000
# The offset of the flags in the header of an animated WebP, and the transparency flag.
_WEBP_FLAGS, _WEBP_ALPHA = 20, 0x10
_WEBP_OUT_OF_MEMORY = "encoding error 1"
# A progressive JPEG normally has about ten scans. Within pixel data, 0xFF is never followed by this marker.
MAX_SCANS = 100
# The side of the sample from which the placeholder and the dominant colour are computed.
SAMPLE_SIDE = 32
_SRGB = ImageCms.createProfile("sRGB")
# The minimum frame duration. Viewers replace shorter durations with a tenth of a second.
_MIN_FRAME_MS, _DEFAULT_FRAME_MS = 11, 100
_MAX_FRAME_MS = 60_000
# WebP stores the number of plays in 16 bits.
_MAX_PLAYS = 0xFFFF


@dataclass(frozen=True, slots=True)
class _Frame:
    image: Image.Image
    duration_ms: int


def prepare() -> None:
    """Load everything that would otherwise be loaded on first use, because no file can be opened later."""
    sample = Image.new("RGBA", (8, 8), (200, 100, 50, 128))
    for format_ in ("PNG", "GIF", "WEBP", "AVIF", "JPEG"):
        file = BytesIO()
        whole = sample.convert("RGB") if format_ == "JPEG" else sample
        profile = ImageCms.ImageCmsProfile(_SRGB).tobytes()
        whole.save(file, format_, **({"icc_profile": profile} if format_ in ("PNG", "JPEG") else {}))
        _rewritten(BytesIO(file.getvalue()), {**_ANYTHING, "output": "WEBP"})
        _rewritten(BytesIO(file.getvalue()), {**_ANYTHING, "output": "AVIF"})
    for encoding in ("latin-1", "ascii", "utf-16", "utf-16-be", "utf-16-le", "utf-8"):
        b"".decode(encoding)


_ANYTHING: Mapping[str, object] = {
    "formats": ["PNG", "GIF", "WEBP", "AVIF", "JPEG"],
    "max_side": 4,
    "max_pixels": 1000,
    "max_frames": 10,
    "animated": True,
    "thumbnail_side": 2,
}


def rewrite(files: Sequence[int], rules: Mapping[str, object], _: Progress) -> Outcome:
    """Rewrite the image in the first file according to `PictureRules`."""
    with fdopen(files[0], "rb", closefd=False) as file:
        return _rewritten(cast(BytesIO, file), rules)


def _rewritten(file: BytesIO, rules: Mapping[str, object]) -> Outcome:
    _check_scans(file)
    # Closing the source frees its pixels before the frames are encoded.
    with closing(Image.open(file, formats=cast(list[str], rules["formats"]))) as source:
        frames = _frames(source, file, _profile(source, file), rules)
        plays = _plays(source)
        # An APNG may begin with a still image that is not part of its animation.
        still_apart = len(frames) > 1 and bool(source.info.get("default_image"))
    first = frames[0].image
    frames = frames[1:] if still_apart else frames
    output = str(rules["output"])
    blobs = [_encode(frames, output, QUALITY[output], plays)]
    thumbnail_size = (0, 0)
    if (side := cast(int | None, rules["thumbnail_side"])) is not None:
        thumbnail = _within(first, side)
        thumbnail_size = thumbnail.size
        blobs.append(_encode([_Frame(thumbnail, 0)], output, THUMBNAIL_QUALITY))
    sample = _opaque(first.resize(_sample_size(first.size), Image.Resampling.BOX, reducing_gap=2.0))
    facts = {
        "width": first.width,
        "height": first.height,
        "frames": len(frames),
        "duration_ms": sum(frame.duration_ms for frame in frames),
        "thumbnail_width": thumbnail_size[0],
        "thumbnail_height": thumbnail_size[1],
        "placeholder": blurhash(list(_pixels(sample)), sample.width),
        "colour": _dominant(sample),
    }
    return facts, blobs


def _check_scans(file: BytesIO) -> None:
    """Reject a JPEG with too many scans, because a scan of only a few bytes makes the decoder process all
    pixels.
    """
    if file.read(3) == b"\xff\xd8\xff" and file.read().count(b"\xff\xda") > MAX_SCANS:
        raise Rejected("too_large", f"It has more than {MAX_SCANS} scans")
    file.seek(0)


def _profile(source: Image.Image, file: BytesIO) -> bytes | None:
    """Return the image's ICC profile, or a profile created from the colour properties that the image
    declares.
    """
    if (profile := source.info.get("icc_profile")) is not None:
        return cast(bytes, profile)
    if source.format in ("AVIF", "HEIF"):
        stated = code_points(_start(file))
    elif source.format == "PNG":
        stated = _code_points_of_png(_start(file))
        if stated is None and "srgb" not in source.info:
            return profile_of_gamma(source.info.get("gamma"), source.info.get("chromaticity"))
    else:
        return None
    return None if stated is None else profile_of_code_points(*stated)


def _start(file: BytesIO) -> bytes:
    """Return the first bytes of the file and leave its position unchanged."""
    at = file.tell()
    file.seek(0)
    start = file.read(HEAD_BYTES)
    file.seek(at)
    return start


def _code_points_of_png(start: bytes) -> tuple[int, int] | None:
    """Return the primaries and the transfer function from a PNG's cICP chunk, which Pillow ignores."""
    at = 8
    while at + 12 <= len(start) and (kind := start[at + 4 : at + 8]) != b"IDAT":
        if kind == b"cICP":
            return start[at + 8], start[at + 9]
        at += 12 + int.from_bytes(start[at : at + 4])
    return None


def _frames(
    source: Image.Image, file: BytesIO, profile: bytes | None, rules: Mapping[str, object]
) -> list[_Frame]:
    """Return the requested frames: upright, in sRGB and at the requested size."""
    max_side = min(cast(int | None, rules["max_side"]) or _MAX_SIDE, _MAX_SIDE)
    count = _frame_count(source, rules)
    # libjpeg can decode at an eighth, a quarter or half of the size with less work and memory.
    source.draft(None, (int(max_side * _DRAFT), int(max_side * _DRAFT)))
    _scale_transparent_grey(source)
    orientation = source.getexif().get(_ORIENTATION, 1)
    frames: list[_Frame] = []
    shown_ms, encoded_ms = 0.0, 0
    for decoded, duration in islice(_decode_frames(source, file, count, profile), count):
        # Round the end time of each frame, so that 60 frames of 16.7 ms take one second.
        shown_ms += _clamped_duration(duration) if count > 1 else 0.0
        image = _upright(_in_srgb(_within(_in_bytes(decoded), max_side), profile), orientation)
        # Drop Pillow's metadata, which it would write to the output. Saving an image that came from a file
        # also makes Pillow query the working directory, which the sandbox forbids.
        image = image.copy() if image is source else image
        image.info = {}
        frames.append(_Frame(image, round(shown_ms) - encoded_ms))
        encoded_ms = round(shown_ms)
    if len(frames) < count:
        raise Rejected("invalid_image", "It has fewer frames than it declares")
    # A frame with transparency among opaque frames would become black.
    if len({frame.image.mode for frame in frames}) > 1:
        frames = [_Frame(frame.image.convert("RGBA"), frame.duration_ms) for frame in frames]
    return frames


def _decode_frames(
    source: Image.Image, file: BytesIO, count: int, profile: bytes | None
) -> Iterator[tuple[Image.Image, object]]:
    """Yield `count` frames, each with its duration in milliseconds."""
    source.load()
    if count == 1 or source.format != "PNG":
        for index in range(count):
            if index:  # A file with several photos opens at its main photo, which may not be the first.
                source.seek(index)
                source.load()
            if isinstance(source, GifImagePlugin.GifImageFile):
                _clear_background(source)
            yield source, source.info.get("duration", 0)
        return
    if source.info.get("default_image"):
        yield source, 0

    def part(png: bytes) -> Image.Image:
        with Image.open(BytesIO(png), formats=["PNG"]) as opened:
            _scale_transparent_grey(opened)
            return _in_srgb(_in_bytes(opened), profile).convert("RGBA")

    file.seek(0)
    for frame, duration in compose_frames(file.read(), source.size, part):
        is_opaque = frame.getchannel("A").getextrema() == (255, 255)
        yield frame.convert("RGB") if is_opaque else frame, duration


def _clear_background(gif: GifImagePlugin.GifImageFile) -> None:
    """Make the area where a GIF restores its background transparent, as browsers do.

    Pillow fills it with the palette's first colour if nothing else in the file is transparent.
    """
    extent = gif.dispose_extent
    if extent is None or gif.info.get("transparency") is not None:
        return
    goes_back = (
        gif.dispose is not None and gif.dispose.mode != "RGBA" and gif.disposal_method == _TO_BACKGROUND
    )
    if not goes_back and (gif.tell() or extent == (0, 0, *gif.size)):
        return
    seen = Image.Image.convert(gif, "RGBA")
    if gif.tell() == 0:
        seen = ImageOps.expand(
            seen.crop(extent),
            (extent[0], extent[1], gif.width - extent[2], gif.height - extent[3]),
            fill=(0, 0, 0, 0),
        )
    gif.im, gif._mode = seen.im, "RGBA"
    if goes_back:
        gif.dispose = Image.new("RGBA", (extent[2] - extent[0], extent[3] - extent[1])).im


def _scale_transparent_grey(source: Image.Image) -> None:
    """Convert the grey value marked as transparent to 8 bits. Pillow leaves it in 2 or 4 bits."""
    tiles = source.tile if isinstance(source, PngImagePlugin.PngImageFile) else []
    scale = {"L;2": 85, "L;4": 17}.get(str(tiles[0].args)) if tiles else None
    grey = source.info.get("transparency")
    if scale and isinstance(grey, int):
        source.info["transparency"] = grey * scale


# Avoid a draft that is slightly too small, which would have to be enlarged.
_DRAFT = 0.9
_ORIENTATION = 0x0112
# The disposal method of a GIF frame that restores the background.
_TO_BACKGROUND = 2


def _frame_count(source: Image.Image, rules: Mapping[str, object]) -> int:
    """Return the number of frames to decode. Raises Rejected if there are too many frames or pixels."""
    frames = 1
    if rules["animated"] and source.format in _ANIMATED:
        frames = getattr(source, "n_frames", 1)
    if frames > cast(int, rules["max_frames"]):
        raise Rejected("too_large", f"It has more than {rules['max_frames']} frames")
    if source.width * source.height * frames > cast(int, rules["max_pixels"]):
        raise Rejected("too_large", f"It has more than {rules['max_pixels']} pixels in all")
    return frames


def _in_bytes(image: Image.Image) -> Image.Image:
    """Scale 16-bit grey to 8 bits. Pillow's own conversion clips values at 255."""
    if image.mode not in ("I;16", "I;16B", "I;16L", "I", "F"):
        return image
    grey = image.convert("I").point(lambda value: value / 256).convert("L")
    if isinstance(through := image.info.get("transparency"), int):
        opaque = ImageMath.lambda_eval(
            lambda terms: terms["notequal"](terms["grey"], through) * 255, grey=image.convert("I")
        )
        grey.putalpha(opaque.convert("L"))
    return grey


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Convert an image to sRGB: to RGBA if it has transparency, otherwise to RGB."""
    mode = "RGBA" if image.has_transparency_data else "RGB"
    converted = _convert(image, mode, profile) if profile else None
    if converted is not None:
        return converted
    return image if image.mode == mode else image.convert(mode)


def _convert(image: Image.Image, mode: str, profile: bytes) -> Image.Image | None:
    """Return an image in sRGB, or None if the profile is invalid or does not match the image."""
    try:
        space = ImageCms.ImageCmsProfile(BytesIO(profile))
        if image.mode in ("RGB", "RGBA", "CMYK") or (image.mode, mode) == ("L", "RGB"):
            return ImageCms.profileToProfile(image, space, _SRGB, outputMode=mode)
        # Palette images and grey images with transparency are converted in two steps.
        plain = image.convert("L" if image.mode in _GREYS and space.profile.xcolor_space == "GRAY" else "RGB")
        colours = ImageCms.profileToProfile(plain, space, _SRGB, outputMode="RGB")
        if colours is not None and mode == "RGBA":
            colours.putalpha(image.convert("RGBA").getchannel("A"))
        return colours
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return None


_GREYS = ("1", "L", "LA", "La")


def _upright(image: Image.Image, orientation: object) -> Image.Image:
    turns = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    turn = turns.get(orientation) if isinstance(orientation, int) else None
    return image if turn is None else image.transpose(turn)


def _within(image: Image.Image, side: int) -> Image.Image:
    """Shrink an image that is too large. Never enlarge one."""
    if max(image.size) <= side:
        return image
    if image.mode not in _RESIZABLE:  # Palette indices cannot be interpolated.
        image = _in_srgb(image, None)
    return ImageOps.contain(image, (side, side), Image.Resampling.LANCZOS)


_RESIZABLE = ("L", "RGB", "RGBA", "CMYK", "LA")


def _clamped_duration(duration: object) -> float:
    milliseconds = duration if isinstance(duration, int | float) else 0
    return min(milliseconds, _MAX_FRAME_MS) if milliseconds >= _MIN_FRAME_MS else _DEFAULT_FRAME_MS


def _plays(source: Image.Image) -> int:
    """Return how many times an animation is played. 0 means forever, which is always the case for AVIF."""
    loop = source.info.get("loop")
    if source.format == "GIF":
        # A GIF stores the number of repetitions in the Netscape extension. A GIF without it plays once.
        loop = 1 if loop is None else loop + 1 if loop else 0
    return min(loop, _MAX_PLAYS) if isinstance(loop, int) and loop > 0 else 0


def _encode(frames: Sequence[_Frame], output: str, quality: int, plays: int = 0) -> bytes:
    first, *rest = frames
    options: dict[str, object] = {"quality": quality, "exif": b"", "xmp": b"", "icc_profile": b""}
    if output == "WEBP":
        options |= {"method": 2, "lossless": _is_drawn(frames)}
    else:
        options |= {"speed": 8, "max_threads": 1}
    if rest:
        durations = [frame.duration_ms for frame in frames]
        options |= {"save_all": True, "append_images": [frame.image for frame in rest], "duration": durations}
        options |= {"loop": plays} if output == "WEBP" else {}
    file = BytesIO()
    try:
        first.image.save(file, output, **options)
    except ValueError as fault:
        if str(fault) == _WEBP_OUT_OF_MEMORY:
            raise MemoryError from None
        raise
    if rest and output == "WEBP" and first.image.mode == "RGBA":
        return _with_transparency(file.getvalue())
    return file.getvalue()


def _with_transparency(webp: bytes) -> bytes:
    """Set the transparency flag in a WebP header. libwebp omits it if only disposed areas are transparent."""
    at = _WEBP_FLAGS
    return webp[:at] + bytes((webp[at] | _WEBP_ALPHA,)) + webp[at + 1 :] if webp[12:16] == b"VP8X" else webp


def _is_drawn(frames: Sequence[_Frame]) -> bool:
    """Return whether the image has few colours. An animation must also have few pixels, because each frame
    adds to the cost.
    """
    first, *rest = (frame.image for frame in frames)
    if rest and first.width * first.height * len(frames) > LOSSLESS_PIXELS:
        return False
    return first.convert("RGB").getcolors(LOSSLESS_COLOURS) is not None


def _sample_size(size: tuple[int, int]) -> tuple[int, int]:
    largest = max(size)
    return max(1, size[0] * SAMPLE_SIDE // largest), max(1, size[1] * SAMPLE_SIDE // largest)


def _opaque(image: Image.Image) -> Image.Image:
    """Flatten transparency onto white, the usual page background."""
    if image.mode != "RGBA":
        return image
    ground = Image.new("RGB", image.size, (255, 255, 255))
    ground.paste(image, mask=image.getchannel("A"))
    return ground


def _pixels(image: Image.Image) -> Iterator[tuple[int, int, int]]:
    data = image.tobytes()
    return zip(data[0::3], data[1::3], data[2::3], strict=True)


def _dominant(sample: Image.Image) -> str:
    """Return the most common colour after reducing the image to a few colours."""
    few = sample.quantize(6, Image.Quantize.MEDIANCUT)
    colours = cast(list[tuple[int, int]], few.getcolors())
    _, index = max(colours)
    palette = few.getpalette("RGB") or [0, 0, 0]
    red, green, blue = palette[3 * index : 3 * index + 3]
    return f"#{red:02x}{green:02x}{blue:02x}"
