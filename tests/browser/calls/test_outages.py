"""The network of one member fails in mid-call, changes or sleeps; call and chat come back by themselves.

How soon is measured by `python -m benchmarks.outages`; here it is enough that they do.
"""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from tests.kit.outages import Talk, outage, talking, why_not

# Longer than the service waits for a sign of life, shorter than a test may take.
AWAY_S = 20.0
# Long enough for a call to go another way.
SHORT_S = 5.0
# Three times, 5 s apart: the call has found its way again before the NAT forgets it once more.
REBINDS_S = 15.0


@pytest.fixture
def client() -> str:
    return "chromium"


@pytest.fixture
def families() -> Sequence[int]:
    return (4,)


@pytest_asyncio.fixture(loop_scope="session")
async def talk(tmp_path: Path, client: str, families: Sequence[int]) -> AsyncIterator[Talk]:
    if reason := why_not(client):
        pytest.skip(reason)
    async with talking(tmp_path, client, families) as talk:
        yield talk
    assert "Traceback" not in talk.product.output, talk.product.output


async def test_a_call_goes_on_through_a_nat_that_keeps_rebinding_and_over_another_network(talk: Talk) -> None:
    await talk.through(outage("rebinds"), REBINDS_S)
    for name in ("move", "move", "little-udp", "no-udp", "dead-path"):
        await talk.through(outage(name), SHORT_S)


async def test_a_call_comes_back_with_packets_with_the_network_and_after_sleep(talk: Talk) -> None:
    for name in ("no-packets", "unplugged", "sleep"):
        await talk.through(outage(name), AWAY_S)


@pytest.mark.parametrize("client", ["firefox", "pion"])
async def test_a_call_of_another_client_lives_through_outages_too(talk: Talk) -> None:
    await talk.through(outage("rebinds"), REBINDS_S)
    for name in ("move", "move", "little-udp", "no-udp", "dead-path"):
        await talk.through(outage(name), SHORT_S)
    await talk.through(outage("no-packets"), AWAY_S)


@pytest.mark.parametrize("families", [(6,)], ids=["IPv6 only"])
@pytest.mark.parametrize("client", ["chromium", "firefox", "pion"])
async def test_a_call_lives_on_ipv6_alone(talk: Talk) -> None:
    await talk.through(outage("move"))
