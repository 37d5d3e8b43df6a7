"""Files are judged by what their first bytes hold, and text is text whatever words it begins with."""

import io
import struct

import pytest

from svc.base.contents import HEAD_BYTES, container_of, content_of, sound_of
from svc.base.pictures import kind_of
from tests.kit import pictures, videos


def ftyp(major: bytes, *compatible: bytes) -> bytes:
    body = major + bytes(4) + b"".join(compatible)
    return struct.pack(">I", 8 + len(body)) + b"ftyp" + body + struct.pack(">I", 100) + b"meta" + bytes(92)


def box(name: bytes, content: bytes = b"") -> bytes:
    return struct.pack(">I", 8 + len(content)) + name + content


@pytest.mark.parametrize("word", ["free", "wide", "skip", "moov", "mdat", "ftyp"])
def test_a_text_is_a_file_whatever_its_second_word_is(word: str) -> None:
    text = f"The {word} lunch is on Friday.\r\n\tBring \u00e9clairs.".encode()
    assert (content_of(text), sound_of(text)) == ("file", None)


@pytest.mark.parametrize("start", [b"GIF89a is old", b"GIF87a too", b"RIFF and WEBP", b"RIFFlistAVI x"])
def test_a_text_about_a_format_is_a_file(start: bytes) -> None:
    assert content_of(start + b" and everybody knows it.") == "file"


@pytest.mark.parametrize(
    "head",
    [
        ftyp(b"heic", b"mif1", b"heic"),
        ftyp(b"mif1", b"heic", b"miaf"),
        ftyp(b"heix", b"mif1", b"MiHE", b"tmap"),
        ftyp(b"hevc", b"msf1", b"iso8"),
        ftyp(b"MiPr", b"mif1", b"miaf"),
        ftyp(b"crx ", b"crx ", b"isom"),
    ],
)
def test_photos_in_containers_that_are_not_decoded_are_files(head: bytes) -> None:
    assert (content_of(head), sound_of(head)) == ("file", None)


@pytest.mark.parametrize(
    "head",
    [ftyp(b"avif"), ftyp(b"avis", b"msf1"), ftyp(b"mif1", b"avif", b"miaf"), ftyp(b"msf1", b"miaf", b"avis")],
)
def test_avif_is_a_picture_by_any_of_its_brands(head: bytes) -> None:
    assert (content_of(head), kind_of(head)) == ("picture", "AVIF")


def test_an_avif_with_a_general_brand_is_decoded() -> None:
    from PIL import Image

    picture = bytearray(pictures.encoded(pictures.scene(), "AVIF"))
    picture[8:12] = b"mif1"
    assert kind_of(bytes(picture[:HEAD_BYTES])) == "AVIF"
    with Image.open(io.BytesIO(picture)) as opened:
        opened.load()


@pytest.mark.parametrize(
    "head",
    [
        ftyp(b"isom", b"iso2", b"avc1", b"mp41"),
        ftyp(b"qt  "),
        ftyp(b"M4A ", b"isom"),
        ftyp(b"3gp4", b"isom", b"3gp4"),
        ftyp(b"XAVC", b"XAVC", b"mp42", b"iso2"),
        box(b"wide") + struct.pack(">I", 900_000_000) + b"mdat",
        box(b"free", bytes(600)),
        box(b"skip", bytes(8)) + box(b"moov", box(b"mvhd", bytes(100))),
        box(b"moov", box(b"mvhd", bytes(100))),
        struct.pack(">I", 1) + b"mdat" + struct.pack(">Q", 2**33),
        videos.video()[:HEAD_BYTES],
    ],
)
def test_movies_are_movies_by_their_boxes(head: bytes) -> None:
    assert (content_of(head), container_of(head)) == ("video", "mov")


@pytest.mark.parametrize(
    "head",
    [
        b"\x01\x02\x03\x04free" + bytes(50),
        box(b"free", bytes(20)) + box(b"PLTE", bytes(30)),
        box(b"moov", b"\0\0\0\x08elsewhere"),
        b"\xff\0\0\0ftypisom" + bytes(50),
    ],
)
def test_four_bytes_alone_make_no_movie(head: bytes) -> None:
    assert content_of(head) == "file"
