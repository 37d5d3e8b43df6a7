"""Tests media that arrives from a new address, sent by a participant behind a NAT or by an attacker.

See docs/ice.md, "The path follows its peer".
"""

import pytest

from tests.kit import packets
from tests.kit.call import Call, sequences
from tests.kit.participant import SERVER, deliver, video

ELSEWHERE = ("203.0.113.9", 5)


def checks(call: Call) -> list[object]:
    """Return the remote addresses of the paths that were reported to Python."""
    return [event[3] for event in call.engine.take_events() if event[0] == "check"]


def begun(profile: str = "AEAD_AES_128_GCM") -> Call:
    call = Call(profile=profile)
    call.send(1, 1.0)
    call.engine.take_events()
    return call


@pytest.mark.parametrize("profile", ["AEAD_AES_128_GCM", "AES_CM_128_HMAC_SHA1_80"])
def test_media_from_another_address_is_accepted_immediately_and_its_path_reported_once(profile: str) -> None:
    call = begun(profile)
    for number in (2, 3):
        call.engine.receive(call.alice.outbound.protect(video(number)), ELSEWHERE, SERVER, 1.1)
    call.deliver()
    first = sequences(call.bob)[0]
    assert sequences(call.bob) == [first, first + 1, first + 2]
    assert checks(call) == [ELSEWHERE]


def test_reports_from_another_address_reveal_the_listeners_new_path() -> None:
    call = begun()
    report = packets.rtcp(201, 0, (77_777).to_bytes(4, "big"))
    call.bob.send_rtcp(report, 1.0)
    call.engine.take_events()
    call.engine.receive(call.bob.outbound.protect_rtcp(report), ELSEWHERE, SERVER, 1.1)
    assert checks(call) == [ELSEWHERE]


def test_media_stays_on_its_path_until_python_changes_it() -> None:
    call = begun()
    call.bob.send_rtcp(packets.rtcp(201, 0, (77_777).to_bytes(4, "big")), 1.0)
    data = call.bob.outbound.protect_rtcp(packets.rtcp(201, 0, (77_777).to_bytes(4, "big")))
    call.engine.receive(data, ELSEWHERE, SERVER, 1.1)
    call.alice.send(video(2), 1.2)
    assert {remote for _, remote, _ in call.engine.take_datagrams()} == {call.bob.address}


def test_packets_replayed_from_another_address_do_not_change_the_path() -> None:
    call = begun()
    data = call.alice.outbound.protect(video(2))
    call.engine.receive(data, call.alice.address, SERVER, 1.0)
    call.engine.receive(data, ELSEWHERE, SERVER, 1.1)
    assert checks(call) == []
    assert call.engine.counters()["dropped_unknown_source"] == 1


def test_an_attacker_who_knows_an_ssrc_cannot_make_the_core_decrypt_many_packets() -> None:
    call = begun()
    for number in range(50):
        data = bytearray(call.alice.outbound.protect(video(2 + number)))
        data[-1] ^= 1
        call.engine.receive(bytes(data), ELSEWHERE, SERVER, 1.1)
    counters = call.engine.counters()
    assert (counters["dropped_unknown_source"], counters["dropped_unauthenticated"]) == (50, 1)
    call.engine.receive(call.alice.outbound.protect(video(60)), ELSEWHERE, SERVER, 1.2)
    assert checks(call) == [ELSEWHERE]


def test_nobody_can_take_over_the_address_of_another_participant() -> None:
    call = begun()
    call.engine.receive(call.alice.outbound.protect(video(2)), call.bob.address, SERVER, 1.1)
    assert checks(call) == []
    call.alice.send(video(3), 1.2)
    deliver(call.engine, call.alice, call.bob)
    assert len(call.bob.media) == 2


def test_the_ssrcs_of_a_former_participant_belong_to_nobody() -> None:
    call = begun()
    call.engine.close_transport(call.alice.transport)
    call.engine.take_events()
    call.engine.receive(call.alice.outbound.protect(video(2)), ELSEWHERE, SERVER, 1.1)
    assert checks(call) == []
