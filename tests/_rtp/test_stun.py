"""aioice accepts the core's STUN responses, and the core rejects unauthenticated messages."""

import hmac
import ipaddress
import struct

import pytest
from aioice import stun
from hypothesis import given
from hypothesis import strategies as st

from svc._rtp.stun import answer_request

PASSWORD = b"a password of 22 chars"
IPV4 = ("198.51.100.7", 40000)
IPV6 = ("2001:db8::7", 40000)
ATTRIBUTE_PADDING = 4


def source(address: tuple[str, int]) -> tuple[bytes, int]:
    ip = ipaddress.ip_address(address[0])
    packed = ip.packed if ip.version == 6 else bytes(10) + b"\xff\xff" + ip.packed
    return packed, address[1]


def request(*, password: bytes = PASSWORD, fingerprint: bool = True, username: str = "ours:theirs") -> bytes:
    message = stun.Message(
        message_method=stun.Method.BINDING, message_class=stun.Class.REQUEST, transaction_id=b"transaction!"
    )
    message.attributes["USERNAME"] = username
    message.attributes["PRIORITY"] = 1234
    message.attributes["ICE-CONTROLLED"] = 99
    message.add_message_integrity(password)
    if not fingerprint:
        del message.attributes["FINGERPRINT"]
    return bytes(message)


def attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % ATTRIBUTE_PADDING)


def by_hand(before: bytes, after: bytes = b"") -> bytes:
    """Return a request with the attributes `before`, then MESSAGE-INTEGRITY, then the attributes `after`."""
    header = struct.pack("!HHI", 1, len(before) + 24, 0x2112A442) + b"transaction!"
    digest = hmac.digest(PASSWORD, header + before, "sha1")
    length = struct.pack("!H", len(before) + 24 + len(after))
    return header[:2] + length + header[4:] + before + attribute(8, digest) + after


def answer(
    data: bytes, password: bytes = PASSWORD, address: tuple[str, int] = IPV4
) -> tuple[bytes, bytes] | None:
    return answer_request(data, password, source(address))


@pytest.mark.parametrize("address", [IPV4, IPV6])
@pytest.mark.parametrize("fingerprint", [True, False])
def test_an_authentic_request_is_answered_with_its_source_address(
    address: tuple[str, int], fingerprint: bool
) -> None:
    answered = answer(request(fingerprint=fingerprint), address=address)
    assert answered is not None
    ufrag, data = answered
    assert ufrag == b"ours"
    # aioice checks the fingerprint while parsing.
    message = stun.parse_message(data)
    assert "FINGERPRINT" in message.attributes
    assert message.check_message_integrity(PASSWORD)
    assert (message.message_class, message.transaction_id) == (stun.Class.RESPONSE, b"transaction!")
    assert message.attributes["XOR-MAPPED-ADDRESS"] == address


def test_a_request_with_another_password_is_rejected() -> None:
    assert answer(request(password=b"another password")) is None


# Every byte except the type of the last attribute, because the core ignores every type except FINGERPRINT.
@pytest.mark.parametrize("at", [at for at in range(len(request())) if at - len(request()) not in (-8, -7)])
def test_a_request_with_any_byte_changed_is_rejected(at: int) -> None:
    for bit in (0x01, 0x80):
        data = bytearray(request())
        data[at] ^= bit
        assert answer(bytes(data)) is None


def test_a_truncated_request_is_rejected() -> None:
    whole = request()
    for length in range(len(whole)):
        assert answer(whole[:length]) is None
        # The length in the header may match the truncated request.
        if length >= 20:
            shortened = whole[:2] + struct.pack("!H", length - 20) + whole[4:length]
            cut_after_integrity = length == len(request(fingerprint=False))
            assert (answer(shortened) is not None) == cut_after_integrity


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(b"", id="no user name"),
        pytest.param(attribute(6, b"no colon"), id="a user name without a colon"),
        pytest.param(attribute(6, b":theirs"), id="our name is empty"),
        pytest.param(attribute(6, b""), id="an empty user name"),
    ],
)
def test_a_request_without_a_user_name_is_rejected(before: bytes) -> None:
    assert answer(by_hand(before)) is None


def test_attributes_after_the_integrity_are_ignored() -> None:
    impostor = attribute(6, b"impostor:x") + attribute(0x25, b"")
    answered = answer(by_hand(attribute(6, b"ours:x"), impostor))
    assert answered is not None
    assert answered[0] == b"ours"


def test_only_the_first_user_name_attribute_is_used() -> None:
    twice = attribute(6, b"o" * 300 + b":x") + attribute(6, b"p")
    answered = answer(by_hand(twice))
    assert answered is not None
    assert answered[0] == b"o" * 300


def test_a_fingerprint_that_is_not_last_is_rejected() -> None:
    whole = request()
    fingerprint = whole[-8:]
    data = by_hand(attribute(6, b"ours:x"), fingerprint + attribute(0x9999, b"more"))
    assert answer(data) is None


@given(st.binary(max_size=200))
def test_a_request_with_any_attributes_is_answered_or_rejected(attributes: bytes) -> None:
    padded = attributes + bytes(-len(attributes) % ATTRIBUTE_PADDING)
    answered = answer(by_hand(padded, b""))
    assert answered is None or answered[0]
