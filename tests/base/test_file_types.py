"""A file's type is determined by its content, and text is recognised regardless of its first words."""

import struct
from pathlib import Path

import pytest

from svc.base.file_types import container_of, content_of, sound_of
from svc.base.media_containers import HEAD_BYTES
from svc.base.pictures import kind_of
from tests.kit import heif, pictures, videos
from tests.kit.videos import box

INDEX = box(b"moov", box(b"mvhd", bytes(100)))


def ftyp(major: bytes, *compatible: bytes) -> bytes:
    return box(b"ftyp", major, bytes(4), *compatible) + box(b"meta", bytes(92))


def ebml(document_type: bytes) -> bytes:
    stated = b"\x42\x86\x81\x01\x42\x82" + bytes((0x80 | len(document_type),)) + document_type
    return b"\x1a\x45\xdf\xa3" + bytes((0x80 | len(stated),)) + stated + bytes(50)


def riff(form: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", 100 + len(form)) + form + bytes(100)


@pytest.mark.parametrize("word", ["free", "wide", "skip", "moov", "mdat", "ftyp"])
def test_text_counts_as_a_file_even_if_its_second_word_resembles_a_format(word: str) -> None:
    text = f"The {word} lunch is on Friday.\r\n\tBring \u00e9clairs.".encode()
    assert (content_of(text), sound_of(text)) == ("file", None)


@pytest.mark.parametrize("start", [b"GIF89a is old", b"GIF87a too", b"RIFF and WEBP", b"RIFFlistAVI x"])
def test_text_about_a_format_counts_as_a_file(start: bytes) -> None:
    assert content_of(start + b" and everybody knows it.") == "file"


@pytest.mark.parametrize(
    "file",
    [
        ftyp(b"hevc", b"msf1", b"iso8"),  # an animation with no still picture
        ftyp(b"avci", b"mif1", b"avci"),
        ftyp(b"mif1", b"jpeg", b"miaf"),
        ftyp(b"jxsi", b"mif1"),
        ftyp(b"crx ", b"crx ", b"isom") + INDEX,
        heif.photo(pictures.scene(), brands=(b"mif1", b"mif1")).replace(b"hvc1", b"vvc1"),
    ],
)
def test_photos_in_containers_without_a_decoder_count_as_files(file: bytes) -> None:
    assert (content_of(file), sound_of(file)) == ("file", None)


@pytest.mark.parametrize("major", [b"heic", b"heix", b"heim", b"heis", b"mif1", b"msf1", b"miaf", b"MiHE"])
def test_heic_is_recognised_by_any_of_its_brands_or_by_its_content(major: bytes) -> None:
    assert kind_of(ftyp(major, b"mif1", b"heic")) == "HEIF"
    photo = heif.photo(pictures.scene(), tile=32, brands=(major, b"mif1", b"miaf"))
    assert (content_of(photo), kind_of(photo)) == ("picture", "HEIF")


@pytest.mark.parametrize("major", [b"avif", b"avis", b"mif1", b"msf1", b"miaf", b"MA1A", b"MA1B"])
def test_avif_is_recognised_by_any_of_its_brands_or_by_its_content(major: bytes) -> None:
    assert kind_of(ftyp(major, b"avif", b"miaf")) == kind_of(ftyp(major, b"miaf", b"avis")) == "AVIF"
    picture = pictures.encoded(pictures.scene(), "AVIF")
    other = picture[:8] + major + picture[12:]
    assert (content_of(other), kind_of(other)) == ("picture", "AVIF")
    nameless = other.replace(b"avif", b"mif1").replace(b"avis", b"mif1").replace(major, b"mif1", 1)
    assert kind_of(nameless) == "AVIF"


@pytest.mark.parametrize(
    "file",
    [
        ftyp(b"isom", b"iso2", b"avc1", b"mp41"),
        ftyp(b"qt  "),
        ftyp(b"M4A ", b"isom"),
        ftyp(b"3gp4", b"isom", b"3gp4"),
        ftyp(b"XAVC", b"XAVC", b"mp42", b"iso2"),
        ftyp(b"abcd", b"efgh") + INDEX,
        box(b"wide") + box(b"mdat", bytes(10_000)) + INDEX,
        box(b"free", bytes(600)) + INDEX,
        box(b"skip", bytes(8)) + INDEX,
        INDEX,
        struct.pack(">I", 1) + b"mdat" + struct.pack(">Q", 1016) + bytes(1000) + INDEX,
        videos.video(),
        videos.video(container="mov"),
    ],
)
def test_movies_are_recognised_by_their_index(file: bytes, tmp_path: Path) -> None:
    assert (content_of(file), container_of(file)) == ("video", "mov")
    path = tmp_path / "movie"
    path.write_bytes(file)
    with path.open("rb") as opened:
        assert content_of(opened.fileno()) == "video"


def test_an_incomplete_movie_is_recognised_if_its_index_may_follow() -> None:
    movie = box(b"mdat", bytes(100_000)) + INDEX
    assert content_of(movie[:HEAD_BYTES], len(movie)) == "video"
    assert content_of(movie[:HEAD_BYTES], len(movie) - len(INDEX)) == "file"


@pytest.mark.parametrize(
    "file",
    [
        b"\x01\x02\x03\x04free" + bytes(50),
        b"\x01\x02\x03\x04mdat" + bytes(50),
        struct.pack(">I", 900_000_000) + b"mdat" + bytes(5000),
        struct.pack(">II", 0, 0x6D646174) + bytes(5000),
        struct.pack(">I", 1) + b"mdat" + struct.pack(">Q", 2**33) + bytes(5000),
        struct.pack(">I", 1) + b"mdat" + struct.pack(">Q", 3) + bytes(5000),
        box(b"free", bytes(20)) + box(b"PLTE", bytes(30)),
        box(b"free", bytes(600)) + bytes(5000),
        box(b"moov", b"\0\0\0\x08elsewhere"),
        b"\xff\0\0\0ftypisom" + bytes(50),
        box(b"ftyp", b"abcd", bytes(4), b"efgh") + box(b"data", bytes(500)),
        box(b"wide") * 1000,
        ebml(b"other"),
        ebml(b""),
        b"\x1a\x45\xdf\xa3" + bytes(range(1, 60)),
        riff(b"AVI "),
        riff(b"AVI LIST\0\0\0\0INFO"),
        riff(b"sfbk"),
        riff(b"CDR9"),
    ],
)
def test_a_few_bytes_are_not_mistaken_for_a_movie(file: bytes) -> None:
    assert (content_of(file), sound_of(file)) == ("file", None)


@pytest.mark.parametrize("container", ["webm", "matroska"])
def test_matroska_is_recognised_by_the_type_in_its_header(container: str) -> None:
    assert container_of(videos.video("libvpx", "libopus", container)[:HEAD_BYTES]) == "matroska"
    assert container_of(ebml(container.encode())) == "matroska"


@pytest.mark.parametrize(
    "file",
    [
        b"\x89PNG\r\n\x1a\n" + pictures.png_chunk(b"CgBI", b"\x50\0\x20\x06") + bytes(50),  # Apple's tools
        b"\xff\xd8\xff\xf7" + bytes(50),  # JPEG-LS
    ],
)
def test_related_formats_without_a_decoder_count_as_files(file: bytes) -> None:
    assert content_of(file) == "file"
