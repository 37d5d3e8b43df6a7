"""Keyframes are recognised by the payload of their first packet, and are requested neither too often nor too
late.
"""

import pytest

from svc._rtp.keyframes import Requester, is_keyframe
from tests.kit.captures import NAMES, Packet, capture

PERIOD_S = 2.0
SOURCE_INTERVAL_S = 0.5


# --- recognised ---


def h264(*kinds: int) -> bytes:
    """Return a STAP-A with NAL units of these types, four bytes each."""
    return b"\x78" + b"".join(b"\x00\x04" + bytes([0x60 | kind, 1, 2, 3]) for kind in kinds)


@pytest.mark.parametrize(
    ("codec", "payload", "expected"),
    [
        pytest.param("VP8", b"\x10\x00", True, id="VP8 without an extension"),
        pytest.param("VP8", b"\x10\x01", False, id="VP8 interframe"),
        pytest.param("VP8", b"\x00\x00", False, id="VP8 in the middle of a partition"),
        pytest.param("VP8", b"\x11\x00", False, id="VP8 second partition"),
        pytest.param("VP8", b"\x90\x80\x7f\x00", True, id="VP8 with a picture id of 7 bits"),
        pytest.param("VP8", b"\x90\x80\xff\xff\x00", True, id="VP8 with a picture id of 15 bits"),
        pytest.param("VP8", b"\x90\xe0\xff\xff\x01\x02\x00", True, id="VP8 with every extension"),
        pytest.param("VP8", b"\x90\xe0\xff\xff\x01\x02\x01", False, id="VP8 interframe with every extension"),
        pytest.param("VP8", b"\x90\xe0\xff\xff\x01\x02", False, id="VP8 descriptor alone"),
        pytest.param("VP8", b"\x90\x80", False, id="VP8 descriptor cut short"),
        pytest.param("VP9", b"\x08\x00", True, id="VP9 without an extension"),
        pytest.param("VP9", b"\x48\x00", False, id="VP9 predicted from another picture"),
        pytest.param("VP9", b"\x00\x00", False, id="VP9 in the middle of a frame"),
        pytest.param("VP9", b"\xa8\x7f\x00\x00", True, id="VP9 lowest spatial layer"),
        pytest.param("VP9", b"\xa8\x7f\x02\x00", False, id="VP9 upper spatial layer"),
        pytest.param("VP9", b"\xa8\xff\xff\x00\x00", True, id="VP9 with a picture id of 15 bits"),
        pytest.param("VP9", b"\xa8\xff\xff", False, id="VP9 descriptor cut short"),
        pytest.param("AV1", b"\x08\x00", True, id="AV1 new coded video sequence"),
        pytest.param("AV1", b"\x10\x00", False, id="AV1 within a coded video sequence"),
        pytest.param("H264", b"\x67\x42", True, id="H264 parameter set"),
        pytest.param("H264", b"\x61\xe0", False, id="H264 slice"),
        pytest.param("H264", h264(7, 8), True, id="H264 parameter sets together"),
        pytest.param("H264", h264(6, 7, 8, 5), True, id="H264 parameter sets after another unit"),
        pytest.param("H264", h264(6, 1), False, id="H264 no parameter sets"),
        pytest.param("H264", b"\x78\x00\x04\x61", False, id="H264 aggregate cut short"),
        pytest.param(
            "H264", b"\x78\xff\xff\x61\x67\x67", False, id="H264 aggregate with a length beyond its end"
        ),
        # These payloads lack the parameter sets, which were sent earlier or are late.
        pytest.param("H264", b"\x65\x88", False, id="H264 slice of a keyframe"),
        pytest.param("H264", b"\x7c\x85", False, id="H264 first fragment of a keyframe's slice"),
        pytest.param("opus", b"\x10\x00\x00", False, id="another codec"),
        pytest.param("VP8", b"\x10", False, id="one byte"),
        pytest.param("H264", b"", False, id="nothing"),
    ],
)
def test_keyframes_are_recognised_by_the_payload(codec: str, payload: bytes, expected: bool) -> None:
    assert is_keyframe(codec, payload) is expected


def codec_of(name: str, packet: Packet) -> str | None:
    """Return the codec of a packet that carries video, or None for RTX, padding and audio."""
    payload_type = capture(name).sidecar["payload_types"].get(str(packet.header["payload_type"]))
    if payload_type is None or payload_type["kind"] != "video" or payload_type["codec"].startswith("rtx"):
        return None
    codec: str = payload_type["codec"].split("/")[0]
    return codec if packet.header["payload_length"] else None


def recognised(packet: Packet, codec: str) -> bool:
    at = packet.header["payload_offset"]
    return is_keyframe(codec, packet.data[at : at + packet.header["payload_length"]])


@pytest.mark.parametrize("name", [name for name in NAMES if capture(name).descriptor_id])
def test_a_browser_packet_with_a_template_structure_starts_a_keyframe(name: str) -> None:
    described = 0
    for packet in capture(name).packets:
        codec = codec_of(name, packet)
        if codec and "dd" in packet.row:
            described += 1
            assert recognised(packet, codec) == packet.row["dd"].get("is_keyframe", False), packet.row["i"]
    assert described > 100


@pytest.mark.parametrize(("name", "field"), [("vp8_l1t3_nodd", "key"), ("av1_l1t3_noddext", "N")])
def test_without_descriptors_the_payload_marks_keyframes(name: str, field: str) -> None:
    reports = [
        (recognised(packet, codec), bool(packet.row["payload"].get(field)))
        for packet in capture(name).packets
        if (codec := codec_of(name, packet))
    ]
    assert sum(ours for ours, _ in reports) == 3
    assert all(ours == theirs for ours, theirs in reports)


# --- requested ---


def request_times(requester: Requester, first: float, last: float) -> list[float]:
    """Return the times of the keyframe requests, polling every 10 ms."""
    steps = [round(n / 100, 2) for n in range(round(first * 100), round(last * 100) + 1)]
    return [now for now in steps if requester.take_due(now)]


def test_a_keyframe_is_requested_every_two_seconds_even_if_no_receiver_asks() -> None:
    assert request_times(Requester(1.0), 0.5, 6.0) == [1.0, 3.0, 5.0]


def test_the_first_request_is_sent_immediately_and_the_next_after_half_a_second() -> None:
    requester = Requester(100.0)
    requester.request(1.0)
    assert requester.take_due(1.0)
    requester.request(1.1)
    assert request_times(requester, 1.1, 3.0) == [1.5]


def test_concurrent_requests_are_merged() -> None:
    requester = Requester(100.0)
    for now in (1.0, 1.0, 1.1, 1.2, 1.3):
        requester.request(now)
    assert request_times(requester, 1.3, 5.0) == [1.3]


@pytest.mark.parametrize(("came", "expected"), [(True, [1.1]), (False, [1.5])])
def test_a_first_request_waits_only_while_the_keyframe_for_a_repeated_request_is_in_flight(
    came: bool, expected: list[float]
) -> None:
    requester = Requester(100.0)
    requester.request(1.0, repeated=True)
    assert requester.take_due(1.0)
    if came:
        requester.keyframe_came()
    requester.request(1.1)
    assert request_times(requester, 1.1, 3.0) == expected


def test_the_periodic_request_also_serves_waiting_receivers() -> None:
    requester = Requester(1.2)
    requester.request(1.0)
    assert requester.take_due(1.0)
    requester.request(1.1)
    assert request_times(requester, 1.1, 3.0) == [1.2]


def test_a_keyframe_satisfies_only_earlier_requests() -> None:
    requester = Requester(100.0)
    requester.request(1.0)
    assert requester.take_due(1.0)
    requester.request(1.1)
    requester.keyframe_came()
    assert request_times(requester, 1.2, 2.0) == []
    requester.request(2.1)
    assert request_times(requester, 2.1, 3.0) == [2.1]
