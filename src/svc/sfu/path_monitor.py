"""Detects that the selected path is dead, and finds the path that the peer uses instead.

Theory of operation. A peer whose NAT assigns it a different port, or that changes networks, immediately sends
checks from a new address. The expiry of consent would reveal this only after 30 s. Media therefore follows
the peer, as with a lite agent. A check alone is never enough, because an attacker could have recorded it and
resent it from elsewhere. The agent checks both the new path and the selected path. Media moves if the peer
answers on the new path and not on the selected one.

- Steady: the selected path is in use.
- Comparing: the peer has checked another path. Both are checked for half a second.
- Doubted: nothing has arrived over the selected path for 2.6 s, although idle browsers send every 2.5 s, or
  for 1.5 s after heavy traffic. The selected path is checked, and so are the other paths that the peer has
  checked.
- Lost: no path has answered within another 0.8 s. All paths are checked every second, and the first that
  answers is selected.

A path that a controlling peer nominates is selected as soon as the peer has answered on it. The same applies
to a UDP path while a TCP connection is selected. Checks are rate-limited, and are sent only to addresses that
sent an authenticated check. Sans-I/O; does not build messages.
"""

from dataclasses import dataclass
from enum import Enum, auto
from math import inf

from svc.base.token_bucket import TokenBucket
from svc.sfu.candidates import priority
from svc.sfu.checklist import CandidatePair
from svc.sfu.network_path import BindingCheck, Path

# Seconds after a comparison or doubt begins: when each path is checked, when an answering path is chosen, and
# when the state ends.
ASK_AFTER_S = (0.0, 0.1, 0.3)
DECIDE_AFTER_S = 0.5
LOST_AFTER_S = 0.8
# The interval at which a lost path is checked.
ASK_AGAIN_S = 1.0
# The number of other paths that are remembered and checked at the same time. A laptop may have two networks,
# each with IPv4 and IPv6.
MAX_OTHERS = 4
# The number of paths checked in a burst, and per second in the long run. A NAT that rebinds every 30 s needs
# one path every 30 s.
TRIALS, TRIALS_PER_S = 12, 0.2


class Health(Enum):
    STEADY = auto()
    COMPARING = auto()
    DOUBTED = auto()
    LOST = auto()


class Sign(Enum):
    CHECKED = auto()
    SILENT = auto()  # Nothing has arrived over the selected path for some time.
    ALIVE = auto()  # The peer has answered on the selected path, or something has arrived over it.
    UNDECIDED = auto()  # No other path has answered before the timeout.
    UNANSWERED = auto()  # The selected path has not answered either.
    MOVED = auto()


_S, _C, _D, _L = Health
HEALTH: dict[Health, dict[Sign, Health]] = {
    _S: {Sign.CHECKED: _C, Sign.SILENT: _D, Sign.ALIVE: _S, Sign.MOVED: _S},
    _C: {Sign.CHECKED: _C, Sign.SILENT: _D, Sign.ALIVE: _S, Sign.UNDECIDED: _S, Sign.MOVED: _S},
    _D: {Sign.CHECKED: _D, Sign.SILENT: _D, Sign.ALIVE: _S, Sign.UNANSWERED: _L, Sign.MOVED: _S},
    _L: {Sign.CHECKED: _L, Sign.SILENT: _L, Sign.ALIVE: _S, Sign.MOVED: _S},
}


@dataclass(slots=True, eq=False)
class _Other:
    """A path that the peer has checked, other than the selected one."""

    pair: CandidatePair
    generation: int
    nominated: bool = False
    requests_sent: int = 0
    due: float = inf
    answered: bool = False


class PathMonitor:
    """The path monitor of one agent.

    The agent reports events to the monitor, sends the checks that it requests, and applies its choices.
    """

    def __init__(self) -> None:
        self.health = Health.STEADY
        self._others: dict[Path, _Other] = {}
        self._bucket = TokenBucket(TRIALS, TRIALS_PER_S)
        self._since = 0.0
        self._requests_sent = 0
        self._due = inf

    def handle_check(
        self, check: BindingCheck, now: float, *, selected: Path | None, nominated: bool
    ) -> bool:
        """Handle a peer's check on a path other than `selected`. Return False if the path will not be
        checked.

        `selected` is None while no path is selected.
        """
        other = self._others.get(check.path)
        if other is None or other.generation != check.generation:
            local_priority = priority("host", tcp=check.path.is_tcp)
            other = _Other(CandidatePair(check.path, local_priority, check.priority), check.generation)
        if selected is not None:
            if not self._try(other, now):
                return False
            # A peer that is reached over TCP because UDP failed moves to UDP as soon as that works.
            other.nominated |= nominated or (selected.is_tcp and not check.path.is_tcp)
            if self.health is Health.STEADY:
                self._begin(now)
            self._update_health(Sign.CHECKED)
        # Move this path to the end: the most recently checked path comes last.
        self._others.pop(check.path, None)
        self._others[check.path] = other
        if len(self._others) > MAX_OTHERS:
            del self._others[next(iter(self._others))]
        return True

    def silent(self, generation: int, now: float) -> None:
        """Handle the start of silence on the selected path, which belongs to the given ICE generation."""
        if self.health in (Health.DOUBTED, Health.LOST):
            return
        comparing = self.health is Health.COMPARING
        self._update_health(Sign.SILENT)
        if not comparing:  # In Comparing, the checks are already under way and must not be delayed.
            self._begin(now)
            self._try_all(generation, now)

    def alive(self) -> None:
        """Note that something arrived over the selected path, or that the peer answered on it."""
        self._update_health(Sign.ALIVE)
        self._rest()

    def moved(self) -> None:
        self._update_health(Sign.MOVED)
        for other in self._others.values():
            other.nominated = False
        self._rest()

    def answered(self, path: Path) -> None:
        other = self._others.get(path)
        if other is not None:
            other.answered = True
            other.due = inf

    def next_deadline(self) -> float:
        return min([self._due, self._decision_due(), *(other.due for other in self._others.values())])

    def advance(self, generation: int, now: float) -> tuple[bool, list[CandidatePair], CandidatePair | None]:
        """Return the actions that are due: whether to check the selected path, the other paths to check, and
        the path to select.
        """
        chosen = self._choose(generation, now)
        if chosen is not None:
            return False, [], chosen
        if now >= self._decision_due():
            self._decide()
        if self.health is Health.LOST and now >= self._due:
            self._try_all(generation, now)
        return (
            self._ask_selected(now),
            [other.pair for other in self._others.values() if _ask(other, now)],
            None,
        )

    def _begin(self, now: float) -> None:
        self._since, self._requests_sent, self._due = now, 0, now

    def _rest(self) -> None:
        self._due = inf
        for other in self._others.values():
            # The peer's nomination remains valid, whatever the pending check finds.
            if not other.nominated:
                other.due, other.answered = inf, False

    def _try(self, other: _Other, now: float) -> bool:
        if other.due < inf:
            return True
        if self._bucket.take_if_left(now):
            return False
        other.requests_sent, other.due, other.answered, other.nominated = 0, now, False, False
        return True

    def _try_all(self, generation: int, now: float) -> None:
        for other in self._others.values():
            if other.generation == generation:
                self._try(other, now)

    def _decision_due(self) -> float:
        if self.health is Health.COMPARING:
            return self._since + DECIDE_AFTER_S
        return self._since + LOST_AFTER_S if self.health is Health.DOUBTED else inf

    def _decide(self) -> None:
        if self.health is Health.DOUBTED:
            self._update_health(Sign.UNANSWERED)
        else:
            self._update_health(Sign.UNDECIDED)
            self._rest()

    def _choose(self, generation: int, now: float) -> CandidatePair | None:
        """Return the newest path on which the peer has answered, or None until it is time to choose."""
        waited = self.health is Health.LOST or now >= self._since + DECIDE_AFTER_S
        for other in reversed(self._others.values()):
            mature = other.nominated or (waited and self.health is not Health.STEADY)
            if other.answered and mature and other.generation == generation:
                return other.pair
        return None

    def _ask_selected(self, now: float) -> bool:
        if now < self._due:
            return False
        self._requests_sent += 1
        if self._requests_sent < len(ASK_AFTER_S):
            self._due = self._since + ASK_AFTER_S[self._requests_sent]
        else:
            self._due = now + ASK_AGAIN_S if self.health in (Health.DOUBTED, Health.LOST) else inf
        return True

    def _update_health(self, sign: Sign) -> None:
        self.health = HEALTH[self.health].get(sign, self.health)


def _ask(other: _Other, now: float) -> bool:
    if now < other.due:
        return False
    other.requests_sent += 1
    done = other.requests_sent == len(ASK_AFTER_S)
    other.due = inf if done else now + ASK_AFTER_S[other.requests_sent] - ASK_AFTER_S[other.requests_sent - 1]
    return True
