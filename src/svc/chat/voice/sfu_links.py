"""The media services of a community, one or several, as if they were one.

Keeps a connection to each, puts every room at one of them, and moves the rooms of a
service that is gone. Who turns up in a room at another service than the room's is sent where the others
are. Decides nothing about members. docs/signalling.md, "From the chat server".
"""

import asyncio
import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from aiohttp import ClientSession

from svc.base.backoff import Backoff
from svc.chat.access.directory import Directory
from svc.chat.config import MediaConfig
from svc.chat.errors import ChatError
from svc.chat.voice.occupancy import Occupancy
from svc.chat.voice.sfu_link import CONFIRM_DEADLINE_S, SfuLink, Told

# Grants that nobody has used by now have expired (`voice.rules`), and with them the room's place.
PROMISED_S = 120.0


class Placement:
    """Which media service each room is at; decides, and connects to nothing.

    An empty room has its place by rendezvous hashing (Thaler and Ravishankar, 1998): each service has a
    rank for each room, the highest that is there has it, and when one comes or goes only its own rooms
    move. A room with people in it stays where they are for as long as that service does.
    `names` tell the services apart, and stay theirs across restarts; `there` says which can be used.
    """

    def __init__(
        self, names: Sequence[str], there: Callable[[int], bool], occupied: Callable[[str], bool]
    ) -> None:
        self._names = names
        self._there = there
        self._occupied = occupied
        # Of each room, and until when it has been promised to somebody.
        self._places: dict[str, tuple[int, float]] = {}

    def of(self, room_id: str) -> int | None:
        """Where a room is; None where nobody is in it, nor has been let in lately."""
        place = self._places.get(room_id)
        return place[0] if place else None

    def promise(self, room_id: str, now: float) -> int:
        """Where somebody is to go who wants to join a room; it stays there until they have come."""
        index = self._kept(room_id, now)
        if index is None:
            index = self._best(room_id)
        self._places[room_id] = index, now + PROMISED_S
        return index

    def found(self, room_id: str, index: int) -> bool:
        """Somebody is in the room at this service: is that where it is?"""
        return self._places.setdefault(room_id, (index, 0.0))[0] == index

    def rooms_at(self, index: int) -> list[str]:
        return [room_id for room_id, (place, _) in self._places.items() if place == index]

    def forget(self, room_id: str) -> None:
        self._places.pop(room_id, None)

    def forget_empty(self, now: float) -> bool:
        """Forget empty rooms whose promise has expired. Return whether an empty room has a place still."""
        empty = [room_id for room_id in self._places if not self._occupied(room_id)]
        expired = [room_id for room_id in empty if now >= self._places[room_id][1]]
        for room_id in expired:
            del self._places[room_id]
        return len(empty) > len(expired)

    def _kept(self, room_id: str, now: float) -> int | None:
        index, until = self._places.get(room_id, (None, 0.0))
        if index is None or not self._there(index):
            return None
        return index if now < until or self._occupied(room_id) else None

    def _best(self, room_id: str) -> int:
        everyone = range(len(self._names))
        # Where none is there, the first choice may be back first.
        usable = [index for index in everyone if self._there(index)] or everyone
        return max(usable, key=lambda index: rank(self._names[index], room_id))


def rank(name: str, room_id: str) -> bytes:
    """The same everywhere and always."""
    return hashlib.sha256(f"{name}\n{room_id}".encode()).digest()


# A service that is restarted, or hands its ports over, is back before that, and its rooms have stayed.
PATIENCE_S = 2.0
LOOK_INTERVAL_S = 0.25
# People in a call notice each second, and the media service is near.
FIRST_RECONNECT_S = 0.2
LAST_RECONNECT_S = 2.0


class SfuLinks:
    """`connect(index, told)` makes the link to a service."""

    def __init__(
        self, names: Sequence[str], connect: Callable[[int, Told], SfuLink], occupancy: Occupancy
    ) -> None:
        self._names = names
        self._occupancy = occupancy
        self._links = [connect(index, self) for index in range(len(names))]
        self._lost_at: list[float | None] = [0.0 for _ in names]
        # Of each service, who is in rooms that are elsewhere by now, until it can be told.
        self._astray: list[list[tuple[str, str]]] = [[] for _ in names]
        self._placement = Placement(names, self._there, lambda room_id: bool(occupancy.users(room_id)))
        # Set while time decides something: a service may be gone for good, or a promise expire.
        self._unsettled = asyncio.Event()
        occupancy.on_left.append(lambda *_: self._unsettled.set())

    @property
    def in_step(self) -> bool:
        """Is every service connected, and has told who is there?"""
        return bool(self._links) and all(link.in_step for link in self._links)

    @property
    def faults(self) -> list[str]:
        """What keeps a service from being in step, each with the service's address."""
        named = zip(self._names, self._links, strict=True)
        return [f"{name}: {link.fault}" for name, link in named if link.fault]

    def reaches(self, room_id: str) -> bool:
        """Is the service that has the room?"""
        return self._links[self.service_of(room_id)].in_step

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
                self._look(now())
        raise AssertionError("a task group of endless tasks does not end")

    def service_of(self, room_id: str) -> int:
        """Where a room that has been confirmed is."""
        return self._placement.of(room_id) or 0

    async def confirm_room(self, room_id: str) -> None:
        """Return once a service is known to have the room; ChatError otherwise."""
        now = asyncio.get_running_loop().time
        deadline = now() + CONFIRM_DEADLINE_S
        while True:
            left_s = deadline - now()
            index = self._placement.promise(room_id, now())
            self._unsettled.set()
            try:
                within_s = left_s if len(self._links) == 1 else min(left_s, PATIENCE_S)
                await self._links[index].confirm_room(room_id, within_s)
            except ChatError:
                if now() >= deadline or len(self._links) == 1:
                    raise
                await asyncio.sleep(LOOK_INTERVAL_S)
                self._look(now())
                continue
            if self._placement.of(room_id) == index:
                return

    def register(self, room_id: str) -> None:
        """Have a new room made, everywhere: it may move."""
        for link in self._links:
            link.register(room_id)

    def tell(self, event: str, data: Mapping[str, object]) -> None:
        """Say something about a user, where their room is."""
        index = self._placement.of(str(data.get("room_id")))
        for link in self._links if index is None else [self._links[index]]:
            link.tell(event, data)

    def _there(self, index: int) -> bool:
        """Connected, or gone for so short a time that it may be back."""
        return len(self._links) == 1 or not self._is_gone(index)

    def _is_gone(self, index: int) -> bool:
        lost_at = self._lost_at[index]
        return lost_at is not None and asyncio.get_running_loop().time() - lost_at >= PATIENCE_S

    def _look(self, now: float) -> None:
        for index, link in enumerate(self._links):
            if link.in_step:
                self._lost_at[index] = None
            elif self._lost_at[index] is None:
                self._lost_at[index] = now
            if len(self._links) > 1 and self._is_gone(index):
                self._abandon(index)
        some_left = self._placement.forget_empty(now)
        # With a single service nothing depends on how long it has been gone.
        if not some_left and (self.in_step or len(self._links) == 1):
            self._unsettled.clear()

    def _abandon(self, index: int) -> None:
        """Nobody is there any more; the next who joins one of its rooms decides where that goes."""
        for room_id in self._placement.rooms_at(index):
            for user_id in self._occupancy.users(room_id):
                self._occupancy.left(room_id, user_id, lost=True)
            self._placement.forget(room_id)

    # What the services say.

    def joined(self, index: int, room_id: str, user_id: str) -> None:
        if self._placement.found(room_id, index):
            self._occupancy.joined(room_id, user_id)
            return
        # Told first: their page asks for a new grant, whichever of the two it hears first.
        for tell in self._occupancy.on_astray:
            tell(room_id, user_id)
        self._links[index].tell("disconnect_user", {"room_id": room_id, "user_id": user_id})

    def left(self, index: int, room_id: str, user_id: str, *, lost: bool) -> None:
        if self._placement.of(room_id) == index:
            self._occupancy.left(room_id, user_id, lost=lost)

    def spoke(self, index: int, room_id: str, user_ids: Sequence[str]) -> None:
        if self._placement.of(room_id) == index:
            for tell in self._occupancy.on_speaking:
                tell(room_id, user_ids)

    def synchronise(self, index: int, actual: Mapping[str, Sequence[str]]) -> None:
        """Take over who is really there; what other services have of the rooms stays."""
        elsewhere = {
            room_id: self._occupancy.users(room_id)
            for room_id, _ in self._occupancy.everybody()
            if self._placement.of(room_id) != index
        }
        ours: dict[str, Sequence[str]] = {}
        astray: list[tuple[str, str]] = []
        for room_id, user_ids in actual.items():
            if not user_ids:
                continue
            if self._placement.found(room_id, index):
                ours[room_id] = user_ids
            else:
                astray += [(room_id, user_id) for user_id in user_ids]
        self._occupancy.synchronise({**elsewhere, **ours})
        self._astray[index] = astray
        if self._links[index].in_step:
            self._send_on(index)

    def lost(self, index: int) -> None:
        """Watch for how long the service stays away."""
        self._unsettled.set()

    def came_in_step(self, index: int) -> None:
        """It listens from now on."""
        self._lost_at[index] = None
        self._occupancy.in_step()
        self._send_on(index)

    def _send_on(self, index: int) -> None:
        astray, self._astray[index] = self._astray[index], []
        for room_id, user_id in astray:
            self.joined(index, room_id, user_id)


def links_to(
    session: ClientSession, media: MediaConfig, directory: Directory, occupancy: Occupancy
) -> SfuLinks:
    """To the media services that the operator has set."""

    def connect(at: int, told: Told) -> SfuLink:
        backoff = Backoff(FIRST_RECONNECT_S, LAST_RECONNECT_S, jitter=random.random)
        return SfuLink(session, media, at, directory.voice_channel_ids, told, backoff)

    return SfuLinks([service.url for service in media.services], connect, occupancy)
