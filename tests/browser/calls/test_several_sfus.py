"""Pages in a call whose media service dies reconnect to another one by themselves."""

from pathlib import Path

import pytest

from tests.browser.calls.test_recovery import meet_again, talking
from tests.end_to_end.test_several_sfus import BACK_WITHIN_S, installation
from tests.kit.people import bare_chromium, people_at
from tests.kit.sfu_process import running_sfu


async def test_pages_reconnect_at_the_other_node(tmp_path: Path) -> None:
    executable = bare_chromium()
    if executable is None:
        pytest.fail("Chromium is missing; ci/setup installs it")
    async with (
        running_sfu() as one,
        running_sfu() as two,
        installation(tmp_path / "data", one, two) as chat,
        people_at(f"{chat.address}/#invite={chat.invite}", executable, still=True) as people,
    ):
        ada, grace = await talking(people)
        theirs = one if (await one.metrics())["svc_sfu_packets_received_total"] else two
        other = two if theirs is one else one
        assert not (await other.metrics())["svc_sfu_packets_received_total"]
        await theirs.kill()
        await meet_again(ada, grace, BACK_WITHIN_S)
        assert (await other.metrics())["svc_sfu_packets_received_total"]
        assert people.faults == other.faults == []
        for person in (ada, grace):
            await person.page.close()
