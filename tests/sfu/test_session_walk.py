"""After random actions in a room, all participants receive each other's tracks."""

import random

import pytest

from svc.base.grants import CAPS
from svc.sfu.rooms import AudioControl
from tests.kit.negotiation import CAMERA, MIC, SCREEN, SCREEN_AUDIO, Call, Person
from tests.kit.recorded_plane import RecordedDownTrack, RecordedForwarder

SECTIONS = (MIC, CAMERA, SCREEN, SCREEN_AUDIO)
STEPS = 80


class Walk:
    """One room, and the random generator that chooses its actions."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.call = Call(max_peers=5)
        self.forwarders: set[RecordedForwarder] = set()

    @property
    def present(self) -> list[Person]:
        return [person for person in self.call.people if not person.session.closed]

    def step(self) -> None:
        if len(self.present) < 2 or self.dice.random() < 0.1:
            self.join()
            return
        person = self.dice.choice(self.present)
        self.dice.choice(
            (self.leave, self.publish, self.stop, self.answer, self.answer, self.ask, self.control)
        )(person)
        for transport in self.call.plane.transports:
            self.forwarders.update(transport.sections.values())
        self.call.pass_time(self.dice.random())

    def join(self) -> None:
        user_id = f"user {self.dice.randrange(5)}"
        person = self.call.join(user_id)
        person.answering.sends = {
            mid: f"stream {user_id}{mid}" for mid in SECTIONS if self.dice.random() < 0.5
        }

    def leave(self, person: Person) -> None:
        if self.dice.random() < 0.3:
            person.session.close()

    def publish(self, person: Person) -> None:
        person.answering.sends[self.dice.choice(SECTIONS)] = self.dice.choice(["", "a b", "c d"])
        person.send("renegotiate", "{}")

    def stop(self, person: Person) -> None:
        person.answering.sends.pop(self.dice.choice(SECTIONS), None)
        person.send("renegotiate", {"ice_restart": self.dice.random() < 0.1})

    def answer(self, person: Person) -> None:
        person.answer()
        for mid in list(person.transport.sections):
            if self.dice.random() < 0.8:
                person.send_media(mid)

    def ask(self, person: Person) -> None:
        person.answering.declines = self.dice.sample(["4", "5", "6", "7"], self.dice.randrange(3))
        person.send("renegotiate", "not JSON")

    def control(self, person: Person) -> None:
        caps = frozenset(cap for cap in CAPS if self.dice.random() < 0.8)
        person.session.caps_changed(caps)
        muted = AudioControl(self.dice.random() < 0.5, self.dice.random() < 0.5)
        self.call.room().control_audio(person.user_id, muted)

    def negotiate_all(self) -> None:
        """Have everybody answer until no offer is pending."""
        for _ in range(8):
            for person in self.present:
                person.answering.declines = ()
                person.send("renegotiate", "{}")
                person.answer()
                for mid in list(person.transport.sections):
                    person.send_media(mid)

    def down_tracks(self) -> list[tuple[RecordedForwarder, RecordedDownTrack]]:
        return [(forwarder, track) for forwarder in self.forwarders for track in forwarder.down_tracks]


@pytest.mark.parametrize("seed", range(6))
def test_after_any_actions_everybody_receives_everybody_elses_tracks(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    walk = Walk(seed)
    for _ in range(STEPS):
        walk.step()
    walk.negotiate_all()
    for transport in walk.call.plane.transports:
        walk.forwarders.update(transport.sections.values())

    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
    room = walk.call.room()
    for person in walk.present:
        of_others = {track.track_id for track in room.tracks.values() if track.user_id != person.user_id}
        assert {track["track_id"] for track in person.offer["tracks"].values()} == of_others
        mine = [track for _, track in walk.down_tracks() if track.to is person.transport]
        assert sum(not track.closed for track in mine) == len(of_others)
        ssrcs = [ssrc for track in mine for ssrc in (track.ssrc, track.rtx_ssrc) if ssrc]
        assert len(set(ssrcs)) == len(ssrcs), "a source serves one down track"
    assert walk.call.rooms.peers == len(walk.present) == len(room.peers)


@pytest.mark.parametrize("seed", range(6))
def test_no_resources_are_left_open_when_everybody_has_left(seed: int) -> None:
    walk = Walk(seed)
    for _ in range(STEPS):
        walk.step()
    for person in walk.present:
        person.session.close()
    assert all(transport.closed for transport in walk.call.plane.transports)
    assert all(forwarder.closed for forwarder in walk.forwarders)
    assert all(track.closed for _, track in walk.down_tracks())
    assert walk.call.rooms.peers == 0 and walk.call.room().tracks == {}
