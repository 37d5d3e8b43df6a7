"""Compound RTCP packets are parsed, malformed packets are rejected, and NACKs are packed without
loss.
"""

import struct

import pytest
from aiortc import rtp
from hypothesis import given
from hypothesis import strategies as st

from svc._rtp.rtcp import nack_packet, parse_compound
from tests.kit import packets

# Entries that fit in the 1200 bytes of one packet.
MAX_ENTRIES = (1200 - 12) // 4


def test_a_compound_is_parsed_packet_by_packet() -> None:
    data = packets.sender_report(1, 2, 3) + packets.pli(4) + packets.nack(5, [6, 7])
    assert parse_compound(data) == [
        (200, 0, struct.pack("!IQIII", 1, 2, 3, 0, 0)),
        (206, 1, struct.pack("!II", 1, 4)),
        (205, 1, struct.pack("!IIHHHH", 1, 5, 6, 0, 7, 0)),
    ]


def test_an_empty_datagram_is_an_empty_compound() -> None:
    assert parse_compound(b"") == []


def test_padding_is_removed_from_its_packet() -> None:
    padded = bytearray(packets.rtcp(206, 1, struct.pack("!II", 1, 4) + bytes(3) + b"\x04"))
    padded[0] |= 0x20
    assert parse_compound(packets.pli(9) + bytes(padded)) == [
        (206, 1, struct.pack("!II", 1, 9)),
        (206, 1, struct.pack("!II", 1, 4)),
    ]


def test_a_padding_only_packet_has_no_body() -> None:
    padded = bytearray(packets.rtcp(203, 0, bytes(3) + b"\x04"))
    padded[0] |= 0x20
    assert parse_compound(bytes(padded)) == [(203, 0, b"")]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\x40" + packets.pli(1)[1:], id="version 1"),
        pytest.param(packets.pli(1) + b"\x80", id="garbage after a packet"),
        pytest.param(b"\xa0\xc9\0\0", id="padding without a body"),
        pytest.param(b"\xa1" + packets.pli(1)[1:11] + b"\0", id="padding of 0"),
        pytest.param(b"\xa1" + packets.pli(1)[1:11] + b"\x09", id="padding longer than the body"),
        pytest.param(packets.pli(1)[:2] + b"\xff\xff" + packets.pli(1)[4:], id="a length beyond the end"),
    ],
)
def test_a_malformed_compound_is_rejected(data: bytes) -> None:
    assert parse_compound(data) is None


def test_a_compound_truncated_within_a_packet_is_rejected() -> None:
    parts = [packets.sender_report(1, 2, 3), packets.fir(4), packets.nack(5, [6])]
    whole, ends = b"".join(parts), {0, 28, 28 + 20, 28 + 20 + 16}
    assert len(whole) == max(ends)
    for length in range(len(whole) + 1):
        assert (parse_compound(whole[:length]) is not None) == (length in ends)


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x80\xc8\0\x01", b"\xa0\xc9\0\x02"]))
def test_rtcp_parsing_either_stays_within_bounds_or_rejects_the_input(data: bytes, first: bytes) -> None:
    walked = parse_compound(first + data)
    assert walked is None or sum(4 + len(body) for _, _, body in walked) <= len(first + data)


@given(st.integers(0, 65535), st.lists(st.integers(1, 40), min_size=1, max_size=300))
def test_a_nack_lists_exactly_the_missing_packets(first: int, steps: list[int]) -> None:
    numbers = [first]
    for step in steps:
        numbers.append((numbers[-1] + step) & 0xFFFF)
    data = nack_packet(1, 2, numbers)
    (decoded,) = rtp.RtcpPacket.parse(data)
    assert isinstance(decoded, rtp.RtcpRtpfbPacket)
    assert (decoded.fmt, decoded.ssrc, decoded.media_ssrc) == (1, 1, 2)
    missing = [number & 0xFFFF for number in decoded.lost]
    # The next packet gets the remaining numbers.
    assert missing == numbers[: len(missing)]
    assert missing == numbers or (len(data) - 12) // 4 == MAX_ENTRIES
    assert len(data) <= 1200


def test_seventeen_consecutive_numbers_take_one_entry() -> None:
    assert len(nack_packet(1, 2, list(range(100, 117)))) == 16
    assert len(nack_packet(1, 2, list(range(100, 118)))) == 20
