"""Tests ICE and DTLS in one session with an in-memory client, from the SDP answer to the SRTP keys."""

from datetime import UTC, datetime
from functools import cache

import pytest

from svc.sfu.close_codes import CloseCode
from svc.sfu.dtls import Certificate, Connected, DtlsTransport, SrtpKeys
from svc.sfu.network_path import BindingCheck, Path
from svc.sfu.session import GOODBYE_DEADLINE_S
from svc.sfu.stun import read_message, success_response
from tests.kit.negotiation import Call, Person, certificate

CLIENT = ("198.51.100.7", 5000)
PWD = "clientPasswordOf22Characters"


@cache
def client_certificate() -> Certificate:
    return Certificate.generate(datetime(2026, 1, 1, tzinfo=UTC))


class Client:
    """A client that performs only a browser's connectivity checks and DTLS handshake."""

    def __init__(self, call: Call, *, role: str = "client") -> None:
        self.call = call
        self.person: Person = call.join("ann")
        self.transport = self.person.transport
        self.dtls = DtlsTransport(client_certificate(), "client" if role == "client" else "server")
        self.dtls.set_remote_fingerprints([("sha-256", certificate().fingerprint)])
        self.person.answering.fingerprint = client_certificate().fingerprint
        self.person.answering.setup = "active" if role == "client" else "passive"
        self.person.answering.candidates = (f"candidate:1 1 udp 2130706431 {CLIENT[0]} {CLIENT[1]} typ host",)
        self.answers_checks = True
        self.dead_paths: set[Path] = set()

    def run(self, seconds: float = 2.0) -> None:
        """Exchange datagrams for the given time."""
        for _ in range(int(seconds / 0.05)):
            self._exchange()
            self.call.pass_time(0.05)

    def shake_hands(self) -> None:
        """Send the client's pending handshake datagrams."""
        for data in self.dtls.transmits:
            self.person.session.dtls_received(data)
        self.dtls.transmits.clear()
        self.call.settle()

    def _exchange(self) -> None:
        requests, self.transport.stun[:] = self.transport.stun[:], []
        for data, path in requests:
            message = read_message(data)
            if self.answers_checks and message and path not in self.dead_paths:
                self.person.session.stun_received(success_response(message, path, PWD), path)
        for data in self.transport.dtls:
            self.dtls.receive(data, self.call.now)
        self.transport.dtls.clear()
        self.shake_hands()

    @property
    def keys(self) -> SrtpKeys | None:
        return next((event.keys for event in self.dtls.events if isinstance(event, Connected)), None)


def test_the_selected_path_gives_both_sides_the_same_gcm_keys() -> None:
    client = Client(Call())
    client.person.answer()
    client.dtls.start(client.call.now)
    client.run()
    assert [path.remote for path in client.transport.selected] == [CLIENT]
    assert client.keys is not None and client.keys.profile == "AEAD_AES_128_GCM"
    assert client.transport.keys == [(client.keys.profile, client.keys.remote, client.keys.local)]


def test_the_service_has_its_keys_before_the_client_can_send_media(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = Client(Call())
    ours_when_theirs: list[int] = []

    def arrive(data: bytes) -> None:
        client.dtls.receive(data, client.call.now)
        if client.keys is not None:
            ours_when_theirs.append(len(client.transport.keys))

    monkeypatch.setattr(client.transport, "send_dtls", arrive)
    client.person.answer()
    client.dtls.start(client.call.now)
    client.run()
    assert ours_when_theirs[0] == 1


def test_the_handshake_with_a_passive_client_starts_once_there_is_a_path() -> None:
    client = Client(Call(), role="server")
    client.person.answer()
    assert client.transport.dtls == []
    client.run()
    assert client.keys is not None and len(client.transport.keys) == 1


def test_a_handshake_that_starts_before_the_answer_is_not_lost() -> None:
    client = Client(Call())
    client.dtls.start(client.call.now)
    client.shake_hands()
    assert client.transport.dtls == []
    client.person.answer()
    assert client.transport.dtls != []


def test_a_path_is_found_by_the_clients_checks_alone() -> None:
    client = Client(Call())
    client.person.answering.candidates = ()
    client.person.answer()
    client.person.session.check_received(BindingCheck(Path(CLIENT, "192.0.2.1"), 1, use_candidate=False))
    client.run()
    assert client.transport.selected == [Path(CLIENT, "192.0.2.1")]


def test_a_certificate_that_does_not_match_the_answer_closes_the_session_with_4005_without_keys() -> None:
    client = Client(Call())
    client.person.answering.fingerprint = ":".join(["AB"] * 32)
    client.person.answer()
    client.dtls.start(client.call.now)
    client.run()
    assert client.person.closed == (
        CloseCode.MEDIA_FAILED,
        "Media encryption: the certificate does not match the fingerprint of the answer",
    )
    assert client.transport.keys == [] and client.call.tally["handshake_failures"] == 1


def test_a_client_that_closes_its_media_is_disconnected_after_a_grace_period() -> None:
    client = Client(Call())
    client.person.answer()
    client.dtls.start(client.call.now)
    client.run()
    client.dtls.close()
    client.shake_hands()
    assert client.person.closed is None, "only the WebSocket ends the session"
    client.call.pass_time(GOODBYE_DEADLINE_S)
    assert client.person.closed == (CloseCode.MEDIA_FAILED, "The client closed its media")


def test_a_lost_path_restarts_ice_and_media_resumes_without_a_new_handshake() -> None:
    client = Client(Call())
    client.person.answer()
    client.dtls.start(client.call.now)
    client.run()
    client.answers_checks = False
    client.person.session.path_silent(True)
    client.run(1)
    assert client.person.events("path_lost") and len(client.person.offers) == 2
    assert len(client.transport.credentials) == 2
    client.answers_checks = True
    client.person.answering.ufrag = "secondUfrag"
    client.person.answer()
    client.run()
    assert len(client.transport.selected) == 2 and len(client.transport.keys) == 1
    assert client.person.events("path_back")
    client.run(60)
    assert client.person.closed is None


def test_a_client_found_on_another_path_triggers_an_ice_restart() -> None:
    client = Client(Call())
    client.person.answer()
    client.dtls.start(client.call.now)
    client.run()
    (first,) = client.transport.selected
    elsewhere = Path(("198.51.100.8", 5000), first.local)
    client.person.session.check_received(BindingCheck(elsewhere, 1, use_candidate=False))
    client.run()
    assert client.transport.selected == [first] and len(client.person.offers) == 1
    client.dead_paths = {first}
    client.person.session.path_silent(True)
    client.run(1)
    assert client.transport.selected == [first, elsewhere] and len(client.person.offers) == 2
    assert len(client.transport.credentials) == 2 and not client.person.events("path_lost")


def test_an_unreachable_client_loses_its_seat_15_s_after_its_answer() -> None:
    call = Call()
    client = Client(call)
    client.answers_checks = False
    client.person.answer()
    client.run(14.8)
    assert client.person.closed is None and call.rooms.peers == 1
    client.run(0.5)
    assert client.person.closed == (CloseCode.MEDIA_FAILED, "No media connection within 15 s")
    assert call.rooms.peers == 0


def test_a_client_that_answers_offers_but_sends_no_media_loses_its_seat() -> None:
    call = Call()
    client = Client(call)
    client.person.answer()
    client.dtls.start(call.now)
    client.run()
    client.answers_checks = False
    client.person.session.path_silent(True)
    client.run(1)
    client.person.answering.ufrag = "secondUfrag"
    client.person.answer()
    client.run(15 - 2.6 - 1)
    assert client.person.closed == (CloseCode.MEDIA_FAILED, "No media connection within 15 s")


def test_a_listener_who_only_responds_to_checks_stays_connected() -> None:
    client = Client(Call())
    client.person.answer()
    client.dtls.start(client.call.now)
    client.run()
    for _ in range(20):
        client.person.session.path_silent(True)
        client.run(3)
    assert client.person.closed is None and not client.person.events("path_lost")


def test_leaving_sends_the_client_a_close_notification() -> None:
    client = Client(Call())
    client.person.answer()
    client.dtls.start(client.call.now)
    client.run()
    client.person.session.close()
    assert client.transport.dtls != [] and client.transport.closed
