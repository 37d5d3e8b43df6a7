"""Provides sandboxes for re-encoding videos, and a folder for their input and output files."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from svc.base.pictures import picture_sandbox
from svc.base.sandbox import Refused, Sandbox
from svc.worker.video_job import Video, VideoRules, rewritten_video, video_sandbox

RULES = VideoRules(max_pixels=1920 * 1080, max_bytes=20_000_000, deadline_s=30)


@dataclass
class Sandboxes:
    videos: Sandbox
    pictures: Sandbox
    folder: Path

    async def rewrite(self, data: bytes, rules: VideoRules = RULES) -> tuple[Video, bytes]:
        source, target = self.folder / "in", self.folder / "out"
        source.write_bytes(data)
        self.reported: list[float] = []
        video = await rewritten_video(
            source, target, rules, videos=self.videos, pictures=self.pictures, progress=self.reported.append
        )
        return video, target.read_bytes()

    async def refusal(self, data: bytes, rules: VideoRules = RULES) -> Refused:
        with pytest.raises(Refused) as caught:
            await self.rewrite(data, rules)
        return caught.value


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandboxes(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandboxes]:
    async with video_sandbox() as films, picture_sandbox(1) as stills:
        yield Sandboxes(films, stills, tmp_path_factory.mktemp("videos"))
