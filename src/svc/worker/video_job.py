"""Rewrites untrusted videos: sends each video to the sandbox, and validates the result.

The container is determined from the first bytes. The new file has one video stream and at most one audio
stream. Its poster is an ordinary image and goes through `svc.base.pictures`. `svc.worker.video`, which runs
only in the sandbox, uses PyAV.
"""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from svc.base.file_types import container_of
from svc.base.pictures import Picture, PictureRules, rewritten
from svc.base.sandbox import Limits, Refused, Result, Sandbox, as_file

# Memory for decoders and an encoder for 4K frames, with the stacks and heaps of their threads.
_MEMORY_BYTES = 2 * 1024 * 1024 * 1024
# The largest possible PNG with a side of POSTER_SIDE.
_MAX_POSTER_BYTES = 16 * 1024 * 1024
_POSTER = PictureRules(
    formats=("PNG",), max_side=1280, max_pixels=2_000_000, animated=False, thumbnail_side=400
)
_POSTER_DEADLINE_S = 20.0
ACCEPTED = (
    "Only pictures (PNG, JPEG, WebP, GIF, AVIF, HEIC) and videos (MP4, MOV, WebM, Matroska, AVI) are accepted"
)
_TYPES = {"mp4": "video/mp4", "webm": "video/webm"}


class NoVideoFrames(Refused):
    """A video container without video frames. It may contain audio."""


@dataclass(frozen=True, slots=True)
class VideoRules:
    """The limits for videos."""

    max_duration_s: float = 15 * 60
    max_pixels: int = 3840 * 2160  # The limit for one frame.
    # The maximum number of packets per second, enough for sixty frames and a hundred audio packets.
    max_packets: int = 160 * 15 * 60
    # The longest side after encoding. Larger videos take too long on a modest machine.
    max_side: int = 1280
    max_bytes: int = 1024 * 1024 * 1024
    deadline_s: float = 20 * 60.0


@dataclass(frozen=True, slots=True)
class Video:
    """The properties of the new file. The size is as displayed, upright."""

    content_type: str
    ext: str
    width: int
    height: int
    duration_ms: int
    poster: Picture
    copied: bool


def video_sandbox() -> Sandbox:
    """Return a sandbox for one short and one long video. More jobs at the same time would only compete with
    each other.
    """
    return Sandbox("svc.worker.video", at_once=2, broken="invalid_video")


async def rewritten_video(
    source: Path,
    target: Path,
    rules: VideoRules,
    *,
    videos: Sandbox,
    pictures: Sandbox,
    progress: Callable[[float], None],
) -> Video:
    """Rewrite `source` into `target`. Raises Refused (including NoVideoFrames) or SandboxFailed."""
    async with as_file(source) as source_path:
        container = container_of(source_path)
        if container is None:
            raise Refused("unsupported_type", ACCEPTED)
        written = await asyncio.to_thread(
            os.open, target, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600
        )
        try:
            arguments = {"container": container, "bounds": asdict(rules)}
            result = await _rewrite(videos, arguments, [source_path, written], rules, progress)
            outputs = container_of(written)
        finally:
            os.close(written)
    return await _validate(result, outputs, rules, pictures)


async def _rewrite(
    videos: Sandbox,
    arguments: Mapping[str, object],
    files: Sequence[int],
    rules: VideoRules,
    progress: Callable[[float], None],
) -> Result:
    try:
        return await videos.call("rewrite", arguments, files, limits_of(rules), progress)
    except Refused as refused:
        if refused.code == "no_pictures":
            raise NoVideoFrames("invalid_video", str(refused)) from None
        raise


def limits_of(rules: VideoRules) -> Limits:
    """Return the limits for a child that rewrites a video by these rules."""
    return Limits(
        memory_bytes=_MEMORY_BYTES,
        deadline_s=rules.deadline_s,
        # Two threads encode.
        cpu_s=int(rules.deadline_s * 3),
        result_bytes=_MAX_POSTER_BYTES,
        file_bytes=rules.max_bytes,
        threads=True,
    )


async def _validate(result: Result, outputs: str | None, rules: VideoRules, pictures: Sandbox) -> Video:
    """Validate a result. A compromised decoder can send anything, but the worst result that passes is a wrong
    video.
    """
    container, duration_ms = result.facts.get("container"), result.facts.get("duration_ms")
    expected = {"mp4": "mov", "webm": "matroska"}.get(str(container))
    if (
        outputs != expected
        or expected is None
        or not isinstance(duration_ms, int)
        or not 0 <= duration_ms <= rules.max_duration_s * 1000
        or len(result.blobs) != 1
    ):
        raise Refused(
            "invalid_video", "It is damaged, or its content does not match its type", "the decoder misbehaved"
        )
    ext = str(container)
    poster = await rewritten(result.blobs[0], _POSTER, deadline_s=_POSTER_DEADLINE_S, sandbox=pictures)
    width, height = (_whole(result.facts.get(name)) for name in ("width", "height"))
    copied = result.facts.get("copied") is True
    return Video(_TYPES[ext], ext, width, height, duration_ms, poster, copied)


def _whole(value: object) -> int:
    if isinstance(value, int) and 0 < value < 1 << 16:
        return value
    raise Refused(
        "invalid_video", "It is damaged, or its content does not match its type", "the decoder misbehaved"
    )
