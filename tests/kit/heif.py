"""Creates HEIC photos for tests, written box by box as phones and cameras do (ISO/IEC 23008-12).

x265 encodes the images in the photos. This module decodes nothing.
"""

import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from io import BytesIO

import av
from PIL import Image

from tests.kit.videos import box

BRANDS = (b"heic", b"mif1", b"heic", b"miaf")
_ALPHA = b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0"


@dataclass
class Item:
    kind: bytes
    data: bytes
    properties: Sequence[bytes] = ()
    hidden: bool = False
    # The type of a reference, and the number of the referenced item, counted from 1.
    references: Sequence[tuple[bytes, int]] = field(default_factory=tuple)


def photo(
    image: Image.Image,
    *,
    tile: int | None = None,
    bits: int = 8,
    properties: Sequence[bytes] = (),
    exif: bytes = b"",
    xmp: bytes = b"",
    alpha: Image.Image | None = None,
    before: Sequence[Image.Image] = (),
    brands: Sequence[bytes] = BRANDS,
) -> bytes:
    """Return a HEIC file of `image` in the layout that phones write, with the images in `before` ahead of it.
    `tile` is the side length of its tiles.

    `properties` are boxes that describe the image, such as a profile or a rotation.
    """
    items = [_coded(other) for other in before]
    if tile is None:
        items.append(_coded(image, bits, properties))
    else:
        items += _grid(image, tile, properties, len(items))
    primary = len(items)
    if alpha is not None:
        aux = _coded(alpha, 8, [full_box(b"auxC", _ALPHA)])
        items.append(Item(aux.kind, aux.data, aux.properties, True, [(b"auxl", primary)]))
    if exif:
        items.append(Item(b"Exif", bytes(4) + exif, references=[(b"cdsc", primary)]))
    if xmp:
        items.append(Item(b"mime", xmp, references=[(b"cdsc", primary)]))
    return _file(brands, items, primary)


def full_box(kind: bytes, *content: bytes, version: int = 0, flags: int = 0) -> bytes:
    return box(kind, struct.pack(">I", version << 24 | flags), *content)


def turned(quarters: int) -> bytes:
    """Return the property that rotates an image counterclockwise by the given number of quarter turns."""
    return box(b"irot", bytes((quarters,)))


def mirrored(axis: int) -> bytes:
    """Return the property that mirrors an image. Axis 0 exchanges top and bottom, axis 1 left and right."""
    return box(b"imir", bytes((axis,)))


def profile(icc: bytes) -> bytes:
    return box(b"colr", b"prof", icc)


def nclx(primaries: int, transfer: int, matrix: int, *, full: bool = True) -> bytes:
    return box(b"colr", b"nclx", struct.pack(">HHHB", primaries, transfer, matrix, full << 7))


def _grid(image: Image.Image, tile: int, properties: Sequence[bytes], before: int) -> list[Item]:
    """Return the tiles, with padding at the edges, and the image that they form."""
    rows, columns = -(-image.height // tile), -(-image.width // tile)
    tiles = []
    for at in range(rows * columns):
        left, top = at % columns * tile, at // columns * tile
        part = image.crop((left, top, left + tile, top + tile))
        coded = _coded(part)
        tiles.append(Item(coded.kind, coded.data, coded.properties, hidden=True))
    whole = struct.pack(">BBBBHH", 0, 0, rows - 1, columns - 1, *image.size)
    numbers = range(before + 1, before + 1 + len(tiles))
    shown = [_extents(image), *properties]
    return [*tiles, Item(b"grid", whole, shown, references=[(b"dimg", number) for number in numbers])]


def _coded(image: Image.Image, bits: int = 8, properties: Sequence[bytes] = ()) -> Item:
    configuration, data = _keyframe(image, bits)
    return Item(b"hvc1", data, [configuration, _extents(image), *properties])


def _extents(image: Image.Image) -> bytes:
    return full_box(b"ispe", struct.pack(">II", *image.size))


def _keyframe(image: Image.Image, bits: int) -> tuple[bytes, bytes]:
    """Return one encoded image, and a box with its decoder configuration."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(_encoded, image, bits).result()


def _encoded(image: Image.Image, bits: int) -> tuple[bytes, bytes]:
    file = BytesIO()
    options = {"x265-params": "keyint=1:log-level=none:info=0:range=full:colormatrix=smpte170m", "crf": "8"}
    with av.open(file, "w", format="mp4") as output:
        stream = output.add_stream("libx265", rate=1, options=options)
        stream.width, stream.height = image.size
        stream.pix_fmt = "yuv420p" if bits == 8 else f"yuv420p{bits}le"
        frame = av.VideoFrame.from_image(image.convert("RGB"))  # type: ignore[no-untyped-call]
        frame = frame.reformat(format=stream.pix_fmt, dst_colorspace="ITU601", dst_color_range="JPEG")
        frame.pts, frame.time_base = 0, Fraction(1, 1)
        packets = [*stream.encode(frame), *stream.encode(None)]
        data = b"".join(bytes(packet) for packet in packets)
        output.mux(packets)
    written = file.getvalue()
    at = written.index(b"hvcC") - 4
    configuration = written[at : at + struct.unpack(">I", written[at : at + 4])[0]]
    at = written.index(b"mdat") + 4
    size = struct.unpack(">I", written[at - 8 : at - 4])[0] - 8
    assert len(data) and size
    return configuration, written[at : at + size]


def _file(brands: Sequence[bytes], items: Sequence[Item], primary: int) -> bytes:
    head = box(b"ftyp", brands[0], bytes(4), *brands[1:])
    # The data offsets depend on the length of the box that contains them, and that length is constant.
    where = len(head) + len(_meta(items, primary, 0)) + 8
    return head + _meta(items, primary, where) + box(b"mdat", *(item.data for item in items))


def _meta(items: Sequence[Item], primary: int, where: int) -> bytes:
    numbered = list(enumerate(items, 1))
    handler = full_box(b"hdlr", bytes(4), b"pict", bytes(13))
    entries = [
        full_box(
            b"infe",
            struct.pack(">HH", number, 0),
            item.kind,
            b"\0application/rdf+xml\0" if item.kind == b"mime" else b"\0",
            version=2,
            flags=int(item.hidden),
        )
        for number, item in numbered
    ]
    places = []
    for number, item in numbered:
        places.append(struct.pack(">HHHII", number, 0, 1, where, len(item.data)))
        where += len(item.data)
    references = [
        box(kind, struct.pack(">HH", number, len(to)), *(struct.pack(">H", other) for other in to))
        for number, item in numbered
        for kind in dict.fromkeys(kind for kind, _ in item.references)
        if (to := [other for what, other in item.references if what == kind])
    ]
    kinds = list(dict.fromkeys(property_ for item in items for property_ in item.properties))
    linked = [
        struct.pack(">HB", number, len(item.properties))
        + bytes(kinds.index(property_) + 1 for property_ in item.properties)
        for number, item in numbered
    ]
    return full_box(
        b"meta",
        handler,
        full_box(b"pitm", struct.pack(">H", primary)),
        full_box(b"iloc", b"\x44\0", struct.pack(">H", len(items)), *places),
        full_box(b"iinf", struct.pack(">H", len(items)), *entries),
        *([full_box(b"iref", *references)] if references else []),
        box(
            b"iprp",
            box(b"ipco", *kinds),
            full_box(b"ipma", struct.pack(">I", len(items)), *linked),
        ),
    )
