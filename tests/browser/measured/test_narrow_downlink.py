"""On a downlink too narrow for all videos, the frame rate falls or video pauses, and audio stays intact."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.kit.browser_users import bare_chromium
from tests.kit.home_networks import why_not
from tests.kit.narrow_call import NARROW_KBPS, WIDE_KBPS, narrow_call
from tests.kit.wait import wait_until

VOICES_KBPS = 90  # enough for two voices, but not for video


async def test_audio_stays_intact_on_a_downlink_too_narrow_for_video(tmp_path: Path) -> None:
    executable = bare_chromium()
    if reason := why_not() or ("" if executable else "Chromium is not installed"):
        pytest.skip(reason)
    async with narrow_call(tmp_path, str(executable)) as call:
        await call.home.shape(NARROW_KBPS)

        async def fewer_pictures() -> bool:
            return await call.pictures(1) < 0.75

        async def whole() -> bool:
            return await call.concealed(5) <= 0.01

        await wait_until("the frame rate falls", fewer_pictures, within_s=30)
        await wait_until("the sound has no gaps", whole, within_s=60)
        await call.home.shape(VOICES_KBPS)
        paused = call.ada.page.get_by_text("Paused: your connection is slow")
        await expect(paused).to_have_count(len(call.others))
        await call.ada.hears(call.others[0])
        await call.home.shape(WIDE_KBPS)

        async def all_pictures_again() -> bool:
            return await call.pictures(2) > 0.75

        await wait_until("the frame rate recovers", all_pictures_again, within_s=60)
