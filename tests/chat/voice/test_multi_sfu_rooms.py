"""Members of a room that spans several media services fill one service at a time. Each track is relayed to
each service once.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from svc.base import server_events as events
from svc.chat.voice.multi_sfu_rooms import MultiSfuRooms

ROOM, OTHER_ROOM = "room", "other room"
MICROPHONE = events.RelayedTrack("microphone", "stream", "cname", "member 0/0", "mic", "audio", [])


class Service:
    """A connected service that records its requests."""

    def __init__(self, number: int) -> None:
        self.host = f"10.0.0.{number}"
        self.addresses: Sequence[tuple[str, int]] = [(self.host, 3478)]
        self.synchronised = True
        self.requests: list[tuple[type[events.RoomRequest], dict[str, Any]]] = []

    def send(self, kind: type[events.RoomRequest], room_id: str, **fields: Any) -> None:
        self.requests.append((kind, {"room_id": room_id, **fields}))

    def tracks(self, kind: type[events.RoomRequest]) -> Counter[str]:
        """Count the requests of this kind for each track."""
        return Counter(fields["track_id"] for asked_kind, fields in self.requests if asked_kind is kind)


@pytest.fixture
def services() -> list[Service]:
    return [Service(number) for number in range(3)]


@pytest.fixture
def rooms(services: list[Service]) -> MultiSfuRooms:
    return MultiSfuRooms(services)


def place(rooms: MultiSfuRooms, **counts: int) -> None:
    """Put members into the room. `place(rooms, at_1=3)` puts three members on service 1."""
    for name, count in counts.items():
        index = int(name.removeprefix("at_"))
        for number in range(count):
            rooms.joined(index, ROOM, f"member {index}/{number}")


def test_members_are_placed_on_the_rooms_own_service_until_it_is_full(
    rooms: MultiSfuRooms,
) -> None:
    for number in range(5):
        assert rooms.choose(ROOM, home=1, usable=[0, 1, 2], size=5) == 1
        rooms.joined(1, ROOM, f"member {number}")
    assert rooms.choose(ROOM, home=1, usable=[0, 1, 2], size=5) != 1


def test_further_members_are_placed_on_a_service_that_the_room_already_uses(rooms: MultiSfuRooms) -> None:
    place(rooms, at_0=2, at_2=1)
    # Service 1 has fewer members in total, but would need another relay of each track.
    assert rooms.choose(ROOM, home=0, usable=[0, 1, 2], size=2) == 2


def test_members_are_placed_on_the_least_loaded_service_when_the_rooms_services_are_full(
    rooms: MultiSfuRooms,
) -> None:
    place(rooms, at_0=2)
    rooms.joined(1, OTHER_ROOM, "somebody else")
    assert rooms.choose(ROOM, home=0, usable=[0, 1, 2], size=2) == 2
    # All services are full, so the least loaded one is chosen. If loads are equal, the lowest number wins.
    place(rooms, at_1=2, at_2=2)
    assert rooms.choose(ROOM, home=0, usable=[0, 1, 2], size=2) == 0


def test_members_are_not_placed_on_a_service_that_does_not_respond(rooms: MultiSfuRooms) -> None:
    place(rooms, at_0=2, at_2=1)
    assert rooms.choose(ROOM, home=0, usable=[0, 1], size=2) == 1
    assert rooms.choose(ROOM, home=0, usable=[1, 2], size=3) == 2
    # If no service responds, members retry at the room's own service.
    assert rooms.choose(ROOM, home=0, usable=[], size=2) == 0


def test_a_track_is_relayed_to_each_other_service_once_for_all_members(
    rooms: MultiSfuRooms, services: list[Service]
) -> None:
    place(rooms, at_0=3, at_1=5, at_2=2)
    rooms.changed(0, events.RoomTracks(ROOM, [MICROPHONE]))
    rooms.changed(0, events.TrackPublished(ROOM, MICROPHONE))
    place(rooms, at_1=9, at_2=9)
    sender, *receivers = services
    assert sender.tracks(events.SendRelay) == {"microphone": 2}
    assert sender.tracks(events.ReceiveRelay) == {}
    for receiver in receivers:
        assert receiver.tracks(events.ReceiveRelay) == {"microphone": 1}
        assert receiver.tracks(events.SendRelay) == {}


def test_the_relays_to_a_service_end_when_its_last_member_has_left(
    rooms: MultiSfuRooms, services: list[Service]
) -> None:
    place(rooms, at_0=1, at_1=1, at_2=1)
    rooms.changed(0, events.RoomTracks(ROOM, [MICROPHONE]))
    rooms.left(2, ROOM, "member 2/0")
    ended = [fields["relay_id"] for kind, fields in services[0].requests if kind is events.EndRelay]
    received = [fields["relay_id"] for kind, fields in services[2].requests if kind is events.ReceiveRelay]
    assert ended == received
