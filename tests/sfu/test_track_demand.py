"""Receivers report their demand for a video, and its publisher gets the combined demand."""

import pytest

from svc.sfu.track_demand import INTERVAL_S
from tests.kit.negotiation import CAMERA, MIC, Call, Person


def demands(publisher: Person, source: str = "camera") -> list[tuple[int, bool]]:
    """Return the demands sent to the publisher for this track. Each is a width and whether anyone is
    watching.
    """
    events = [event for event in publisher.events("layers_wanted") if event["source"] == source]
    return [(event["width"], event["watched"]) for event in events]


def want(receiver: Person, **layers: object) -> None:
    receiver.send("set_layer", {"track_id": "ac", "max_temporal_layer": -1, **layers})


def watched_by(*names: str) -> tuple[Call, Person, list[Person]]:
    """Have the given receivers, whose clients send no width, watch Ann's camera."""
    call = Call()
    ann = call.joined("ann", camera="a ac")
    receivers = [call.joined(name) for name in names]
    call.pass_time(1)
    return call, ann, receivers


def test_a_publisher_is_told_when_nobody_is_watching_its_camera_and_when_somebody_is() -> None:
    call, ann, _ = watched_by()
    assert ann.events("layers_wanted") == [
        {"track_id": "ac", "source": "camera", "width": 0, "watched": False}
    ]
    ben = call.join("ben")
    assert demands(ann)[1:] == [(0, True)], "the publisher may need a moment, so it starts before the answer"
    ben.answer()
    ben.session.close()
    call.pass_time(1)
    assert demands(ann)[1:] == [(0, True), (0, False)]


def test_clients_that_report_no_width_count_as_wide() -> None:
    call = Call()
    ben = call.joined("ben")
    ann = call.joined("ann", camera="a ac", mic="a am")
    ben.answer()
    ben.send("set_layer", {"track_id": "ac", "max_temporal_layer": 0})
    call.pass_time(1)
    assert demands(ann) == [] and ann.events("layers_wanted") == []


def test_the_widest_tile_determines_the_demand_and_an_unknown_width_counts_as_widest() -> None:
    call, ann, (ben, cai) = watched_by("ben", "cai")
    before = len(demands(ann))
    for receiver, width in ((ben, 320), (cai, 640), (cai, 160), (ben, 0)):
        want(receiver, width=width)
        call.pass_time(1)
    assert demands(ann)[before:] == [(640, True), (320, True), (0, True)]


def test_increased_demand_is_reported_immediately_and_reduced_demand_after_a_delay() -> None:
    call, ann, (ben,) = watched_by("ben")
    want(ben, width=320)
    call.pass_time(INTERVAL_S / 2)
    assert demands(ann) == []
    call.pass_time(1)
    assert demands(ann)[-1] == (320, True)
    want(ben, width=640)
    assert demands(ann)[-1] == (640, True)


def test_a_change_that_is_soon_reverted_is_not_reported() -> None:
    call, ann, (ben,) = watched_by("ben")
    before = demands(ann)
    want(ben, paused=True)
    call.pass_time(INTERVAL_S / 2)
    want(ben, paused=False)
    call.pass_time(1)
    assert demands(ann) == before


def test_frequent_changes_are_reported_to_the_publisher_at_a_limited_rate() -> None:
    call, ann, (ben, cai) = watched_by("ben", "cai")
    before = len(demands(ann))
    want(cai, paused=True)
    for step in range(1000):
        want(ben, width=1 + step, paused=step % 3 == 2)
        call.pass_time(0.001)
    call.pass_time(1)
    assert len(demands(ann)) - before <= 2 + 1 / INTERVAL_S
    assert demands(ann)[-1] == (1000, True)


def test_a_late_joiner_keeps_a_camera_on_and_affects_its_width_only_with_a_request() -> None:
    call, ann, (ben,) = watched_by("ben")
    want(ben, width=320)
    call.pass_time(1)
    before = len(demands(ann))
    cai = call.join("cai")
    want(ben, paused=True)
    call.pass_time(1)
    assert len(demands(ann)) == before
    want(cai, width=640)
    cai.answer()
    call.pass_time(1)
    assert demands(ann)[before:] == [(640, True)]


def test_a_client_that_declines_a_camera_does_not_watch_it() -> None:
    call, ann, _ = watched_by()
    ben = call.join("ben")
    ben.answering.declines = {"4"}
    ben.answer()
    call.pass_time(1)
    assert demands(ann)[-1] == (0, False)


def test_pausing_a_track_pauses_it_in_the_core_and_is_idempotent() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="a ac"), call.join("ben")
    want(ben, paused=True)
    ben.answer()
    for paused in (True, False, False, True):
        want(ben, paused=paused, width=320)
    ben.send("set_layer", {"track_id": "ac", "max_temporal_layer": 1})
    (down_track,) = ann.forwarder(CAMERA).down_tracks
    assert down_track.pauses == [True, False, True, False], (
        "a field that a request omits counts as never requested"
    )
    assert down_track.layers == [1]
    assert ben.errors == []


def test_demand_for_audio_is_not_reported() -> None:
    call = Call()
    ann = call.joined("ann", mic="a am")
    ben = call.joined("ben")
    ben.send("set_layer", {"track_id": "am", "max_temporal_layer": -1, "width": 5})
    ben.session.close()
    call.pass_time(1)
    assert ann.forwarder(MIC).down_tracks and ann.events("layers_wanted") == []


def test_a_client_that_resumes_its_session_gets_the_demand_again() -> None:
    call, ann, (ben,) = watched_by("ben")
    want(ben, width=320)
    call.pass_time(1)
    ann.received.clear()
    ann.session.resume(ann)
    assert demands(ann) == [(320, True)]


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("width", -1, "width must be at least 0"),
        ("width", 16_385, "width must be at most 16384"),
        ("width", 1.5, "width must be a whole number"),
        ("width", None, "width is missing"),
        ("width", True, "width must be a whole number"),
        ("max_spatial_layer", 3, "max_spatial_layer must be at most 2"),
        ("max_spatial_layer", -2, "max_spatial_layer must be at least -1"),
        ("max_spatial_layer", None, "max_spatial_layer is missing"),
        ("priority", 101, "priority must be at most 100"),
        ("priority", -1, "priority must be at least 0"),
        ("priority", "high", "priority must be a whole number"),
        ("adaptive", 1, "adaptive must be true or false"),
        ("paused", 1, "paused must be true or false"),
        ("paused", None, "paused is missing"),
    ],
)
def test_an_invalid_request_is_rejected_and_changes_nothing(field: str, value: object, error: str) -> None:
    call, ann, (ben,) = watched_by("ben")
    before = demands(ann)
    want(ben, **{field: value})
    call.pass_time(1)
    assert ben.errors == [error]
    assert demands(ann) == before
    assert ann.forwarder(CAMERA).down_tracks[0].pauses == []
