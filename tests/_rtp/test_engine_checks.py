"""The engine responds to connectivity checks, passes DTLS to Python, and reports new and silent paths."""

import pytest
from aioice import stun

from tests.kit.participant import SERVER, Participant, deliver, new_engine


def test_a_response_to_a_check_contains_its_source_address() -> None:
    engine = new_engine()
    alice = Participant(engine, 1001)
    deliver(engine, alice)
    answer = stun.parse_message(alice.other[0])
    assert answer.message_class is stun.Class.RESPONSE
    assert answer.attributes["XOR-MAPPED-ADDRESS"] == alice.address
    assert answer.check_message_integrity(alice.pwd.encode())


def test_a_check_with_a_wrong_password_is_dropped_silently() -> None:
    engine = new_engine()
    alice = Participant(engine, 1001)
    engine.take_datagrams()
    engine.take_events()
    alice.check(1.0, pwd="wrong" * 5)
    assert engine.take_datagrams() == []
    assert engine.take_events() == []
    assert engine.counters()["dropped_stun"] == 1


def test_a_check_with_the_same_ice_role_is_passed_to_python_unanswered() -> None:
    engine = new_engine()
    alice = Participant(engine, 1001)
    engine.take_datagrams()
    engine.take_events()
    alice.check(1.0, role="ICE-CONTROLLING")
    assert engine.take_datagrams() == []
    assert [event[0] for event in engine.take_events()] == ["stun"]


def test_a_path_is_reported_when_it_is_found_and_when_it_is_nominated() -> None:
    engine = new_engine()
    alice = Participant(engine, 1001)
    for nominate in (False, False, True, True):
        alice.check(1.0, use_candidate=nominate)
    assert [(kind, b) for kind, _, _, _, _, _, b, _ in engine.take_events()] == [("check", 0), ("check", 1)]


def test_checks_from_the_previous_ice_generation_still_get_responses() -> None:
    engine = new_engine()
    alice = Participant(engine, 1001)
    engine.set_credentials(alice.transport, "second", "password" * 3)
    engine.take_datagrams()
    alice.check(1.0)
    assert len(engine.take_datagrams()) == 1
    engine.set_credentials(alice.transport, "third", "password" * 3)
    alice.check(2.0)
    assert engine.take_datagrams() == []


def test_dtls_is_passed_to_python_only_from_a_validated_path() -> None:
    engine = new_engine()
    alice = Participant(engine, 1001, keyed=False)
    engine.take_events()
    engine.receive(b"\x16\xfe\xfd" + bytes(30), alice.address, SERVER, 1.0)
    engine.receive(b"\x16\xfe\xfd" + bytes(30), ("203.0.113.9", 9), SERVER, 1.0)
    assert [(event[0], event[1]) for event in engine.take_events()] == [("dtls", alice.transport)]


def test_responses_to_the_services_own_requests_are_recognised_by_transaction_id() -> None:
    engine = new_engine()
    response = stun.Message(
        message_method=stun.Method.BINDING,
        message_class=stun.Class.RESPONSE,
        transaction_id=engine.transaction_prefix(33) + b"rand",
    )
    engine.receive(bytes(response), ("203.0.113.9", 9), SERVER, 1.0)
    response.transaction_id = bytes(12)
    engine.receive(bytes(response), ("203.0.113.9", 9), SERVER, 1.0)
    assert [(event[0], event[1], event[2][8:16]) for event in engine.take_events()] == [
        ("stun", 33, engine.transaction_prefix(33))
    ]


def test_two_engines_with_different_seeds_tag_their_requests_differently() -> None:
    assert new_engine(1 << 32).transaction_prefix(1) != new_engine(2 << 32).transaction_prefix(1)


def test_a_path_is_reported_again_in_each_ice_generation() -> None:
    engine = new_engine()
    alice = Participant(engine, 1001)
    alice.check(1.0)
    first = alice.ufrag, alice.pwd
    engine.set_credentials(alice.transport, "second", "password" * 3)
    alice.ufrag, alice.pwd = "second", "password" * 3
    engine.take_events()
    alice.check(2.0)
    alice.check(2.1)
    # The client's old ICE generation continues for a while on the same socket.
    alice.ufrag, alice.pwd = first
    alice.check(2.2)
    assert [(event[0], event[7]) for event in engine.take_events()] == [("check", 2)]


@pytest.mark.parametrize(
    ("between_s", "silent_s"),
    [(0.1, 1.5), (0.25, 1.5), (1.0, 2.6)],
    ids=["the queue was full", "a silent voice", "only checks arrived"],
)
def test_a_busy_path_that_falls_silent_is_reported_sooner(between_s: float, silent_s: float) -> None:
    engine = new_engine()
    alice = Participant(engine, 1001)
    now = 1.0
    while now < 5:
        alice.check(now)
        now += between_s
    last = now - between_s
    engine.take_events()
    while not engine.take_events():
        engine.advance(now)
        now += 0.05
    # The engine checks for silence every half second.
    assert silent_s < now - last < silent_s + 0.6


def test_a_silent_path_and_its_return_are_each_reported_once() -> None:
    engine = new_engine()
    alice = Participant(engine, 1001)
    bob = Participant(engine, 1002)
    engine.take_events()
    for tenth in range(1, 60):
        engine.advance(1 + tenth / 10)
        if tenth % 10 == 0:
            bob.check(1 + tenth / 10)
    events = [(event[0], event[1], event[5]) for event in engine.take_events()]
    assert events == [("silent", alice.transport, 1)]
    alice.check(7.5)
    alice.check(7.6)
    assert [event[0] for event in engine.take_events()] == ["silent"]
    engine.advance(10.0)
    engine.advance(10.5)
    assert ("silent", alice.transport, 1) in [
        (event[0], event[1], event[5]) for event in engine.take_events()
    ]
