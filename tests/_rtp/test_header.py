"""RTP headers in every form allowed by RFC 8285 are parsed, and rewritten for a receiver."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc._rtp.header import parse_header, rewrite_header
from tests.kit import packets

ONE_BYTE_IDS = st.integers(1, 14)
ONE_BYTE_VALUES = st.binary(min_size=1, max_size=16)
ONE_BYTE_ELEMENTS = st.lists(st.tuples(ONE_BYTE_IDS, ONE_BYTE_VALUES), max_size=20)
TWO_BYTE_ELEMENTS = st.lists(st.tuples(st.integers(1, 255), st.binary(max_size=40)), max_size=20)


def packet(
    extensions: bytes = b"", payload: bytes = b"payload", padding: int = 0, csrcs: tuple[int, ...] = ()
) -> bytes:
    return packets.rtp(
        ssrc=0xAABBCCDD,
        sequence=0x1234,
        payload_type=96,
        timestamp=0x55667788,
        marker=True,
        extensions=extensions,
        csrcs=csrcs,
        payload=payload,
        padding=padding,
    )


def block(profile: int, body: bytes) -> bytes:
    return struct.pack("!HH", profile, len(body) // 4) + body


def elements(data: bytes) -> list[tuple[int, bytes]]:
    parsed = parse_header(data)
    assert parsed is not None
    return parsed["extensions"]


def body(data: bytes) -> bytes:
    """Return the payload, including its padding."""
    parsed = parse_header(data)
    assert parsed is not None
    return data[parsed["payload_offset"] :]


def rewritten(
    data: bytes, *, mixed: bool = True, ids: dict[int, int], mid: tuple[int, bytes] | None = None
) -> bytes:
    result = rewrite_header(data, ssrc=1, sequence=2, payload_type=3, ext_ids=ids, mixed=mixed, mid=mid)
    assert result is not None
    return result


EVERY_ID = {ext_id: ext_id for ext_id in range(1, 256)}


# --- reading ---


def test_the_fixed_header_fields_are_parsed() -> None:
    assert parse_header(packet()) == {
        "marker": True,
        "payload_type": 96,
        "sequence": 0x1234,
        "timestamp": 0x55667788,
        "ssrc": 0xAABBCCDD,
        "padding": 0,
        "payload_offset": 12,
        "payload_length": 7,
        "extensions": [],
    }


def test_contributing_sources_are_skipped() -> None:
    parsed = parse_header(packet(csrcs=(1, 2, 3)))
    assert parsed is not None
    assert (parsed["payload_offset"], parsed["payload_length"]) == (24, 7)


def test_padding_is_not_part_of_the_payload() -> None:
    parsed = parse_header(packet(padding=5))
    assert parsed is not None
    assert (parsed["payload_length"], parsed["padding"]) == (7, 5)


@pytest.mark.parametrize(
    ("extensions", "expected"),
    [
        pytest.param(
            block(0xBEDE, b"\x10A\x2fBBBBBBBBBBBBBBBB\0"), [(1, b"A"), (2, b"B" * 16)], id="one-byte"
        ),
        pytest.param(
            block(0x1000, b"\x01\x01A\x63\x00\x10\x01C"), [(1, b"A"), (99, b""), (16, b"C")], id="two-byte"
        ),
        pytest.param(block(0x100F, b"\x01\x02AB"), [(1, b"AB")], id="two-byte with application bits"),
        pytest.param(
            block(0xBEDE, b"\0\0\x10A\0\x20B\0"), [(1, b"A"), (2, b"B")], id="padding between elements"
        ),
        pytest.param(block(0x1000, b"\0\x01\x01A\0\0\0\0"), [(1, b"A")], id="padding in the two-byte form"),
        pytest.param(block(0xBEDE, b"\x10A\xf0\x20"), [(1, b"A")], id="id 15 ends the one-byte form"),
        pytest.param(block(0x1000, b"\x0f\x02AB"), [(15, b"AB")], id="id 15 is an id of the two-byte form"),
        pytest.param(
            block(0xBEDE, b"\x20B\x02AAA\x10C"), [(2, b"B")], id="id 0 with a length ends the one-byte form"
        ),
        pytest.param(block(0xBEDE, b"\x10A\0\x2f"), [(1, b"A")], id="a one-byte element too long"),
        pytest.param(block(0x1000, b"\x01\x01A\x02"), [(1, b"A")], id="a two-byte element without length"),
        pytest.param(block(0x1000, b"\x01\x03AB"), [], id="a two-byte element over the block's end"),
        pytest.param(block(0xABCD, b"\x10A\x20B"), [], id="an unknown profile"),
        pytest.param(block(0xBEDE, b""), [], id="an empty block"),
        pytest.param(block(0xBEDE, bytes(8)), [], id="a block of padding"),
    ],
)
def test_extension_elements_are_found(extensions: bytes, expected: list[tuple[int, bytes]]) -> None:
    assert elements(packet(extensions)) == expected
    assert body(packet(extensions)) == b"payload"


def test_elements_after_the_twentieth_are_skipped() -> None:
    many = packets.two_byte_extensions([(n, bytes([n])) for n in range(1, 31)])
    assert [ext_id for ext_id, _ in elements(packet(many))] == list(range(1, 21))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x40" + packet()[1:], id="version 1"),
        pytest.param(packet()[:11], id="a fixed header cut short"),
        pytest.param(packet(csrcs=(1,) * 15)[:71], id="contributing sources cut short"),
        pytest.param(
            packet(b"\xbe\xde\0\x05" + bytes(4), payload=b"twelve bytes"), id="a block longer than the packet"
        ),
        pytest.param(
            packet(payload=b"abc\0", padding=0)[:0] + b"\xa0" + packet(payload=b"abc\0")[1:],
            id="padding of 0",
        ),
        pytest.param(b"\xa0" + packet(payload=b"abc\x05")[1:], id="padding longer than the payload"),
        pytest.param(b"\xa0" + packet(payload=b"")[1:], id="padding without its length byte"),
    ],
)
def test_a_malformed_packet_is_rejected(data: bytes) -> None:
    assert parse_header(data) is None


@pytest.mark.parametrize(
    "extensions", [block(0xBEDE, b"\x10A\x2fBBBBBBBBBBBBBBBB\0"), block(0x1000, b"\x01\x01A\x63\0\0\0\0")]
)
def test_a_packet_truncated_anywhere_in_its_header_is_rejected(extensions: bytes) -> None:
    whole = packet(extensions, payload=b"", csrcs=(7, 8))
    assert parse_header(whole) is not None
    for length in range(len(whole)):
        assert parse_header(whole[:length]) is None


@given(st.binary(max_size=120), st.sampled_from([b"", b"\x90", b"\x91", b"\xb0"]))
def test_header_parsing_either_stays_within_bounds_or_rejects_the_input(data: bytes, first: bytes) -> None:
    parsed = parse_header(first + data)
    if parsed is None:
        return
    assert parsed["payload_offset"] + parsed["payload_length"] + parsed["padding"] == len(first + data)
    assert all(len(value) <= len(data) for _, value in parsed["extensions"])


# --- writing ---


def test_the_receivers_fields_replace_the_senders() -> None:
    parsed = parse_header(rewritten(packet(csrcs=(1, 2)), ids={}))
    assert parsed is not None
    assert (parsed["ssrc"], parsed["sequence"], parsed["payload_type"], parsed["payload_offset"]) == (
        1,
        2,
        3,
        12,
    )
    assert (parsed["timestamp"], parsed["marker"]) == (0x55667788, True)


def test_extension_ids_are_translated_and_unknown_extensions_omitted() -> None:
    data = packet(packets.one_byte_extensions([(1, b"a"), (2, b"b"), (3, b"c")]))
    assert elements(rewritten(data, ids={1: 5, 3: 1})) == [(5, b"a"), (1, b"c")]


def test_the_mid_is_the_first_extension_element() -> None:
    data = packet(packets.one_byte_extensions([(1, b"a")]))
    assert elements(rewritten(data, ids={1: 1}, mid=(4, b"video"))) == [(4, b"video"), (1, b"a")]


def test_no_empty_extension_block_is_written() -> None:
    data = packet(packets.one_byte_extensions([(1, b"a")]))
    assert rewritten(data, ids={})[0] == 0x80


@pytest.mark.parametrize("mixed", [True, False])
def test_the_two_byte_form_is_used_only_if_the_receiver_accepted_it(mixed: bool) -> None:
    long = (2, bytes(17))
    data = packet(packets.two_byte_extensions([(1, b"a"), long]))
    result = rewritten(data, mixed=mixed, ids=EVERY_ID)
    profile = int.from_bytes(result[12:14], "big")
    assert profile == (0x1000 if mixed else 0xBEDE)
    assert elements(result) == ([(1, b"a"), long] if mixed else [(1, b"a")])


@given(
    form=st.sampled_from(["one", "two"]),
    data=st.data(),
    payload=st.binary(min_size=1, max_size=60),
    padding=st.sampled_from([0, 1, 255]),
    csrcs=st.integers(0, 15),
    mixed=st.booleans(),
    mid=st.none() | st.tuples(ONE_BYTE_IDS, ONE_BYTE_VALUES),
)
def test_forwarded_extensions_keep_their_values_and_the_payload_is_unchanged(
    form: str,
    data: st.DataObject,
    payload: bytes,
    padding: int,
    csrcs: int,
    mixed: bool,
    mid: tuple[int, bytes] | None,
) -> None:
    sent = data.draw(ONE_BYTE_ELEMENTS if form == "one" else TWO_BYTE_ELEMENTS)
    accepted = data.draw(st.sets(st.integers(1, 255)) | st.just(set(range(1, 256))))
    write = packets.one_byte_extensions if form == "one" else packets.two_byte_extensions
    original = packet(write(sent), payload=payload, padding=padding, csrcs=tuple(range(csrcs)))
    result = rewritten(original, mixed=mixed, ids={ext_id: ext_id for ext_id in accepted}, mid=mid)

    def fits(element: tuple[int, bytes]) -> bool:
        return element[0] < 15 and 1 <= len(element[1]) <= 16

    wanted = [element for element in sent if element[0] in accepted and (mixed or fits(element))]
    expected = ([mid] if mid else []) + wanted
    # With the mid, there may be one element more than the parser reads.
    assert elements(result) == expected[:20]
    assert body(result) == body(original)
    two_byte = len(result) > 14 and result[0] & 0x10 and result[12:14] == b"\x10\x00"
    assert bool(two_byte) == (mixed and not all(fits(element) for element in wanted))
