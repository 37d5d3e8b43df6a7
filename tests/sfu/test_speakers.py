"""Everybody in a room, and nobody else, is told who is speaking."""

from tests.kit.negotiation import MIC, SCREEN_AUDIO, Call


def test_the_whole_room_is_notified_when_people_start_and_stop_speaking() -> None:
    call = Call()
    ann, ben = call.joined("ann", mic="a am"), call.joined("ben")
    ann.session.speaking_changed(MIC, True, 30)
    ann.session.speaking_changed(MIC, False, 90)
    for person in (ann, ben):
        assert person.events("active_speakers") == [{"user_ids": ["ann"]}, {"user_ids": []}]


def test_the_loudest_speaker_is_listed_first() -> None:
    call = Call()
    ann, ben = call.joined("ann", mic="a am"), call.joined("ben", mic="b bm")
    ann.session.speaking_changed(MIC, True, 40)
    ben.session.speaking_changed(MIC, True, 20)
    assert ann.events("active_speakers")[-1] == {"user_ids": ["ben", "ann"]}


def test_a_late_joiner_is_told_who_is_already_speaking() -> None:
    call = Call()
    ann = call.joined("ann", mic="a am")
    ann.session.speaking_changed(MIC, True, 40)
    assert call.joined("ben").events("active_speakers") == [{"user_ids": ["ann"]}]


def test_a_participant_who_leaves_is_no_longer_a_speaker() -> None:
    call = Call()
    ann, ben = call.joined("ann", mic="a am"), call.joined("ben")
    ann.session.speaking_changed(MIC, True, 40)
    ann.session.close()
    assert ben.events("active_speakers")[-1] == {"user_ids": []}


def test_audio_from_a_shared_screen_is_not_attributed_to_a_speaker() -> None:
    call = Call()
    ann, ben = call.joined("ann", mic="a am"), call.joined("ben")
    ann.session.speaking_changed(SCREEN_AUDIO, True, 20)
    assert ben.events("active_speakers") == []


def test_speaker_events_are_not_sent_to_other_rooms() -> None:
    call = Call()
    ann = call.joined("ann", mic="a am")
    zoe = call.join("zoe", room=call.room("lobby", server_id="elsewhere"))
    ann.session.speaking_changed(MIC, True, 20)
    assert zoe.events("active_speakers") == []
