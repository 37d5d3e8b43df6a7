"""Two instances of the ICE agent connect to each other over an in-memory network."""

import random
from itertools import pairwise

import pytest
from aioice.stun import Class, Message, Method

from svc.sfu.candidates import Candidate, host_candidates
from svc.sfu.checklist import MAX_CHECKS, MAX_REMOTE_CANDIDATES, RESERVED_CHECKS
from svc.sfu.consent import EXPIRY_S
from svc.sfu.ice import PATIENCE_S, IceAgent, IceCredentials
from svc.sfu.ice_states import State
from svc.sfu.network_path import BindingCheck, ConsentExpired, Failed, Path, RoleChanged, Selected
from svc.sfu.stun import read_message
from tests.kit.ice_peer import PORT, IcePeer
from tests.kit.network import Network

SERVER, CLIENT = "192.0.2.1", "198.51.100.7"
REMOTE = IceCredentials("remote", "remote-password-of-22-chars")


def pair_of_peers(network: Network, *, client_ips: tuple[str, ...] = (CLIENT,)) -> tuple[IcePeer, IcePeer]:
    return IcePeer(network, SERVER, seed=1), IcePeer(network, *client_ips, seed=2, controlling=False)


def connect(network: Network, server: IcePeer, client: IcePeer, *, within_s: float = 5.0) -> bool:
    client.connect(server)
    server.connect(client)
    return network.run_until(
        lambda: State.CONNECTED is server.agent.state is client.agent.state, within_s=within_s
    )


def host(ip: str, port: int = 5000, *, rank: int = 2**31 - 1, ufrag: str | None = None) -> Candidate:
    return Candidate("1", rank, (ip, port), "host", ufrag=ufrag)


def lone_agent(*ips: str) -> IceAgent:
    """Return an agent whose peer is simulated by the test."""
    numbers = random.Random(3)
    return IceAgent(
        local=IceCredentials.generate(numbers.randbytes),
        local_candidates=host_candidates(port=PORT, interfaces=ips or (SERVER,), bound=ips or (SERVER,)),
        transaction_id=lambda: numbers.randbytes(12),
        tie_breaker=5,
        random=numbers.random,
    )


def checks(agent: IceAgent) -> list[tuple[Message, Path]]:
    """Return the messages that the agent has sent since the last call."""
    sent = [(read_message(data), path) for data, path in agent.transmits]
    agent.transmits.clear()
    return [(message, path) for message, path in sent if message is not None]


def answer(request: Message, *, pwd: str = REMOTE.pwd, code: int | None = None) -> bytes:
    response = Message(Method.BINDING, Class.RESPONSE, request.transaction_id)
    if code is None:
        response.attributes["XOR-MAPPED-ADDRESS"] = (SERVER, PORT)
    else:
        response.message_class = Class.ERROR
        response.attributes["ERROR-CODE"] = (code, "refused")
    response.add_message_integrity(pwd.encode())
    return bytes(response)


def started(*candidates: Candidate, agent: IceAgent | None = None) -> IceAgent:
    agent = agent or lone_agent()
    agent.set_remote(REMOTE.ufrag, REMOTE.pwd, 0.0)
    for candidate in candidates:
        agent.add_remote_candidate(candidate, 0.0)
    return agent


def run(agent: IceAgent, until: float) -> None:
    """Advance the clock through every deadline, without responding to the agent's checks."""
    steps = 0
    while (deadline := agent.next_deadline()) is not None and deadline <= until:
        agent.advance(deadline)
        steps += 1
        assert steps < 10_000, "a deadline stays due forever"
    agent.advance(until)


def selected_agent() -> IceAgent:
    agent = started(host(CLIENT))
    for _ in ("check", "nomination"):
        [(request, path)] = checks(agent)
        agent.stun_received(answer(request), path, 0.0)
    assert agent.state is State.CONNECTED
    agent.events.clear()
    return agent


def test_two_agents_select_the_same_path_within_four_one_way_delays_of_the_answer() -> None:
    network = Network(delay_s=(0.01, 0.01))
    server, client = pair_of_peers(network)
    began = network.now
    assert connect(network, server, client)
    assert server.selected == Path((CLIENT, PORT), SERVER)
    assert client.selected == Path((SERVER, PORT), CLIENT)
    assert network.now - began <= 0.041


@pytest.mark.parametrize("seed", range(40))
def test_two_agents_connect_despite_loss_and_reordering(seed: int) -> None:
    network = Network(seed=seed, loss=0.3, delay_s=(0.005, 0.15))
    server, client = pair_of_peers(network)
    assert connect(network, server, client, within_s=PATIENCE_S)
    assert server.selected == Path((CLIENT, PORT), SERVER)


def test_two_agents_connect_over_ipv6() -> None:
    network = Network()
    server = IcePeer(network, "2001:db8::1", seed=1)
    client = IcePeer(network, "2001:db8:1::2", seed=2, controlling=False)
    assert connect(network, server, client)
    assert server.selected == Path(("2001:db8:1::2", PORT), "2001:db8::1")


def test_a_peer_without_candidates_is_found_by_its_own_checks() -> None:
    network = Network()
    server, client = pair_of_peers(network)
    client.connect(server)
    server.agent.set_remote(client.agent.local.ufrag, client.agent.local.pwd, network.now)
    assert network.run_until(lambda: server.selected is not None, within_s=1)


def test_checks_that_arrive_before_the_answer_count_once_it_arrives() -> None:
    network = Network()
    server, client = pair_of_peers(network)
    client.connect(server)
    network.run_for(1)
    assert not server.agent.transmits and server.agent.state is State.WAITING
    server.agent.set_remote(client.agent.local.ufrag, client.agent.local.pwd, network.now)
    server.drain()
    assert network.run_until(lambda: server.selected is not None, within_s=0.1)


def test_candidates_that_arrive_before_the_answer_wait_for_it() -> None:
    agent = lone_agent()
    for number in range(MAX_REMOTE_CANDIDATES + 5):
        agent.add_remote_candidate(host(CLIENT, 5000 + number), 0.0)
    assert not agent.transmits and agent.next_deadline() is None
    assert agent.dropped["candidate: too many candidates"] == 5
    started(agent=agent)
    assert checks(agent)[0][1] == Path((CLIENT, 5000), SERVER)


def test_an_early_candidate_from_another_generation_is_dropped() -> None:
    agent = lone_agent()
    agent.add_remote_candidate(host(CLIENT, ufrag="older"), 0.0)
    agent.add_remote_candidate(host(CLIENT, 5001, ufrag=REMOTE.ufrag), 0.0)
    started(agent=agent)
    assert [path.remote for _, path in checks(agent)] == [(CLIENT, 5001)]
    assert agent.dropped["candidate: another generation"] == 1


def test_a_check_has_the_attributes_of_rfc_8445_section_7_2_2() -> None:
    agent = started(host(CLIENT))
    [(request, _)] = checks(agent)
    assert request.attributes["USERNAME"] == f"{REMOTE.ufrag}:{agent.local.ufrag}"
    assert request.attributes["ICE-CONTROLLING"] == agent.tie_breaker
    assert request.attributes["PRIORITY"] >> 24 == 110
    assert "USE-CANDIDATE" not in request.attributes
    assert request.check_message_integrity(REMOTE.pwd.encode())
    assert "FINGERPRINT" in request.attributes


def test_the_only_valid_pair_is_nominated_immediately() -> None:
    agent = started(host(CLIENT))
    [(request, path)] = checks(agent)
    agent.stun_received(answer(request), path, 0.01)
    [(nomination, _)] = checks(agent)
    assert "USE-CANDIDATE" in nomination.attributes
    agent.stun_received(answer(nomination), path, 0.02)
    assert agent.events == [Selected(path)]


def test_a_valid_pair_waits_50_ms_for_a_better_one() -> None:
    agent = started(host("198.51.100.1"), host("198.51.100.2", rank=1))
    run(agent, 0.02)
    (_, better), (request, path) = checks(agent)
    assert better.remote[0] == "198.51.100.1"
    agent.stun_received(answer(request), path, 0.03)
    assert checks(agent) == []
    assert agent.next_deadline() == pytest.approx(0.08)
    agent.advance(0.08)
    [(nomination, nominated)] = checks(agent)
    assert "USE-CANDIDATE" in nomination.attributes and nominated == path


def test_a_tcp_connection_waits_longer_for_udp() -> None:
    agent = started(host("198.51.100.1"))
    connection = Path((CLIENT, 5001, 4096), SERVER)
    agent.check_received(BindingCheck(connection, 1, use_candidate=False), 0.0)
    run(agent, 0.1)
    (request,) = [request for request, path in checks(agent) if path == connection]
    agent.stun_received(answer(request), connection, 0.1)
    run(agent, 0.34)
    assert not any("USE-CANDIDATE" in request.attributes for request, _ in checks(agent))
    agent.advance(0.36)
    [(nomination, nominated)] = checks(agent)
    assert "USE-CANDIDATE" in nomination.attributes and nominated == connection


def test_a_better_pair_is_nominated_if_it_becomes_valid_in_time() -> None:
    agent = started(host("198.51.100.1"), host("198.51.100.2", rank=1))
    run(agent, 0.02)
    (first, better), (second, worse) = checks(agent)
    agent.stun_received(answer(second), worse, 0.03)
    agent.stun_received(answer(first), better, 0.04)
    assert [path for _, path in checks(agent)] == [better]


def test_if_a_nomination_is_lost_the_next_valid_pair_is_nominated() -> None:
    agent = started(host("198.51.100.1"), host("198.51.100.2", rank=1))
    run(agent, 0.02)
    sent = checks(agent)
    for request, path in sent:
        agent.stun_received(answer(request), path, 0.03)
    run(agent, 20.0)
    assert {path.remote[0] for _, path in checks(agent)} == {"198.51.100.1", "198.51.100.2"}


def test_checks_are_20_ms_apart_and_retransmitted_as_in_rfc_8489() -> None:
    agent = started(host(CLIENT, 1), host(CLIENT, 2))
    times: dict[int, list[float]] = {1: [], 2: []}
    now = 0.0
    while now < 20:
        for _, path in checks(agent):
            times[path.remote[1]].append(now)
        now = agent.next_deadline() or 20
        agent.advance(now)
    assert times[2][0] == pytest.approx(0.02)
    assert times[2][1:] == pytest.approx([0.02 + after for after in (0.5, 1.5, 3.5, 7.5, 15.5)])


def test_a_response_from_another_address_fails_the_pair() -> None:
    agent = started(host(CLIENT))
    [(request, path)] = checks(agent)
    agent.stun_received(answer(request), Path((CLIENT, 4999), path.local), 0.01)
    run(agent, 1)
    assert checks(agent) == []


def test_a_response_without_the_remote_password_is_dropped_and_the_check_continues() -> None:
    agent = started(host(CLIENT))
    [(request, path)] = checks(agent)
    agent.stun_received(answer(request, pwd="a-guess-of-twenty-two-ch"), path, 0.01)
    assert agent.dropped["unauthenticated response"] == 1
    agent.stun_received(answer(request), path, 0.02)
    assert len(checks(agent)) == 1


def test_a_check_with_an_error_response_is_not_repeated() -> None:
    agent = started(host(CLIENT))
    [(request, path)] = checks(agent)
    agent.stun_received(answer(request, code=400), path, 0.01)
    run(agent, 5)
    assert checks(agent) == []


def test_a_peers_check_revives_a_failed_pair() -> None:
    agent = started(host(CLIENT))
    [(request, path)] = checks(agent)
    agent.stun_received(answer(request, code=400), path, 0.01)
    agent.check_received(BindingCheck(path, 1, False), 0.02)
    [(again, _)] = checks(agent)
    agent.stun_received(answer(again), path, 0.03)
    assert agent.state is State.NOMINATING


def test_a_triggered_check_replaces_a_pending_one_whose_response_still_counts() -> None:
    agent = started(host(CLIENT))
    [(request, path)] = checks(agent)
    for _ in range(50):
        agent.check_received(BindingCheck(path, 1, False), 0.03)
    assert len(checks(agent)) == 1
    agent.stun_received(answer(request), path, 0.04)
    assert agent.state is State.NOMINATING
    run(agent, 3)
    assert all("USE-CANDIDATE" in again.attributes for again, _ in checks(agent))


def test_the_31st_remote_candidate_is_rejected() -> None:
    agent = started(*(host(CLIENT, 5000 + number) for number in range(MAX_REMOTE_CANDIDATES + 1)))
    agent.check_received(BindingCheck(Path(("203.0.113.9", 1), SERVER), 1, False), 0.0)
    assert agent.dropped["candidate: too many candidates"] == 1
    assert agent.dropped["check: too many candidates"] == 1


def test_a_generation_sends_at_most_100_checks_with_a_reserve_for_a_reachable_peer() -> None:
    agent = started(*(host(CLIENT, 5000 + number) for number in range(MAX_REMOTE_CANDIDATES)))
    run(agent, 10)
    assert len(checks(agent)) == MAX_CHECKS - RESERVED_CHECKS
    for number in range(10):
        agent.check_received(BindingCheck(Path((CLIENT, 5000 + number), SERVER), 1, False), 10.0)
    run(agent, PATIENCE_S - 0.1)
    assert len(checks(agent)) == RESERVED_CHECKS


@pytest.mark.parametrize(
    ("ip", "reason"),
    [
        ("127.0.0.1", "loopback"),
        ("::1", "loopback"),
        ("224.0.0.251", "not the address of a machine"),
        ("ff02::1", "not the address of a machine"),
        ("0.0.0.0", "not the address of a machine"),
        ("255.255.255.255", "not the address of a machine"),
        ("::ffff:127.0.0.1", "not a plain address"),
        ("fe80::1", "link-local without a zone"),
    ],
)
def test_checks_are_never_sent_to_invalid_addresses(ip: str, reason: str) -> None:
    agent = started(host(ip))
    assert checks(agent) == [] and agent.dropped[f"candidate: {reason}"] == 1


def test_loopback_is_checked_if_it_was_offered() -> None:
    agent = started(host("127.0.0.1"), agent=lone_agent("127.0.0.1"))
    assert checks(agent)[0][1] == Path(("127.0.0.1", 5000), "127.0.0.1")


def test_one_failure_is_reported_after_30_s_without_a_response() -> None:
    agent = started(host(CLIENT))
    run(agent, PATIENCE_S + 60)
    assert agent.events == [Failed()] and agent.next_deadline() is None


def test_consent_is_requested_every_4_to_6_s_with_a_new_transaction() -> None:
    agent = selected_agent()
    now, times, ids = 0.0, [0.0], set()
    while now < 300:
        deadline = agent.next_deadline()
        assert deadline is not None
        agent.advance(now := deadline)
        for request, path in checks(agent):
            times.append(now)
            ids.add(request.transaction_id)
            agent.stun_received(answer(request), path, now)
    gaps = [after - before for before, after in pairwise(times)]
    assert len(ids) == len(gaps) >= 50
    # The timer may fire up to a second late.
    assert 4 <= min(gaps) < 4.25 and 4.75 < max(gaps) <= 5


def test_consent_expires_30_s_after_the_last_response() -> None:
    agent = selected_agent()
    run(agent, EXPIRY_S - 0.001)
    assert agent.events == []
    run(agent, EXPIRY_S)
    assert agent.events == [ConsentExpired(Path((CLIENT, 5000), SERVER))]
    assert agent.state is State.FAILED and agent.next_deadline() is None


def test_a_late_response_to_any_consent_check_renews_consent() -> None:
    agent = selected_agent()
    run(agent, 20)
    first, path = checks(agent)[0]
    agent.stun_received(answer(first), path, 25.0)
    run(agent, 54.9)
    assert agent.events == []


def test_consent_is_not_renewed_by_an_error_response_or_a_response_from_another_address() -> None:
    agent = selected_agent()
    run(agent, 20)
    (first, path), (second, _) = checks(agent)[:2]
    agent.stun_received(answer(first), Path((CLIENT, 1), path.local), 25.0)
    agent.stun_received(answer(second, code=403), path, 25.0)
    run(agent, EXPIRY_S)
    assert agent.events == [ConsentExpired(path)]


def test_consent_from_a_silent_peer_expires_and_a_restart_finds_the_peer_again() -> None:
    network = Network()
    server, client = pair_of_peers(network)
    assert connect(network, server, client)
    network.silent.add((CLIENT, PORT))
    assert network.run_until(lambda: server.count(ConsentExpired) == 1, within_s=EXPIRY_S + 6)
    network.silent.clear()
    server.restart()
    client.restart()
    assert connect(network, server, client)


def test_the_old_path_is_kept_alive_until_a_restart_has_selected_a_new_one() -> None:
    network = Network()
    server, client = pair_of_peers(network)
    assert connect(network, server, client)
    server.restart()
    client.restart()
    network.run_for(120)
    assert server.count(ConsentExpired) == 0 and server.count(Selected) == 1
    assert connect(network, server, client)
    assert server.count(Selected) == 2
    network.run_for(120)
    assert server.agent.state is State.CONNECTED and server.count(ConsentExpired) == 0


def test_a_restart_uses_new_credentials_and_forgets_the_old_candidates() -> None:
    agent = selected_agent()
    old = agent.local
    agent.restart(IceCredentials("fresh", "fresh-password-of-22-chars"), 1.0)
    agent.set_remote("other", "other-password-of-22-chars", 1.0)
    assert checks(agent) == []
    agent.add_remote_candidate(host(CLIENT, 5001), 1.0)
    [(request, _)] = checks(agent)
    assert request.attributes["USERNAME"] == "other:fresh" and old.ufrag != "fresh"


def test_a_repeated_answer_changes_nothing_and_new_credentials_require_a_restart() -> None:
    agent = selected_agent()
    agent.set_remote(REMOTE.ufrag, REMOTE.pwd, 1.0)
    agent.set_remote("other", "other-password-of-22-chars", 1.0)
    assert agent.state is State.CONNECTED
    assert agent.dropped == {"changed credentials": 1}


@pytest.mark.parametrize("both_controlling", [True, False])
@pytest.mark.parametrize("tie_breakers", [(9, 3), (3, 9)])
def test_a_role_conflict_is_resolved_by_the_tie_breakers(
    both_controlling: bool, tie_breakers: tuple[int, int]
) -> None:
    network = Network()
    high, low = tie_breakers
    first = IcePeer(network, SERVER, seed=1, controlling=both_controlling, tie_breaker=high)
    second = IcePeer(network, CLIENT, seed=2, controlling=both_controlling, tie_breaker=low)
    assert connect(network, first, second)
    assert first.agent.controlling is (high > low) and second.agent.controlling is (low > high)
    assert first.count(RoleChanged) + second.count(RoleChanged) == 1


def test_a_forged_check_that_would_cause_a_role_conflict_is_dropped_silently() -> None:
    agent = started()
    forged = Message(Method.BINDING, Class.REQUEST, bytes(12), {"USERNAME": f"{agent.local.ufrag}:x"})
    forged.attributes["ICE-CONTROLLING"] = 2**64 - 1
    forged.add_message_integrity(b"a-guess")
    agent.stun_received(bytes(forged), Path((CLIENT, 1), SERVER), 0.0)
    assert agent.dropped["unauthenticated request"] == 1
    assert agent.transmits == [] and agent.controlling


def test_a_487_response_makes_the_agent_controlled_with_a_new_tie_breaker() -> None:
    agent = started(host(CLIENT))
    [(request, path)] = checks(agent)
    agent.stun_received(answer(request, code=487), path, 0.03)
    assert agent.events == [RoleChanged(False, agent.tie_breaker)] and agent.tie_breaker != 5
    [(again, _)] = checks(agent)
    assert again.attributes["ICE-CONTROLLED"] == agent.tie_breaker


def test_garbage_is_counted_and_raises_no_exception() -> None:
    agent = started(host(CLIENT))
    [(request, path)] = checks(agent)
    good = answer(request)
    numbers = random.Random(4)
    for _ in range(3000):
        spoilt = bytearray(good)
        for _ in range(numbers.randrange(1, 4)):
            spoilt[numbers.randrange(len(spoilt))] = numbers.randrange(256)
        agent.stun_received(bytes(spoilt[: numbers.randrange(len(spoilt) + 1)]), path, 0.01)
    assert agent.dropped.total() == 3000
    agent.stun_received(good, path, 0.01)
    assert agent.state is State.NOMINATING


def test_credentials_are_long_enough_and_not_in_a_repr() -> None:
    credentials = IceCredentials.generate(random.Random(5).randbytes)
    assert len(credentials.ufrag) >= 4 and len(credentials.pwd) >= 22
    assert credentials.pwd not in repr(credentials)
