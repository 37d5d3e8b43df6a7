"""A session negotiates offers and answers with one participant, and rejects answers that do not match."""

from itertools import product
from unittest.mock import patch

import pytest

from svc.base.grants import CAPS
from svc.sfu.candidates import Candidate
from svc.sfu.close_codes import CloseCode
from svc.sfu.connectivity import MediaFailed, PathLost
from svc.sfu.rooms import NO_SEATS, AudioControl, NoSeats
from svc.sfu.session import ANSWER_DEADLINE_S
from svc.sfu.session_states import TRANSITIONS, Event, State
from tests.kit.negotiation import CAMERA, MIC, SERVER, Call


def test_the_state_table_has_no_unknown_states_and_every_state_can_end() -> None:
    for state, event in product(State, Event):
        assert TRANSITIONS.table[state].get(event, state) in State
    assert all(
        TRANSITIONS.after(state, Event.ENDED) is State.CLOSED for state in State if state is not State.CLOSED
    )


def test_a_join_is_followed_by_room_joined_and_then_an_offer() -> None:
    call = Call()
    call.join("ann")
    ben = call.join("ben")
    (welcome_event, welcome), (offer_event, offer) = ben.received
    assert (welcome_event, offer_event) == ("room_joined", "offer")
    assert welcome == {"message": "Joined", "room_id": "lobby", "user_id": "ben", "peers": ["ann"]}
    assert offer["type"] == "offer" and offer["tracks"] == {}


def test_the_first_four_sections_receive_microphone_camera_screen_and_screen_audio() -> None:
    ann = Call().join("ann")
    kinds = {mid: (section.kind, section.direction) for mid, section in ann.sections().items()}
    assert kinds == {
        "0": ("audio", "recvonly"),
        "1": ("video", "recvonly"),
        "2": ("video", "recvonly"),
        "3": ("audio", "recvonly"),
    }


def test_permissions_decide_which_sections_are_offered() -> None:
    ann = Call().join("ann", caps=frozenset({"share_screen"}))
    assert ann.directions() == {"0": "inactive", "1": "inactive", "2": "recvonly", "3": "recvonly"}


def test_a_join_to_a_full_service_is_rejected_without_opening_a_transport() -> None:
    call = Call(max_peers=1)
    call.join("ann")
    with pytest.raises(NoSeats, match=NO_SEATS):
        call.join("ben")
    assert len(call.plane.transports) == 1


def test_an_unanswered_offer_closes_the_session_with_4002_after_15_s() -> None:
    call = Call()
    ann = call.join("ann")
    call.pass_time(ANSWER_DEADLINE_S - 0.1)
    assert ann.closed is None
    call.pass_time(0.2)
    assert ann.closed == (CloseCode.NO_ANSWER, "No answer to the offer within 15 s")
    assert ann.transport.closed and call.rooms.peers == 0


def test_a_keep_alive_is_answered_with_the_same_timestamp() -> None:
    ann = Call().joined("ann")
    ann.send("keep_alive", {"timestamp": 1234})
    ann.send("keep_alive", {})
    assert ann.events("keep_alive") == [{"timestamp": 1234}] and ann.errors == []


def test_renegotiate_triggers_a_new_offer_immediately_in_a_stable_session() -> None:
    ann = Call().joined("ann")
    ann.send("renegotiate", "{}")
    assert len(ann.offers) == 2


def test_renegotiate_is_remembered_and_served_after_the_next_answer() -> None:
    ann = Call().join("ann")
    for payload in ("{}", "", "not JSON", "[1]"):
        ann.send("renegotiate", payload)
    assert len(ann.offers) == 1
    ann.answer()
    assert len(ann.offers) == 2
    ann.answer()
    assert len(ann.offers) == 2 and ann.errors == []


def test_the_version_of_an_offer_increases_while_the_session_id_stays_the_same() -> None:
    ann = Call().joined("ann")
    ann.send("renegotiate", "{}")
    origins = [offer["sdp"].splitlines()[1].split()[1:3] for offer in ann.offers]
    assert origins[0][0] == origins[1][0]
    assert [version for _, version in origins] == ["1", "2"]


def test_an_ice_restart_renews_the_services_credentials_with_the_next_offer() -> None:
    ann = Call().joined("ann")
    ann.send("renegotiate", {"ice_restart": True})
    ufrags = [section.value("ice-ufrag") for section in (ann.sections()[MIC],)]
    assert [ufrag for ufrag, _ in ann.transport.credentials] == [ann.transport.credentials[0][0], *ufrags]
    assert len(set(ann.transport.credentials)) == 2


def test_an_ice_restart_requested_during_an_offer_waits_for_its_answer() -> None:
    ann = Call().join("ann")
    ann.send("renegotiate", {"ice_restart": True})
    assert len(ann.transport.credentials) == 1
    ann.answer()
    assert len(ann.transport.credentials) == 2 and len(ann.offers) == 2


def test_restarts_are_rate_limited_but_not_lost() -> None:
    call = Call()
    ann = call.joined("ann")
    for _ in range(5):
        ann.send("renegotiate", {"ice_restart": True})
        ann.answer()
    assert len(ann.transport.credentials) == 1 + 3
    call.pass_time(10.1)
    assert len(ann.transport.credentials) == 1 + 4


def test_a_lost_path_restarts_ice_while_the_websocket_is_open() -> None:
    call = Call()
    ann = call.joined("ann")
    ann.session._connectivity.outcomes.append(PathLost())
    ann.send("keep_alive", {"timestamp": 1})
    assert len(ann.transport.credentials) == 2 and len(ann.offers) == 2 and ann.closed is None


def test_a_failed_handshake_closes_the_session_with_a_code_and_a_reason_and_is_counted() -> None:
    call = Call()
    ann = call.joined("ann")
    ann.session._connectivity.outcomes.append(MediaFailed("Media encryption: no shared cipher"))
    ann.send("keep_alive", {"timestamp": 1})
    assert ann.closed == (CloseCode.MEDIA_FAILED, "Media encryption: no shared cipher")
    assert call.tally["handshake_failures"] == 1


@pytest.mark.parametrize(
    ("event", "data", "error"),
    [
        ("answer", "{", "The data of 'answer' is not valid JSON"),
        ("answer", "[]", "The data of 'answer' is not a JSON object"),
        ("answer", {"type": "offer", "sdp": ""}, "type must be one of: answer"),
        ("answer", {"type": "answer"}, "sdp is missing"),
        ("answer", {"type": "answer", "sdp": 7}, "sdp must be a string"),
        ("dance", {}, "Unknown event 'dance'"),
        ("client_join", {}, "This connection has joined already"),
        ("candidate", "{", "The data of 'candidate' is not valid JSON"),
        ("candidate", {"candidate": "nonsense"}, "not an ICE candidate"),
        ("candidate", {"candidate": 5}, "candidate must be a string"),
        ("set_layer", {"track_id": "x"}, "max_temporal_layer is missing"),
        (
            "set_layer",
            {"track_id": "x", "max_temporal_layer": 3},
            "max_temporal_layer must be at most 2",
        ),
        (
            "set_layer",
            {"track_id": "x", "max_temporal_layer": -2},
            "max_temporal_layer must be at least -1",
        ),
        (
            "set_layer",
            {"track_id": "x", "max_temporal_layer": True},
            "max_temporal_layer must be a whole number",
        ),
        ("set_layer", {"max_temporal_layer": 0}, "track_id is missing"),
        ("set_layer", {"track_id": "x", "max_temporal_layer": 0}, "You receive no track 'x'"),
    ],
)
def test_an_unusable_message_gets_a_room_error_and_has_no_other_effect(
    event: str, data: object, error: str
) -> None:
    call = Call()
    ann = call.join("ann")
    ann.send(event, data)
    assert ann.errors == [error]
    assert ann.closed is None and call.tally["refused_messages"] == 1
    ann.answer()
    assert ann.errors == [error]


def test_a_mismatched_answer_gets_a_room_error_and_a_correct_one_is_still_accepted() -> None:
    ann = Call().join("ann")
    whole = ann.answering.answer(ann.offer["sdp"])
    ann.send("answer", {"type": "answer", "sdp": whole[: whole.rindex("m=audio")]})
    assert ann.errors == ["The offer has 4 media sections, the answer 3"]
    ann.answering.sends = {MIC: ""}
    ann.answer()
    assert MIC in ann.transport.sections


def test_an_unexpected_answer_is_rejected() -> None:
    ann = Call().joined("ann")
    ann.answer()
    assert ann.errors == ["No offer is waiting for an answer"]


def test_an_answer_may_not_change_the_certificate_during_a_call() -> None:
    ann = Call().joined("ann")
    ann.send("renegotiate", "{}")
    ann.answering.fingerprint = ":".join(["CD"] * 32)
    ann.answer()
    assert ann.errors == ["The answer changes the certificate of the connection: join again instead"]


@pytest.mark.parametrize("end", ["", "null", '{"candidate":""}'])
def test_an_end_of_candidates_message_is_not_an_error(end: str) -> None:
    ann = Call().joined("ann")
    ann.send("candidate", end)
    assert ann.errors == []


def test_a_trickled_candidate_is_checked() -> None:
    call = Call()
    ann = call.joined("ann")
    text = "candidate:1 1 udp 2130706431 198.51.100.9 5000 typ host"
    ann.send(
        "candidate", {"candidate": text, "sdpMid": "0", "sdpMLineIndex": 0, "usernameFragment": "clientUfrag"}
    )
    call.settle()
    assert [path.remote for _, path in ann.transport.stun] == [("198.51.100.9", 5000)]
    assert all(data[8:16] == ann.transport.transaction_prefix for data, _ in ann.transport.stun)


def test_a_candidate_that_arrives_before_the_answer_waits_for_it() -> None:
    call = Call()
    ann = call.join("ann")
    ann.send("candidate", {"candidate": "candidate:1 1 udp 2130706431 198.51.100.9 5000 typ host"})
    assert ann.transport.stun == []
    ann.answer()
    assert len(ann.transport.stun) == 1


def test_the_offer_has_the_services_candidates_and_a_new_one_is_trickled() -> None:
    ann = Call().join("ann")
    assert ann.sections()[MIC].values("candidate")[0].split()[4] == SERVER
    late = Candidate("9", 1_694_498_815, ("203.0.113.5", 3478), "srflx", (SERVER, 3478))
    ann.session.candidate_found(late)
    (init,) = ann.events("candidate")
    assert init == {
        "candidate": str(late),
        "sdpMid": "0",
        "sdpMLineIndex": 0,
        "usernameFragment": ann.sections()[MIC].value("ice-ufrag"),
    }


def test_losing_a_permission_ends_the_track_and_offers_the_section_inactive() -> None:
    call = Call()
    ann = call.joined("ann", mic="s t", camera="s c")
    ben = call.join("ben")
    call.room().peers["ann"].member.caps_changed(CAPS - {"share_video"})
    call.settle()
    assert ann.directions()[CAMERA] == "inactive" and CAMERA not in ann.transport.sections
    ben.answer()
    assert ben.offer["tracks"] == {"4": {"track_id": "t", "user_id": "ann", "source": "mic"}}


def test_gaining_a_permission_reopens_the_section() -> None:
    call = Call()
    ann = call.join("ann", caps=frozenset())
    ann.answer()
    call.room().peers["ann"].member.caps_changed(CAPS)
    call.settle()
    assert ann.directions()[CAMERA] == "recvonly"


def test_unchanged_permissions_cause_no_new_offer() -> None:
    call = Call()
    ann = call.joined("ann")
    call.room().peers["ann"].member.caps_changed(CAPS)
    call.settle()
    assert len(ann.offers) == 1


def test_a_permission_lost_while_the_answer_is_in_transit_is_not_granted() -> None:
    call = Call()
    ann = call.join("ann")
    call.room().peers["ann"].member.caps_changed(frozenset())
    ann.answering.sends = {MIC: ""}
    ann.answer()
    assert ann.transport.sections == {}


def test_a_users_second_join_evicts_the_first_with_4001() -> None:
    call = Call(max_peers=1)
    first = call.joined("ann")
    second = call.join("ann")
    assert first.closed is not None and first.closed[0] is CloseCode.REPLACED
    assert second.closed is None and call.rooms.peers == 1


def test_an_internal_error_closes_only_its_own_session_with_1011(caplog: pytest.LogCaptureFixture) -> None:
    call = Call()
    ann, ben = call.joined("ann", mic="s t"), call.join("ben")
    with patch.object(ann.forwarder(MIC), "add_down_track", side_effect=ZeroDivisionError):
        ben.answer()
    assert ben.closed == (CloseCode.FAULT, "Internal error")
    assert ben.transport.closed and call.rooms.peers == 1
    assert ann.closed is None and not ann.transport.closed
    assert [record.message for record in caplog.records] == ["session failed"]


def test_a_session_leaves_its_room_even_if_closing_also_fails(caplog: pytest.LogCaptureFixture) -> None:
    call = Call()
    ann = call.joined("ann")
    with (
        patch.object(ann.transport, "close", side_effect=ZeroDivisionError),
        patch.object(ann.transport, "set_deafened", side_effect=ZeroDivisionError),
    ):
        call.room().control_audio("ann", AudioControl(is_deafened=True))
    assert ann.closed == (CloseCode.FAULT, "Internal error") and call.rooms.peers == 0
    assert [record.message for record in caplog.records] == ["session failed"]


def test_data_after_the_session_has_ended_is_ignored() -> None:
    call = Call()
    ann = call.joined("ann")
    ann.session.close()
    ann.send("renegotiate", "{}")
    ann.send_media(MIC)
    ann.session.close()
    assert len(ann.offers) == 1 and ann.transport.closed
