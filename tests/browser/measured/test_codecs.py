"""First two and then four people see and hear each other with each video codec.

See docs/signalling.md, "How an offer is made".
"""

import asyncio
from collections.abc import Sequence

import pytest

from tests.kit.browser_users import WIDE, Capture, People, Person
from tests.kit.wait import wait_until

CODECS = ("AV1", "H264", "VP8", "VP9")
# The later participants' videos are small, because two cores encode and decode all videos.
FIRST, LATER = Capture(640, 360, 15), Capture(160, 120, 15)
# Frames for a few seconds.
FRAMES = 60
WITHIN_S = 30.0
# Congestion control starts at 300 kbit/s and raises the bitrate only if feedback allows it. In a wide window,
# the tiles of two people need up to 450 kbit/s.
RISEN_BPS = 400_000


async def join(people: People, names: Sequence[str], codec: str, capture: Capture) -> list[Person]:
    arrived = [await people.arrive(name, codec=codec, capture=capture) for name in names]
    for person in arrived:
        await person.join()
    return arrived


async def see_and_hear_each_other(everybody: Sequence[Person], codec: str) -> None:
    """Wait until everybody has received many frames and audio from all others. Check that there are no other
    tracks.
    """

    async def sees_and_hears(person: Person) -> None:
        names = {other.name for other in everybody if other is not person}
        before = await person.statistics()

        async def so() -> bool:
            now = await person.statistics()
            return all(
                now.frames(name) - before.frames(name) >= FRAMES and now.energy(name) > before.energy(name)
                for name in names
            )

        await wait_until(f"{person.name} sees and hears {names}", so, within_s=WITHIN_S)
        after = await person.statistics()
        assert {(track.name, track.source, track.codec) for track in after.received} == {
            (name, source, used)
            for name in names
            for source, used in (("camera", f"video/{codec}"), ("mic", "audio/opus"))
        }
        assert after.srtp_ciphers == ("SRTP_AEAD_AES_128_GCM",)

    await asyncio.gather(*(sees_and_hears(person) for person in everybody))


@pytest.mark.nightly("other calls of the suite send each codec daily, among up to four people")
@pytest.mark.parametrize("codec", CODECS)
async def test_two_then_four_people_see_and_hear_each_other(people: People, codec: str) -> None:
    two = await join(people, ("Ada", "Grace"), codec, FIRST)
    for person in two:
        await person.resize(WIDE)

    async def risen() -> bool:
        sent = [track for person in two for track in (await person.statistics()).sent if track.frames]
        return len(sent) == len(two) and all(track.target_bps > RISEN_BPS for track in sent)

    await see_and_hear_each_other(two, codec)
    await wait_until("the target bitrate of both rises above 400 kbit/s", risen, within_s=WITHIN_S)
    video = [track for person in two for track in (await person.statistics()).sent if track.frames]
    assert {track.scalability for track in video} == {"L1T3"}

    four = [*two, *await join(people, ("Alan", "Edsger"), codec, LATER)]
    await see_and_hear_each_other(four, codec)
