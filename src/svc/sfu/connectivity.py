"""Sets up encrypted media for one client: first ICE, then DTLS, then keys.

Passes the core's reports and the client's answers to ICE and DTLS, and their datagrams, path and keys to the
core. The session reads the results from `outcomes`. Handles neither signalling nor media sections and has no
clock.
"""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from random import Random
from typing import TypeVar

from svc.sfu.answer import AnswerError, AnswerTerms
from svc.sfu.candidates import Candidate, CandidateError
from svc.sfu.dtls import Certificate, Closed, Connected, DtlsTransport, HandshakeFailed
from svc.sfu.ice import IceAgent, IceCredentials
from svc.sfu.media_protocols import MediaTransport
from svc.sfu.network_path import (
    BindingCheck,
    ConsentExpired,
    Failed,
    Path,
    PathLeft,
    PathRegained,
    PathSuspected,
    RoleChanged,
    Selected,
)
from svc.sfu.offer import IceParameters

# The maximum number of datagrams stored until the client's answer arrives, because a client may begin its
# handshake earlier. A browser's first flight is two datagrams and may be retransmitted.
_MAX_EARLY_DATAGRAMS = 8
_TRANSACTION_ID_BYTES = 12

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class ConnectivityContext:
    """The shared dependencies of all sessions: certificate, candidates, randomness, counters and clock."""

    certificate: Certificate
    candidates: Callable[[], Sequence[Candidate]]
    chance: Random
    tally: Counter[str]
    clock: Callable[[], float]


@dataclass(frozen=True, slots=True)
class PathLost:
    """Media has no path to the client. An ICE restart may find one."""


@dataclass(frozen=True, slots=True)
class PathSilent:
    """Nothing is arriving over the selected path, so the path may be lost."""


@dataclass(frozen=True, slots=True)
class PathFound:
    """Media has a path to the client, for the first time or again."""


@dataclass(frozen=True, slots=True)
class Secured:
    """Media is now encrypted with the keys from the handshake."""


@dataclass(frozen=True, slots=True)
class MediaFailed:
    """Encrypted media with this client is impossible."""

    reason: str


@dataclass(frozen=True, slots=True)
class MediaClosed:
    """The client has closed its media connection."""


@dataclass(frozen=True, slots=True)
class PathMoved:
    """Media now uses a different path to the client. The client might not send on it until ICE restarts."""


Outcome = PathLost | PathSilent | PathFound | PathMoved | Secured | MediaFailed | MediaClosed


class Connectivity:
    """One client's ICE, DTLS and keys. Owns the transport and closes it."""

    def __init__(self, transport: MediaTransport, context: ConnectivityContext) -> None:
        self.outcomes: list[Outcome] = []
        self._transport = transport
        self._context = context
        self.candidates = tuple(context.candidates())
        self._ice = IceAgent(
            local=self._new_credentials(),
            local_candidates=self.candidates,
            transaction_id=self._transaction_id,
            tie_breaker=int.from_bytes(context.chance.randbytes(8)),
            random=context.chance.random,
        )
        self._dtls: DtlsTransport | None = None
        self._has_path = False
        self._secured = False
        self._fingerprints: tuple[tuple[str, str], ...] = ()
        self._early: deque[bytes] = deque(maxlen=_MAX_EARLY_DATAGRAMS)

    @property
    def local(self) -> IceParameters:
        """Our ICE credentials in the current generation."""
        return IceParameters(self._ice.local.ufrag, self._ice.local.pwd)

    @property
    def connected(self) -> bool:
        return self._has_path and self._secured

    def check(self, terms: AnswerTerms) -> None:
        """Raise AnswerError if an answer changes something that must stay the same during a call."""
        if self._dtls and terms.fingerprints != self._fingerprints:
            raise AnswerError("The answer changes the certificate of the connection: join again instead")

    def apply(self, terms: AnswerTerms, now: float) -> None:
        """Apply the ICE and DTLS parameters from the client's answer."""
        self._ice.set_remote(terms.ice.ufrag, terms.ice.pwd, now)
        for text in terms.candidates:
            self._try_candidate(text, terms.ice.ufrag, now)
        if self._dtls is None:
            self._begin_handshake(terms, now)
        self._carry(now)

    def add_candidate(self, text: str, ufrag: str | None, now: float) -> None:
        """Try a candidate that the client sent after its answer. Raises CandidateError if it is
        invalid.
        """
        candidate = Candidate.parse(text)
        if candidate:
            self._ice.add_remote_candidate(replace(candidate, ufrag=ufrag or candidate.ufrag), now)
            self._carry(now)

    def restart(self, now: float) -> None:
        """Start a new ICE generation. Media stays on its path until the new generation finds another."""
        self.candidates = tuple(self._context.candidates())
        self._ice.restart(self._new_credentials(), now)
        self._carry(now)

    def check_received(self, check: BindingCheck, now: float) -> None:
        self._ice.check_received(check, now)
        self._carry(now)

    def stun_received(self, data: bytes, path: Path, now: float) -> None:
        self._ice.stun_received(data, path, now)
        self._carry(now)

    def path_silent(self, silent: bool, now: float) -> None:
        """Handle the start of silence on the selected path if `silent`, otherwise its end."""
        if silent:
            self._ice.path_silent(now)
        else:
            self._ice.path_recovered(now)
        self._carry(now)

    def dtls_received(self, data: bytes, now: float) -> None:
        if self._dtls is None:
            self._early.append(data)
            return
        self._dtls.receive(data, now)
        self._carry(now)

    def next_deadline(self) -> float:
        deadlines = (self._ice.next_deadline(), self._dtls.next_deadline() if self._dtls else None)
        return min((deadline for deadline in deadlines if deadline is not None), default=inf)

    def advance(self, now: float) -> None:
        self._ice.advance(now)
        if self._dtls:
            self._dtls.advance(now)
        self._carry(now)

    def close(self) -> None:
        """Notify the client, if that is possible without waiting, and close the transport."""
        if self._dtls:
            self._dtls.close()
            self._carry_dtls(self._dtls)
        self._transport.close()

    def _new_credentials(self) -> IceCredentials:
        credentials = IceCredentials.generate(self._context.chance.randbytes)
        self._transport.set_local_credentials(credentials.ufrag, credentials.pwd)
        return credentials

    def _transaction_id(self) -> bytes:
        prefix = self._transport.transaction_prefix
        return prefix + self._context.chance.randbytes(_TRANSACTION_ID_BYTES - len(prefix))

    def _try_candidate(self, text: str, ufrag: str, now: float) -> None:
        """Try one of the candidates from an answer. Ignore an unreadable candidate."""
        try:
            candidate = Candidate.parse(text)
        except CandidateError:
            return
        if candidate:
            self._ice.add_remote_candidate(replace(candidate, ufrag=ufrag), now)

    def _begin_handshake(self, terms: AnswerTerms, now: float) -> None:
        self._fingerprints = terms.fingerprints
        self._dtls = DtlsTransport(
            self._context.certificate, "server" if terms.setup == "active" else "client"
        )
        self._dtls.set_remote_fingerprints(terms.fingerprints)
        while self._early:
            self._dtls.receive(self._early.popleft(), now)

    def _carry(self, now: float) -> None:
        """Pass on all datagrams and events that the last step of ICE and DTLS produced."""
        for data, path in _drain(self._ice.transmits):
            self._transport.send_stun(data, path)
        for event in _drain(self._ice.events):
            match event:
                case Selected(path):
                    self._transport.select(path)
                    self._has_path = True
                    self.outcomes.append(PathFound())
                    if self._dtls:
                        self._dtls.start(now)
                case RoleChanged(controlling):
                    self._transport.set_controlling(controlling)
                case PathSuspected():
                    self._has_path = False
                    self.outcomes.append(PathSilent())
                case PathRegained():
                    self._has_path = True
                    self.outcomes.append(PathFound())
                case PathLeft():
                    self.outcomes.append(PathMoved())
                case ConsentExpired() | Failed():
                    self._has_path = False
                    self.outcomes.append(PathLost())
        if self._dtls:
            self._carry_dtls(self._dtls)

    def _carry_dtls(self, dtls: DtlsTransport) -> None:
        # Set the keys before sending, because a client that has received our last flight sends media
        # immediately.
        for event in _drain(dtls.events):
            match event:
                case Connected(keys):
                    self._transport.set_keys(keys.profile, keys.local, keys.remote)
                    self._secured = True
                    self.outcomes.append(Secured())
                case HandshakeFailed(reason):
                    self.outcomes.append(MediaFailed(f"Media encryption: {reason}"))
                case Closed():
                    self.outcomes.append(MediaClosed())
        for data in _drain(dtls.transmits):
            self._transport.send_dtls(data)


def _drain(items: list[_Item]) -> list[_Item]:
    taken, items[:] = items[:], []
    return taken
