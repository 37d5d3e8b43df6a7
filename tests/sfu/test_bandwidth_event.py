"""A client gets estimates of its downlink's bandwidth only if it requested them when joining."""

from tests.kit.signalling_server import signalling_server
from tests.kit.virtual_time import in_virtual_time


@in_virtual_time
async def test_a_subscribed_client_gets_each_estimate_until_it_leaves() -> None:
    async with signalling_server() as server:
        await server.control()
        ann = await server.ask_to_join("ann", bandwidth=True)
        await ann.hear("room_joined")
        await ann.hear("offer")
        tell = server.plane.transports[-1].bandwidth_listener
        assert tell is not None
        tell(1_250_000, "probe", 0)
        assert await ann.hear("bandwidth") == {"estimate_bps": 1_250_000, "reason": "probe"}
        (session,) = server.sfu.sessions
        session.close()
        tell(1, "delay", 0)


@in_virtual_time
async def test_no_bandwidth_is_estimated_for_a_client_without_a_subscription() -> None:
    async with signalling_server() as server:
        await server.control()
        for capabilities in ({}, {"bandwidth": False}, {"bandwidth": "yes"}):
            ann = await server.ask_to_join("ann", **capabilities)
            await ann.hear("room_joined")
            await ann.hear("offer")
            assert server.plane.transports[-1].bandwidth_listener is None
