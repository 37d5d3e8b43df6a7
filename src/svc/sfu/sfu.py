"""Contains the state that all of an SFU's connections share, and the SFU's periodic tasks.

Connects the rooms, the media plane and the counters. Does not open ports and has no timer: `app` calls the
tasks at their intervals. See docs/signalling.md.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random

from svc.base import server_events as events
from svc.sfu.admission import admit
from svc.sfu.candidates import Candidate, passive_candidates, reflexive_candidates
from svc.sfu.client import Client
from svc.sfu.client_events import ClientJoin
from svc.sfu.close_codes import CloseCode
from svc.sfu.connectivity import ConnectivityContext
from svc.sfu.dtls import Certificate
from svc.sfu.media_protocols import MediaPlane
from svc.sfu.network_path import Address
from svc.sfu.relays import Span
from svc.sfu.resumption import Resumptions
from svc.sfu.rooms import Room, Rooms
from svc.sfu.session import Session
from svc.sfu.signalling_connection import Connection


@dataclass(frozen=True, slots=True)
class Clocks:
    """Two clocks in seconds: a monotonic clock, and the time since 1970."""

    steady: Callable[[], float]
    wall: Callable[[], float]


class Sfu:
    """One SFU. `chance` must be unpredictable."""

    def __init__(
        self,
        *,
        max_peers: int,
        plane: MediaPlane,
        certificate: Certificate,
        host_candidates: Callable[[], tuple[Candidate, ...]],
        fixed_addresses: Callable[[], tuple[Address, ...]],
        chance: Random,
        clocks: Clocks,
    ) -> None:
        self.rooms = Rooms(max_peers=max_peers)
        self.tally: Counter[str] = Counter()
        self.connections: set[Connection] = set()
        self.sessions: set[Session] = set()
        self.clock, self.wall_clock = clocks.steady, clocks.wall
        self.resumptions = Resumptions(chance.randbytes, clocks.steady)
        self.ready = False  # whether UDP connectivity was verified or needs no verification
        self.leaving = False  # whether the service is shutting down and accepts no new clients
        self._plane = plane
        self._find_hosts = host_candidates
        self._hosts = host_candidates()
        self._find_fixed = fixed_addresses
        self._fixed = fixed_addresses()
        self._mapped: Mapping[str, Address] = {}
        self._spans: dict[Room, Span] = {}
        self._context = ConnectivityContext(certificate, self.candidates, chance, self.tally, self.clock)

    def seat(self, client: Client, request: ClientJoin) -> Session:
        """Return a new session if the client may join. Raises JoinRefused or NoSeats."""
        admission = admit(self.rooms, request, self.wall_clock())
        session = Session(
            client,
            admission,
            request.user_id,
            rooms=self.rooms,
            plane=self._plane,
            context=self._context,
        )
        self.sessions.add(session)
        return session

    def leave(self, code: CloseCode, reason: str) -> None:
        """Refuse new clients and close all connections and sessions with the given code and reason."""
        self.leaving = True
        for connection in list(self.connections):
            connection.close(code, reason)
        for session in [session for session in self.sessions if session.away]:
            session.close(lost=True)

    def candidates(self) -> tuple[Candidate, ...]:
        """Return candidates for all of our addresses that are currently known."""
        udp = (*self._hosts, *reflexive_candidates(self._hosts, self._mapped))
        return (*udp, *passive_candidates(udp)) if self._plane.serves_tcp else udp

    def fixed_addresses(self) -> tuple[Address, ...]:
        """Return the addresses at which other SFUs can reach this SFU, and from which it can send."""
        return self._fixed

    def create_span(self, room: Room) -> Span:
        """Make a room span several SFUs and return its relays."""
        if room not in self._spans:
            room.span = self._spans[room] = Span(room, self._plane, self.clock)
        return self._spans[room]

    def held_relays(self, rooms: Iterable[Room]) -> list[events.HeldRelay]:
        """Return the relays of these rooms that start or end on this SFU."""
        return [held for room in rooms if room in self._spans for held in self._spans[room].held_relays()]

    def unspan(self, room: Room) -> None:
        """End the relays of a room whose participants are all on this SFU."""
        if span := self._spans.pop(room, None):
            span.close()
        room.span = None
        room.take_elsewhere(None)

    def become_ready(self) -> None:
        self.ready = True

    def refresh_candidates(self) -> None:
        """Read the machine's network interfaces again, because laptops change networks."""
        self._hosts, self._fixed = self._find_hosts(), self._find_fixed()

    def set_mapped_addresses(self, mapped: Mapping[str, Address]) -> None:
        """Store the public addresses that STUN servers reported, and send each client the new candidates."""
        known = set(self.candidates())
        self._mapped = mapped
        for candidate in self.candidates():
            if candidate not in known:
                for session in list(self.sessions):
                    session.candidate_found(candidate)

    def sweep(self) -> None:
        """Remove rooms and registrations that have been idle for a long time."""
        self.rooms.sweep(self.clock(), self.wall_clock())
        for room in set(self._spans) - set(self.rooms.rooms()):
            self.unspan(room)
