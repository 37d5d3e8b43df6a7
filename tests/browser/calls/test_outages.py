"""Calls and the chat recover when a member's network fails or changes or their device sleeps.

`python -m benchmarks.outages` measures how quickly they recover. These tests check only that they recover.
"""

from collections.abc import AsyncIterator, Sequence
from itertools import count
from pathlib import Path

import pytest
import pytest_asyncio

from tests.kit.firefox import firefox
from tests.kit.home_networks import SERVER, firefox_in, home_networks
from tests.kit.outages import Talk, outage, talking, why_not
from tests.kit.pion import PionCaller
from tests.kit.wait import retry_scenario, wait_for_value

# This is longer than the service waits for packets, but shorter than a test's time limit.
AWAY_S = 20.0
# This is long enough for a call to switch to another path.
SHORT_S = 5.0
# The NAT forgets its port mappings three times. The call finds another path in the 5 s between two of these
# events.
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


async def test_a_call_survives_nat_rebindings_a_network_change_and_an_unplugged_network(talk: Talk) -> None:
    await talk.through(outage("rebinds"), REBINDS_S)
    await talk.through(outage("move"), SHORT_S)
    await talk.through(outage("unplugged"), AWAY_S)


@pytest.mark.nightly("a minute; an unplugged network also loses every packet daily")
async def test_a_call_recovers_after_lost_packets_and_sleep(talk: Talk) -> None:
    for name in ("no-packets", "sleep"):
        await talk.through(outage(name), AWAY_S)


@pytest.mark.nightly("two minutes each; Chromium's call goes through the most common outages daily")
@pytest.mark.parametrize("client", ["chromium", "firefox", "pion"])
async def test_a_call_from_any_client_survives_outages(talk: Talk) -> None:
    await talk.through(outage("rebinds"), REBINDS_S)
    for name in ("move", "move", "little-udp", "no-udp", "dead-path"):
        await talk.through(outage(name), SHORT_S)
    await talk.through(outage("no-packets"), AWAY_S)


@pytest.mark.nightly("calls over IPv6 and changes of network run daily, but not together")
@pytest.mark.parametrize("families", [(6,)], ids=["IPv6 only"])
@pytest.mark.parametrize("client", ["chromium", "firefox", "pion"])
async def test_a_call_works_over_ipv6_only(talk: Talk) -> None:
    await talk.through(outage("move"))


async def test_an_ice_restart_moves_a_pion_caller_to_a_network_that_appeared_after_it_joined(
    tmp_path: Path,
) -> None:
    if reason := why_not("pion"):
        pytest.skip(reason)
    tries = count()

    async def check_session_survives() -> None:
        folder = tmp_path / str(next(tries))
        folder.mkdir()
        async with talking(folder, "pion") as talk:
            assert isinstance(talk.ada, PionCaller)
            await talk.through(outage("dead-path"))
            assert talk.ada.grants == 1

    # Retry, because a machine that freezes for two seconds loses the signalling connection and the session.
    await retry_scenario(2, check_session_survives)


async def test_firefox_reports_the_network_state_to_the_page(tmp_path: Path) -> None:
    """Check `navigator.onLine`. Without it, the page would open one failing WebSocket after another, and
    Firefox would delay each new attempt longer.
    """
    if reason := why_not("firefox"):
        pytest.skip(reason)
    async with home_networks("ada") as world:
        home = world.homes["ada"]
        async with firefox_in(home, f"http://{SERVER}", str(firefox()), tmp_path / "profile") as browser:
            ada = await browser.arrive("Ada", "about:blank")
            for change, is_up in ((home.down, False), (home.up, True)):
                await change("wifi")
                await wait_for_value(lambda: ada.does("return navigator.onLine"), is_up)
