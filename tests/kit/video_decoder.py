"""Decodes video with PyAV (FFmpeg's decoders), frame by frame on one thread."""

import hashlib
from collections.abc import Iterable

import av

from tests.kit.depacketise import DEPACKETISERS

DECODERS = {"VP8": "vp8", "VP9": "vp9", "H264": "h264", "AV1": "libdav1d"}
# This option makes the decoder return each frame immediately instead of waiting for later frames.
OPTIONS = {"AV1": {"max_frame_delay": "1"}}


def decode(
    codec: str, packets: Iterable[tuple[int, bytes]], *, decoder: str | None = None
) -> dict[int, bytes]:
    """Return a digest of each frame, keyed by RTP timestamp. `packets` yields (timestamp, RTP payload) in
    decode order.
    """
    frames: dict[int, list[bytes]] = {}
    for timestamp, payload in packets:
        frames.setdefault(timestamp, []).append(payload)
    context = av.CodecContext.create(decoder or DECODERS[codec], "r")
    assert isinstance(context, av.VideoCodecContext)
    context.options = OPTIONS.get(codec, {})
    context.thread_count = 1
    pictures: dict[int, bytes] = {}
    for timestamp, payloads in frames.items():
        unit = av.Packet(DEPACKETISERS[codec](payloads))
        unit.pts = timestamp
        pictures.update(digests(context.decode(unit)))
    pictures.update(digests(context.decode(None)))
    return pictures


def digests(frames: Iterable[av.VideoFrame]) -> dict[int, bytes]:
    """Return a digest of each frame by presentation time."""
    return {frame.pts: _digest(frame) for frame in frames if frame.pts is not None}


def _digest(frame: av.VideoFrame) -> bytes:
    """Hash the visible part of a frame. The rows of a plane may end with padding, which is not hashed."""
    digest = hashlib.sha256(f"{frame.format.name} {frame.width}x{frame.height}".encode())
    for plane in frame.planes:
        lines = memoryview(plane)
        for start in range(0, plane.line_size * plane.height, plane.line_size):
            digest.update(lines[start : start + plane.width])
    return digest.digest()
