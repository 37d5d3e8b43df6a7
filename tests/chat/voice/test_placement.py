"""Rooms are distributed evenly over several media services and move only when necessary."""

from collections import Counter

import pytest

from svc.chat.voice.sfu_pool import PROMISED_S, RoomPlacement

NAMES = ["ws://one:5005", "ws://two:5005", "ws://three:5005"]
ROOMS = [f"room-{number}" for number in range(300)]


class World:
    """A simulation in which services start and stop, and rooms fill and empty."""

    def __init__(self, names: list[str]) -> None:
        self.gone: set[int] = set()
        self.occupied: set[str] = set()
        self.placement = RoomPlacement(
            names, lambda index: index not in self.gone, lambda room_id: room_id in self.occupied
        )

    def places(self, now: float = 0.0) -> dict[str, int]:
        return {room_id: self.placement.promise(room_id, now) for room_id in ROOMS}


def test_rooms_are_distributed_evenly_and_deterministically() -> None:
    counts = Counter(World(NAMES).places().values())
    assert all(80 <= counts[index] <= 120 for index in range(3)), counts
    assert World(NAMES).places() == World(NAMES).places()


def test_the_order_of_the_services_does_not_matter() -> None:
    forwards = {room: NAMES[index] for room, index in World(NAMES).places().items()}
    backwards = {room: NAMES[::-1][index] for room, index in World(NAMES[::-1]).places().items()}
    assert forwards == backwards


def test_when_a_service_fails_only_its_rooms_move() -> None:
    world = World(NAMES)
    before = world.places()
    world.gone = {1}
    after = world.places(now=PROMISED_S)
    assert {room for room in ROOMS if before[room] != after[room]} == {
        room for room in ROOMS if before[room] == 1
    }
    assert set(after.values()) == {0, 2}


def test_an_empty_room_moves_back_when_its_service_returns() -> None:
    world = World(NAMES)
    before = world.places()
    world.gone = {1}
    world.places(now=PROMISED_S)
    world.gone = set()
    assert world.places(now=2 * PROMISED_S) == before


def test_a_room_with_participants_stays_on_its_service() -> None:
    world = World(NAMES)
    home = world.places()["room-1"]
    world.gone = {home}
    refuge = world.placement.promise("room-1", PROMISED_S)
    world.occupied = {"room-1"}
    world.gone = set()
    assert world.placement.promise("room-1", 9 * PROMISED_S) == refuge != home


def test_a_room_stays_while_somebody_is_joining_it() -> None:
    world = World(NAMES)
    home = world.places()["room-1"]
    world.gone = {home}
    refuge = world.placement.promise("room-1", PROMISED_S)
    world.gone = set()
    assert world.placement.promise("room-1", 2 * PROMISED_S - 1) == refuge
    assert world.placement.forget_empty(3 * PROMISED_S - 2)
    assert world.placement.of("room-1") == refuge
    assert not world.placement.forget_empty(3 * PROMISED_S)
    assert world.placement.of("room-1") is None


def test_a_room_is_assigned_to_the_first_service_that_reports_participants_in_it() -> None:
    placement = World(NAMES).placement
    assert placement.is_placed_at("room-1", 2)
    assert not placement.is_placed_at("room-1", 0)
    assert placement.rooms_at(2) == ["room-1"]
    placement.forget("room-1")
    assert placement.is_placed_at("room-1", 0)


@pytest.mark.parametrize("names", [NAMES, NAMES[:1]])
def test_if_all_services_are_down_a_room_waits_for_its_preferred_service(names: list[str]) -> None:
    world = World(names)
    before = world.places()
    world.gone = {0, 1, 2}
    assert world.places(now=PROMISED_S) == before
