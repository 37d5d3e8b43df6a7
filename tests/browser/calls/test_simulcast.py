"""A camera in three sizes: each receiver gets the size that it asks for, from Chromium and from Firefox.

docs/signalling.md, "Several encodings".
"""

import json

import pytest

from tests.kit.firefox import Firefox, FirefoxPerson
from tests.kit.page_statistics import Watcher
from tests.kit.people import Capture, People, Person
from tests.kit.product import Product
from tests.kit.waiting import wait_until

CAPTURE = Capture(960, 540, 15)
# While its bandwidth is being measured, a line carries only the smallest size.
DEADLINE_S, SWITCHED_WITHIN_S = 30, 10
PICTURE = """async () => {
  const entries = [...(await svc.call.pc.getStats()).values()];
  const picture = entries.find(({ type, kind }) => type === "inbound-rtp" && kind === "video");
  return [picture?.frameHeight ?? 0, picture?.freezeCount ?? 0];
}"""
SENT = """async () => [...(await svc.call.pc.getStats()).values()]
  .filter(({ type, rid, framesSent }) => type === "outbound-rtp" && rid && framesSent > 0)
  .map(({ rid }) => rid).sort()"""
# The minimum and maximum height by spatial layer; a busy browser scales a little. Firefox's fake camera is
# 1280 x 720.
CHROMIUM = {0: (60, 140), 1: (170, 280), 2: (330, 540), -1: (330, 540)}
FIREFOX = {0: (120, 190), 1: (240, 370), 2: (400, 720), -1: (400, 720)}
# Firefox takes the first codec of the offer that it has. Of several VP9 encodings only the smallest is shown.
PREFER_VP8 = """() => {
  const set = RTCPeerConnection.prototype.setRemoteDescription;
  RTCPeerConnection.prototype.setRemoteDescription = function ({ type, sdp }) {
    const preferring = sdp.replace(/^(m=video \\S+ \\S+)((?: \\d+)*?) 112 113/gmu, "$1 112 113$2");
    return set.call(this, { type, sdp: preferring });
  };
}"""
Heights = dict[int, tuple[int, int]]


async def shows(
    person: Watcher, heights: Heights, layer: int, *, within_s: float = SWITCHED_WITHIN_S
) -> None:
    """Wait for a picture of this size."""
    lowest, highest = heights[layer]

    async def so() -> bool:
        height, _ = await person._evaluate(PICTURE)
        return lowest <= int(height) <= highest

    await wait_until(f"{person.name} sees layer {layer}", so, within_s=within_s)


async def want(person: Watcher, sender: str, layer: int) -> None:
    track_id = (await person.statistics()).track(sender).track_id
    wish = json.dumps({"max_spatial_layer": layer})
    await person._evaluate(f"() => {{ svc.call.wish({json.dumps(track_id)}, {wish}); }}")


async def check_each_size(receiver: Watcher, sender: Watcher, heights: Heights, rids: list[str]) -> None:
    await shows(receiver, heights, -1, within_s=DEADLINE_S)
    assert await sender._evaluate(SENT) == rids
    for layer in (*heights, *reversed(heights)):
        await want(receiver, sender.name, layer)
        await shows(receiver, heights, layer)
        await receiver.sees(sender, frames=10)


async def in_the_call(people: People, name: str, **arrival: object) -> Person:
    person = await people.arrive(name, capture=CAPTURE, **arrival)  # type: ignore[arg-type]
    # A window in which a tile is wide enough for the largest size.
    await person.page.set_viewport_size({"width": 1280, "height": 900})
    await person.join()
    return person


@pytest.mark.parametrize("codec", ["VP8", "H264"])
async def test_a_receiver_in_chromium_is_switched_between_the_sizes_of_a_camera_in_chromium(
    people: People, codec: str
) -> None:
    ada = await in_the_call(people, "Ada", codec=f"{codec}&simulcast")
    grace = await in_the_call(people, "Grace", codec=codec)
    await check_each_size(grace, ada, CHROMIUM, ["f", "h", "q"])
    # Her own camera is sent in one size, because nobody asks her page for more.
    assert await grace.page.evaluate(SENT) == []
    await ada.sees(grace)


async def test_a_camera_in_firefox_is_sent_in_three_sizes_too(
    people: People, fox: Firefox, product: Product
) -> None:
    grace = await in_the_call(people, "Grace", codec="VP8")
    ada: FirefoxPerson = await fox.arrive("Ada", f"{product.url}&simulcast")
    await ada._evaluate(PREFER_VP8)
    await ada.join()
    await check_each_size(grace, ada, FIREFOX, ["f", "h", "q"])
