"""No acknowledged write is lost or duplicated when nodes and relays of a cluster fail."""

from pathlib import Path

import pytest

from benchmarks.cluster_faults import kinds_of, run
from tests.kit.cluster_watchers import Session, gaps, missing_events


def ignore(_: str) -> None:
    pass


def test_a_message_counts_as_missed_if_it_was_not_fetched_and_a_later_one_arrived_first() -> None:
    places = {id_: n for n, id_ in enumerate("abcdef")}
    assert missing_events(Session(history=["a", "b"], messages=["c", "e"]), places) == ["d"]
    assert missing_events(Session(history=["a", "b", "c", "d"], messages=["c", "e"]), places) == []
    assert missing_events(Session(history=[], messages=["c", "e"]), places) == ["d"]
    assert missing_events(Session(history=["a", "b"]), places) == []
    assert gaps(["a", "b", "d"], places) == ["c"]
    assert gaps(["b", "c"], places) == gaps([], places) == []


async def test_acknowledged_writes_survive_two_takeovers_and_the_death_of_a_relay(tmp_path: Path) -> None:
    kinds = ["owner killed", "relay killed", "owner cut off from NATS"]
    report = await run(tmp_path, kinds, clients=4, seed=1, lease_s=1.5, report_progress=ignore)
    assert report.faults == []
    assert report.acknowledged and report.epochs >= 3


@pytest.mark.nightly("runs fifty rounds of faults, each as long as a takeover")
@pytest.mark.timeout(1800)
async def test_acknowledged_writes_survive_fifty_rounds_of_random_faults(tmp_path: Path) -> None:
    report = await run(tmp_path, kinds_of(50, 7), clients=20, seed=7, lease_s=3, report_progress=ignore)
    assert report.faults == []
