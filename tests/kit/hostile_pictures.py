"""Provides named images that attack their decoder, and mutations of valid images.

All images are small and generated here, so that virus scanners do not object to the repository.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from random import Random

from tests.kit import heif, pictures

# Formats that Pillow could read if they were allowed, and attacks on other parsers.
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "AVIF", "HEIF")

SVG = b"""<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><style>@font-face {font-family: a;
src: url(http://127.0.0.1/font)}</style><text font-family="a">&x;</text><script>alert(1)</script></svg>"""
POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(/etc/passwd) (r) file\n"
HTML = b"<html><script>alert(1)</script></html>"
ZIP = b"PK\x03\x04" + bytes(26) + b"PK\x05\x06" + bytes(18)


def refused() -> Mapping[str, tuple[bytes, set[str]]]:
    """Return each file with the error codes that are permitted for it."""
    jpeg = pictures.encoded(pictures.scene(), "JPEG")
    unknown, broken, large = {"unsupported_type"}, {"invalid_image"}, {"too_large"}
    return {
        "nothing": (b"", unknown),
        "a byte": (b"\x89", unknown),
        "text": (b"hello", unknown),
        "svg with fonts and entities": (SVG, unknown),
        "postscript": (POSTSCRIPT, unknown),
        "html": (HTML, unknown),
        "pdf": (b"%PDF-1.7\n" + jpeg, unknown),
        "zip": (ZIP, unknown),
        "tiff": (pictures.encoded(pictures.scene(), "TIFF"), unknown),
        "bmp": (pictures.encoded(pictures.scene(), "BMP"), unknown),
        "ico": (pictures.encoded(pictures.scene(), "ICO"), unknown),
        "mp4": (b"\0\0\0\x20ftypisom" + bytes(100), unknown),
        "a signature only": (b"\x89PNG\r\n\x1a\n", broken),
        "gif header only": (b"GIF89a" + bytes(7), broken),
        "png without pixels": (pictures.png_that_claims(10, 10), broken),
        "png of no size": (pictures.png_that_claims(0, 10), broken),
        "png that claims to be huge": (pictures.png_that_claims(60_000, 60_000), large),
        "png that claims to be impossible": (pictures.png_that_claims(2**31 - 1, 2**31 - 1), large | broken),
        "png that is huge": (pictures.png_bomb(30_000, 30_000), large),
        "png with a gigabyte of text": (png_with_text_bomb(), broken),
        "apng of two billion frames": (apng_that_claims(2**31 - 1), large | broken),
        "gif of 1,600 megapixels": (pictures.gif_bomb(1600, 1000), large),
        "gif of a thousand frames": (pictures.gif_bomb(1000, 8), large),
        "gif with a huge canvas": (pictures.gif_bomb(1, 65_535), large),
        "webp that claims to be huge": (webp_that_claims(16_384, 16_384), large | broken),
        "heic that claims to be huge": (heic_that_claims(40_000, 40_000), large),
        "heic of a tile as large as can be": (
            heic_that_claims(10, 10, tile=(16_000, 16_000)),
            large | broken,
        ),
        "jpeg that claims to be huge": (jpeg_that_claims(jpeg, 65_500, 65_500), large),
        "jpeg with ten thousand scans": (jpeg_of_many_scans(10_000), large),
    }


def harmless() -> Mapping[str, bytes]:
    """Return unusual but valid images. The server must remove everything except the image itself."""
    jpeg, png = (pictures.encoded(pictures.scene(), format_) for format_ in ("JPEG", "PNG"))
    gif = pictures.animation(2, "GIF")
    return {
        "jpeg that is a zip too": jpeg + ZIP,
        "jpeg with a page in its comment": pictures.encoded(pictures.scene(), "JPEG", comment=HTML),
        "png that is a page too": png + HTML,
        "gif that is a script too": gif.replace(b"GIF89a", b"GIF89a", 1) + b"=1;/*" + HTML + b"*/",
        "jpeg that turns in circles": jpeg_with_circular_exif(),
        "a picture as large as allowed": pictures.png_bomb(7_000, 7_000),
        "one pixel": pictures.encoded(pictures.noise(1, 1), "PNG"),
        "a hair": pictures.encoded(pictures.noise(5_000, 1), "PNG"),
    }


def mutations(seed: int, rounds: int) -> Iterator[tuple[str, bytes]]:
    """Yield files of every kind with some bytes changed, removed, duplicated or cut off."""
    for format_ in FORMATS:
        honest = [plain(format_)]
        if format_ == "HEIF":
            honest += [heif.photo(pictures.scene(), tile=32, exif=pictures.exif_of(6), xmp=pictures.SECRET)]
        else:
            honest += [pictures.picture_with_metadata(format_)]
            honest += [pictures.animation(3, format_)] if format_ != "JPEG" else []
        for number in range(rounds):
            random = Random(f"{seed} {format_} {number}")
            yield f"{format_} {number}", mutated(random.choice(honest), random)


def plain(format_: str) -> bytes:
    image = pictures.noise(40, 32)
    return heif.photo(image) if format_ == "HEIF" else pictures.encoded(image, format_)


def mutated(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8, 40))):
        at = random.randrange(max(1, len(changed)))
        match random.randrange(6):
            case 0:
                changed[at : at + 1] = random.randbytes(1)
            case 1:
                changed[at : at + 4] = random.choice((b"\xff\xff\xff\xff", bytes(4), b"\x7f\xff\xff\xff"))
            case 2:
                del changed[at : at + random.randrange(1, 50)]
            case 3:
                changed[at:at] = changed[at : at + random.randrange(1, 200)]
            case 4:
                changed[at : at + 2] = struct.pack(">H", random.choice((0, 1, 65_535, 32_768)))
            case _:
                del changed[at + random.randrange(len(data)) :]
    return bytes(changed)


def png_with_text_bomb() -> bytes:
    """Return a PNG with compressed text before its pixels. The text unpacks to a thousand times its size."""
    packer = zlib.compressobj(9)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(200)) + packer.flush()
    png = pictures.encoded(pictures.scene(), "PNG")
    return png[:33] + pictures.png_chunk(b"zTXt", b"Comment\0\0" + bomb) * 5 + png[33:]


def apng_that_claims(frames: int) -> bytes:
    png = pictures.encoded(pictures.scene(), "PNG")
    return png[:33] + pictures.png_chunk(b"acTL", struct.pack(">II", frames, 0)) + png[33:]


def webp_that_claims(width: int, height: int) -> bytes:
    size = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    chunk = b"VP8X" + struct.pack("<I", 10) + b"\x02\0\0\0" + size
    frame = b"ANIM" + struct.pack("<I", 6) + bytes(6)
    body = b"WEBP" + chunk + frame
    return b"RIFF" + struct.pack("<I", len(body)) + body


def heic_that_claims(width: int, height: int, tile: tuple[int, int] | None = None) -> bytes:
    """Return a photo whose only tile declares the given dimensions."""
    photo = heif.photo(pictures.scene(60, 60), tile=64)
    shown, coded = struct.pack(">II", width, height), struct.pack(">II", *(tile or (64, 64)))
    first, last = (at for at in range(len(photo)) if photo.startswith(b"ispe", at))
    for at, size in ((first, coded), (last, shown)):
        photo = photo[: at + 8] + size + photo[at + 16 :]
    return photo


def jpeg_that_claims(jpeg: bytes, width: int, height: int) -> bytes:
    at = jpeg.index(b"\xff\xc0") + 5
    return jpeg[:at] + struct.pack(">HH", height, width) + jpeg[at + 4 :]


def jpeg_of_many_scans(scans: int) -> bytes:
    """Return a progressive JPEG. Each scan has a few bytes and makes the decoder process all pixels again."""
    jpeg = pictures.encoded(pictures.scene(4_000, 4_000), "JPEG", progressive=True)
    start = jpeg.rindex(b"\xff\xda")
    return (
        jpeg[:start] + jpeg[start:-2] * scans + b"\xff\xd9"
        if len(jpeg[start:]) < 500
        else _short(jpeg, scans)
    )


def _short(jpeg: bytes, scans: int) -> bytes:
    """Repeat the last scan, but without its data."""
    start = jpeg.rindex(b"\xff\xda")
    header = jpeg[start : start + 2 + struct.unpack(">H", jpeg[start + 2 : start + 4])[0]]
    return jpeg[:-2] + header * scans + b"\xff\xd9"


def jpeg_with_circular_exif() -> bytes:
    """Return a JPEG with an EXIF directory that lists itself as the next directory."""
    tiff = b"MM\0*" + struct.pack(">IH", 8, 2)
    tiff += (
        struct.pack(">HHII", 0x8769, 4, 1, 8) + struct.pack(">HHII", 0x8825, 4, 1, 8) + struct.pack(">I", 8)
    )
    return pictures.encoded(pictures.scene(), "JPEG", exif=b"Exif\0\0" + tiff)
