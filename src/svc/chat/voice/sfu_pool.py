"""Combines a community's media services, so callers need not know how many there are.

This module keeps a connection to each service, assigns every room to a service, and moves rooms away from a
lost service. A user who joins on the wrong service is sent to the right one. This module makes no decisions
about members. See docs/signalling.md, "From the chat server".
"""

import asyncio
import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from aiohttp import ClientSession

from svc.base.backoff import Backoff
from svc.base.media_services import MediaConfig
from svc.base.server_events import DisconnectUser, HeldRelay, RoomRequest, UserAudioControl
from svc.chat.access.directory import Directory
from svc.chat.errors import ChatError
from svc.chat.voice.multi_sfu_rooms import MultiSfuRooms
from svc.chat.voice.occupancy import Occupancy
from svc.chat.voice.sfu_link import CONFIRM_DEADLINE_S, SILENT_S, SfuLink, SfuListener, SpanEvent

# How long an empty room stays on its service for a member with a grant. After this time, the grant has
# expired (`voice.rules`), so the room may move.
PROMISED_S = 120.0


class RoomPlacement:
    """The assignment of rooms to media services. Makes no connections.

    Rendezvous hashing (Thaler and Ravishankar, 1998) places an empty room: each service has a rank for each
    room, and the available service with the highest rank gets the room. When a service appears or disappears,
    only its rooms move. An occupied room stays on its service while that service is available. `names`
    identifies the services, and must be the same after a restart. `is_available` returns whether a service
    can be used, and `silent` whether its response to a request is overdue.
    """

    def __init__(
        self,
        names: Sequence[str],
        is_available: Callable[[int], bool],
        occupied: Callable[[str], bool],
        silent: Callable[[int], bool] = lambda _: False,
    ) -> None:
        self._names = names
        self._is_available, self._silent = is_available, silent
        self._occupied = occupied
        # Each room's service, and the time until which the room must stay there.
        self._assignments: dict[str, tuple[int, float]] = {}

    def of(self, room_id: str) -> int | None:
        """Return the index of a room's service, or None if the room is empty and not promised to anyone."""
        assignment = self._assignments.get(room_id)
        return assignment[0] if assignment else None

    def promise(self, room_id: str, now: float) -> int:
        """Return the index of the service where a member can join. The room stays there while the member's
        grant is valid.
        """
        index = self._previous_index(room_id, now)
        if index is None:
            index = self._best(room_id)
        self._assignments[room_id] = index, now + PROMISED_S
        return index

    def is_placed_at(self, room_id: str, index: int) -> bool:
        """Return whether a room belongs on the given service, which already has a user in the room. A room
        without a service is assigned to the given one.
        """
        return self._assignments.setdefault(room_id, (index, 0.0))[0] == index

    def rooms_at(self, index: int) -> list[str]:
        return [room_id for room_id, (assigned, _) in self._assignments.items() if assigned == index]

    def forget(self, room_id: str) -> None:
        self._assignments.pop(room_id, None)

    def forget_empty(self, now: float) -> bool:
        """Forget empty rooms whose promise has expired. Return whether any empty rooms remain."""
        empty = [room_id for room_id in self._assignments if not self._occupied(room_id)]
        expired = [room_id for room_id in empty if now >= self._assignments[room_id][1]]
        for room_id in expired:
            del self._assignments[room_id]
        return len(empty) > len(expired)

    def _previous_index(self, room_id: str, now: float) -> int | None:
        index, until = self._assignments.get(room_id, (None, 0.0))
        if index is None or not self._is_available(index):
            return None
        if self._occupied(room_id):
            return index
        return index if now < until and not self._silent(index) else None

    def _best(self, room_id: str) -> int:
        everyone = range(len(self._names))
        # If no service is available, consider all services, because the best one may return soon.
        usable = [index for index in everyone if self._is_available(index)] or everyone
        usable = [index for index in usable if not self._silent(index)] or usable
        return max(usable, key=lambda index: rank(self._names[index], room_id))


def rank(name: str, room_id: str) -> bytes:
    """Return a service's rank for a room. The rank is the same on every machine."""
    return hashlib.sha256(f"{name}\n{room_id}".encode()).digest()


# A service that returns within this time keeps its rooms. A restart or a port handover takes less time.
PATIENCE_S = 2.0
LOOK_INTERVAL_S = 0.25
# The delays between attempts to reconnect. They are short, because participants notice every second.
FIRST_RECONNECT_S = 0.2
LAST_RECONNECT_S = 2.0


class SfuLinks:
    """The links to all media services. `connect(index, listener)` creates the link to one service."""

    def __init__(
        self,
        names: Sequence[str],
        connect: Callable[[int, SfuListener], SfuLink],
        occupancy: Occupancy,
        room_size: int = 0,
    ) -> None:
        self._names = names
        self._occupancy = occupancy
        self._links = [connect(index, self) for index in range(len(names))]
        for link in self._links:
            link.is_probed = len(names) > 1
        self._lost_at: list[float | None] = [0.0 for _ in names]
        # For each service, the users it has reported in rooms that are now on another service. They are
        # handled once the service is in sync.
        self._astray: list[list[tuple[str, str]]] = [[] for _ in names]
        # Manages rooms that span several services. None if rooms may not span services.
        self._multi_sfu_rooms = MultiSfuRooms(self._links) if room_size and len(names) > 1 else None
        self._room_size = room_size
        self._placement = RoomPlacement(
            names,
            self._is_available,
            lambda room_id: bool(occupancy.users(room_id)),
            lambda index: self._links[index].is_silent,
        )
        # Set while periodic checks are needed, because a service is unavailable or a promise may expire.
        self._unsettled = asyncio.Event()
        occupancy.on_left.append(lambda *_: self._unsettled.set())

    @property
    def synchronised(self) -> bool:
        """Whether every service is connected and has reported its participants."""
        return bool(self._links) and all(link.synchronised for link in self._links)

    @property
    def faults(self) -> list[str]:
        """The reasons why services are not in sync, each prefixed with the service's name."""
        named_links = zip(self._names, self._links, strict=True)
        return [f"{name}: {link.fault}" for name, link in named_links if link.fault]

    def reaches(self, room_id: str) -> bool:
        return self._links[self.service_of(room_id)].synchronised

    async def run(self) -> NoReturn:
        now = asyncio.get_running_loop().time
        self._lost_at = [now() for _ in self._links]
        self._unsettled.set()
        async with asyncio.TaskGroup() as tasks:
            for link in self._links:
                tasks.create_task(link.run())
            while True:
                await self._unsettled.wait()
                await asyncio.sleep(LOOK_INTERVAL_S)
                self._check_links(now())
        raise AssertionError("a task group of endless tasks does not end")

    def service_of(self, room_id: str) -> int:
        return self._placement.of(room_id) or 0

    async def confirm_room(self, room_id: str) -> int:
        """Wait until a service confirms a room for another member. Return the service's index. Raises
        ChatError.
        """
        now = asyncio.get_running_loop().time
        deadline = now() + CONFIRM_DEADLINE_S
        while True:
            left_s = deadline - now()
            home = index = self._placement.promise(room_id, now())
            self._unsettled.set()
            if self._multi_sfu_rooms is not None:
                usable = [index for index, link in enumerate(self._links) if link.responds]
                index = self._multi_sfu_rooms.choose(room_id, home, usable, self._room_size)
            try:
                # Even if the connection is open, do not wait long, because another service can take the
                # member.
                patience_s = SILENT_S if self._links[index].responds else PATIENCE_S
                within_s = left_s if len(self._links) == 1 else min(left_s, patience_s)
                await self._links[index].confirm_room(room_id, within_s)
            except ChatError:
                if now() >= deadline or len(self._links) == 1:
                    raise
                await asyncio.sleep(LOOK_INTERVAL_S)
                self._check_links(now())
                continue
            if self._placement.of(room_id) == home:
                return index

    def register(self, room_id: str) -> None:
        """Register a new room with every service, because the room may move."""
        for link in self._links:
            link.register(room_id)

    def send(self, kind: type[RoomRequest], room_id: str, **fields: Any) -> None:
        """Send an event about a room to the room's service. If rooms can span services, send it to the
        service of the user in the event, or to all services if the event has no user.
        """
        index = self._placement.of(room_id)
        if self._multi_sfu_rooms is not None:
            # A mute goes to every service, because the member may arrive at any of them.
            user_id = None if kind is UserAudioControl else fields.get("user_id")
            index = self._multi_sfu_rooms.index_of(room_id, user_id) if user_id is not None else None
        for link in self._links if index is None else [self._links[index]]:
            link.send(kind, room_id, **fields)

    def _is_available(self, index: int) -> bool:
        """Return whether a service responds, or may still return because it was lost recently."""
        return len(self._links) == 1 or not self._is_gone(index)

    def _is_gone(self, index: int) -> bool:
        lost_at = self._lost_at[index]
        return lost_at is not None and asyncio.get_running_loop().time() - lost_at >= PATIENCE_S

    def _check_links(self, now: float) -> None:
        for index, link in enumerate(self._links):
            if link.responds:
                self._lost_at[index] = None
            elif self._lost_at[index] is None:
                self._lost_at[index] = now if link.silent_since is None else link.silent_since
            if len(self._links) > 1 and self._is_gone(index):
                self._abandon(index)
        some_left = self._placement.forget_empty(now)
        # With only one service, it does not matter how long it has been unavailable.
        if not some_left and (all(link.responds for link in self._links) or len(self._links) == 1):
            self._unsettled.clear()

    def _abandon(self, index: int) -> None:
        """Remove everyone from a lost service. Each of its rooms gets another service when the next member
        joins.
        """
        rooms = self._placement.rooms_at(index)
        if self._multi_sfu_rooms is not None:
            lost = self._multi_sfu_rooms.users_at(index)
            self._multi_sfu_rooms.gone(index)
        else:
            lost = [(room_id, user_id) for room_id in rooms for user_id in self._occupancy.users(room_id)]
        for room_id, user_id in lost:
            self.left(index, room_id, user_id, lost=True)
        for room_id in rooms:
            self._placement.forget(room_id)
        if self._links[index].is_silent:
            # The service has not closed its connections, so its members would keep waiting for it.
            for room_id, user_id in lost:
                self._send_astray(room_id, user_id)

    # Events from the services.

    def joined(self, index: int, room_id: str, user_id: str) -> None:
        if self._multi_sfu_rooms is not None:
            self._placement.is_placed_at(room_id, index)
            earlier = self._multi_sfu_rooms.joined(index, room_id, user_id)
            if earlier is not None:
                self._links[earlier].send(DisconnectUser, room_id, user_id=user_id)
            self._occupancy.joined(room_id, user_id)
            return
        if self._placement.is_placed_at(room_id, index):
            self._occupancy.joined(room_id, user_id)
            return
        # Send the event before the disconnect. The client then requests a new grant regardless of which
        # arrives first.
        self._send_astray(room_id, user_id)
        self._links[index].send(DisconnectUser, room_id, user_id=user_id)

    def _send_astray(self, room_id: str, user_id: str) -> None:
        """Report that a member must join the room again."""
        for notify in self._occupancy.on_astray:
            notify(room_id, user_id)

    def left(self, index: int, room_id: str, user_id: str, *, lost: bool) -> None:
        if self._multi_sfu_rooms is not None:
            if self._multi_sfu_rooms.left(index, room_id, user_id):
                self._occupancy.left(room_id, user_id, lost=lost)
            return
        if self._placement.of(room_id) == index:
            self._occupancy.left(room_id, user_id, lost=lost)

    def spoke(self, index: int, room_id: str, user_ids: Sequence[str]) -> None:
        if self._multi_sfu_rooms is not None:
            user_ids = self._multi_sfu_rooms.spoke(index, room_id, user_ids)
        if self._multi_sfu_rooms is not None or self._placement.of(room_id) == index:
            for notify in self._occupancy.on_speaking:
                notify(room_id, user_ids)

    def relays_held(self, index: int, relays: Sequence[HeldRelay]) -> None:
        # Only the first response matters. Later ones report only relays that this server started.
        if self._multi_sfu_rooms is not None and not self._links[index].synchronised:
            self._multi_sfu_rooms.held(index, relays)

    def synchronise(self, index: int, actual: Mapping[str, Sequence[str]]) -> None:
        """Replace the participants in a service's rooms with the actual ones, and leave rooms on other
        services unchanged.
        """
        if self._multi_sfu_rooms is not None:
            self._synchronise_members(self._multi_sfu_rooms, index, actual)
            return
        elsewhere = {
            room_id: self._occupancy.users(room_id)
            for room_id, _ in self._occupancy.all_participants()
            if self._placement.of(room_id) != index
        }
        ours: dict[str, Sequence[str]] = {}
        astray: list[tuple[str, str]] = []
        for room_id, user_ids in actual.items():
            if not user_ids:
                continue
            if self._placement.is_placed_at(room_id, index):
                ours[room_id] = user_ids
            else:
                astray += [(room_id, user_id) for user_id in user_ids]
        self._occupancy.synchronise({**elsewhere, **ours})
        self._astray[index] = astray
        if self._links[index].synchronised:
            self._send_on(index)

    def _synchronise_members(
        self, rooms: MultiSfuRooms, index: int, actual: Mapping[str, Sequence[str]]
    ) -> None:
        for room_id, user_id in rooms.users_at(index):
            if user_id not in actual.get(room_id, ()):
                self.left(index, room_id, user_id, lost=True)
        for room_id, user_ids in actual.items():
            for user_id in user_ids:
                self.joined(index, room_id, user_id)

    def span_changed(self, index: int, event: SpanEvent) -> None:
        if self._multi_sfu_rooms is not None:
            self._multi_sfu_rooms.changed(index, event)

    def lost(self, index: int) -> None:
        """Start measuring a service's outage."""
        self._unsettled.set()

    def link_synchronised(self, index: int) -> None:
        """Send a service all the state that it has missed."""
        self._lost_at[index] = None
        self._occupancy.synchronised()
        self._send_on(index)
        if self._multi_sfu_rooms is not None:
            self._multi_sfu_rooms.link_synchronised(index)

    def _send_on(self, index: int) -> None:
        astray, self._astray[index] = self._astray[index], []
        for room_id, user_id in astray:
            self.joined(index, room_id, user_id)


def links_to(
    session: ClientSession, media: MediaConfig, directory: Directory, occupancy: Occupancy, epoch: int
) -> SfuLinks:
    """Return the links to the media services that the operator has configured."""

    def connect(at: int, listener: SfuListener) -> SfuLink:
        backoff = Backoff(FIRST_RECONNECT_S, LAST_RECONNECT_S, jitter=random.random)
        return SfuLink(session, media, at, directory.voice_channel_ids, listener, backoff, epoch)

    return SfuLinks([service.url for service in media.services], connect, occupancy, media.room_size)
