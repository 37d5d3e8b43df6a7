"""The service becomes ready as described in docs/signalling.md, "Over HTTP"."""

import random
from collections.abc import Iterator

import pytest
from aioice.stun import Class, Message, Method

from svc.sfu.network_path import Address, Path
from svc.sfu.readiness import (
    ATTEMPTS,
    MAX_WAIT_S,
    REFRESH_S,
    Readiness,
    Ready,
    Reason,
    Server,
)
from svc.sfu.stun import read_message

SERVER: Server = ("stun.example.org", 3478)
RESOLVED: Address = ("198.51.100.1", 3478)
LOCAL, MAPPED = "10.0.0.2", ("203.0.113.9", 41000)


def probe(*servers: Server, disabled: bool = False) -> Readiness:
    numbers = random.Random(1)
    return Readiness(
        servers, disabled=disabled, transaction_id=lambda: numbers.randbytes(12), jitter=lambda: 1.0
    )


def started(*servers: Server) -> Readiness:
    readiness = probe(*(servers or (SERVER,)))
    readiness.start(0.0)
    return readiness


def requests(readiness: Readiness, *addresses: Address) -> list[tuple[Message, Path]]:
    """Resolve the pending names. Return the requests that are then sent."""
    if readiness.lookups:
        readiness.resolved(addresses or (RESOLVED,))
    readiness.lookups.clear()
    sent = [(read_message(data), path) for data, path in readiness.transmits]
    readiness.transmits.clear()
    return [(message, path) for message, path in sent if message]


def answer(readiness: Readiness, request: Message, path: Path, now: float, mapped: Address = MAPPED) -> None:
    response = Message(Method.BINDING, Class.RESPONSE, request.transaction_id)
    response.attributes["XOR-MAPPED-ADDRESS"] = mapped
    readiness.stun_received(bytes(response), Path(path.remote, LOCAL), now)


def attempts(readiness: Readiness) -> Iterator[float]:
    """Yield the times at which the probe is due while the service is starting."""
    while not readiness.healthy:
        due = readiness.next_deadline()
        assert due is not None
        readiness.advance(due)
        yield due


def test_a_successful_probe_makes_the_service_healthy() -> None:
    readiness = started()
    assert readiness.lookups == [SERVER] and not readiness.healthy
    [(request, path)] = requests(readiness)
    assert path == Path(RESOLVED)
    answer(readiness, request, path, 0.1)
    assert readiness.healthy and readiness.events == [Ready(Reason.ANSWERED)]


def test_disable_stun_skips_the_probe() -> None:
    readiness = probe(SERVER, disabled=True)
    readiness.start(0.0)
    assert readiness.events == [Ready(Reason.SKIPPED)] and readiness.healthy
    assert readiness.next_deadline() is None and not readiness.lookups


def test_no_stun_servers_skips_the_probe() -> None:
    readiness = probe()
    readiness.start(0.0)
    assert readiness.events == [Ready(Reason.SKIPPED)] and readiness.next_deadline() is None


def test_eight_failed_attempts_make_the_service_healthy_anyway() -> None:
    readiness = started()
    count = len(requests(readiness))
    for _ in attempts(readiness):
        assert not readiness.events or readiness.events == [Ready(Reason.UNANSWERED)]
        count += 0 if readiness.healthy else len(requests(readiness))
    assert count == ATTEMPTS == 8


def test_the_interval_between_attempts_grows_to_5_s() -> None:
    times = list(attempts(started()))
    waits = [after - before for before, after in zip([0.0, *times], times, strict=False)]
    assert waits == [0.5, 1, 2, 4, 5, 5, 5, 5] and max(waits) == MAX_WAIT_S


def test_a_name_that_cannot_be_resolved_counts_as_a_failed_attempt_and_is_retried() -> None:
    readiness = started()
    readiness.lookups.clear()
    readiness.resolved(())
    readiness.advance(0.5)
    assert readiness.lookups == [SERVER] and not readiness.transmits


def test_a_late_response_to_an_earlier_attempt_is_accepted() -> None:
    readiness = started()
    [(request, path)] = requests(readiness)
    readiness.advance(0.5)
    readiness.advance(1.5)
    answer(readiness, request, path, 2.0)
    assert readiness.events == [Ready(Reason.ANSWERED)]


def test_a_server_is_queried_once_over_ipv4_and_once_over_ipv6() -> None:
    addresses = [("198.51.100.1", 1), ("198.51.100.2", 1), ("2001:db8::1", 1), ("2001:db8::2", 1)]
    remotes = [path.remote for _, path in requests(started(), *addresses)]
    assert sorted(remotes) == [("198.51.100.1", 1), ("2001:db8::1", 1)]


def test_the_external_address_is_read_from_the_stun_response() -> None:
    readiness = started()
    [(request, path)] = requests(readiness)
    answer(readiness, request, path, 0.1)
    assert readiness.mapped == {LOCAL: MAPPED}


def test_a_healthy_service_sends_a_request_every_25_s_so_that_the_mapping_stays_open() -> None:
    readiness = started()
    [(request, path)] = requests(readiness)
    answer(readiness, request, path, 0.1)
    for round_number in (1, 2):
        due = readiness.next_deadline()
        assert due is not None and due == pytest.approx(0.1 + REFRESH_S * round_number)
        readiness.advance(due)
        assert readiness.lookups == [], "a server that answered gets the next request without a lookup"
        [(request, path)] = requests(readiness)
        answer(readiness, request, path, due, ("203.0.113.10", 1))
    assert readiness.mapped == {LOCAL: ("203.0.113.10", 1)}
    assert len(readiness.events) == 1


def test_the_name_of_a_server_that_falls_silent_is_looked_up_again() -> None:
    readiness = started()
    [(request, path)] = requests(readiness)
    answer(readiness, request, path, 0.0)
    readiness.advance(REFRESH_S)
    readiness.advance(2 * REFRESH_S)
    assert readiness.lookups == [SERVER] and readiness.healthy


def test_the_nat_mapping_is_discovered_even_if_the_internet_returns_later() -> None:
    readiness = started()
    *_, now = attempts(readiness)
    [(request, path)] = requests(readiness)
    answer(readiness, request, path, now + 0.1)
    assert readiness.mapped == {LOCAL: MAPPED} and readiness.events == [Ready(Reason.UNANSWERED)]


def test_only_a_response_from_the_queried_server_is_accepted() -> None:
    readiness = started()
    [(request, path)] = requests(readiness)
    stranger = Message(Method.BINDING, Class.RESPONSE, bytes(12))
    answer(readiness, stranger, path, 0.1)
    answer(readiness, request, Path(("198.51.100.66", 3478)), 0.1)
    answer(readiness, request, path, 0.1, ("224.0.0.1", 1))
    for garbage in (b"", bytes(20), bytes(request)):
        readiness.stun_received(garbage, path, 0.1)
    assert not readiness.healthy
    assert readiness.dropped == {"not asked": 2, "useless answer": 1, "no answer": 3}
