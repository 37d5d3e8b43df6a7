"""Runs the sessions of one service without sockets. People join, answer and publish on the test's command."""

import json
import random
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from typing import Any

from msgspec import to_builtins

from svc.base.grants import CAPS
from svc.base.signalling_codec import Envelope, Payload
from svc.sfu.admission import Admission
from svc.sfu.candidates import Candidate, host_candidates
from svc.sfu.close_codes import CloseCode
from svc.sfu.connectivity import ConnectivityContext
from svc.sfu.dtls import Certificate
from svc.sfu.rooms import Room, Rooms
from svc.sfu.sdp import MediaDescription, SessionDescription
from svc.sfu.session import Session
from tests.kit.recorded_plane import RecordedForwarder, RecordedPlane, RecordedTransport
from tests.kit.sdp_answers import AnsweringClient

SERVER = "192.0.2.1"
MIC, CAMERA, SCREEN, SCREEN_AUDIO = "0", "1", "2", "3"
OPUS, VP8, AV1 = 111, 112, 114


@cache
def certificate() -> Certificate:
    """Generate one certificate for all tests, because generating a key is slow."""
    return Certificate.generate(datetime(2026, 1, 1, tzinfo=UTC))


def hosts() -> tuple[Candidate, ...]:
    return host_candidates(port=3478, interfaces=[SERVER], bound=[SERVER])


class Call:
    """One service with one registered chat server, and a clock that only the test advances."""

    def __init__(self, *, max_peers: int = 200) -> None:
        self.now = 1000.0
        self.rooms = Rooms(max_peers=max_peers)
        self.plane = RecordedPlane()
        self.tally: Counter[str] = Counter()
        self.context = ConnectivityContext(
            certificate(), hosts, random.Random(1), self.tally, lambda: self.now
        )
        self.people: list[Person] = []

    def room(self, room_id: str = "lobby", server_id: str = "home") -> Room:
        registration = self.rooms.register(server_id, "secret", room_id, self.now)
        assert registration is not None
        return registration.rooms[room_id]

    def join(
        self,
        user_id: str,
        *,
        caps: frozenset[str] = CAPS,
        room: Room | None = None,
        simulcast: bool = False,
    ) -> "Person":
        """Have a person join, and run the session until its first offer."""
        person = Person(self, user_id, Admission(room or self.room(), caps, simulcast))
        self.people.append(person)
        person.session.open()
        self.settle()
        return person

    def joined(self, user_id: str, **sends: str) -> "Person":
        """Have a person join, answer, and send media in media sections, such as `mic="stream track"`."""
        person = self.join(user_id)
        sections = {"mic": MIC, "camera": CAMERA, "screen": SCREEN, "screen_audio": SCREEN_AUDIO}
        person.answering.sends = {sections[name]: ids for name, ids in sends.items()}
        person.answer()
        for name in sends:
            person.send_media(sections[name])
        self.settle()
        return person

    def settle(self) -> None:
        """Run all due work in every session."""
        for person in self.people:
            if person.wake_due <= self.now:
                person.wake_due = float("inf")
                person.session.advance()

    def pass_time(self, seconds: float) -> None:
        """Advance the clock, and run every timer that expires on the way."""
        end = self.now + seconds
        while (due := min(person.wake_due for person in self.people)) <= end:
            self.now = max(self.now, due)
            self.settle()
        self.now = end


class Person:
    """A client whose connection is a list of events. Implements the session's Client protocol."""

    def __init__(self, call: Call, user_id: str, admission: Admission) -> None:
        self.user_id = user_id
        self.answering = AnsweringClient()
        self.received: list[tuple[str, Any]] = []
        self.closed: tuple[CloseCode, str] | None = None
        self.wake_due = float("inf")
        self._call = call
        self.session = Session(
            self,
            admission,
            user_id,
            rooms=call.rooms,
            plane=call.plane,
            context=call.context,
        )
        self.transport: RecordedTransport = call.plane.transports[-1]

    def push(self, payload: Payload) -> None:
        self.received.append((payload.event, json.loads(json.dumps(to_builtins(payload)))))

    def send_error(self, reason: str) -> None:
        self.received.append(("room_error", reason))

    def close(self, code: CloseCode, reason: str) -> None:
        self.closed = code, reason

    def superseded(self) -> None:
        self.closed = CloseCode.REPLACED, "Resumed over another connection"

    def wake_at(self, deadline: float) -> None:
        self.wake_due = min(self.wake_due, deadline)

    def send(self, event: str, data: object) -> None:
        """Send an event to the service."""
        text = data if isinstance(data, str) else json.dumps(data)
        self.session.receive(Envelope(event, text))
        self._call.settle()

    def answer(self) -> None:
        """Answer the latest offer."""
        self.send("answer", {"type": "answer", "sdp": self.answering.answer(self.offer["sdp"])})

    def send_media(self, mid: str, payload_type: int | None = None, ssrc: int = 7) -> None:
        """Deliver the first packet in a media section."""
        if payload_type is None:
            payload_type = OPUS if mid in (MIC, SCREEN_AUDIO) else VP8
        self.session.track_started(mid, ssrc, payload_type)
        self._call.settle()

    def events(self, event: str) -> list[Any]:
        return [data for name, data in self.received if name == event]

    @property
    def offers(self) -> list[Any]:
        return self.events("offer")

    @property
    def offer(self) -> Any:
        return self.offers[-1]

    @property
    def errors(self) -> list[Any]:
        return self.events("room_error")

    def sections(self) -> dict[str, MediaDescription]:
        """Return the media sections of the last offer by mid."""
        return {media.mid or "": media for media in SessionDescription.parse(self.offer["sdp"]).media}

    def directions(self) -> dict[str, str]:
        return {mid: media.direction for mid, media in self.sections().items()}

    def forwarder(self, mid: str) -> RecordedForwarder:
        return self.transport.sections[mid]
