"""NACK and RTX recover every video frame over a link that loses 5 % of the datagrams in each direction.

aiortc does not deliver a frame until all earlier frames have arrived, so without retransmission each loss
would freeze the video for seconds. See docs/rtcp.md, "Retransmission".
"""

import asyncio

import pytest

from tests.kit.aiortc_client import ClientOptions
from tests.kit.aiortc_guests import ADA, GRACE, Guests, microphone_and_camera
from tests.kit.relay import relay
from tests.kit.sfu_process import SfuProcess

LOSS = 0.05
SEED = 20_260_101
# The frames last four seconds, and must arrive in less than 50 s, including the tolerance of `eventually`. At
# least ten packets are lost in each direction, and each unrecovered packet would delay aiortc by about 5 s.
FRAMES = 120
WITHIN_S = 12.0


@pytest.mark.parametrize("codec", ["VP8", "H264"])
async def test_video_continues_over_a_link_that_loses_packets(
    sfu: SfuProcess, guests: Guests, codec: str
) -> None:
    async with relay(loss=LOSS, seed=SEED) as link:
        means = ClientOptions(codec=codec, offered=link.offered, answered=link.answered)
        ada = await guests.arrive("ada", sends=microphone_and_camera(ADA, rich=True), means=means)
        sends = microphone_and_camera(GRACE, rich=True)
        grace = await guests.arrive("grace", sends=sends, means=ClientOptions(codec=codec))
        await asyncio.gather(ada.sees(grace), grace.sees(ada), ada.hears(grace), grace.hears(ada))
        assert ada.remote_address == link.to_client.address, "the relay was not bypassed"

        await asyncio.gather(
            ada.sees(grace, frames=FRAMES, within_s=WITHIN_S),
            grace.sees(ada, frames=FRAMES, within_s=WITHIN_S),
        )

        assert link.lost["up"] >= 10 and link.lost["down"] >= 10
        metrics = await sfu.metrics()
        assert metrics["svc_sfu_nacks_sent_total"] > 0, "the service requested packets from Ada"
        assert metrics["svc_sfu_retransmissions_received_total"] > 0, "and she sent again"
        assert metrics["svc_sfu_nacks_received_total"] > 0, "Ada requested packets from the service"
        assert metrics["svc_sfu_retransmissions_sent_total"] > 0, "and it sent again"
        await ada.leave()
