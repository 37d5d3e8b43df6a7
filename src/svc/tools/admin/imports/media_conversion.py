"""Processes an export's media like uploads, with the same types, limits and sandbox as the worker."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from svc.base.file_types import FILE, PICTURE, VIDEO, content_of, kind_of_type
from svc.base.pictures import Picture, picture_sandbox, rewritten
from svc.base.sandbox import Refused, Sandbox
from svc.chat.import_export.community_import import Rewrite, Rewritten
from svc.chat.media.config import MAX_FILE_MB
from svc.chat.uploads.limits import MAX_ATTACHMENT_BYTES, MAX_PICTURE_BYTES
from svc.worker.encoders import PICTURE_DEADLINE_S, RULES
from svc.worker.file_job import KeptFile, file_properties
from svc.worker.video_job import NoVideoFrames, VideoRules, rewritten_video, video_sandbox

_MAX_BYTES = {
    PICTURE: MAX_PICTURE_BYTES,
    VIDEO: MAX_ATTACHMENT_BYTES,
    # The files may be older than the current limit, so the largest possible limit applies.
    FILE: MAX_FILE_MB * 1024 * 1024,
}
# An export contains thumbnails and posters as separate files.
_PICTURE = dataclasses.replace(RULES["picture"], thumbnail_side=None)
_VIDEO = VideoRules(max_bytes=MAX_ATTACHMENT_BYTES)


@asynccontextmanager
async def rewriting(folder: Path) -> AsyncIterator[Rewrite]:
    """Open the sandboxes while the block runs. `folder` is for temporary files and may be deleted
    afterwards.
    """
    async with picture_sandbox(1) as pictures, video_sandbox() as videos:

        async def rewrite(source: Path) -> Rewritten:
            with source.open("rb") as file:
                kind = content_of(file.fileno())
                size = file.seek(0, 2)
            if size > _MAX_BYTES[kind]:
                raise Refused("too_large", "The file is larger than the limit for uploads")
            if size == 0:
                raise Refused("unsupported_type", "This file is empty")
            if kind == FILE:
                return _rewritten(await file_properties(source, videos), source, size)
            if kind == VIDEO:
                try:
                    return await _video(source, folder / "made", videos, pictures)
                except NoVideoFrames:
                    return _rewritten(await file_properties(source, videos), source, size)
            return _picture(
                await rewritten(source, _PICTURE, deadline_s=PICTURE_DEADLINE_S, sandbox=pictures)
            )

        yield rewrite


def _picture(picture: Picture) -> Rewritten:
    facts = {
        **_facts(picture.content_type, len(picture.data), picture.width, picture.height),
        "frames": picture.frames,
        "duration_ms": picture.duration_ms or None,
        "placeholder": picture.placeholder,
        "colour": picture.colour,
    }
    return Rewritten(picture.data, picture.ext, facts)


async def _video(source: Path, target: Path, videos: Sandbox, pictures: Sandbox) -> Rewritten:
    video = await rewritten_video(
        source, target, _VIDEO, videos=videos, pictures=pictures, progress=lambda fraction: None
    )
    facts = {
        **_facts(
            video.content_type, (await asyncio.to_thread(target.stat)).st_size, video.width, video.height
        ),
        "frames": None,
        "duration_ms": video.duration_ms,
        "placeholder": video.poster.placeholder,
        "colour": video.poster.colour,
    }
    return Rewritten(target, video.ext, facts)


def _rewritten(kept: KeptFile, source: Path, size: int) -> Rewritten:
    facts = {
        **_facts(kept.content_type, size, None, None),
        "frames": None,
        "duration_ms": kept.duration_ms,
        "placeholder": "",
        "colour": "",
    }
    return Rewritten(source, kept.ext, facts)


def _facts(content_type: str, size: int, width: int | None, height: int | None) -> dict[str, object]:
    return {
        "kind": kind_of_type(content_type),
        "content_type": content_type,
        "bytes": size,
        "width": width,
        "height": height,
    }
