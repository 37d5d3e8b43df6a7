"""The agent accepts or drops a peer's actions in any order, and never raises."""

import random
from collections.abc import Callable

import pytest
from aioice.stun import Class, Message, Method

from svc.sfu.candidates import Candidate, host_candidates
from svc.sfu.checklist import MAX_CHECKS
from svc.sfu.ice import IceAgent, IceCredentials
from svc.sfu.ice_states import State
from svc.sfu.network_path import Address, BindingCheck, Path
from svc.sfu.stun import read_message

LOCALS = ("192.0.2.1", "10.0.0.1")
REMOTES: list[Address] = [(f"198.51.100.{host}", 5000) for host in range(1, 6)]


class Walk:
    """A peer that performs random actions in any order."""

    def __init__(self, seed: int) -> None:
        self.numbers = random.Random(seed)
        self.now = 0.0
        self.generation = 1
        self.agent = IceAgent(
            local=IceCredentials.generate(self.numbers.randbytes),
            local_candidates=host_candidates(port=3478, interfaces=LOCALS, bound=LOCALS),
            transaction_id=lambda: self.numbers.randbytes(12),
            tie_breaker=self.numbers.getrandbits(64),
            random=self.numbers.random,
            controlling=self.numbers.random() < 0.7,
        )
        self.pwd = "x" * 22
        self.requests: list[tuple[Message, Path]] = []
        self.checks_sent = 0
        self.steps: list[Callable[[], None]] = [
            self.answer, self.answer, self.answer, self.answer, self.check, self.check, self.conflict,
            self.trickle, self.give_credentials, self.wait, self.wait, self.wait, self.noise,
            self.fall_silent,
        ]  # fmt: skip

    def step(self) -> None:
        (self.restart if self.numbers.random() < 0.01 else self.numbers.choice(self.steps))()
        for data, path in self.agent.transmits:
            message = read_message(data)
            assert message is not None
            if message.message_class is Class.REQUEST:
                self.requests.append((message, path))
                self.checks_sent += self.agent.state in (State.CHECKING, State.NOMINATING)
        self.agent.transmits.clear()
        self.agent.events.clear()

    def path(self) -> Path:
        return Path(self.numbers.choice(REMOTES), self.numbers.choice(LOCALS))

    def restart(self) -> None:
        self.pwd = self.numbers.choice("abcdef") * 22
        self.agent.restart(IceCredentials.generate(self.numbers.randbytes), self.now)
        self.generation += 1
        self.checks_sent = 0

    def give_credentials(self) -> None:
        self.agent.set_remote("remote", self.pwd, self.now)

    def trickle(self) -> None:
        address = self.numbers.choice(REMOTES)
        self.agent.add_remote_candidate(
            Candidate("1", self.numbers.randrange(1, 99), address, "host"), self.now
        )

    def check(self) -> None:
        generation = self.generation - (self.numbers.random() < 0.2)
        check = BindingCheck(
            self.path(), self.numbers.getrandbits(31), self.numbers.random() < 0.3, generation
        )
        self.agent.check_received(check, self.now)

    def conflict(self) -> None:
        request = Message(Method.BINDING, Class.REQUEST, self.numbers.randbytes(12))
        request.attributes["USERNAME"] = f"{self.agent.local.ufrag}:remote"
        role = self.numbers.choice(["ICE-CONTROLLING", "ICE-CONTROLLED"])
        request.attributes[role] = self.numbers.getrandbits(64)
        request.add_message_integrity(self.agent.local.pwd.encode())
        self.agent.stun_received(bytes(request), self.path(), self.now)

    def answer(self) -> None:
        if not self.requests:
            return
        request, path = self.numbers.choice(self.requests[-6:])
        response = Message(Method.BINDING, Class.RESPONSE, request.transaction_id)
        if self.numbers.random() < 0.2:
            response.message_class = Class.ERROR
            response.attributes["ERROR-CODE"] = (self.numbers.choice([400, 487]), "")
        response.add_message_integrity(self.pwd.encode())
        way_back = self.path() if self.numbers.random() < 0.05 else path
        self.agent.stun_received(bytes(response), way_back, self.now)

    def wait(self) -> None:
        deadline = self.agent.next_deadline()
        if deadline is not None and self.numbers.random() < 0.8:
            self.now = max(self.now, deadline)
        else:
            self.now += self.numbers.expovariate(1)
        self.agent.advance(self.now)

    def fall_silent(self) -> None:
        tell = self.numbers.choice(
            [self.agent.path_silent, self.agent.path_silent, self.agent.path_recovered]
        )
        tell(self.now)

    def noise(self) -> None:
        self.agent.stun_received(self.numbers.randbytes(self.numbers.randrange(60)), self.path(), self.now)


@pytest.mark.parametrize("seed", range(150))
def test_events_in_any_order_neither_break_the_agent_nor_exceed_its_bounds(seed: int) -> None:
    walk = Walk(seed)
    for _ in range(400):
        walk.step()
        assert walk.checks_sent <= MAX_CHECKS
        waits = walk.agent.next_deadline() is not None
        assert waits or walk.agent.state in (State.WAITING, State.FAILED)


def test_the_random_walks_reach_every_state() -> None:
    seen = set()
    for seed in range(20):
        walk = Walk(seed)
        for _ in range(400):
            walk.step()
            seen.add((walk.agent.state, walk.agent.controlling))
    assert {state for state, _ in seen} == set(State)
    assert (State.CONNECTED, False) in seen, "the walks also change roles"
    assert (State.NOMINATING, False) not in seen, "only a controlling agent nominates"
