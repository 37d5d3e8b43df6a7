"""Determines whether the service is ready, and the public address of its media port.

At startup, a STUN Binding request is sent from the media socket to each configured server. A response shows
that UDP works, and contains our server-reflexive address. Sans-I/O: the owner resolves names, sends and
receives datagrams, and supplies the time. Does not serve HTTP or reject clients, which may join while the
service is starting. See docs/signalling.md, "Over HTTP".

- Starting: makes up to 8 attempts. Each attempt waits longer than the last, at most 5 s.
- Healthy: after a response, or after the last attempt has gone unanswered. Missing responses are only logged,
  because the service may be used on a local network without internet access. If there is no
  server to query or the probe is disabled, the service is healthy immediately.

Healthy is final. In this state a request every 25 s keeps the NAT's mapping open and detects changes to it.
Without these requests the reflexive address would become useless within a minute.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from svc.base.backoff import Backoff
from svc.sfu.candidates import refusal, version
from svc.sfu.network_path import Address, Path
from svc.sfu.state_machine import Transitions
from svc.sfu.stun import TransactionId, binding_request, read_message
from svc.sfu.stun_codec import Class

ATTEMPTS = 8
FIRST_WAIT_S = 0.5
MAX_WAIT_S = 5.0
# RFC 8445 section 11 requires 15 s or more. NATs that close a mapping in less than 30 s are rare.
REFRESH_S = 25.0

Server = tuple[str, int]
"""A STUN server as configured: a name or an IP address, and a port."""


class State(Enum):
    STARTING = auto()
    HEALTHY = auto()


class Reason(Enum):
    """The reason why the service counts as healthy."""

    SKIPPED = "nothing to probe"
    ANSWERED = "the STUN probe succeeded"
    UNANSWERED = "all attempts of the STUN probe failed"


TRANSITIONS = Transitions(
    "readiness",
    {
        State.STARTING: {
            Reason.SKIPPED: State.HEALTHY,
            Reason.ANSWERED: State.HEALTHY,
            Reason.UNANSWERED: State.HEALTHY,
        },
        State.HEALTHY: {},
    },
)


@dataclass(frozen=True, slots=True)
class Ready:
    """Reports that the service has become healthy."""

    reason: Reason


class Readiness:
    """The state machine of the readiness probe. Drain `lookups`, `transmits` and `events` after every
    call.
    """

    def __init__(
        self,
        servers: Sequence[Server],
        *,
        disabled: bool,
        transaction_id: TransactionId,
        jitter: Callable[[], float],
    ) -> None:
        self.state = State.STARTING
        self.lookups: list[Server] = []  # Servers to resolve. Pass the results to `resolved`.
        self.transmits: list[tuple[bytes, Path]] = []
        self.events: list[Ready] = []
        self.dropped: Counter[str] = Counter()
        # Our local addresses, each with the public address that a NAT maps it to.
        self.mapped: dict[str, Address] = {}
        self._servers = () if disabled else tuple(servers)
        self._transaction_id = transaction_id
        self._backoff = Backoff(FIRST_WAIT_S, MAX_WAIT_S, jitter=jitter)
        self._attempts = 0
        self._answering: dict[Address, None] = {}  # The servers that responded to the latest attempt.
        self._pending: dict[bytes, Address] = {}
        self._due: float | None = None

    @property
    def healthy(self) -> bool:
        return self.state is State.HEALTHY

    def start(self, now: float) -> None:
        if self._servers:
            self._attempt(now)
        else:
            self._become_healthy(Reason.SKIPPED)

    def resolved(self, addresses: Sequence[Address]) -> None:
        """Query the addresses that a lookup returned. A failed lookup returns no addresses and uses up the
        attempt.
        """
        # A host name may resolve to many addresses. One per IP version is enough.
        for remote in {version(ip): (ip, port) for ip, port in reversed(addresses)}.values():
            self._ask(remote)

    def stun_received(self, data: bytes, path: Path, now: float) -> None:
        """Handle a datagram whose transaction id carries our prefix."""
        message = read_message(data)
        if message is None or message.message_class is not Class.RESPONSE:
            self.dropped["no answer"] += 1
        elif self._pending.get(message.transaction_id) != path.remote:
            self.dropped["not asked"] += 1
        else:
            del self._pending[message.transaction_id]
            self._answered(message.attributes.get("XOR-MAPPED-ADDRESS"), path, now)

    def next_deadline(self) -> float | None:
        """Return the latest time at which to call `advance`, or None if nothing is pending."""
        return self._due

    def advance(self, now: float) -> None:
        """Perform every action that is due at `now`."""
        if self._due is None or now < self._due:
            return
        if self.state is State.STARTING and self._attempts == ATTEMPTS:
            self._become_healthy(Reason.UNANSWERED)
        self._attempt(now)

    def _attempt(self, now: float) -> None:
        if self.healthy:
            # Late responses count only during startup.
            self._pending.clear()
            self._due = now + REFRESH_S
        else:
            self._attempts += 1
            self._due = now + self._backoff.next_delay()
        known, self._answering = self._answering, {}
        for remote in known:
            self._ask(remote)
        if not known:
            self.lookups += self._servers

    def _ask(self, remote: Address) -> None:
        request = binding_request(self._transaction_id())
        request.add_fingerprint()
        self._pending[request.transaction_id] = remote
        self.transmits.append((bytes(request), Path(remote)))

    def _answered(self, mapped: Address | None, path: Path, now: float) -> None:
        if mapped is None or refusal(mapped[0], loopback_allowed=True):
            self.dropped["useless answer"] += 1
            return
        self._answering[path.address] = None
        self.mapped[path.local] = mapped
        if not self.healthy:
            self._become_healthy(Reason.ANSWERED)
            self._due = now + REFRESH_S

    def _become_healthy(self, reason: Reason) -> None:
        self.state = TRANSITIONS.after(self.state, reason)
        self.events.append(Ready(reason))
