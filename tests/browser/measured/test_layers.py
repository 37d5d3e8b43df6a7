"""A receiver that requests fewer temporal layers gets a lower frame rate without any other change.

With L1T3, layer 0 has a quarter of the frames, and layers 0 and 1 together have half of them. The video is
small, because an encoder that runs out of bits also drops frames of layer 0. tests/_rtp/test_layers.py tests
the frames at which a receiver switches to a higher layer. See docs/signalling.md, "From participants",
`set_layer`.
"""

import asyncio
from dataclasses import dataclass

import pytest

from tests.browser.calls.test_encrypted_channels import encrypted
from tests.kit.browser_users import Capture, People, Person
from tests.kit.page_statistics import Received
from tests.kit.wait import retry_scenario

CODECS = ("VP8", "VP9", "AV1", "H264")
CAPTURE = Capture(160, 120, 30)
WINDOW_S = 3
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Window:
    """Counters for a period in which one person watched another."""

    encoded: int
    frames: int

    @property
    def share(self) -> float:
        """The fraction of sent frames that the receiver displayed."""
        return self.frames / self.encoded


async def watch(watcher: Person, sender: Person) -> Window:
    before = await asyncio.gather(sender.statistics(), watcher.statistics())
    await asyncio.sleep(WINDOW_S)
    after = await asyncio.gather(sender.statistics(), watcher.statistics())
    return Window(
        encoded=after[0].encoded - before[0].encoded,
        frames=after[1].frames(sender.name) - before[1].frames(sender.name),
    )


async def sender_and_watchers(people: People, codec: str, *names: str) -> tuple[Person, list[Person]]:
    """Have a sender and these watchers join a call. Return them.

    Only the sender sends video, because two cores encode and decode all video and render the pages.
    """
    sender = await people.arrive("Ada", codec=codec, capture=CAPTURE)
    await sender.join()
    watchers = [await people.arrive(name) for name in names]
    for watcher in watchers:
        await watcher.join(camera=False)
    await asyncio.gather(*(watcher.sees(sender, frames=45) for watcher in watchers))
    return sender, watchers


def troubles(track: Received) -> tuple[int, int, int]:
    """Return the counters that increase when the receiver misses packets or frames that other frames need.

    Freezes are not included, because browsers on a busy machine count some in any video.
    """
    return track.packets_lost, track.nacks, track.plis


async def chooses_layers(watcher: Person, sender: Person, codec: str) -> None:
    async def fewer_and_all_again() -> None:
        before = troubles((await watcher.statistics()).track(sender.name))
        everything = await watch(watcher, sender)
        await watcher.set_layer(sender, 1)
        half = await watch(watcher, sender)
        await watcher.set_layer(sender, 0)
        quarter = await watch(watcher, sender)
        await watcher.set_layer(sender, -1)
        everything_again = await watch(watcher, sender)

        received = (await watcher.statistics()).track(sender.name)
        assert received.codec == f"video/{codec}"
        assert everything.share > 0.9
        assert 0.4 < half.share < 0.6
        assert 0.15 < quarter.share < 0.35
        assert everything_again.share > 0.8
        assert troubles(received) == before

    await retry_scenario(ATTEMPTS, fewer_and_all_again)


@pytest.mark.nightly("a receiver requests layers of an encrypted camera, and of VP9 in three sizes, daily")
@pytest.mark.parametrize("codec", CODECS)
async def test_a_receiver_can_choose_how_many_temporal_layers_it_gets(people: People, codec: str) -> None:
    ada, (grace,) = await sender_and_watchers(people, codec, "Grace")
    await chooses_layers(grace, ada, codec)


async def test_a_receiver_in_an_encrypted_call_can_also_choose_temporal_layers(people: People) -> None:
    ada, grace = await people.arrive("Ada", capture=CAPTURE), await people.arrive("Grace")
    await ada.come_in()
    await encrypted(ada)
    await ada.enter_call(camera=True)
    await grace.join(camera=False)
    await grace.sees(ada, frames=45)
    await chooses_layers(grace, ada, "VP8")
    await grace.hears(ada)


async def test_a_request_by_one_receiver_for_fewer_layers_does_not_affect_another(people: People) -> None:
    ada, (grace, alan) = await sender_and_watchers(people, "VP8", "Grace", "Alan")

    async def send_fewer_to_one() -> None:
        await grace.set_layer(ada, -1)
        await asyncio.gather(*(watcher.sees(ada) for watcher in (grace, alan)))
        before = troubles((await alan.statistics()).track("Ada"))

        await grace.set_layer(ada, 0)
        at_grace, at_alan = await asyncio.gather(watch(grace, ada), watch(alan, ada))

        assert 0.15 < at_grace.share < 0.35
        assert at_alan.share > 0.9
        assert troubles((await alan.statistics()).track("Ada")) == before

    await retry_scenario(ATTEMPTS, send_fewer_to_one)
