"""Two, then four people see and hear each other, whichever video codec they send.

Spec: media document section 1, "Codecs registered at startup", and section 3.2.
"""

import asyncio
from collections.abc import Sequence

import pytest

from tests.kit.page_statistics import Statistics
from tests.kit.people import Capture, People, Person
from tests.kit.waiting import wait_until

CODECS = ("VP8", "VP9", "H264", "AV1")
NAMES = ("Ada", "Grace", "Alan", "Edsger")
WINDOW_S = 9
# Fifteen pictures a second make 135; a machine with two busy cores may lose half.
MINIMUM_FRAMES = 60
# Congestion control starts at 300 kbit/s and only goes beyond when feedback tells it to.
RISEN_BPS = 450_000


async def all_join(people: People, names: Sequence[str], codec: str, capture: Capture) -> list[Person]:
    """Everybody is in the call and gets everybody's pictures."""
    everybody = [await people.arrive(name, codec=codec, capture=capture) for name in names]
    for person in everybody:
        await person.join()
    await asyncio.gather(*(one.sees(other) for one in everybody for other in everybody if one is not other))
    return everybody


async def measure(everybody: Sequence[Person]) -> list[tuple[Statistics, Statistics]]:
    """Everybody's statistics at the begin and at the end of the window."""
    before = await asyncio.gather(*(person.statistics() for person in everybody))
    await asyncio.sleep(WINDOW_S)
    after = await asyncio.gather(*(person.statistics() for person in everybody))
    return list(zip(before, after, strict=True))


def assert_everybody_is_seen_and_heard(
    everybody: Sequence[Person], windows: Sequence[tuple[Statistics, Statistics]], codec: str
) -> None:
    for person, (before, after) in zip(everybody, windows, strict=True):
        others = {other.name for other in everybody if other is not person}
        frames = {name: after.frames(name) - before.frames(name) for name in others}
        assert all(count > MINIMUM_FRAMES for count in frames.values()), (person.name, frames)
        energy = {name: after.energy(name) - before.energy(name) for name in others}
        assert all(amount > 0 for amount in energy.values()), (person.name, energy)
        assert {(track.name, track.source, track.codec) for track in after.received} == {
            (name, source, used)
            for name in others
            for source, used in (("camera", f"video/{codec}"), ("mic", "audio/opus"))
        }
        assert after.srtp_ciphers == ("SRTP_AEAD_AES_128_GCM",)


@pytest.mark.parametrize("codec", CODECS)
async def test_two_people_see_and_hear_each_other(people: People, codec: str) -> None:
    everybody = await all_join(people, NAMES[:2], codec, Capture(640, 360, 15))

    async def risen() -> bool:
        sent = [track for person in everybody for track in (await person.statistics()).sent if track.frames]
        return len(sent) == len(everybody) and all(track.target_bps > RISEN_BPS for track in sent)

    windows = await measure(everybody)
    assert_everybody_is_seen_and_heard(everybody, windows, codec)
    await wait_until("the target bitrate of both rises above 450 kbit/s", risen, within_s=15)
    video = [track for person in everybody for track in (await person.statistics()).sent if track.frames]
    assert {track.scalability for track in video} == {"L1T3"}


@pytest.mark.parametrize("codec", CODECS)
async def test_four_people_see_and_hear_each_other(people: People, codec: str) -> None:
    everybody = await all_join(people, NAMES, codec, Capture(320, 240, 15))
    assert_everybody_is_seen_and_heard(everybody, await measure(everybody), codec)
