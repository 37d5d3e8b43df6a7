"""Processes a file according to the kind of its job. Defines the rules for images, videos and other files.

Returns the files to store, with their properties. Decoding is done by `svc.base.sandbox`, and storing by the
caller.
"""

import asyncio
import dataclasses
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from svc.base.file_types import FILE, PICTURE, VIDEO, content_of
from svc.base.job_commands import Role, WrittenFile
from svc.base.object_store import require_free
from svc.base.pictures import ALL_FORMATS, ATTACHED_PICTURE, Picture, PictureRules, rewritten
from svc.base.sandbox import Refused, Sandbox
from svc.worker.file_job import PROBE_DEADLINE_S, KeptFile, file_properties
from svc.worker.job_queue import Job
from svc.worker.video_job import ACCEPTED, NoVideoFrames, Video, VideoRules, rewritten_video

RULES: Mapping[str, PictureRules] = {
    PICTURE: ATTACHED_PICTURE,
    # Emoji are small and frequent, and animation next to every line would be distracting.
    "avatar": PictureRules(ALL_FORMATS, max_side=256, animated=False),
    "icon": PictureRules(ALL_FORMATS, max_side=512, animated=False),
    "emoji": PictureRules(ALL_FORMATS, max_side=128, max_pixels=20_000_000, max_frames=150),
}
# The time limit for an image, which allows for a machine that gives other programs priority.
PICTURE_DEADLINE_S = 60.0
# The kinds of jobs that may be slow. A slow emoji is rejected, because only a few emoji are processed at a
# time, and it would delay all the others.
LONG_KINDS = (*(kind for kind in RULES if kind != "emoji"), VIDEO)


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file to store. `data` is a path if the file is large."""

    role: Role
    data: bytes | Path
    content_type: str
    ext: str
    width: int | None = None
    height: int | None = None
    frames: int | None = None
    duration_ms: int | None = None
    placeholder: str = ""
    colour: str = ""

    async def stored_at(self, key: str) -> WrittenFile:
        """Return the description of the file to send to the server, with the key under which the file is
        stored.
        """
        data = self.data
        size = len(data) if isinstance(data, bytes) else (await asyncio.to_thread(data.stat)).st_size
        return WrittenFile(
            self.role,
            key,
            self.content_type,
            size,
            self.width,
            self.height,
            self.frames,
            self.duration_ms,
            self.placeholder,
            self.colour,
        )


class Encoders:
    """Processes files. `folder` is for unfinished files."""

    def __init__(self, pictures: Sandbox, videos: Sandbox, folder: Path) -> None:
        self._pictures = pictures
        self._videos = videos
        self._folder = folder

    async def make(self, job: Job, progress: Callable[[float], None], work: ExitStack) -> list[OutputFile]:
        """Process a job's file. Raises Refused, SandboxFailed, StoreFailed or OSError.

        The resulting files exist until `work` is closed.
        """
        kind = job.kind
        if kind == FILE:
            # Determine the kind from the content, not from the file's name or the server's guess.
            kind = await asyncio.to_thread(_content, job.source)
        if kind == FILE:
            return await self._file(job)
        if kind == VIDEO:
            return await self._video(job, progress, work)
        rules = RULES.get(kind)
        if rules is None:
            raise Refused("unsupported_type", f"Unknown kind {job.kind!r}")
        rules = dataclasses.replace(rules, max_side=job.limits.max_side or rules.max_side)
        picture = await rewritten(
            job.source, rules, deadline_s=_deadline(job, PICTURE_DEADLINE_S), sandbox=self._pictures
        )
        return of_picture(picture, "original")

    async def _video(self, job: Job, progress: Callable[[float], None], work: ExitStack) -> list[OutputFile]:
        rules = VideoRules()
        rules = dataclasses.replace(
            rules,
            max_bytes=min(rules.max_bytes, job.limits.max_bytes or rules.max_bytes),
            deadline_s=_deadline(job, rules.deadline_s),
        )
        # The result is about as large as the source.
        size = (await asyncio.to_thread(job.source.stat)).st_size
        await asyncio.to_thread(require_free, self._folder, size)
        target = self._folder / f"{job.id}-{job.lease}"
        work.callback(target.unlink, missing_ok=True)
        try:
            video = await rewritten_video(
                job.source, target, rules, videos=self._videos, pictures=self._pictures, progress=progress
            )
        except NoVideoFrames:
            if not job.limits.file_bytes:
                raise
            return await self._file(job)
        return of_video(video, target)

    async def _file(self, job: Job) -> list[OutputFile]:
        """Store the file unchanged, if the operator allows such files."""
        max_bytes = job.limits.file_bytes
        if not max_bytes:
            raise Refused("unsupported_type", _accepted_kinds_message(job))
        if (await asyncio.to_thread(job.source.stat)).st_size > max_bytes:
            raise Refused(
                "too_large", f"Files other than pictures and videos can have at most {max_bytes} bytes"
            )
        return [
            of_file(
                await file_properties(job.source, self._videos, _deadline(job, PROBE_DEADLINE_S)), job.source
            )
        ]


def of_picture(picture: Picture, role: Role) -> list[OutputFile]:
    """Return the image, followed by its thumbnail unless the thumbnail would be no smaller."""
    outputs = [
        OutputFile(
            role=role,
            data=picture.data,
            content_type=picture.content_type,
            ext=picture.ext,
            width=picture.width,
            height=picture.height,
            frames=picture.frames,
            duration_ms=picture.duration_ms or None,
            placeholder=picture.placeholder,
            colour=picture.colour,
        )
    ]
    if picture.thumbnail is not None and picture.thumbnail_width < picture.width:
        size = picture.thumbnail_width, picture.thumbnail_height
        outputs.append(OutputFile("thumbnail", picture.thumbnail, picture.content_type, picture.ext, *size))
    return outputs


def of_video(video: Video, path: Path) -> list[OutputFile]:
    """Return the video and its poster, with the poster's thumbnail, placeholder and colour."""
    film = OutputFile(
        role="original",
        data=path,
        content_type=video.content_type,
        ext=video.ext,
        width=video.width,
        height=video.height,
        duration_ms=video.duration_ms,
        placeholder=video.poster.placeholder,
        colour=video.poster.colour,
    )
    return [film, *of_picture(video.poster, "poster")]


def of_file(kept: KeptFile, path: Path) -> OutputFile:
    return OutputFile(
        role="original",
        data=path,
        content_type=kept.content_type,
        ext=kept.ext,
        duration_ms=kept.duration_ms,
    )


def _content(path: Path) -> str:
    with path.open("rb") as file:
        return content_of(file.fileno())


def _accepted_kinds_message(job: Job) -> str:
    """Return an error message that lists the accepted kinds of file."""
    endings = job.limits.file_extensions
    return f"{ACCEPTED}, and files with these extensions: {', '.join(endings)}" if endings else ACCEPTED


def _deadline(job: Job, maximum: float) -> float:
    return min(maximum, job.limits.deadline_s or maximum)
