"""The picture IDs in VP8 and VP9 are read and rewritten according to RFC 7741 and RFC 9628."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc._rtp.picture import picture_of, rewrite_picture
from tests.kit.captures import capture


@pytest.mark.parametrize(
    ("codec", "payload", "picture"),
    [
        ("VP8", "10", (None, None)),
        ("VP8", "1000", (None, None)),
        ("VP8", "90800500", (5, None)),
        ("VP8", "90808105aa", (0x105, None)),
        ("VP8", "90c0810577aa", (0x105, 0x77)),
        ("VP8", "904077aa", (None, 0x77)),
        ("VP8", "90e0ffff770000", (0x7FFF, 0x77)),
        ("VP8", "90e0ff", (None, None)),
        ("VP9", "8c05aa", (5, None)),
        ("VP9", "ac81050077aa", (0x105, 0x77)),
        ("VP9", "bc810500aa", (0x105, None)),
        ("VP9", "2c0077", (None, 0x77)),
        ("VP9", "2c00", (None, None)),
        ("H264", "90e0ffff770000", (None, None)),
    ],
)
def test_the_picture_id_and_tl0picidx_are_found_in_the_descriptor(
    codec: str, payload: str, picture: tuple[int | None, int | None]
) -> None:
    assert picture_of(codec, bytes.fromhex(payload)) == picture


@pytest.mark.parametrize("name", ["vp8_l1t3_nodd", "vp9_l1t3", "vp8_simulcast_l1t3"])
def test_a_browsers_picture_ids_are_shifted_and_nothing_else_is_changed(name: str) -> None:
    codec = name[:3].upper()
    for packet in capture(name).packets[:200]:
        start = packet.header["payload_offset"]
        payload = packet.data[start : start + packet.header["payload_length"]]
        number, tl0 = picture_of(codec, payload)
        moved = rewrite_picture(codec, payload, 1000, 7)
        assert len(moved) == len(payload)
        assert moved[5:] == payload[5:]
        wrap = 0x80 if number is not None and number < 0x80 and not payload[2] & 0x80 else 0x8000
        if number is not None and wrap == 0x8000:
            assert picture_of(codec, moved) == (
                (number + 1000) % wrap,
                None if tl0 is None else (tl0 + 7) % 256,
            )
        assert rewrite_picture(codec, moved, -1000, -7) == payload


@given(st.sampled_from(["VP8", "VP9"]), st.binary(max_size=12), st.integers(0, 0x7FFF), st.integers(0, 255))
def test_shifting_the_picture_ids_in_any_payload_can_be_undone(
    codec: str, payload: bytes, pictures: int, tl0: int
) -> None:
    moved = rewrite_picture(codec, payload, pictures, tl0)
    assert len(moved) == len(payload)
    assert rewrite_picture(codec, moved, -pictures, -tl0) == payload
