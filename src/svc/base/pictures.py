"""Rewrites untrusted images: sends each image to the sandbox, and validates the result.

A file's format is determined by its content, never its name. The result is a new file with the same pixels in
sRGB, upright, and nothing else from the original. `svc.base.picture_codec`, which runs only in the sandbox,
uses Pillow. Nothing is decoded here.
"""

import re
from dataclasses import asdict, dataclass
from pathlib import Path

from svc.base.blurhash import LENGTH as PLACEHOLDER_LENGTH
from svc.base.media_containers import File, brands_of, coded_items, peek
from svc.base.sandbox import Limits, Refused, Result, Sandbox, SandboxFailed, as_file

__all__ = [
    "Picture",
    "PictureRules",
    "Refused",
    "SandboxFailed",
    "kind_of",
    "limits_of",
    "picture_sandbox",
    "rewritten",
]

# The largest side that WebP supports.
MAX_SIDE = 16_383
# The memory per pixel. Several copies exist while an image is decoded, converted, rotated and encoded.
_BYTES_PER_PIXEL = 20
_FIXED_BYTES = 96 * 1024 * 1024
_MAX_RESULT_BYTES = 64 * 1024 * 1024
_SIGNATURE_BYTES, _SIGNATURES_BYTES = 6, 16
# The marker at the start of a JPEG-LS file, a format that Pillow does not decode.
_JPEG_LS = b"\xf7"
# Container brands and item types that identify the codec.
_CODECS = {
    **dict.fromkeys((b"avif", b"avis", b"av01"), "AVIF"),
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hvc1"), "HEIF"),
}
# Containers with these brands may use any codec. Encoders also write them before the codec's own brand.
_GENERAL_STILLS = frozenset(
    (b"mif1", b"mif2", b"msf1", b"miaf", b"MiHB", b"MiHE", b"MiHA", b"MiPr", b"MA1A", b"MA1B")
)
MOVIE_BRANDS = frozenset(
    brand.ljust(4) for brand in b"isom iso2 iso3 iso4 iso5 iso6 mp41 mp42 avc1 qt M4V M4A M4B dash".split()
)
_TEXT_BYTES = 64
# Control characters that text never contains: all except tab, line feed, vertical tab, form feed, carriage
# return and escape.
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\v\f\r\x1b")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_TYPES = {"WEBP": ("image/webp", "webp"), "AVIF": ("image/avif", "avif")}


@dataclass(frozen=True, slots=True)
class PictureRules:
    """The accepted formats, the output format, and the limits. `max_pixels` counts all frames together."""

    formats: tuple[str, ...] = ("PNG", "JPEG", "WEBP", "GIF")
    max_side: int | None = None  # Larger images are shrunk.
    max_pixels: int = 50_000_000
    max_frames: int = 500
    animated: bool = True  # If false, only the first frame is kept.
    output: str = "WEBP"  # or AVIF
    thumbnail_side: int | None = None


ALL_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "AVIF", "HEIF")
# The rules for an image attached to a message. Screens are not wider than `max_side`, and the web client
# loads the thumbnail first.
ATTACHED_PICTURE = PictureRules(ALL_FORMATS, max_side=4096, thumbnail_side=400)


@dataclass(frozen=True, slots=True)
class Picture:
    """The new file and its properties. The placeholder is a BlurHash, and the colour is #rrggbb."""

    data: bytes
    content_type: str
    ext: str
    width: int
    height: int
    frames: int
    duration_ms: int
    placeholder: str
    colour: str
    thumbnail: bytes | None
    thumbnail_width: int
    thumbnail_height: int


def picture_sandbox(at_once: int) -> Sandbox:
    """Return a sandbox that a program can reuse, so that the decoder is loaded only once."""
    return Sandbox("svc.base.picture_codec", at_once=at_once, broken="invalid_image")


async def rewritten(
    data: bytes | Path, rules: PictureRules, *, deadline_s: float, sandbox: Sandbox | None = None
) -> Picture:
    """Rewrite an image.

    Raises Refused (unsupported_type, invalid_image, too_large, timeout) and SandboxFailed. If no sandbox
    is given, one is created for this image alone, which takes a tenth of a second longer.
    """
    if sandbox is None:
        async with picture_sandbox(1) as own:
            return await rewritten(data, rules, deadline_s=deadline_s, sandbox=own)
    async with as_file(data) as file:
        kind = kind_of(file)
        if kind not in rules.formats:
            kinds = ", ".join(rules.formats).replace("HEIF", "HEIC")
            raise Refused("unsupported_type", f"Only pictures of these kinds are accepted: {kinds}")
        result = await sandbox.call("rewrite", asdict(rules), [file], limits_of(rules, deadline_s, kind))
    return _validate(result, rules)


def kind_of(file: File) -> str | None:
    """Return Pillow's name for a file's format, given the content or its first bytes."""
    head = peek(file, 0, _SIGNATURES_BYTES)
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        # Apple's developer tools write a variant of PNG that only Apple's systems can read.
        return "PNG" if head[12:16] != b"CgBI" else None
    if head.startswith(b"\xff\xd8\xff"):
        return "JPEG" if head[3:4] != _JPEG_LS else None
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    return _container_format(file)


def _container_format(file: File) -> str | None:
    """Return an image container's format, determined by its codec's brand or else by its items."""
    brands = brands_of(file)
    if not brands or brands[0] in MOVIE_BRANDS:
        return None
    for brand in brands:
        if brand in _CODECS:
            return _CODECS[brand]
    if not _GENERAL_STILLS.intersection(brands):
        return None
    return next((_CODECS[kind] for kind in sorted(coded_items(file)) if kind in _CODECS), None)


def is_text(file: File) -> bool:
    """Return whether a file starts like text. Text can happen to begin with a format's signature.

    Every image and video has control characters near its start, in lengths, sizes or a signature.
    """
    # A signature without content is a truncated image, not text.
    head = peek(file, 0, _TEXT_BYTES)
    return len(head) > _SIGNATURE_BYTES and not _CONTROLS.intersection(head)


def limits_of(rules: PictureRules, deadline_s: float, kind: str | None = None) -> Limits:
    """Return the limits for a child that rewrites an image according to the given rules."""
    return Limits(
        memory_bytes=_FIXED_BYTES + rules.max_pixels * _BYTES_PER_PIXEL,
        deadline_s=deadline_s,
        # The deadline includes time that the machine spends on other work, so it is usually the first limit
        # to be reached.
        cpu_s=int(deadline_s) + 2,
        result_bytes=_MAX_RESULT_BYTES,
        # The HEIC decoder starts a thread for each tile of a photo and aborts if it cannot.
        threads=kind == "HEIF",
    )


def _validate(result: Result, rules: PictureRules) -> Picture:
    """Validate a result. A compromised decoder can send anything, but the worst result that passes is a wrong
    image.
    """
    facts = result.facts
    content_type, ext = _TYPES[rules.output]
    try:
        width, height, frames, duration_ms, thumbnail_width, thumbnail_height = (
            _whole(facts[name])
            for name in ("width", "height", "frames", "duration_ms", "thumbnail_width", "thumbnail_height")
        )
        data, *more = result.blobs
        placeholder, colour = str(facts["placeholder"]), str(facts["colour"])
        sound = (
            kind_of(data) == rules.output
            and all(kind_of(blob) == rules.output for blob in more)
            and len(more) == (rules.thumbnail_side is not None)
            and 0 < width <= MAX_SIDE
            and 0 < height <= MAX_SIDE
            and 0 < frames <= rules.max_frames
            and len(placeholder) == PLACEHOLDER_LENGTH
            and placeholder.isascii()
            and _COLOUR.fullmatch(colour)
        )
    except (KeyError, TypeError, ValueError):
        sound = False
    if not sound:
        raise Refused(
            "invalid_image", "It is damaged, or its content does not match its type", "the decoder misbehaved"
        )
    thumbnail = more[0] if more else None
    return Picture(
        *(data, content_type, ext, width, height, frames, duration_ms, placeholder, colour),
        *(thumbnail, thumbnail_width, thumbnail_height),
    )


def _whole(value: object) -> int:
    if isinstance(value, int) and 0 <= value < 2**31:
        return value
    raise ValueError
