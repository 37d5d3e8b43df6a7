"""Calls work across two media services, and continue if one of them dies."""

from pathlib import Path

import pytest

from tests.browser.calls.test_recovery import talking, wait_reconnected
from tests.browser.calls.test_simulcast import check_each_size, publisher, sends_back, viewer
from tests.end_to_end.test_several_sfus import BACK_WITHIN_S, installation
from tests.kit.browser_users import bare_chromium, people_at
from tests.kit.sfu_process import running_sfu


@pytest.mark.nightly("a page rejoins a restarted service, and other clients move to the other one, daily")
async def test_clients_reconnect_to_the_other_node(tmp_path: Path) -> None:
    executable = bare_chromium()
    if executable is None:
        pytest.fail("Chromium is missing; ci/setup installs it")
    async with (
        running_sfu() as one,
        running_sfu() as two,
        installation(tmp_path / "data", one, two) as chat,
        people_at(
            f"{chat.address}/#invite={chat.invite}", executable, service_worker=False, still=True
        ) as people,
    ):
        ada, grace = await talking(people)
        theirs = one if (await one.metrics())["svc_sfu_packets_received_total"] else two
        other = two if theirs is one else one
        assert not (await other.metrics())["svc_sfu_packets_received_total"]
        await theirs.kill()
        await wait_reconnected(ada, grace, BACK_WITHIN_S)
        assert (await other.metrics())["svc_sfu_packets_received_total"]
        assert people.faults == other.faults == []
        for person in (ada, grace):
            await person.page.close()


@pytest.mark.parametrize(
    "encrypting",
    [
        pytest.param(
            False, marks=pytest.mark.nightly("an encrypted camera over the same path runs daily"), id="plain"
        ),
        pytest.param(True, id="encrypted"),
    ],
)
async def test_a_camera_on_another_service_is_available_in_each_size(
    tmp_path: Path, encrypting: bool
) -> None:
    executable = bare_chromium()
    if executable is None:
        pytest.fail("Chromium is missing; ci/setup installs it")
    async with (
        running_sfu() as one,
        running_sfu() as two,
        installation(tmp_path / "data", one, two, rooms=(), room_size=1) as chat,
        people_at(
            f"{chat.address}/#invite={chat.invite}", executable, service_worker=False, still=True
        ) as people,
    ):
        ada, grace = await publisher(people, encrypting=encrypting), await viewer(people)
        await check_each_size(grace, ada)
        await sends_back(grace, ada)
        # Both services receive packets: Ada sends only to her own service, and Grace to hers.
        peers = [(await sfu.metrics())["svc_sfu_packets_received_total"] for sfu in (one, two)]
        assert all(peers)
        assert people.faults == one.faults == two.faults == []
        for person in (ada, grace):
            await person.page.close()
