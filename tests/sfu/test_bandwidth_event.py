"""A client gets estimates of its downlink's bandwidth only if it requested them when joining."""

from tests.kit.site import site
from tests.kit.virtual_time import in_virtual_time


@in_virtual_time
async def test_a_subscribed_client_gets_each_estimate_until_it_leaves() -> None:
    async with site() as where:
        await where.control()
        ann = await where.ask_to_join("ann", bandwidth=True)
        await ann.hear("room_joined")
        await ann.hear("offer")
        tell = where.plane.transports[-1].bandwidth_listener
        assert tell is not None
        tell(1_250_000, "probe", 0)
        assert await ann.hear("bandwidth") == {"estimate_bps": 1_250_000, "reason": "probe"}
        (session,) = where.sfu.sessions
        session.close()
        tell(1, "delay", 0)


@in_virtual_time
async def test_no_bandwidth_is_estimated_for_a_client_without_a_subscription() -> None:
    async with site() as where:
        await where.control()
        for capabilities in ({}, {"bandwidth": False}, {"bandwidth": "yes"}):
            ann = await where.ask_to_join("ann", **capabilities)
            await ann.hear("room_joined")
            await ann.hear("offer")
            assert where.plane.transports[-1].bandwidth_listener is None
