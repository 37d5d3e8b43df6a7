"""The SFU keeps track of registrations, rooms and seats, and notifies watchers of changes."""

import pytest

from svc.base.grants import CAPS
from svc.base.signalling_codec import Payload
from svc.sfu import rooms as rooms_module
from svc.sfu.close_codes import CloseCode
from svc.sfu.rooms import FORGET_AFTER_S, AudioControl, NoSeats, Peer, Registration, Room, Rooms, Track


class EventLog:
    """A Watcher and Member with a single log, so that tests can check the order of events."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, ...]] = []

    def peer_joined(self, room_id: str, user_id: str) -> None:
        self.entries.append(("joined", room_id, user_id))

    def peer_left(self, room_id: str, user_id: str, *, lost: bool) -> None:
        self.entries.append(("lost" if lost else "left", room_id, user_id))

    def speaking_changed(self, room: Room) -> None:
        """Ignore the event, which test_speaker_reports covers."""

    def report(self, payload: Payload) -> None:
        self.entries.append((payload.event,))

    def replaced(self) -> None:
        self.entries.append(("replaced",))

    def track_published(self, track: Track) -> None:
        self.entries.append(("published", track.track_id))

    def track_ended(self, track: Track) -> None:
        self.entries.append(("ended", track.track_id))

    def codecs_changed(self) -> None:
        pass

    def demand_changed(self, track: Track) -> None:
        self.entries.append(("demand", track.track_id))

    def track_changed(self, track: Track) -> None:
        self.entries.append(("changed", track.track_id))

    def speakers_changed(self, user_ids: list[str]) -> None:
        self.entries.append(("speakers", *user_ids))

    def audio_controlled(self, control: AudioControl) -> None:
        self.entries.append(("controlled", str(control.is_muted), str(control.is_deafened)))

    def caps_changed(self, caps: frozenset[str]) -> None:
        raise AssertionError("rooms change no caps")

    def dismissed(self, code: CloseCode, reason: str) -> None:
        self.entries.append(("dismissed", code.name))


def registered(rooms: Rooms, server_id: str = "home", *room_ids: str, now: float = 0.0) -> Registration:
    for room_id in room_ids or ("lobby",):
        registration = rooms.register(server_id, f"secret of {server_id}", room_id, now)
    assert registration is not None
    return registration


def seat(rooms: Rooms, user_id: str, diary: EventLog, server_id: str = "home", now: float = 0.0) -> Peer:
    room = registered(rooms, server_id).rooms["lobby"]
    return rooms.join(room, user_id, CAPS, diary, now)


def room_ids(rooms: Rooms) -> list[str]:
    return [room.room_id for room in rooms.rooms()]


def test_registering_is_idempotent_and_a_registration_may_have_several_rooms() -> None:
    rooms = Rooms(max_peers=9)
    first = registered(rooms, "home", "lobby", "attic")
    lobby = first.rooms["lobby"]
    assert registered(rooms, "home", "lobby") is first
    assert first.rooms["lobby"] is lobby and room_ids(rooms) == ["lobby", "attic"]


def test_a_different_secret_for_a_known_server_is_rejected() -> None:
    rooms = Rooms(max_peers=9)
    registered(rooms)
    assert rooms.register("home", "guess", "attic", 0.0) is None
    assert room_ids(rooms) == ["lobby"]


@pytest.mark.parametrize(("server_id", "password"), [("home", ""), ("", "secret")])
def test_a_registration_with_an_empty_secret_or_id_is_rejected(server_id: str, password: str) -> None:
    rooms = Rooms(max_peers=9)
    assert rooms.register(server_id, password, "lobby", 0.0) is None
    assert rooms.authenticate(server_id, password) is None


def test_only_the_right_secret_authenticates() -> None:
    rooms = Rooms(max_peers=9)
    registration = registered(rooms)
    assert rooms.authenticate("home", "secret of home") is registration
    assert rooms.authenticate("home", "secret of hom\N{LATIN SMALL LETTER E WITH ACUTE}") is None
    assert rooms.authenticate("away", "secret of home") is None


def test_the_repr_of_a_registration_does_not_contain_its_secret() -> None:
    assert "secret of" not in repr(registered(Rooms(max_peers=9)))


def test_seats_are_counted_across_rooms_and_servers() -> None:
    rooms = Rooms(max_peers=2)
    seat(rooms, "ann", EventLog())
    seat(rooms, "ann", EventLog(), server_id="away")
    with pytest.raises(NoSeats, match=r"^No seats left in this voice server$"):
        seat(rooms, "ben", EventLog())
    assert rooms.peers == 2


def test_leaving_frees_the_seat_and_leaving_twice_is_harmless() -> None:
    rooms = Rooms(max_peers=1)
    ann = seat(rooms, "ann", EventLog())
    rooms.leave(ann, 1.0)
    rooms.leave(ann, 2.0)
    assert rooms.peers == 0
    seat(rooms, "ben", EventLog())


def test_watchers_are_notified_only_about_their_own_registration() -> None:
    rooms = Rooms(max_peers=9)
    home, away = EventLog(), EventLog()
    registered(rooms, "home").watch(home)
    registered(rooms, "away").watch(away)
    rooms.leave(seat(rooms, "ann", EventLog()), 1.0)
    assert home.entries == [("joined", "lobby", "ann"), ("left", "lobby", "ann")]
    assert away.entries == []


def test_every_control_connection_of_a_registration_is_notified_once() -> None:
    rooms = Rooms(max_peers=9)
    first, second = EventLog(), EventLog()
    for diary in (first, first, second):
        registered(rooms).watch(diary)
    seat(rooms, "ann", EventLog())
    assert first.entries == second.entries == [("joined", "lobby", "ann")]


def test_a_rejoin_first_frees_the_old_seat_and_peer_left_precedes_peer_joined() -> None:
    rooms = Rooms(max_peers=1)
    diary = EventLog()
    seat(rooms, "ann", diary)
    registered(rooms).watch(diary)
    again = seat(rooms, "ann", EventLog())
    assert diary.entries == [("lost", "lobby", "ann"), ("dismissed", "REPLACED"), ("joined", "lobby", "ann")]
    assert rooms.peers == 1 and again.present


def test_an_evicted_peer_that_leaves_late_does_not_remove_its_successor() -> None:
    rooms = Rooms(max_peers=9)
    first = seat(rooms, "ann", EventLog())
    second = seat(rooms, "ann", EventLog())
    rooms.leave(first, 1.0)
    assert second.present and rooms.peers == 1


def test_the_same_user_may_be_in_two_rooms() -> None:
    rooms = Rooms(max_peers=9)
    registration = registered(rooms, "home", "lobby", "attic")
    for room in registration.rooms.values():
        rooms.join(room, "ann", CAPS, EventLog(), 0.0)
    assert rooms.peers == 2


def test_an_empty_room_is_removed_after_30_minutes_and_not_before() -> None:
    rooms = Rooms(max_peers=9)
    registered(rooms)
    rooms.sweep(FORGET_AFTER_S - 1, 0.0)
    assert room_ids(rooms) == ["lobby"]
    rooms.sweep(FORGET_AFTER_S, 0.0)
    assert room_ids(rooms) == []


def test_the_30_minutes_until_a_room_is_removed_start_when_its_last_user_leaves() -> None:
    rooms = Rooms(max_peers=9)
    ann = seat(rooms, "ann", EventLog())
    rooms.sweep(10 * FORGET_AFTER_S, 0.0)
    rooms.leave(ann, 10 * FORGET_AFTER_S)
    rooms.sweep(11 * FORGET_AFTER_S - 1, 0.0)
    assert room_ids(rooms) == ["lobby"]
    rooms.sweep(11 * FORGET_AFTER_S, 0.0)
    assert room_ids(rooms) == []


def test_registering_again_recreates_a_removed_room_but_does_not_extend_an_empty_one() -> None:
    rooms = Rooms(max_peers=9)
    registered(rooms)
    rooms.sweep(FORGET_AFTER_S, 0.0)
    registered(rooms, now=FORGET_AFTER_S)
    assert room_ids(rooms) == ["lobby"]


def test_a_server_is_forgotten_30_minutes_after_its_last_room_and_control_connection() -> None:
    rooms = Rooms(max_peers=9)
    diary = EventLog()
    registered(rooms).watch(diary)
    rooms.sweep(2 * FORGET_AFTER_S, 0.0)
    assert rooms.registration("home") is not None and room_ids(rooms) == []
    registered(rooms, now=2 * FORGET_AFTER_S).unwatch(diary, 2 * FORGET_AFTER_S)
    rooms.sweep(3 * FORGET_AFTER_S, 0.0)
    assert rooms.registration("home") is not None
    rooms.sweep(4 * FORGET_AFTER_S, 0.0)
    assert rooms.registration("home") is None
    assert rooms.register("home", "another secret", "lobby", 0.0) is not None


def test_a_used_token_is_remembered_until_it_expires() -> None:
    registration = registered(Rooms(max_peers=9))
    assert registration.spend_token("one", expires_at=100.0, now=0.0)
    assert not registration.spend_token("one", expires_at=100.0, now=99.0)
    registration.sweep(0.0, 99.0)
    assert not registration.spend_token("one", expires_at=100.0, now=99.0)
    registration.sweep(0.0, 100.0)
    assert registration.used_tokens == {}


def test_the_number_of_remembered_tokens_is_limited_and_no_replay_is_accepted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rooms_module, "MAX_USED_TOKENS", 2)
    registration = registered(Rooms(max_peers=9))
    assert registration.spend_token("one", 100.0, 0.0) and registration.spend_token("two", 50.0, 0.0)
    assert not registration.spend_token("three", 100.0, 10.0)
    assert registration.spend_token("three", 100.0, 60.0)
    assert not registration.spend_token("one", 100.0, 60.0)


def test_the_numbers_of_rooms_and_registrations_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms_module, "MAX_ROOMS", 2)
    monkeypatch.setattr(rooms_module, "MAX_REGISTRATIONS", 1)
    rooms = Rooms(max_peers=9)
    registered(rooms, "home", "a", "b", "c")
    assert room_ids(rooms) == ["a", "b"]
    assert rooms.register("away", "secret", "a", 0.0) is None
