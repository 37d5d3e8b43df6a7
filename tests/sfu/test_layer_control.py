"""Each receiver gets a suitable encoding of a video, and the publisher is told which encodings are needed."""

from typing import Any

import pytest

from svc.sfu.layer_rates import LayerRates, MeasuredRates
from tests.kit.negotiation import CAMERA, SCREEN, Call, Person

# The number of bytes in each temporal layer of each encoding in a quarter of a second, for 150, 450 and 1,200
# kbit/s.
TYPICAL_RATES = [(1_875, 937, 1_875), (5_625, 2_812, 5_625), (15_000, 7_500, 15_000)]
REPORT_S = 0.25


class Room:
    """A room in which Ann sends a camera in three encodings.

    The other participants receive the camera, and the bandwidth of their downlinks is estimated.
    """

    def __init__(self, *receivers: str, source: str = CAMERA) -> None:
        self.call = Call()
        self.ann = self.call.join("ann", simulcast=True)
        self.ann.answering.sends = {source: "a ac"}
        self.ann.answering.simulcast = True
        self.ann.answer()
        self.ann.send_media(source)
        self.measure()
        self.receivers = [self.call.joined(name) for name in receivers]
        for receiver in self.receivers:
            receiver.session.report_bandwidth()
        self.call.pass_time(1)

    def measure(self, active: int = 0b111) -> None:
        sizes = [layers if active >> n & 1 else (0, 0, 0) for n, layers in enumerate(TYPICAL_RATES)]
        self.ann.session.rates_measured(CAMERA, MeasuredRates(REPORT_S, active, sizes))
        self.call.settle()

    def encodings(self) -> list[bool]:
        """Return which encodings the publisher was last asked to send."""
        encodings: list[bool] = self.ann.events("layers_wanted")[-1]["encodings"]
        return encodings


def want(receiver: Person, **layers: object) -> None:
    receiver.send("set_layer", {"track_id": "ac", "max_temporal_layer": -1, **layers})


def state(receiver: Person) -> dict[str, Any]:
    """Return the state that was last reported for the only track."""
    (track,) = receiver.events("layers")[-1]["tracks"]
    assert (track.pop("track_id"), track.pop("mid")) == ("ac", "4")
    return dict(track)


def test_a_publisher_is_told_which_encodings_receivers_use_or_need() -> None:
    room = Room("ben", "cai")
    ben, cai = room.receivers
    assert room.encodings() == [True, False, True], "by default a receiver gets the largest encoding"
    want(ben, max_spatial_layer=1)
    assert room.encodings() == [True, True, True], "a larger encoding is requested at once"
    want(cai, max_spatial_layer=0)
    room.call.pass_time(1)
    assert room.encodings() == [True, True, False]
    want(ben, paused=True)
    room.call.pass_time(1)
    assert room.encodings() == [True, False, False]
    want(cai, paused=True)
    room.call.pass_time(1)
    assert room.encodings() == [False, False, False]


def test_a_receiver_keeps_its_encoding_until_it_gets_the_requested_one() -> None:
    room = Room("ben")
    (ben,) = room.receivers
    (down_track,) = room.ann.forwarder(CAMERA).down_tracks
    ben.session.encoding_forwarded(down_track.id, 2)
    want(ben, max_spatial_layer=1)
    room.call.pass_time(1)
    assert room.encodings() == [True, True, True]
    ben.session.encoding_forwarded(down_track.id, 1)
    room.call.pass_time(1)
    assert room.encodings() == [True, True, False]


def test_when_the_largest_encoding_stops_the_next_smaller_one_is_requested() -> None:
    room = Room("ben")
    room.measure(active=0b001)
    room.call.pass_time(1)
    assert room.encodings() == [True, True, True]
    room.measure(active=0b011)
    room.call.pass_time(1)
    assert room.encodings() == [True, True, True], "the middle encoding replaces the largest"
    room.measure()
    room.call.pass_time(1)
    assert room.encodings() == [True, False, True]


def test_a_client_is_told_which_layers_it_gets_and_why() -> None:
    room = Room("ben")
    (ben,) = room.receivers
    (down_track,) = room.ann.forwarder(CAMERA).down_tracks
    ben.session.encoding_forwarded(down_track.id, 2)
    room.call.pass_time(1)
    assert state(ben) == {"spatial": 2, "temporal": -1, "paused": False, "reason": "wish"}
    room.measure(active=0b011)
    ben.session.encoding_forwarded(down_track.id, 1)
    room.call.pass_time(1)
    assert state(ben) == {"spatial": 1, "temporal": -1, "paused": False, "reason": "source"}
    want(ben, max_spatial_layer=1, max_temporal_layer=0)
    room.call.pass_time(1)
    assert state(ben) == {"spatial": 1, "temporal": 0, "paused": False, "reason": "wish"}
    want(ben, paused=True)
    room.call.pass_time(1)
    assert state(ben) == {"spatial": -1, "temporal": -1, "paused": True, "reason": "hidden"}


def test_a_clients_layers_are_reported_at_most_four_times_a_second() -> None:
    room = Room("ben")
    (ben,) = room.receivers
    before = len(ben.events("layers"))
    for step in range(1000):
        want(ben, max_temporal_layer=step % 3)
        room.call.pass_time(0.001)
    assert len(ben.events("layers")) - before <= 5


def test_a_client_without_estimates_gets_no_layer_reports() -> None:
    call = Call()
    call.joined("ann", camera="a ac")
    ben = call.joined("ben")
    want(ben, max_temporal_layer=0)
    call.pass_time(1)
    assert ben.events("layers") == []


def estimated(receiver: Person, bps: int, repeated_bytes: int = 0) -> None:
    assert receiver.transport.bandwidth_listener is not None
    receiver.transport.bandwidth_listener(bps, "use", repeated_bytes)


@pytest.mark.parametrize("layers", [None, {}, {"width": 160, "priority": 1}, {"adaptive": False}])
def test_a_video_without_adaptive_is_never_lowered_paused_or_paced(layers: dict[str, object] | None) -> None:
    room = Room("ben")
    (ben,) = room.receivers
    if layers is not None:
        want(ben, **layers)
    # Another video, which may be lowered, is paused.
    cai = room.call.joined("cai", camera="a bd")
    ben.send("set_layer", {"track_id": "bd", "max_temporal_layer": -1, "adaptive": True})
    ben.answer()
    for _ in range(50):
        estimated(ben, 50_000, repeated_bytes=1_000)
        room.call.pass_time(0.1)
    down_track = room.ann.forwarder(CAMERA).down_tracks[0]
    assert down_track.to is ben.transport
    assert (down_track.layers, down_track.spatial_layers, down_track.pauses) == ([], [], [])
    assert not down_track.paced
    reports = [track for event in ben.events("layers") for track in event["tracks"]]
    assert {report["reason"] for report in reports if report["track_id"] == "ac"} == {"wish"}
    assert room.encodings()[2], "the publisher still sends the largest encoding"
    (adaptive,) = cai.forwarder(CAMERA).down_tracks
    assert adaptive.pauses == [True]


def test_a_drop_in_the_estimate_changes_the_layers_before_anything_else_happens() -> None:
    room = Room("ben")
    (ben,) = room.receivers
    want(ben, adaptive=True)
    estimated(ben, 5_000_000)
    room.call.pass_time(1)
    (down_track,) = room.ann.forwarder(CAMERA).down_tracks
    estimated(ben, 1_080_000)
    assert (down_track.spatial_layers, down_track.pauses) == ([], []), "90 % of the required rate is enough"
    estimated(ben, 250_000)
    assert (down_track.spatial_layers, down_track.pauses) == ([0], [])
    estimated(ben, 30_000)
    assert down_track.pauses == [True]


def test_resends_take_their_share_of_the_downlink_from_videos() -> None:
    room = Room("ben")
    (ben,) = room.receivers
    want(ben, adaptive=True)

    (down_track,) = room.ann.forwarder(CAMERA).down_tracks

    def changes(repeated_bytes: int, seconds: int) -> list[int]:
        for _ in range(10 * seconds):
            estimated(ben, 1_500_000, repeated_bytes)
            room.call.pass_time(0.1)
        return down_track.layers

    assert changes(0, 3) == []
    assert changes(1_000, 3) == [], "80 kbit/s of resends fit next to 1,200 kbit/s of video"
    assert changes(7_500, 3) == [1], "600 kbit/s of resends do not"
    assert changes(0, 20) == [1, -1], "the resends have ended"


def test_a_client_gets_the_estimate_every_second_and_immediately_when_it_falls_by_a_tenth() -> None:
    room = Room("ben")
    (ben,) = room.receivers

    def pushed() -> list[int]:
        return [event["estimate_bps"] for event in ben.events("bandwidth")]

    for step in range(80):
        estimated(ben, 1_000_000 + 500 * step)
        room.call.pass_time(1 / 16)
    assert pushed() == [1_000_000 + 8_000 * second for second in range(5)]
    estimated(ben, 1_000_000)
    estimated(ben, 940_000)
    assert len(pushed()) == 6, "the estimate fell by less than a tenth within a second"
    estimated(ben, 900_000)
    estimated(ben, 810_000)
    assert pushed()[6:] == [900_000, 810_000]
    estimated(ben, 2_000_000)
    room.call.pass_time(15 / 16)
    estimated(ben, 2_000_000)
    assert len(pushed()) == 8, "a rise is not urgent"
    room.call.pass_time(1 / 16)
    estimated(ben, 2_000_000)
    assert pushed()[8:] == [2_000_000]


def test_the_downlink_of_a_client_that_hides_every_video_is_not_probed() -> None:
    room = Room("ben")
    (ben,) = room.receivers
    want(ben, adaptive=True)
    room.call.pass_time(1)
    assert ben.transport.probed_bps > 1_000_000
    want(ben, adaptive=True, paused=True)
    room.call.pass_time(1)
    # A limit of 1 bit/s turns probing off, because a downlink is probed only up to its limit and every
    # estimate is higher.
    assert ben.transport.probed_bps == 1
    want(ben, adaptive=True, paused=False)
    room.call.pass_time(1)
    assert ben.transport.probed_bps > 1_000_000


def test_adaptive_videos_are_paced_while_the_downlink_limits_them_and_for_some_time_after() -> None:
    room = Room("ben", "cai")
    down_tracks = room.ann.forwarder(CAMERA).down_tracks

    def paced(bps: int, seconds: float) -> list[bool]:
        for _ in range(round(seconds)):
            for receiver in room.receivers:
                estimated(receiver, bps)
            room.call.pass_time(1)
        return [down_track.paced for down_track in down_tracks]

    adaptive, _ = room.receivers
    want(adaptive, adaptive=True)
    assert paced(5_000_000, 1) == [False, False], "the downlink carries everything"
    assert paced(400_000, 1) == [True, False], "a client that permits no lowering gets everything at once"
    want(adaptive, adaptive=False)
    assert paced(400_000, 1) == [False, False], "the permission was withdrawn"
    want(adaptive, adaptive=True)
    assert paced(5_000_000, 8) == [True, False]
    assert paced(5_000_000, 2) == [False, False]


def test_a_video_in_one_encoding_with_an_unknown_bitrate_starts_on_a_narrow_downlink() -> None:
    # A publisher sends nothing while nobody is receiving its video, so the bitrate would remain unknown.
    call = Call()
    ben = call.joined("ben")
    ben.session.report_bandwidth()
    estimated(ben, 400_000)
    ann = call.join("ann")
    ann.answering.sends = {SCREEN: "a ac"}
    ann.answer()
    ann.send_media(SCREEN)
    want(ben, adaptive=True)
    ben.answer()
    call.pass_time(3)
    (down_track,) = ann.forwarder(SCREEN).down_tracks
    assert down_track.pauses in ([], [True, False]), "the track is forwarded"
    assert all(event["watched"] for event in ann.events("layers_wanted"))


def test_a_new_track_in_a_section_does_not_inherit_the_limit_of_the_previous_track() -> None:
    call = Call()
    ben = call.joined("ben")
    ben.session.report_bandwidth()
    pauses = []
    for name, track, bps in (("ann", "ac", 50_000), ("cai", "bd", 260_000)):
        estimated(ben, bps)
        publisher = call.joined(name, camera=f"a {track}")
        ben.send("set_layer", {"track_id": track, "max_temporal_layer": -1, "adaptive": True})
        ben.answer()
        call.pass_time(1)
        (down_track,) = publisher.forwarder(CAMERA).down_tracks
        assert down_track.mid == "4", "the section is reused"
        pauses.append(down_track.pauses)
        publisher.session.close()
        call.settle()
        ben.answer()
        call.pass_time(1)
    assert pauses == [[True], []]


def test_the_spatial_layers_of_one_stream_are_lowered_like_encodings() -> None:
    call = Call()
    ben = call.joined("ben")
    ben.session.report_bandwidth()
    ann = call.joined("ann", camera="a ac")
    ann.session.rates_measured(CAMERA, MeasuredRates(REPORT_S, 0b111, TYPICAL_RATES))
    want(ben, adaptive=True)
    ben.answer()
    (down_track,) = ann.forwarder(CAMERA).down_tracks
    for bps, layer in ((5_000_000, -1), (1_000_000, 1), (250_000, 0)):
        estimated(ben, bps)
        call.pass_time(1)
        assert ([-1, *down_track.spatial_layers][-1], down_track.pauses) == (layer, []), bps
        assert state(ben)["spatial"] == layer


def test_a_spatial_layer_that_is_no_longer_sent_is_not_counted() -> None:
    rates = LayerRates()
    for _ in range(10):
        rates.measured(MeasuredRates(REPORT_S, 0b111, TYPICAL_RATES), 0b111)
    assert [round(layer_rates[-1], -4) for layer_rates in rates.encodings(1)] == [150_000, 600_000, 1_800_000]
    for _ in range(10):
        rates.measured(MeasuredRates(REPORT_S, 0b011, TYPICAL_RATES[:2]), 0b111)
    assert [len(layer_rates) for layer_rates in rates.encodings(1)] == [3, 3, 0]


def test_a_screen_sent_only_in_the_largest_encoding_has_no_smaller_ones() -> None:
    for active in (0b111, 0b100):
        rates = LayerRates()
        rates.measured(MeasuredRates(REPORT_S, active, TYPICAL_RATES), 0b111)
        for _ in range(10):
            rates.measured(MeasuredRates(REPORT_S, 0b100, [(), (), TYPICAL_RATES[2]]), 0b101)
        assert [len(layer_rates) for layer_rates in rates.encodings(3)] == [0, 0, 3]


@pytest.mark.parametrize(("reports", "measured"), [(7, False), (8, True)])
def test_an_encoding_that_starts_again_is_measured_over_2_s(reports: int, measured: bool) -> None:
    rates, nothing = LayerRates(), MeasuredRates(REPORT_S, 0, [(0, 0, 0)])
    for _ in range(10):
        rates.measured(MeasuredRates(REPORT_S, 1, [(1_000, 500, 500)]), 1)
    before = rates.encodings(1)
    rates.measured(nothing, 0)
    for _ in range(1 + reports):
        rates.measured(MeasuredRates(REPORT_S, 1, [(3_000, 1_500, 1_500)]), 1)
    assert (rates.encodings(1) != before) == measured
    rates.measured(nothing, 0)
    assert (rates.encodings(1) != before) == measured


def test_a_screen_that_was_paused_after_a_large_keyframe_returns() -> None:
    room = Room("ben", source=SCREEN)
    (ben,) = room.receivers
    want(ben, adaptive=True)
    room.ann.session.rates_measured(SCREEN, MeasuredRates(REPORT_S, 0b111, [(100_000, 0, 0)] * 3))
    estimated(ben, 400_000)
    room.call.pass_time(1)
    assert ben.events("layers")[-1]["tracks"][0]["paused"]
    # Nothing is sent during the pause. 400 kbit/s is enough for the smallest encoding at its usual bitrate.
    room.ann.session.rates_measured(SCREEN, MeasuredRates(REPORT_S, 0, [(0, 0, 0)] * 3))
    estimated(ben, 400_000)
    room.call.pass_time(2)
    assert not ben.events("layers")[-1]["tracks"][0]["paused"]


def test_a_screen_that_only_the_downlink_pauses_stays_encoded_and_a_camera_does_not() -> None:
    for source, encoded in ((SCREEN, True), (CAMERA, False)):
        room = Room("ben", source=source)
        (ben,) = room.receivers
        want(ben, adaptive=True)
        estimated(ben, 20_000)
        room.call.pass_time(1)
        assert state(ben) == {"spatial": -1, "temporal": -1, "paused": True, "reason": "line"}
        assert room.ann.events("layers_wanted")[-1]["watched"] == encoded
        want(ben, adaptive=True, paused=True)
        room.call.pass_time(1)
        assert not room.ann.events("layers_wanted")[-1]["watched"]
        want(ben, adaptive=True)
        room.call.pass_time(1)
        assert state(ben)["reason"] == "line"
        assert room.ann.events("layers_wanted")[-1]["watched"] == encoded


def test_lowered_layers_are_reported_although_the_estimate_has_just_been_reported() -> None:
    room = Room("ben")
    (ben,) = room.receivers
    want(ben, adaptive=True)
    room.call.pass_time(1)
    for bps in (1_000_000, 50_000):
        estimated(ben, bps)
        before = len(ben.events("layers"))
        room.call.pass_time(0.3)
        assert len(ben.events("layers")) > before, bps
