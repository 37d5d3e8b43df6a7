"""Provides files that make a video library read other files or run forever, and mutations of valid files."""

import struct
from collections.abc import Iterator, Mapping
from random import Random

from tests.kit import pictures, videos
from tests.kit.hostile_pictures import HTML, mutated

PLAYLIST = b"#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1.0\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
CONCAT = b"ffconcat version 1.0\nfile '/etc/passwd'\nfile 'http://127.0.0.1:1/x'\n"
SESSION = b"v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\n"
DASH = b'<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><BaseURL>file:///etc/passwd</BaseURL></MPD>'

# The first bytes of each container, which are examined before decoding.
EBML = b"\x1a\x45\xdf\xa3\x87\x42\x82\x84webm"
AVI = b"RIFF\xe8\x03\0\0AVI LIST\xdc\x03\0\0hdrl"


def refused() -> Mapping[str, tuple[bytes, set[str]]]:
    """Return each file with the error codes that are permitted for it."""
    mp4 = videos.video()
    unknown, broken, large = {"unsupported_type"}, {"invalid_video"}, {"too_large"}
    return {
        "nothing": (b"", unknown),
        "text": (b"hello", unknown),
        "a playlist": (PLAYLIST, unknown),
        "a list of files": (CONCAT, unknown),
        "a session description": (SESSION, unknown),
        "a dash manifest": (DASH, unknown),
        "a page": (HTML, unknown),
        "a picture": (pictures.encoded(pictures.scene(), "PNG"), unknown),
        "a moving picture": (pictures.animation(3, "AVIF"), unknown),
        "avi with a playlist in it": (AVI + PLAYLIST, broken),
        "a playlist behind a signature": (videos.box(b"ftyp", b"isom", bytes(4)) + PLAYLIST, broken),
        "a list of files behind a signature": (EBML + CONCAT, broken),
        "a header only": (videos.box(b"ftyp", b"isom", bytes(4)), broken),
        "a matroska header only": (EBML, broken),
        "sound only": (videos.sound(), broken),
        "boxes in boxes": (nested_boxes(5_000), broken),
        "four billion samples": (many_samples(mp4, 0xFFFFFFFF), broken | large),
        "a century": (long_duration(mp4), {"too_long"}),
        "huge pictures": (videos.video("mpeg4", None, "mov", size=(4096, 2304), frames=2), large),
    }


def leading_elsewhere() -> bytes:
    """Return a video that claims to store its frames in another file."""
    mp4 = videos.video("mpeg4", None, "mov")
    at = mp4.index(b"dref") - 4
    size = struct.unpack(">I", mp4[at : at + 4])[0]
    # The box has the same length as the box that it replaces, so chunk offsets stay valid.
    alias = struct.pack(">I4sI", size - 16, b"url ", 0) + b"file:///etc/passwd\0"
    return mp4[: at + 16] + alias[: size - 16].ljust(size - 16, b"\0") + mp4[at + size :]


def nested_boxes(depth: int) -> bytes:
    inner = b""
    for _ in range(depth):
        inner = videos.box(b"moov", inner)
    return videos.box(b"ftyp", b"isom", bytes(4)) + inner


def many_samples(mp4: bytes, count: int) -> bytes:
    at = mp4.index(b"stsz") + 8
    return mp4[:at] + struct.pack(">II", 1, count) + mp4[at + 8 :]


def long_duration(mp4: bytes) -> bytes:
    """Stretch the frame timestamps. `stts` contains the durations, and no edit list shortens them."""
    mp4 = mp4.replace(b"edts", b"free")
    at = mp4.index(b"stts") + 8
    count, duration = struct.unpack(">II", mp4[at + 4 : at + 12])
    assert duration, "the first entry has a duration"
    return mp4[: at + 4] + struct.pack(">II", count, 0x7FFFFF) + mp4[at + 12 :]


def mutations(seed: int, rounds: int) -> Iterator[tuple[str, bytes]]:
    honest = {
        "mp4": videos.with_places(videos.video(frames=10, metadata=True)),
        "turned": videos.turned(videos.video("mpeg4", "mp3", "mov", frames=10)),
        "webm": videos.video("libvpx", "libopus", "webm", frames=10),
        "mkv": videos.video("libx264", "libopus", "matroska", frames=10),
        "avi": videos.video("libx264", "mp3", "avi", frames=10),
        "av1": videos.video("libsvtav1", "libopus", "webm", frames=10),
    }
    for name, data in honest.items():
        for number in range(rounds):
            random = Random(f"{seed} {name} {number}")
            # Most of a video file consists of packets. The indexes are at its start and end.
            changed = bytearray(data)
            edge = random.choice((400, 4_000))
            if random.random() < 0.5:
                yield f"{name} {number}", mutated(data[:edge], random) + data[edge:]
            else:
                yield f"{name} {number}", bytes(changed[:-edge]) + mutated(data[-edge:], random)
