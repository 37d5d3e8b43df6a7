"""Implements the ICE agent of one participant: finds a path, keeps the peer's consent to it, and restarts.

This is a full agent for one stream with one component (RFC 8445, with trickle as in RFC 8838). Sans-I/O: the
inputs are checks, responses, candidates and `now`, and the outputs are `transmits`, `events` and the next
deadline. Every call advances the agent as far as possible, so the caller must drain both lists afterwards.
The agent does not open sockets, gather candidates, or answer the peer's checks. The native core authenticates
and answers them, and reports them as BindingCheck. It leaves checks with a role conflict to the agent,
because they need a decision. Invalid data from a peer is dropped and counted, and never raises an exception.

Theory of operation. The SFU offers, so it is controlling, and uses regular nomination:

- Waiting: nothing is sent until the answer arrives with the peer's credentials. Candidates and checks that
  arrive early already form pairs.
- Checking: one check is sent every 20 ms, triggered checks first, then the best pair.
- Nominating: a valid pair is checked again with USE-CANDIDATE. There are no long timers. The best valid pair
  is nominated immediately, or 50 ms later if a better pair may still be answered. If the first valid pair is
  TCP, the agent waits 250 ms.
- Connected: the peer has agreed, and a pair is selected. Other checks end. Consent to send is renewed every 4
  to 6 s.
- Failed: no pair was answered for 30 s, or consent expired. Only a restart helps.

A restart begins a generation with new credentials and a new checklist. The selected path stays in use until
the new generation selects a path. Until then, consent checks use the credentials of the generation that
selected the old path.

Between restarts, media follows the peer to the address from which it answers (`path_monitor`).

The agent does not support relays or, on our side, ICE lite or aggressive nomination.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from svc.sfu.candidates import Candidate, priority
from svc.sfu.checklist import MAX_REMOTE_CANDIDATES, CandidatePair, Check, Checklist, PairEvent, PairState
from svc.sfu.consent import EXPIRY_S, Consent
from svc.sfu.ice_states import TRANSITIONS, Event, State
from svc.sfu.network_path import (
    BindingCheck,
    ConsentExpired,
    Failed,
    IceEvent,
    Path,
    PathLeft,
    PathRegained,
    PathSuspected,
    RoleChanged,
    Selected,
)
from svc.sfu.path_monitor import Health, PathMonitor
from svc.sfu.stun import (
    ROLE_CONFLICT,
    TransactionId,
    Transmission,
    binding_request,
    read_message,
    role_conflict_response,
    same_way_back,
    success_response,
)
from svc.sfu.stun_codec import Class, Message

# The interval Ta in RFC 8445 section 14.2, which must be at least 5 ms.
PACE_S = 0.02
# The time that a valid pair waits for a better pair: about one round trip within a continent.
NOMINATION_WAIT_S = 0.05
# A TCP pair waits longer for UDP, which carries media better.
TCP_NOMINATION_WAIT_S = 0.25
# The timeout for finding a path. Browsers report a failure after 15 to 30 s.
PATIENCE_S = 30.0


_AT_WORK = (State.CHECKING, State.NOMINATING)


@dataclass(frozen=True, slots=True)
class IceCredentials:
    """The ufrag and password of one side in one generation."""

    ufrag: str
    pwd: str = field(repr=False)

    @classmethod
    def generate(cls, random_bytes: Callable[[int], bytes]) -> "IceCredentials":
        """Generate a ufrag and a password with the random bits that RFC 8445 section 5.3 requires."""
        return cls(random_bytes(6).hex(), random_bytes(16).hex())


class IceAgent:
    """One participant's ICE agent. The module docstring explains its theory of operation."""

    def __init__(
        self,
        *,
        local: IceCredentials,
        local_candidates: Iterable[Candidate],
        transaction_id: TransactionId,
        tie_breaker: int,
        random: Callable[[], float],
        controlling: bool = True,
    ) -> None:
        self.local = local
        self.state = State.WAITING
        self.controlling = controlling
        self.tie_breaker = tie_breaker
        self.transmits: list[tuple[bytes, Path]] = []
        self.events: list[IceEvent] = []
        self.dropped: Counter[str] = Counter()
        self._transaction_id = transaction_id
        self._random = random
        self._local_candidates = tuple(local_candidates)
        self._previous: IceCredentials | None = None
        self._consent: Consent | None = None
        self._checks: dict[bytes, Check] = {}
        self._monitor = PathMonitor()
        self._suspected = False
        self._generation = 0
        self._begin_generation()

    def _begin_generation(self) -> None:
        self._generation += 1
        self._remote: IceCredentials | None = None
        self._checklist = Checklist(self._local_candidates)
        self._early_candidates: list[Candidate] = []
        self._next_check_at = 0.0
        self._nominate_at = 0.0
        self._gives_up_at = 0.0

    def set_remote(self, ufrag: str, pwd: str, now: float) -> None:
        """Set the answer's credentials and start checking.

        Setting the same credentials again is harmless. Different credentials are rejected until we restart,
        because an answer alone cannot restart ICE (RFC 8839 section 4.4.1.1.1).
        """
        remote = IceCredentials(ufrag, pwd)
        if self._remote is not None:
            if remote != self._remote:
                self.dropped["changed credentials"] += 1
            return
        self._remote = remote
        self._move(Event.REMOTE_KNOWN)
        self._next_check_at = now
        self._gives_up_at = now + PATIENCE_S
        for candidate in self._early_candidates:
            self._add_candidate(candidate, remote)
        self.advance(now)

    def add_remote_candidate(self, candidate: Candidate, now: float) -> None:
        """Try another of the peer's addresses. A candidate that arrives before `set_remote` waits until
        then.
        """
        if self._remote:
            self._add_candidate(candidate, self._remote)
        elif len(self._early_candidates) < MAX_REMOTE_CANDIDATES:
            self._early_candidates.append(candidate)
        else:
            self.dropped["candidate: too many candidates"] += 1
        self.advance(now)

    def restart(self, local: IceCredentials, now: float) -> None:
        """Start a new generation. The selected path stays in use until the new generation selects a path."""
        self._previous, self.local = self.local, local
        self._move(Event.RESTARTED)
        # Keep only those checks of the earlier generation that renew the consent for its path.
        self._forget_checks(lambda check: check.pair is not None)
        self._begin_generation()
        self.advance(now)

    def check_received(self, check: BindingCheck, now: float) -> None:
        """Handle a check that the core has authenticated and answered (RFC 8445 section 7.3.1)."""
        consent = self._consent
        nominated = check.use_candidate and not self.controlling
        selected = consent.pair.path if consent and consent.generation == check.generation else None
        if selected is None and check.generation != self._generation:
            self.dropped["check: past generation"] += 1
        elif selected is None and self.state is State.FAILED:
            self.dropped["check: failed"] += 1
        elif selected is not None and same_way_back(selected, check.path):
            pass
        elif not self._monitor.handle_check(check, now, selected=selected, nominated=nominated):
            self.dropped["check: too many paths"] += 1
        elif selected is None:
            self._pair_checked(check, now, nominated=nominated)
        self.advance(now)

    def _pair_checked(self, check: BindingCheck, now: float, *, nominated: bool) -> None:
        pair = self._checklist.add_checked(check)
        if pair is None:
            self.dropped["check: too many candidates"] += 1
            return
        pair.peer_nominated |= nominated
        if nominated and pair.state is PairState.SUCCEEDED:
            self._select(pair, now)
        else:
            self._trigger(pair, now)

    def path_silent(self, now: float) -> None:
        """Handle the start of silence on the selected path."""
        if self._consent:
            self._monitor.silent(self._consent.generation, now)
            self.advance(now)

    def path_recovered(self, now: float) -> None:
        """Handle the end of the silence on the selected path."""
        self._monitor.alive()
        self.advance(now)

    def stun_received(self, data: bytes, path: Path, now: float) -> None:
        """Handle a response to our request, or a check with a role conflict that the core has left
        unanswered.
        """
        message = read_message(data)
        if message is None or message.message_class is Class.INDICATION:
            self.dropped["unreadable"] += 1
        elif message.message_class is Class.REQUEST:
            self._judge_roles(message, path, now)
        else:
            self._response_received(message, path, now)
        self.advance(now)

    def next_deadline(self) -> float | None:
        """Return the latest time at which to call `advance`, or None if nothing is pending."""
        deadlines = [check.transmission.due for check in self._checks.values()]
        if self.state in _AT_WORK:
            deadlines.append(self._gives_up_at)
        if self._next_pair():
            deadlines.append(self._next_check_at)
        if self._to_nominate():
            deadlines.append(self._nominate_at)
        if self._consent:
            deadlines += (self._consent.due, self._consent.expires_at, self._monitor.next_deadline())
        return min(deadlines, default=None)

    def advance(self, now: float) -> None:
        """Perform every action that is due at `now`."""
        if self.state in _AT_WORK and now >= self._gives_up_at:
            self._give_up()
        for transaction, check in list(self._checks.items()):
            if check.transmission.due <= now:
                self._unanswered(transaction, check, now)
        if self._next_check_at <= now and (turn := self._next_pair()):
            pair, triggered = turn
            self._check(pair, now, urgent=triggered)
            self._next_check_at = now + PACE_S
        self._nominate(now)
        self._keep_consent(now)
        self._follow(now)

    def _move(self, event: Event) -> None:
        self.state = TRANSITIONS.after(self.state, event)

    def _add_candidate(self, candidate: Candidate, remote: IceCredentials) -> None:
        if candidate.ufrag not in (None, remote.ufrag):
            self.dropped["candidate: another generation"] += 1
        elif reason := self._checklist.add_remote(candidate):
            self.dropped[f"candidate: {reason}"] += 1

    def _next_pair(self) -> tuple[CandidatePair, bool] | None:
        if self._remote is None or self.state is State.FAILED:
            return None
        return self._checklist.next_pair(ordinary=self.state is State.CHECKING, controlling=self.controlling)

    def _to_nominate(self) -> CandidatePair | None:
        if not self.controlling or self.state is not State.CHECKING:
            return None
        return self._checklist.best_valid(self.controlling)

    def _nominate(self, now: float) -> None:
        pair = self._to_nominate()
        if pair is None:
            return
        if now < self._nominate_at and self._checklist.hopes_for_better(pair, self.controlling):
            return
        self._move(Event.NOMINATED)
        self._check(pair, now, urgent=True, nominating=True)

    def _check(self, pair: CandidatePair, now: float, *, urgent: bool, nominating: bool = False) -> None:
        remote = self._remote
        assert remote is not None, "a check needs the peer's credentials"
        request = self._request(f"{remote.ufrag}:{self.local.ufrag}", pair)
        if nominating:
            request.attributes["USE-CANDIDATE"] = None
        key = remote.pwd.encode()
        request.add_message_integrity(key)
        check = Check(
            key, self.controlling, Transmission(bytes(request), pair.path), pair, urgent, nominating
        )
        self._checklist.taken(pair)
        self._checks[request.transaction_id] = check
        self._transmit(check, now)

    def _request(self, username: str, pair: CandidatePair) -> Message:
        request = binding_request(self._transaction_id())
        role = "ICE-CONTROLLING" if self.controlling else "ICE-CONTROLLED"
        request.attributes |= {
            "USERNAME": username,
            "PRIORITY": pair.offered_priority,
            role: self.tie_breaker,
        }
        return request

    def _transmit(self, check: Check, now: float) -> None:
        if not self._checklist.spend(urgent=check.urgent):
            check.transmission.silence(now)
            return
        self.transmits.append((check.transmission.data, check.transmission.path))
        check.transmission.transmitted(now)

    def _unanswered(self, transaction: bytes, check: Check, now: float) -> None:
        if not check.transmission.spent:
            self._transmit(check, now)
            return
        del self._checks[transaction]
        if check.pair and not check.replaced:
            self._refused(check, check.pair)

    def _refused(self, check: Check, pair: CandidatePair) -> None:
        pair.transition(PairEvent.REFUSED)
        if check.nominating and self.state is State.NOMINATING:
            self._move(Event.NOMINATION_LOST)

    def _trigger(self, pair: CandidatePair, now: float) -> None:
        if pair.state is PairState.SUCCEEDED:
            return
        for check in self._checks.values():
            if check.pair is not pair or check.replaced:
                continue
            # The peer repeats its checks more often than we need to repeat ours, so one pending triggered
            # check is enough.
            if check.urgent:
                return
            check.replaced = True
            check.transmission.silence(now)
        self._checklist.trigger(pair)

    def _response_received(self, message: Message, path: Path, now: float) -> None:
        check = self._checks.get(message.transaction_id)
        if check is None:
            self.dropped["unexpected response"] += 1
            return
        if not message.check_message_integrity(check.key):
            self.dropped["unauthenticated response"] += 1
            return
        del self._checks[message.transaction_id]
        symmetric = same_way_back(check.transmission.path, path)
        if message.error_code == ROLE_CONFLICT:
            self._role_refused(check, now)
        elif check.pair is None:
            if self._consent and symmetric and message.message_class is Class.RESPONSE:
                self._path_answered(self._consent, check.transmission.path, now)
        elif message.message_class is Class.RESPONSE and symmetric:
            self._answered(check, check.pair, now)
        elif not check.replaced:
            self._refused(check, check.pair)

    def _answered(self, check: Check, pair: CandidatePair, now: float) -> None:
        self._checklist.answered(pair)
        self._forget_checks(lambda other: other.pair is pair and not other.nominating)
        if self.state is State.CHECKING and not self._nominate_at:
            self._nominate_at = now + (TCP_NOMINATION_WAIT_S if pair.path.is_tcp else NOMINATION_WAIT_S)
        theirs = pair.peer_nominated and not self.controlling
        if theirs or (check.nominating and self.state is State.NOMINATING):
            self._select(pair, now)

    def _select(self, pair: CandidatePair, now: float) -> None:
        remote = self._remote
        assert remote is not None, "a valid pair was checked with the peer's credentials"
        if self.state is State.CONNECTED and self._consent and self._consent.pair is pair:
            return
        self._move(Event.SELECTED)
        self._checks.clear()
        self._checklist.conclude()
        self._consent = Consent(
            pair, self._generation, f"{remote.ufrag}:{self.local.ufrag}", remote.pwd.encode(), self._random
        )
        self._consent.granted(now)
        self._consent.request_sent(now)
        self._monitor.moved()
        self.events.append(Selected(pair.path))

    def _give_up(self) -> None:
        self._move(Event.GIVEN_UP)
        self._forget_checks(lambda check: check.pair is not None)
        self.events.append(Failed())

    def _forget_checks(self, which: Callable[[Check], bool]) -> None:
        self._checks = {key: check for key, check in self._checks.items() if not which(check)}

    def _keep_consent(self, now: float) -> None:
        consent = self._consent
        if consent is None:
            return
        if now >= consent.expires_at:
            self._consent = None
            self._forget_checks(lambda check: check.pair is None)
            if self.state is State.CONNECTED:
                self._move(Event.CONSENT_EXPIRED)
            self.events.append(ConsentExpired(consent.pair.path))
        elif now >= consent.due:
            self._ask(consent, consent.pair, now)

    def _ask(self, consent: Consent, pair: CandidatePair, now: float, *, nominating: bool = False) -> None:
        """Check whether the peer still answers, with a request that is never retransmitted."""
        request = self._request(consent.username, pair)
        if nominating:
            request.attributes["USE-CANDIDATE"] = None
        request.add_message_integrity(consent.key)
        transmission = Transmission(bytes(request), pair.path, limit=1, last_wait_s=EXPIRY_S)
        transmission.transmitted(now)
        self._checks[request.transaction_id] = Check(consent.key, self.controlling, transmission, pair=None)
        self.transmits.append((transmission.data, transmission.path))
        if pair is consent.pair:
            consent.request_sent(now)

    def _path_answered(self, consent: Consent, path: Path, now: float) -> None:
        if path == consent.pair.path:
            consent.granted(now)
            self._monitor.alive()
        else:
            self._monitor.answered(path)

    def _follow(self, now: float) -> None:
        """Check the paths whose checks are due, and move to a path on which the peer answers."""
        consent = self._consent
        if consent:
            due, others, chosen = self._monitor.advance(consent.generation, now)
            for pair in [consent.pair] * due + others:
                self._ask(consent, pair, now)
            if chosen:
                dead = self._monitor.health is Health.DOUBTED
                self._move_media(consent, chosen, now)
                if dead:
                    self.events.append(PathLeft())
        lost = self._monitor.health is Health.LOST
        if lost is not self._suspected:
            self._suspected = lost
            self.events.append(PathSuspected() if lost else PathRegained())

    def _move_media(self, consent: Consent, pair: CandidatePair, now: float) -> None:
        consent.pair = pair
        consent.granted(now)
        # Responses to checks that are pending on other paths do not count as consent to this path.
        self._forget_checks(lambda check: check.pair is None)
        if self.state is State.CONNECTED:
            self._move(Event.SELECTED)
        self._monitor.moved()
        self.events.append(Selected(pair.path))
        self._ask(consent, pair, now, nominating=self.controlling)

    def _judge_roles(self, request: Message, path: Path, now: float) -> None:
        """Resolve a role conflict in a check that the core has not answered (RFC 8445 section 7.3.1.1)."""
        ufrag = str(request.attributes.get("USERNAME", "")).partition(":")[0]
        known = [own for own in (self.local, self._previous) if own and own.ufrag == ufrag]
        if not known or not request.check_message_integrity(known[0].pwd.encode()):
            self.dropped["unauthenticated request"] += 1
            return
        theirs = request.attributes.get("ICE-CONTROLLING" if self.controlling else "ICE-CONTROLLED")
        if theirs is not None and (self.tie_breaker >= theirs) is self.controlling:
            self.transmits.append((role_conflict_response(request, known[0].pwd), path))
            return
        if theirs is not None:
            self._switch_role()
        self.transmits.append((success_response(request, path, known[0].pwd), path))
        learned = request.attributes.get("PRIORITY", priority("prflx"))
        generation = self._generation if known[0] is self.local else self._generation - 1
        self.check_received(
            BindingCheck(path, learned, "USE-CANDIDATE" in request.attributes, generation), now
        )

    def _role_refused(self, check: Check, now: float) -> None:
        """Handle a 487 response (RFC 8445 section 7.2.5.1). Keep the role if it has changed since the check
        was sent.
        """
        if check.controlling is self.controlling:
            # "The agent MUST change the tiebreaker value" (RFC 8445).
            self.tie_breaker = int(self._random() * 2**64)
            self._switch_role()
        pair = check.pair
        if pair and not check.replaced and pair.state is not PairState.SUCCEEDED:
            self._checklist.trigger(pair)

    def _switch_role(self) -> None:
        self.controlling = not self.controlling
        if self.state is State.NOMINATING:
            self._move(Event.NOMINATION_LOST)
        self.events.append(RoleChanged(self.controlling, self.tie_breaker))
