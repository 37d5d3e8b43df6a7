"""Creates images for tests with Pillow, in every format, with camera metadata and hostile additions."""

import struct
import zlib
from io import BytesIO
from random import Random

from PIL import Image, ImageCms, ImageDraw
from PIL.PngImagePlugin import PngInfo

# Words in every kind of metadata. None of them may remain in a file that the server writes.
SECRET = b"SECRET-1f2e3d"
LATITUDE = (52.0, 31.0, 12.0)


def scene(width: int = 64, height: int = 48) -> Image.Image:
    """Return an image with red at the top, blue at the bottom, and a white dot at the upper left, which shows
    the orientation.
    """
    image = Image.new("RGB", (width, height), (200, 30, 30))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, height // 2, width, height), fill=(30, 30, 200))
    draw.rectangle((0, 0, width // 4, height // 4), fill=(255, 255, 255))
    return image


def noise(width: int, height: int, seed: int = 1) -> Image.Image:
    return Image.frombytes("RGB", (width, height), Random(seed).randbytes(width * height * 3))


def encoded(image: Image.Image, format_: str, **options: object) -> bytes:
    file = BytesIO()
    image.save(file, format_, **options)
    return file.getvalue()


def decoded(data: bytes) -> Image.Image:
    image = Image.open(BytesIO(data))
    image.load()
    return image


def animation(
    frames: int, format_: str, size: tuple[int, int] = (32, 24), duration: int = 80, **options: object
) -> bytes:
    """Return an animation in which each frame has its own colour."""
    images = [Image.new("RGB", size, (frame * 7 % 256, frame * 31 % 256, 90)) for frame in range(frames)]
    moving = {"save_all": True, "append_images": images[1:], "duration": duration}
    return encoded(images[0], format_, **moving, **options)


def picture_with_metadata(format_: str) -> bytes:
    """Return an image with all of these that the format supports: an author, a location, XMP, a profile and
    text.
    """
    xmp = b"<x:xmpmeta xmlns:x='adobe:ns:meta/'><by>" + SECRET + b"</by></x:xmpmeta>"
    options: dict[str, object] = {"icc_profile": srgb_profile() + SECRET}
    if format_ != "GIF":
        options |= {"exif": exif_of(1)}
    if format_ in ("WEBP", "JPEG", "AVIF"):
        options |= {"xmp": xmp}
    if format_ in ("GIF", "JPEG"):
        options |= {"comment": SECRET}
    if format_ == "PNG":
        text = PngInfo()
        text.add_text("Author", SECRET.decode())
        text.add_itxt("XML:com.adobe.xmp", xmp.decode())
        text.add_text("Zipped", SECRET.decode(), zip=True)
        options |= {"pnginfo": text}
    return encoded(scene(), format_, **options) + (SECRET if format_ in ("JPEG", "PNG", "GIF") else b"")


def exif_of(orientation: int) -> bytes:
    """Return EXIF data with the camera's maker and a location."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010F] = SECRET.decode()
    exif.get_ifd(0x8825).update({1: "N", 2: LATITUDE, 3: "E", 4: LATITUDE, 0x1D: "2026:01:01"})
    return exif.tobytes()


def srgb_profile() -> bytes:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def oriented(orientation: int) -> bytes:
    """Return a JPEG that a viewer must rotate to show the scene."""
    back = {
        1: None,
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }[orientation]
    image = scene() if back is None else scene().transpose(back)
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(image, "JPEG", exif=exif.tobytes(), quality=95)


def png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_that_claims(width: int, height: int, data: bytes = b"") -> bytes:
    """Return a 1-bit PNG whose header declares this size."""
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = (png_chunk(b"IHDR", header), png_chunk(b"IDAT", data), png_chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def png_bomb(width: int, height: int) -> bytes:
    """Return a complete PNG of a few kilobytes that unpacks to megabytes."""
    packer = zlib.compressobj(9)
    row = bytes(1 + (width + 7) // 8)
    data = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    return png_that_claims(width, height, data)


def gif_bomb(frames: int, side: int) -> bytes:
    """Return a GIF with frames of one pixel, each drawn on a canvas that fills the memory."""
    canvas = b"GIF89a" + struct.pack("<HHBBB", side, side, 0x80, 0, 0) + bytes(3) + b"\xff\xff\xff"
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    return canvas + frame * frames + b"\x3b"
