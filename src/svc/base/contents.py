"""Tells what a file is by its first bytes: a picture, a video, sound, or something else.

The name of a file never counts. Decodes nothing: whether the rest keeps what the start promises is for
the sandbox to find out.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from svc.base.pictures import kind_of

PICTURE, VIDEO, AUDIO, FILE = "picture", "video", "audio", "file"
HEAD_BYTES = 16
PLAIN_TYPE = "application/octet-stream"


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
    if kind_of(head) is not None:
        return PICTURE
    return VIDEO if container_of(head) is not None else FILE


def container_of(head: bytes) -> str | None:
    """The demultiplexer for a video that begins so, by FFmpeg's names."""
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip") and head[8:12] not in (
        b"avif",
        b"avis",
    ):
        return "mov"
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "matroska"
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return "avi"
    return None


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
