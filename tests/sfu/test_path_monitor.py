"""Media follows its peer to the address from which the peer responds, and to no other address. Silent paths
are detected.
"""

import random

import pytest
from aioice.stun import Message

from svc.sfu.ice import IceAgent
from svc.sfu.ice_states import State
from svc.sfu.network_path import BindingCheck, Path, PathRegained, PathSuspected, Selected
from svc.sfu.path_monitor import DECIDE_AFTER_S, LOST_AFTER_S, TRIALS
from tests.sfu.test_ice import CLIENT, SERVER, answer, checks, selected_agent

HERE = Path((CLIENT, 5000), SERVER)
ELSEWHERE = Path(("203.0.113.9", 4000), SERVER)
CONNECTION = Path((CLIENT, 5001, 4096), SERVER)
AWAY = Path(("203.0.113.10", 4000), SERVER)


class Peer:
    """A peer that responds on its paths and can send checks on any path."""

    def __init__(self, *paths: Path, controlling: bool = True) -> None:
        self.agent: IceAgent = selected_agent()
        self.agent.controlling = controlling
        self.paths = paths
        self.now = 1.0
        self.checks: list[tuple[float, Path]] = []
        self.requests: list[Message] = []

    def check(self, path: Path, *, nominate: bool = False, generation: int = 1) -> None:
        self.agent.check_received(BindingCheck(path, 1, nominate, generation), self.now)
        self.exchange()

    def exchange(self) -> None:
        while sent := checks(self.agent):
            for request, path in sent:
                self.checks.append((self.now, path))
                self.requests.append(request)
                if path in self.paths:
                    self.agent.stun_received(answer(request), path, self.now)

    def wait(self, seconds: float) -> None:
        until = self.now + seconds
        while (deadline := self.agent.next_deadline()) is not None and deadline <= until:
            self.now = max(self.now, deadline)
            self.agent.advance(self.now)
            self.exchange()
        self.now = until
        self.agent.advance(self.now)
        self.exchange()

    @property
    def selected(self) -> list[Path]:
        return [event.path for event in self.agent.events if isinstance(event, Selected)]


def test_media_moves_within_a_second_to_the_address_that_the_peer_uses() -> None:
    peer = Peer(ELSEWHERE)
    peer.check(ELSEWHERE)
    peer.wait(DECIDE_AFTER_S)
    assert peer.selected == [ELSEWHERE]
    assert "USE-CANDIDATE" in peer.requests[-1].attributes
    # From now on, consent is requested on that path.
    peer.checks.clear()
    peer.wait(60)
    assert {path for _, path in peer.checks} == {ELSEWHERE} and peer.agent.state is State.CONNECTED


def test_media_stays_on_a_path_that_still_works() -> None:
    peer = Peer(HERE, ELSEWHERE)
    peer.check(ELSEWHERE)
    peer.wait(5)
    assert peer.selected == [] and peer.agent.events == []


def test_a_replayed_check_from_an_unresponsive_address_does_not_move_media() -> None:
    peer = Peer()
    peer.check(ELSEWHERE)
    peer.wait(3)
    assert peer.selected == []
    # One check triggers exactly three requests to that address.
    assert sum(path == ELSEWHERE for _, path in peer.checks) == 3


def test_a_response_without_the_peers_password_does_not_move_media() -> None:
    peer = Peer()
    peer.agent.check_received(BindingCheck(ELSEWHERE, 1, use_candidate=False), peer.now)
    for request, path in checks(peer.agent):
        peer.agent.stun_received(answer(request, pwd="of somebody else's"), path, peer.now)
    peer.wait(3)
    assert peer.selected == []


def test_a_flood_of_new_addresses_triggers_only_a_limited_number_of_requests() -> None:
    peer = Peer(HERE)
    for port in range(1, 1001):
        peer.check(Path(("203.0.113.9", port), SERVER))
    assert len({path for _, path in peer.checks} - {HERE}) <= TRIALS
    assert peer.agent.dropped["check: too many paths"] >= 1000 - TRIALS
    peer.wait(5)
    assert peer.selected == []


def test_a_nat_that_rebinds_every_30_s_is_followed_for_hours() -> None:
    peer = Peer()
    for port in range(10_000, 10_240):
        path = Path((CLIENT, port), SERVER)
        peer.paths = (path,)
        peer.check(path)
        peer.wait(30)
        assert peer.selected[-1] == path
    assert len(peer.selected) == 240


def test_a_controlling_peers_nomination_takes_effect_immediately() -> None:
    peer = Peer(HERE, ELSEWHERE, controlling=False)
    peer.check(ELSEWHERE, nominate=True)
    assert peer.selected == [ELSEWHERE]


def test_media_falls_back_to_tcp_when_udp_falls_silent_and_returns_as_soon_as_udp_responds() -> None:
    peer = Peer(HERE, CONNECTION)
    peer.check(CONNECTION)
    peer.wait(5)
    assert peer.selected == []
    peer.paths = (CONNECTION,)
    peer.agent.path_silent(peer.now)
    peer.wait(2)
    assert peer.selected == [CONNECTION]
    # From now on, consent is requested over the TCP connection.
    peer.checks.clear()
    peer.wait(30)
    assert {path for _, path in peer.checks} == {CONNECTION} and peer.agent.state is State.CONNECTED
    peer.paths = (HERE, CONNECTION)
    peer.check(HERE)
    assert peer.selected == [CONNECTION, HERE]


def test_a_tcp_connection_that_replaces_another_is_followed() -> None:
    again = Path((CLIENT, 5002, 8192), SERVER)
    peer = Peer(CONNECTION)
    peer.agent.path_silent(peer.now)
    peer.check(CONNECTION)
    peer.wait(2)
    peer.paths = (again,)
    peer.check(again)
    peer.wait(DECIDE_AFTER_S)
    assert peer.selected == [CONNECTION, again]


def test_after_silence_the_other_checked_paths_are_tried_and_media_moves_there() -> None:
    peer = Peer(HERE, ELSEWHERE)
    peer.check(ELSEWHERE)
    peer.wait(60)
    peer.paths = (ELSEWHERE,)
    peer.agent.path_silent(peer.now)
    peer.exchange()
    peer.wait(DECIDE_AFTER_S)
    assert peer.selected == [ELSEWHERE]
    assert not any(isinstance(event, PathSuspected) for event in peer.agent.events)


def test_silence_detected_during_another_search_causes_no_delay() -> None:
    peer = Peer(ELSEWHERE)
    peer.check(ELSEWHERE)
    peer.wait(DECIDE_AFTER_S / 2)
    peer.agent.path_silent(peer.now)
    peer.exchange()
    peer.wait(DECIDE_AFTER_S / 2)
    assert peer.selected == [ELSEWHERE]


def test_the_path_of_a_listener_that_only_responds_to_checks_is_not_suspect() -> None:
    peer = Peer(HERE)
    peer.agent.path_silent(peer.now)
    peer.exchange()
    peer.wait(5)
    assert peer.agent.events == []


def test_a_silent_path_is_reported_as_suspect_once_and_as_restored_once() -> None:
    peer = Peer()
    peer.agent.path_silent(peer.now)
    peer.exchange()
    peer.wait(LOST_AFTER_S)
    assert peer.agent.events == [PathSuspected()]
    peer.checks.clear()
    peer.wait(5)
    assert len(peer.checks) >= 5
    peer.paths = (HERE,)
    peer.wait(1)
    assert peer.agent.events == [PathSuspected(), PathRegained()]
    peer.wait(60)
    assert len(peer.agent.events) == 2


def test_a_path_that_responds_again_is_no_longer_suspect() -> None:
    peer = Peer()
    peer.agent.path_silent(peer.now)
    peer.wait(2)
    peer.agent.path_recovered(peer.now)
    assert peer.agent.events == [PathSuspected(), PathRegained()]


def test_path_changes_are_still_followed_during_an_ice_restart() -> None:
    peer = Peer(ELSEWHERE)
    peer.agent.restart(type(peer.agent.local)("fresh", "fresh-password-of-22-chars"), peer.now)
    peer.check(ELSEWHERE, generation=1)
    peer.wait(DECIDE_AFTER_S)
    assert peer.selected == [ELSEWHERE] and peer.agent.state is State.WAITING


def test_a_check_from_an_earlier_generation_does_not_count() -> None:
    peer = Peer()
    peer.agent.restart(type(peer.agent.local)("fresh", "fresh-password-of-22-chars"), peer.now)
    peer.agent.set_remote("remote", "remote-password-of-22-chars", peer.now)
    peer.checks.clear()
    peer.wait(0.1)
    peer.check(AWAY, generation=0)
    assert AWAY not in {path for _, path in peer.checks}
    assert peer.agent.dropped["check: past generation"] == 1


@pytest.mark.parametrize("seed", range(20))
def test_lost_responses_on_a_working_path_rarely_move_media(seed: int) -> None:
    numbers = random.Random(seed)
    peer = Peer(HERE)
    for _ in range(50):
        path = numbers.choice([ELSEWHERE, AWAY])
        peer.paths = (HERE,) if numbers.random() < 0.5 else ()
        peer.check(path)
        peer.wait(numbers.random() * 5)
    assert peer.selected == []
