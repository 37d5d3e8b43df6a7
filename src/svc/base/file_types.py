"""Determines from a file's content whether it is an image, a video, audio, or something else.

The file's name is ignored. Nothing is decoded. The sandbox checks whether the content matches the header.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from svc.base.media_containers import File, brands_of, document_type, holds_movie, peek
from svc.base.pictures import MOVIE_BRANDS, is_text, kind_of

PICTURE, VIDEO, AUDIO, FILE = "picture", "video", "audio", "file"
PLAIN_TYPE = "application/octet-stream"

# Brands of images in an ISO container: HEIC, AVIF, JPEG in HEIF, JPEG XS, and CR3, which also has a movie's
# index.
_STILLS = frozenset(
    brand.ljust(4)
    for brand in (
        b"mif1 mif2 msf1 miaf heic heix heim heis hevc hevx hevm hevs avci avcs avif avis "
        b"jpeg jpgs vvic vvis jxs jxsi crx MiHB MiHE MiHA MiPr MA1A MA1B"
    ).split()
)
_OLD_MOVIE = frozenset((b"wide", b"free", b"skip", b"mdat", b"moov", b"pnot"))
_MATROSKA = frozenset((b"webm", b"matroska"))


@dataclass(frozen=True, slots=True)
class Sound:
    """An audio container that browsers play. `demuxer` is FFmpeg's name for its demultiplexer.

    `codecs` lists the codecs that browsers can play in this container. It is empty if they can play all of
    them.
    """

    demuxer: str
    content_type: str
    ext: str
    codecs: tuple[str, ...] = ()


MP3 = Sound("mp3", "audio/mpeg", "mp3")
ADTS = Sound("aac", "audio/aac", "aac")
OGG = Sound("ogg", "audio/ogg", "ogg")
FLAC = Sound("flac", "audio/flac", "flac")
WAV = Sound("wav", "audio/wav", "wav")
# Video containers that may contain only audio.
_OF_CONTAINERS = {
    "mov": Sound("mov", "audio/mp4", "m4a"),
    "matroska": Sound("matroska", "audio/webm", "weba", codecs=("opus", "vorbis")),
}
SOUND_TYPES = frozenset(s.content_type for s in (MP3, ADTS, OGG, FLAC, WAV, *_OF_CONTAINERS.values()))


def content_of(file: File, length: int | None = None) -> str:
    """Return PICTURE or VIDEO for files to be re-encoded, and FILE for all others, including audio.

    If only the start of the file has arrived, `length` is its final length.
    """
    if kind_of(file) is not None and not is_text(file):
        return PICTURE
    return VIDEO if container_of(file, length) is not None else FILE


def container_of(file: File, length: int | None = None) -> str | None:
    """Return FFmpeg's name for the demultiplexer of a video."""
    if is_text(file):
        return None
    head = peek(file, 0, 24)
    if brands := brands_of(file):
        # FFmpeg would turn a photo from a phone or a camera into a one-frame video.
        if _holds_stills(brands):
            return None
        if MOVIE_BRANDS.intersection(brands):
            return "mov"
    if brands or head[4:8] in _OLD_MOVIE:
        return "mov" if holds_movie(file, _length(file) if length is None else length) else None
    if document_type(file) in _MATROSKA:
        return "matroska"
    if head[:4] == b"RIFF" and head[8:16] == b"AVI LIST" and head[20:24] == b"hdrl":
        return "avi"
    return None


def _length(file: File) -> int:
    return len(file) if isinstance(file, bytes) else os.fstat(file).st_size


def _holds_stills(brands: list[bytes]) -> bool:
    """Return whether a container contains images, according to its major brand or, if that is unknown, its
    other brands.
    """
    if brands[0] in _STILLS or brands[0] in MOVIE_BRANDS:
        return brands[0] in _STILLS
    return bool(_STILLS.intersection(brands)) and not MOVIE_BRANDS.intersection(brands)


def sound_of(file: File) -> Sound | None:
    """Return the audio type of a file, for use if the file turns out to have audio and no video."""
    if (container := container_of(file)) is not None:
        return _OF_CONTAINERS.get(container)
    head = peek(file, 0, 12)
    if head.startswith(b"OggS"):
        return OGG
    if head.startswith(b"fLaC"):
        return FLAC
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return WAV
    if head.startswith(b"ID3"):
        return MP3
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0:
        # The two layer bits are 0 in ADTS, and 1 in layer III (MP3).
        layer = head[1] >> 1 & 3
        return ADTS if layer == 0 and head[1] & 0x10 else MP3 if layer == 1 else None
    return None


def kind_of_type(content_type: str) -> str:
    """Return a stored file's kind for clients, derived from the media type that our worker set."""
    family = content_type.partition("/")[0]
    return {"image": PICTURE, "video": VIDEO, "audio": AUDIO}.get(family, FILE)


def with_kind(attachment: object) -> object:
    """Return an attachment with its `kind`. Attachments stored by earlier versions lack it."""
    if not isinstance(attachment, Mapping) or "kind" in attachment:
        return attachment
    return {"kind": kind_of_type(str(attachment.get("content_type"))), **attachment}
