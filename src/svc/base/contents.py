"""Tells what a file is by its first bytes: a picture, a video, sound, or something else.

The name of a file never counts. Decodes nothing: whether the rest keeps what the start promises is for
the sandbox to find out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from svc.base.pictures import HEAD_BYTES as HEAD_BYTES
from svc.base.pictures import brands_of, is_text, kind_of

PICTURE, VIDEO, AUDIO, FILE = "picture", "video", "audio", "file"
PLAIN_TYPE = "application/octet-stream"

# Pictures in an ISO container that are not AVIF: HEIF and HEIC, JPEG in HEIF, JPEG XS, and Canon's CR3.
_STILLS = frozenset(
    brand.ljust(4)
    for brand in (
        b"mif1 mif2 msf1 miaf heic heix heim heis hevc hevx hevm hevs avci avcs avif avis "
        b"jpeg jpgs vvic vvis jxs jxsi crx"
    ).split()
)
_MOVIES = frozenset(brand.ljust(4) for brand in b"isom iso2 iso4 iso5 iso6 mp41 mp42 avc1 qt M4V".split())
_FILLING_BOXES = frozenset((b"wide", b"free", b"skip"))
_MAX_FILLING_BYTES = 16 * 1024 * 1024
_IN_MOOV = frozenset((b"mvhd", b"cmov", b"rmra", b"iods", b"udta", b"meta", b"trak", b"prfl", b"clip"))


@dataclass(frozen=True, slots=True)
class Sound:
    """A container of sound that browsers play. `demuxer` is FFmpeg's name for what reads it."""

    demuxer: str
    content_type: str
    ext: str


MP3 = Sound("mp3", "audio/mpeg", "mp3")
ADTS = Sound("aac", "audio/aac", "aac")
OGG = Sound("ogg", "audio/ogg", "ogg")
FLAC = Sound("flac", "audio/flac", "flac")
WAV = Sound("wav", "audio/wav", "wav")
# Containers of videos, which have sound alone in them now and then.
_OF_CONTAINERS = {
    "mov": Sound("mov", "audio/mp4", "m4a"),
    "matroska": Sound("matroska", "audio/webm", "weba"),
}
SOUND_TYPES = frozenset(s.content_type for s in (MP3, ADTS, OGG, FLAC, WAV, *_OF_CONTAINERS.values()))


def content_of(head: bytes) -> str:
    """PICTURE and VIDEO are to be written again; FILE is everything else, sound too."""
    if kind_of(head) is not None and not is_text(head):
        return PICTURE
    return VIDEO if container_of(head) is not None else FILE


def container_of(head: bytes) -> str | None:
    """Return the demultiplexer for a video that begins so, by FFmpeg's names."""
    if is_text(head):
        return None
    if head[4:8] == b"ftyp":
        # FFmpeg would turn a photo of a phone or a camera into a video of one picture.
        return "mov" if (brands := brands_of(head)) and not _holds_stills(brands) else None
    if _starts_old_movie(head):
        return "mov"
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "matroska"
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return "avi"
    return None


def _holds_stills(brands: list[bytes]) -> bool:
    """Return whether a container is of pictures: by its major brand, or by others if it is unknown."""
    if brands[0] in _STILLS or brands[0] in _MOVIES:
        return brands[0] in _STILLS
    return bool(_STILLS.intersection(brands)) and not _MOVIES.intersection(brands)


def _starts_old_movie(head: bytes) -> bool:
    """Return whether boxes of a movie without `ftyp` stand here, as QuickTime wrote them."""
    at = 0
    while (box := head[at + 4 : at + 8]) in _FILLING_BOXES:
        size = int.from_bytes(head[at : at + 4])
        if not 8 <= size <= _MAX_FILLING_BYTES:
            return False
        at += size
        if at + 8 > len(head):
            return True
    if box == b"moov":
        return head[at + 12 : at + 16] in _IN_MOOV
    size = int.from_bytes(head[at : at + 4])
    # A size of 0 stands for the rest of the file, and 1 for a size of 64 bits behind the name.
    return box == b"mdat" and (size < 2 or size >= 8)


def sound_of(head: bytes) -> Sound | None:
    """What a file that begins so may be, if it turns out to have sound and no pictures."""
    if (container := container_of(head)) is not None:
        return _OF_CONTAINERS.get(container)
    if head.startswith(b"OggS"):
        return OGG
    if head.startswith(b"fLaC"):
        return FLAC
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return WAV
    if head.startswith(b"ID3"):
        return MP3
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0:
        # The two bits of the layer are 0 in ADTS; 1 is layer III.
        layer = head[1] >> 1 & 3
        return ADTS if layer == 0 and head[1] & 0x10 else MP3 if layer == 1 else None
    return None


def kind_of_type(content_type: str) -> str:
    """What a stored file is to its readers, by the media type that our worker gave it."""
    family = content_type.partition("/")[0]
    return {"image": PICTURE, "video": VIDEO, "audio": AUDIO}.get(family, FILE)


def with_kind(attachment: object) -> object:
    """An attachment with its `kind`, which those from before there were other files do not have."""
    if not isinstance(attachment, Mapping) or "kind" in attachment:
        return attachment
    return {"kind": kind_of_type(str(attachment.get("content_type"))), **attachment}
