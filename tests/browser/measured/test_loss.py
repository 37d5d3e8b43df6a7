"""Over a line that loses one datagram in twenty, both ways, a browser is seen and sees as if it lost none.

The browser asks the service for what it misses, and the service asks the browser.
What is lost of a picture that no other needs may come back too late to be shown, when it was the end of
it: a fortieth of all is to be expected, and more while the machine itself is late. Design, "NACK both ways";
RFC 4585 and RFC 4588.
"""

import asyncio
import operator

import pytest

from tests.kit.page_statistics import Statistics
from tests.kit.people import Capture, People, Person
from tests.kit.relay import relay
from tests.kit.waiting import in_one_go_of, wait_until

LOSS = 0.05
SEED = 20_260_103
# Many small pictures: chance has less to say in them.
CAPTURE = Capture(160, 120, 30)
PICTURES = 300
WITHIN_S = 15
SHOWN = 0.95
GOES = 4


@pytest.mark.parametrize("codec", ["VP8", "H264"])
async def test_picture_and_sound_stay_over_a_line_that_loses_packets(people: People, codec: str) -> None:
    async with relay(loss=LOSS, seed=SEED) as line:
        ada = await people.arrive("Ada", codec=codec, capture=CAPTURE, line=line)
        grace = await people.arrive("Grace", codec=codec, capture=CAPTURE)
        await ada.join()
        await grace.join()
        await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace), grace.hears(ada))

        async def shown() -> tuple[int, int]:
            at_ada, at_grace = await statistics(ada, grace)
            return at_grace.frames("Ada"), at_ada.frames("Grace")

        async def sent() -> tuple[int, int]:
            at_ada, at_grace = await statistics(ada, grace)
            return at_ada.encoded, at_grace.encoded

        async def nearly_all_is_shown() -> None:
            # What is sent is counted within what is shown: a pause in between takes nothing away.
            shown_before, sent_before = await shown(), await sent()

            async def enough() -> bool:
                return bool(min(map(operator.sub, await sent(), sent_before)) >= PICTURES)

            await wait_until(f"both send {PICTURES} pictures", enough, within_s=WITHIN_S)
            sent_after, shown_after = await sent(), await shown()
            of_ada, of_grace = map(operator.sub, sent_after, sent_before)
            at_grace, at_ada = map(operator.sub, shown_after, shown_before)
            assert at_grace >= SHOWN * of_ada, f"Grace is shown {at_grace} of {of_ada}"
            assert at_ada >= SHOWN * of_grace, f"Ada is shown {at_ada} of {of_grace}"

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
