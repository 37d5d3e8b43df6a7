"""A call recovers without user action when the media service hands its ports over to a successor."""

from pathlib import Path

import pytest

from tests.browser.calls.test_recovery import talking, wait_reconnected
from tests.chat.chat_server import chat_server
from tests.end_to_end.test_handover import variables_for
from tests.kit.browser_users import bare_chromium, people_at
from tests.kit.sfu_process import running_sfu

# On an idle machine, people rejoin within 2 s and see video within 5 s.
BACK_WITHIN_S = 20.0


@pytest.mark.nightly("a page rejoins after a killed service, and other clients follow a handover, daily")
async def test_clients_continue_their_call_through_the_successor(tmp_path: Path) -> None:
    executable = bare_chromium()
    if executable is None:
        pytest.fail("Chromium is missing; ci/setup installs it")
    socket_path = str(tmp_path / "sfu.sock")
    async with (
        running_sfu("--handover-socket", socket_path) as old,
        chat_server(variables_for(old, tmp_path / "data")) as chat,
        people_at(
            f"{chat.address}/#invite={chat.invite}", executable, service_worker=False, still=True
        ) as people,
    ):
        ada, grace = await talking(people)
        async with running_sfu("--handover-socket", socket_path, "--take-over") as new:
            await wait_reconnected(ada, grace, BACK_WITHIN_S)
            assert await old.ended() == 0
            assert people.faults == new.faults == old.faults == []
            for person in (ada, grace):
                await person.page.close()
