"""Over a line that loses one datagram in twenty, both ways, a browser is seen and sees as if it lost none.

The browser asks the service for what it misses, and the service asks the browser.
What is lost of a picture that no other needs may come back too late to be shown, when it was the end of
it: a fortieth of all is to be expected, and more while the machine itself is late. Design, "NACK both ways";
RFC 4585 and RFC 4588.
"""

import asyncio

import pytest

from tests.kit.page_statistics import Statistics
from tests.kit.people import Capture, People, Person
from tests.kit.relay import relay
from tests.kit.waiting import in_one_go_of

LOSS = 0.05
SEED = 20_260_103
# Many small pictures: chance has less to say in them.
CAPTURE = Capture(160, 120, 30)
WINDOW_S = 12
SHOWN = 0.95
GOES = 3


def pictures(everybody: list[Statistics]) -> dict[str, int]:
    """How many each has sent and been shown of the other's."""
    ada, grace = everybody
    return {
        "sent by Ada": ada.encoded,
        "shown to Grace": grace.frames("Ada"),
        "sent by Grace": grace.encoded,
        "shown to Ada": ada.frames("Grace"),
    }


@pytest.mark.parametrize("codec", ["VP8", "H264"])
async def test_picture_and_sound_stay_over_a_line_that_loses_packets(people: People, codec: str) -> None:
    async with relay(loss=LOSS, seed=SEED) as line:
        ada = await people.arrive("Ada", codec=codec, capture=CAPTURE, line=line)
        grace = await people.arrive("Grace", codec=codec, capture=CAPTURE)
        await ada.join()
        await grace.join()
        await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace), grace.hears(ada))

        async def nearly_all_is_shown() -> None:
            before = pictures(await statistics(ada, grace))
            await asyncio.sleep(WINDOW_S)
            after = pictures(await statistics(ada, grace))
            counts = {what: count - before[what] for what, count in after.items()}
            assert counts["shown to Grace"] >= SHOWN * counts["sent by Ada"], counts
            assert counts["shown to Ada"] >= SHOWN * counts["sent by Grace"], counts

        await in_one_go_of(GOES, nearly_all_is_shown)
        await asyncio.gather(ada.hears(grace), grace.hears(ada))

        assert line.lost["up"] >= 10 and line.lost["down"] >= 10
        (at_ada,) = await statistics(ada)
        camera = next(track for track in at_ada.sent if track.frames)
        assert camera.nacks > 0, "the service asked Ada"
        assert camera.packets_resent > 0, "and she sent again"
        received = at_ada.track("Grace")
        assert received.nacks > 0, "Ada asked the service"
        assert received.packets_resent > 0, "and it sent again"


async def statistics(*everybody: Person) -> list[Statistics]:
    return list(await asyncio.gather(*(person.statistics() for person in everybody)))
