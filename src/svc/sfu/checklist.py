"""Keeps the checklist of one ICE generation: candidate pairs, their states and their order.

There is one stream with one component, so there is one checklist, and no pair waits for another. RFC 8445's
Frozen state therefore does not occur: a new pair is Waiting.

- Waiting: to be checked in its turn, best pair first (section 6.1.4.2).
- In progress: a check has been sent. It is being retransmitted or awaits its response.
- Succeeded: the peer answered with our remote password, from the address that we checked. The pair is valid
  and may be nominated.
- Failed: no response, an error response, or a response from a different address.

A check from the peer makes us check the same pair, ahead of the queue (section 7.3.1.4), because its check
proves that the path is open now. The triggered check revives a failed pair and replaces a check that was sent
before the peer's NAT let it in.

Peers choose the addresses that we send to. The lists and the checks are bounded, because otherwise the SFU
could be used as a port scanner (section 19.5.1). Handles no packets and has no clock. The caller supplies the
role.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

from svc.sfu.candidates import MAX_LOCAL_PREFERENCE, Candidate, is_loopback, priority, refusal, version
from svc.sfu.network_path import BindingCheck, Path, Remote
from svc.sfu.state_machine import Transitions
from svc.sfu.stun import Transmission

# A browser on a laptop with a VPN, Docker and IPv6 has about a dozen candidates.
MAX_REMOTE_CANDIDATES = 30
# "...limit the total number of connectivity checks it performs to 100", which includes retransmissions.
MAX_CHECKS = 100
# The number of checks reserved for triggered checks and nominations, so that a list of dead candidates cannot
# use up the checks that a reachable peer needs.
RESERVED_CHECKS = 25


class PairState(Enum):
    WAITING = auto()
    IN_PROGRESS = auto()
    SUCCEEDED = auto()
    FAILED = auto()


class PairEvent(Enum):
    CHECKED = auto()
    ANSWERED = auto()
    REFUSED = auto()  # A check received an error response or no response.
    TRIGGERED = auto()  # The peer checked this pair, or made us change our role.


_W, _I, _S, _F = PairState
_CHECKED, _ANSWERED, _REFUSED, _TRIGGERED = PairEvent

# A replaced check can still be answered, so a response may arrive in the Waiting and Failed states. The
# failure of a replaced check is ignored. If the roles change during a nomination, a pair may have two checks
# pending, and both may fail. A succeeded pair is checked once more when it is nominated, and may then fail.
PAIR_TRANSITIONS = Transitions(
    "candidate pair",
    {
        _W: {_CHECKED: _I, _ANSWERED: _S, _TRIGGERED: _W},
        _I: {_ANSWERED: _S, _REFUSED: _F, _TRIGGERED: _W},
        _S: {_CHECKED: _S, _ANSWERED: _S, _REFUSED: _F},
        _F: {_ANSWERED: _S, _TRIGGERED: _W, _REFUSED: _F},
    },
)


@dataclass(slots=True, eq=False)
class CandidatePair:
    """One path and the priority that each side gives it."""

    path: Path
    local_priority: int
    remote_priority: int
    state: PairState = PairState.WAITING
    peer_nominated: bool = False

    def transition(self, event: PairEvent) -> None:
        """Change the pair's state according to the transition table."""
        self.state = PAIR_TRANSITIONS.after(self.state, event)

    def priority(self, controlling: bool) -> int:
        """Return the priority of the pair (RFC 8445 section 6.1.2.3)."""
        g, d = self.local_priority, self.remote_priority
        if not controlling:
            g, d = d, g
        return (min(g, d) << 32) + 2 * max(g, d) + (g > d)

    @property
    def offered_priority(self) -> int:
        """The PRIORITY value in our checks: the priority of the candidate that the peer would learn from the
        check.
        """
        local_preference = self.local_priority >> 8 & MAX_LOCAL_PREFERENCE
        return priority("prflx", local_preference, tcp=self.path.is_tcp)


@dataclass(slots=True, eq=False)
class Check:
    """A request that we sent and that the peer can still answer. Consent checks have no pair."""

    key: bytes = field(repr=False)
    controlling: bool  # Whether the request claimed the controlling role.
    transmission: Transmission
    pair: CandidatePair | None
    urgent: bool = False  # Whether the check was triggered or nominates its pair.
    nominating: bool = False
    replaced: bool = False  # Whether a newer check decides the state of the pair.


class Checklist:
    """The candidate pairs of one ICE generation."""

    def __init__(self, local_candidates: Iterable[Candidate]) -> None:
        # Checks from a server-reflexive candidate are sent from its base, so it does not form a pair (RFC
        # 8445 section 6.1.2.4). Neither does a TCP candidate, because the peer connects, and its checks
        # create the pair.
        hosts = [
            candidate for candidate in local_candidates if candidate.kind == "host" and not candidate.tcp
        ]
        self._bases = {(host.base, version(host.address[0])): host.priority for host in reversed(hosts)}
        self._loopback_offered = any(is_loopback(host.address[0]) for host in hosts)
        self._remotes: dict[Remote, int] = {}
        self._pairs: dict[Path, CandidatePair] = {}
        self._triggered: deque[CandidatePair] = deque()
        self._checks_left = MAX_CHECKS

    def add_remote(self, candidate: Candidate) -> str | None:
        """Combine the candidate with each address that we send from to form pairs. Return the reason if the
        candidate is rejected, otherwise None.
        """
        ip = candidate.address[0]
        if candidate.address in self._remotes:
            return None
        if len(self._remotes) >= MAX_REMOTE_CANDIDATES:
            return "too many candidates"
        if reason := refusal(ip, loopback_allowed=self._loopback_offered):
            return reason
        self._remotes[candidate.address] = candidate.priority
        for base, ip_version in self._bases:
            if ip_version == version(ip):
                self._pair(Path(candidate.address, base))
        return None

    def add_checked(self, check: BindingCheck) -> CandidatePair | None:
        """Return the pair that the peer has checked, adding it if necessary, or None if there are too many.

        An unknown source is a peer-reflexive candidate (section 7.3.1.3).
        """
        remote = check.path.remote
        if remote not in self._remotes:
            if len(self._remotes) >= MAX_REMOTE_CANDIDATES:
                return None
            self._remotes[remote] = check.priority
        return self._pair(check.path)

    def trigger(self, pair: CandidatePair) -> None:
        """Schedule a check of `pair` before all other checks."""
        pair.transition(_TRIGGERED)
        if pair not in self._triggered:
            self._triggered.append(pair)

    def next_pair(self, *, ordinary: bool, controlling: bool) -> tuple[CandidatePair, bool] | None:
        """Return the next pair to check, and whether it was triggered. Return None if there is none.

        Pairs that have not been triggered are considered only with `ordinary`.
        """
        if self._triggered and self._affords(urgent=True):
            return self._triggered[0], True
        if ordinary and self._affords(urgent=False):
            waiting = self._pairs_in(_W)
            if waiting:
                return max(waiting, key=lambda pair: pair.priority(controlling)), False
        return None

    def taken(self, pair: CandidatePair) -> None:
        pair.transition(_CHECKED)
        if pair in self._triggered:
            self._triggered.remove(pair)

    def answered(self, pair: CandidatePair) -> None:
        """Record that the peer answered on `pair`, which is now valid and needs no further checks."""
        pair.transition(_ANSWERED)
        if pair in self._triggered:
            self._triggered.remove(pair)

    def conclude(self) -> None:
        """Drop all triggered checks, because a pair has been selected (section 8.1.2)."""
        self._triggered.clear()

    def spend(self, *, urgent: bool) -> bool:
        """Count one check against the limit. Return False if the check must not be sent."""
        if not self._affords(urgent=urgent):
            return False
        self._checks_left -= 1
        return True

    def best_valid(self, controlling: bool) -> CandidatePair | None:
        return max(self._pairs_in(_S), key=lambda pair: pair.priority(controlling), default=None)

    def hopes_for_better(self, than: CandidatePair, controlling: bool) -> bool:
        """Return whether a pair of higher priority may still succeed."""
        priority = than.priority(controlling)
        return any(
            pair.priority(controlling) > priority for pair in [*self._pairs_in(_W), *self._pairs_in(_I)]
        )

    def _affords(self, *, urgent: bool) -> bool:
        return self._checks_left > (0 if urgent else RESERVED_CHECKS)

    def _pairs_in(self, state: PairState) -> list[CandidatePair]:
        return [pair for pair in self._pairs.values() if pair.state is state]

    def _pair(self, path: Path) -> CandidatePair:
        if path not in self._pairs:
            base = (path.local, version(path.address[0]))
            of_udp = self._bases.get(base, priority("host"))
            local_priority = priority("host", tcp=True) if path.is_tcp else of_udp
            self._pairs[path] = CandidatePair(path, local_priority, self._remotes[path.remote])
        return self._pairs[path]
