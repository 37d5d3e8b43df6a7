"""A relay tracks the members its clients show as online and the changes they miss during a takeover."""

import json
from collections.abc import Iterator

from svc.chat.cluster.relay.online_members import MissedPresences, OnlineMembers
from svc.chat.cluster.relay_protocol import PresenceRecord
from svc.chat.live import frames
from svc.chat.messages import responses

ADA, GRACE, EDSGER, ALAN = (
    PresenceRecord(name, is_online=True, idle=False, do_not_disturb=False)
    for name in ("ada", "grace", "edsger", "alan")
)
IDLE_GRACE = PresenceRecord("grace", is_online=True, idle=True, do_not_disturb=False)
AWAY_ALAN = PresenceRecord("alan", is_online=False, idle=False, do_not_disturb=False)


def change(members: OnlineMembers, record: PresenceRecord) -> None:
    event = responses.presence(record.member_id, record.presence())
    members.change(record, frames.push("presence", event))


def members_of(*records: PresenceRecord) -> OnlineMembers:
    members = OnlineMembers()
    members.replace(records)
    return members


def track(members: OnlineMembers) -> MissedPresences:
    missed = members.track_missed()
    assert missed is not None
    return missed


def events(data: bytes) -> Iterator[tuple[str, bool, bool]]:
    """Yield each event's member id, whether the member is online, and whether they are idle."""
    while data:
        assert data[0] == 0x81 and data[1] < 126, "a short text frame"
        frame, data = json.loads(data[2 : 2 + data[1]]), data[2 + data[1] :]
        assert frame["event"] == "presence"
        yield frame["data"]["member_id"], frame["data"]["online"], frame["data"]["idle"]


def test_a_client_gets_all_presence_changes_by_a_new_owner_except_its_own() -> None:
    members = members_of(ADA, GRACE, EDSGER)
    missed = track(members)
    members.replace([ADA, IDLE_GRACE, ALAN])
    expected = [("grace", True, True), ("edsger", False, False), ("alan", True, False)]
    assert sorted(events(missed.frames_for("ada"))) == sorted(expected)
    assert sorted(events(missed.frames_for("grace"))) == sorted(expected[1:])


def test_missed_events_are_added_and_an_event_that_undoes_a_change_removes_both() -> None:
    members = members_of(ADA, GRACE)
    missed = track(members)
    members.replace([ADA, GRACE])
    assert missed.frames_for("ada") == b""
    change(members, ALAN)
    change(members, IDLE_GRACE)
    assert list(events(missed.frames_for("ada"))) == [("alan", True, False), ("grace", True, True)]
    change(members, AWAY_ALAN)
    change(members, GRACE)
    assert missed.frames_for("ada") == b""
    assert members.records() == [ADA, GRACE]


def test_a_client_that_waits_through_two_takeovers_gets_all_changes() -> None:
    members = members_of(ADA, GRACE)
    missed = track(members)
    members.replace([ADA])
    later = track(members)
    members.replace([ADA, EDSGER])
    assert sorted(events(missed.frames_for("ada"))) == [("edsger", True, False), ("grace", False, False)]
    assert list(events(later.frames_for("ada"))) == [("edsger", True, False)]


def test_no_changes_are_tracked_while_the_online_members_are_unknown() -> None:
    members = OnlineMembers()
    change(members, ADA)
    assert members.track_missed() is None and members.records() == []
    members.replace([ADA])
    assert members.track_missed() is not None
    members.replace(None)
    assert members.track_missed() is None and members.records() == []


def test_clients_of_members_without_changes_share_one_copy_of_the_events() -> None:
    members = members_of(ADA, EDSGER)
    missed = track(members)
    members.replace([ADA, EDSGER, GRACE, ALAN])
    assert missed.frames_for("ada") is missed.frames_for("edsger")
    change(members, AWAY_ALAN)
    assert list(events(missed.frames_for("ada"))) == [("grace", True, False)]
    members.replace([ADA, EDSGER])
    assert missed.frames_for("ada") == b""
