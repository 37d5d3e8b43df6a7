"""Follows a track's life: its publisher's answer, a media section for each receiver, and the release of
these sections for other tracks.
"""

import pytest

from svc.base.signalling_codec import MAX_FRAME_BYTES, serialise
from svc.sfu import subscriptions
from svc.sfu.close_codes import CloseCode
from svc.sfu.codecs import payload_types
from svc.sfu.rooms import AudioControl
from tests.kit.negotiation import AV1, CAMERA, MIC, OPUS, SCREEN, SCREEN_AUDIO, VP8, Call, Person


def ids(person: Person) -> dict[str, str]:
    """Return the track ids in the latest offer, keyed by mid."""
    return {mid: track["track_id"] for mid, track in person.offer["tracks"].items()}


def test_a_section_accepts_every_offered_payload_type_and_the_sources_in_the_answer() -> None:
    ann = Call().join("ann")
    ann.answering.sends, ann.answering.ssrcs = {CAMERA: "s c"}, {CAMERA: 4711}
    ann.answering.without_codecs = ("H264",)
    ann.answer()
    assert ann.forwarder(CAMERA).kind == "video"
    assert ann.forwarder(CAMERA).payload_types == payload_types("video")
    assert ann.forwarder(CAMERA).ssrcs == (4711,)


def test_a_track_is_offered_to_others_once_media_arrives_and_not_before() -> None:
    call = Call()
    ann, ben = call.join("ann"), call.joined("ben")
    ann.answering.sends = {MIC: "stream track"}
    ann.answer()
    assert len(ben.offers) == 1
    ann.send_media(MIC)
    assert len(ben.offers) == 2 and len(ann.offers) == 1
    assert ben.offer["tracks"] == {"4": {"track_id": "track", "user_id": "ann", "source": "mic"}}
    section = ben.sections()["4"]
    assert section.direction == "sendonly" and section.value("msid") == "stream track"


def test_media_in_a_section_that_no_answer_opened_publishes_nothing() -> None:
    call = Call()
    ann, ben = call.joined("ann"), call.joined("ben")
    ann.send_media(MIC)
    assert len(ben.offers) == 1


def test_sources_are_named_after_their_section() -> None:
    call = Call()
    ann = call.joined("ann", mic="", camera="", screen="", screen_audio="")
    ben = call.join("ben")
    assert {track["source"] for track in ben.offer["tracks"].values()} == {
        "mic",
        "camera",
        "screen",
        "screen_audio",
    }
    assert ann.offer["tracks"] == {}


def test_a_late_joiner_gets_all_tracks_in_the_first_offer() -> None:
    call = Call()
    call.joined("ann", mic="a am", camera="a ac")
    call.joined("ben", mic="b bm")
    cai = call.join("cai")
    assert len(cai.offers) == 1
    assert ids(cai) == {"4": "am", "5": "ac", "6": "bm"}


def test_forwarding_starts_when_the_answer_accepts_the_section() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="s c"), call.join("ben")
    assert ann.forwarder(CAMERA).down_tracks == []
    ben.answering.without_codecs = ("H264", "AV1")
    ben.answer()
    (down_track,) = ann.forwarder(CAMERA).down_tracks
    assert down_track.to is ben.transport and down_track.mid == "4"
    assert down_track.payload_types == payload_types("video") - set(range(96, 106)) - {AV1, AV1 + 1}
    assert down_track.extension_ids >= {1, 3} and down_track.mixed
    section = ben.sections()["4"]
    assert section.value("ssrc-group") == f"FID {down_track.ssrc} {down_track.rtx_ssrc}"
    assert section.value("ssrc") == f"{down_track.ssrc} cname:{down_track.cname}"


def test_the_publishers_codec_is_listed_first() -> None:
    call = Call()
    call.joined("ann", camera="s c")
    assert call.join("ben").sections()["4"].formats[0] == str(VP8)


def test_audio_has_no_retransmission_source() -> None:
    call = Call()
    ann, ben = call.joined("ann", mic="s t"), call.join("ben")
    ben.answer()
    assert ann.forwarder(MIC).down_tracks[0].rtx_ssrc is None


def test_several_changes_during_a_pending_offer_cause_only_one_more_offer() -> None:
    call = Call()
    ben = call.join("ben")
    call.joined("ann", mic="a am", camera="a ac")
    call.joined("cai", mic="c cm")
    assert len(ben.offers) == 1
    ben.answer()
    assert len(ben.offers) == 2 and sorted(ids(ben).values()) == ["ac", "am", "cm"]


def test_simultaneous_changes_cause_one_offer() -> None:
    call = Call()
    ann, ben = call.joined("ann", mic="a am", camera="a ac", screen="a as"), call.join("ben")
    ben.answer()
    ann.session.close()
    call.settle()
    assert len(ben.offers) == 2
    assert [ben.directions()[mid] for mid in ("4", "5", "6")] == ["inactive"] * 3


def test_a_section_is_reused_with_new_sources_only_after_the_end_of_its_track_was_answered() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="a one"), call.join("ben")
    ben.answer()
    first = ann.forwarder(CAMERA).down_tracks[0]
    ann.session.close()
    call.settle()
    assert first.closed and ben.directions()["4"] == "inactive" and ben.offer["tracks"] == {}
    # The offer that ends Ann's track has not been answered yet, so Cai's track needs another media section.
    call.joined("cai", camera="c two")
    ben.answer()
    assert ids(ben) == {"5": "two"}
    ben.answer()
    # From now on, the media section is free.
    call.joined("dan", camera="d three")
    assert ids(ben) == {"4": "three", "5": "two"}
    ben.answer()
    second = call.people[-1].forwarder(CAMERA).down_tracks[0]
    assert {second.ssrc, second.rtx_ssrc}.isdisjoint({first.ssrc, first.rtx_ssrc})


def test_a_free_section_of_another_kind_is_not_reused() -> None:
    call = Call()
    ann, ben = call.joined("ann", mic="a am"), call.join("ben")
    ben.answer()
    ann.session.close()
    call.settle()
    ben.answer()
    call.joined("cai", camera="c cc")
    assert ids(ben) == {"5": "cc"}


def test_a_track_that_ends_while_its_offer_is_pending_is_never_forwarded() -> None:
    call = Call()
    ann, ben = call.joined("ann", mic="a am"), call.join("ben")
    forwarder = ann.forwarder(MIC)
    ann.session.close()
    ben.answer()
    assert forwarder.down_tracks == [] and ben.directions()["4"] == "inactive"
    ben.answer()
    assert ben.errors == []


def test_a_publisher_that_makes_a_section_inactive_ends_its_track_for_everybody() -> None:
    call = Call()
    ann, ben = call.joined("ann", mic="a am", screen="a as"), call.join("ben")
    ben.answer()
    (screen,) = ann.forwarder(SCREEN).down_tracks
    del ann.answering.sends[SCREEN]
    ann.send("renegotiate", "{}")
    ann.answer()
    call.settle()
    assert screen.closed and SCREEN not in ann.transport.sections
    assert ids(ben) == {"4": "am"}


def test_a_screen_can_be_shared_again() -> None:
    call = Call()
    ann, ben = call.joined("ann", screen="a as"), call.join("ben")
    ben.answer()
    for sends in ({}, {SCREEN: "a as"}):
        ann.answering.sends = dict(sends)
        ann.send("renegotiate", "{}")
        ann.answer()
        ben.answer()
    ann.send_media(SCREEN)
    assert ids(ben) == {"4": "as"}
    ben.answer()
    assert len(ann.forwarder(SCREEN).down_tracks) == 1


def test_a_client_that_stops_receiving_and_resumes_gets_new_sources() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="a ac"), call.join("ben")
    ben.answer()
    for declines in (("4",), ()):
        ben.answering.declines = declines
        ben.send("renegotiate", "{}")
        ben.answer()
    ben.send("renegotiate", "{}")
    first, second = ann.forwarder(CAMERA).down_tracks
    assert first.closed and not second.closed and first.ssrc != second.ssrc
    assert ben.events("track_unavailable") == []


def test_a_client_without_the_publishers_codec_gets_track_unavailable_once() -> None:
    call = Call()
    call.joined("ann", camera="a ac")
    ben = call.join("ben")
    ben.answering.without_codecs = ("VP8",)
    ben.answer()
    ben.send("renegotiate", "{}")
    ben.answer()
    assert ben.events("track_unavailable") == [
        {"track_id": "ac", "user_id": "ann", "source": "camera", "reason": "codec"}
    ]
    assert call.tally["refused_tracks"] == 1


def test_a_client_is_notified_when_a_track_that_was_unavailable_to_it_ends() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="a ac"), call.join("ben")
    ben.answering.without_codecs = ("VP8",)
    ben.answer()
    ann.session.close()
    call.settle()
    assert ben.events("track_available") == [{"track_id": "ac"}]


def test_a_client_that_accepts_none_of_a_sections_codecs_gets_track_unavailable() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="a ac"), call.join("ben")
    ben.answering.rejects = ("4",)
    ben.answer()
    assert ben.events("track_unavailable") == [
        {"track_id": "ac", "user_id": "ann", "source": "camera", "reason": "codec"}
    ]
    assert ann.forwarder(CAMERA).down_tracks == []


def test_a_switch_to_a_codec_that_a_receiver_lacks_is_reported_and_reversible() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="a ac"), call.join("ben")
    ben.answering.without_codecs = ("AV1",)
    ben.answer()
    ann.send_media(CAMERA, AV1, ssrc=8)
    assert ben.events("track_unavailable") == [
        {"track_id": "ac", "user_id": "ann", "source": "camera", "reason": "codec"}
    ]
    ann.send_media(CAMERA, VP8, ssrc=9)
    ann.send_media(CAMERA, AV1, ssrc=10)
    assert len(ben.events("track_unavailable")) == 2
    assert ben.events("track_available") == [{"track_id": "ac"}]
    assert not ann.forwarder(CAMERA).down_tracks[0].closed


def wanted(person: Person) -> list[str]:
    """Return the codecs in the camera's media section of the latest offer, in order, without duplicates."""
    section = person.sections()[CAMERA]
    maps = section.rtpmaps()
    names = [maps[int(number)].name for number in section.formats]
    return list(dict.fromkeys(name for name in names if name != "rtx"))


def test_a_publisher_is_asked_to_use_a_codec_that_a_late_joiner_supports() -> None:
    call = Call()
    ann = call.joined("ann", camera="a ac")
    assert wanted(ann) == ["H264", "VP9", "VP8", "AV1"]
    ben = call.join("ben")
    ben.answering.without_codecs = ("H264", "AV1")
    ben.answer()
    assert len(ann.offers) == 2 and wanted(ann) == ["VP9", "VP8", "H264", "AV1"]
    cai = call.join("cai")
    cai.answering.without_codecs = ("VP9",)
    cai.answer()
    ann.answer()
    assert wanted(ann) == ["VP8", "H264", "VP9", "AV1"]


def test_a_publisher_is_asked_to_use_the_fallback_codec_if_receivers_share_none() -> None:
    call = Call()
    ann = call.joined("ann", camera="a ac")
    for name, lacks in (("ben", ("VP8", "VP9", "AV1")), ("cai", ("H264", "VP8"))):
        person = call.join(name)
        person.answering.without_codecs = lacks
        person.answer()
        ann.answer()
    assert wanted(ann)[0] == "VP8"


def test_a_publisher_may_return_to_its_first_codec_once_the_limiting_receiver_has_left() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="a ac"), call.join("ben")
    ben.answering.without_codecs = ("H264",)
    ben.answer()
    ann.answer()
    ben.session.close()
    call.settle()
    assert wanted(ann) == ["H264", "VP9", "VP8", "AV1"]


def test_a_room_whose_members_can_decode_everything_gets_no_more_offers() -> None:
    call = Call()
    ann = call.joined("ann", camera="a ac")
    call.joined("ben").session.close()
    call.settle()
    assert len(ann.offers) == 1


def test_a_participant_without_video_gets_no_codec_events() -> None:
    call = Call()
    ann, cai = call.joined("ann", camera="a ac"), call.joined("cai", mic="c cm")
    ann.answer()
    cai.answer()
    ben = call.join("ben")
    before = len(ann.offers), len(cai.offers)
    ben.answering.without_codecs = ("H264",)
    ben.answer()
    assert (len(ann.offers), len(cai.offers)) == (before[0] + 1, before[1])


def test_a_client_cannot_make_others_switch_codecs_repeatedly() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="a ac"), call.join("ben")
    for lacks in (("H264",), ("VP9",), ("H264",), ("AV1",), ("VP9",)):
        ben.answering.without_codecs = lacks
        ben.answer()
        ann.answer()
        ben.send("renegotiate", "{}")
    assert len(ann.offers) == 4 and wanted(ann)[0] == "VP8"


def test_a_client_without_video_does_not_affect_other_clients_codecs() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="a ac"), call.join("ben")
    ben.answering.rejects = ("4",)
    ben.answer()
    assert len(ann.offers) == 1


@pytest.mark.parametrize("msid", ["", "- x y", "same same"])
def test_the_sfu_replaces_ids_that_cannot_be_used(msid: str) -> None:
    call = Call()
    call.joined("ann", mic="same same")
    call.joined("ben", mic=msid)
    cai = call.join("cai")
    assert len(set(ids(cai).values())) == 2
    assert len({section.value("msid") for mid, section in cai.sections().items() if mid in ("4", "5")}) == 2


def test_a_track_does_not_join_the_stream_of_another_user() -> None:
    call = Call()
    call.joined("ann", mic="ours am")
    call.joined("ben", mic="ours bm")
    streams = [section.msid() for mid, section in call.join("cai").sections().items() if mid in ("4", "5")]
    assert [msid.track_id for msid in streams if msid] == ["am", "bm"]
    assert len({msid.stream_id for msid in streams if msid}) == 2


def test_a_microphone_and_camera_without_a_stream_share_one_and_the_screen_has_its_own() -> None:
    call = Call()
    call.joined("ann", mic="- am", camera="- ac", screen="- as", screen_audio="- aa")
    sections = call.join("ben").sections()
    streams = {msid.track_id: msid.stream_id for section in sections.values() if (msid := section.msid())}
    assert streams["am"] == streams["ac"] != streams["as"] == streams["aa"]


def test_set_layer_accepts_a_track_id_or_a_mid_before_and_after_the_answer() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="a ac"), call.join("ben")
    ben.send("set_layer", {"track_id": "ac", "max_temporal_layer": 0})
    ben.answer()
    ben.send("set_layer", {"mid": "4", "max_temporal_layer": 2})
    ben.send("set_layer", {"track_id": "ac", "max_temporal_layer": -1})
    assert ann.forwarder(CAMERA).down_tracks[0].layers == [0, 2, -1]
    assert ben.errors == []


def test_both_the_encoding_and_the_temporal_layers_of_a_track_can_be_chosen() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="a ac"), call.join("ben")
    ben.send("set_layer", {"track_id": "ac", "max_temporal_layer": -1, "max_spatial_layer": 0})
    ben.answer()
    ben.send("set_layer", {"mid": "4", "max_temporal_layer": 1, "max_spatial_layer": 2})
    ben.send("set_layer", {"track_id": "ac", "max_temporal_layer": 1})
    down_track = ann.forwarder(CAMERA).down_tracks[0]
    assert (down_track.spatial_layers, down_track.layers) == ([0, 2, -1], [1])
    assert ben.errors == []


def test_several_encodings_are_requested_only_from_a_client_that_supports_them() -> None:
    call = Call()
    ann, ben = call.join("ann", simulcast=True), call.join("ben")
    assert [mid for mid, section in ann.sections().items() if section.has("simulcast")] == [CAMERA, SCREEN]
    assert not any(section.has("simulcast") or section.has("rid") for section in ben.sections().values())


def test_layers_are_chosen_only_at_a_receivers_request() -> None:
    call = Call()
    ann, ben = call.joined("ann", camera="a ac"), call.join("ben")
    ben.answer()
    assert ann.forwarder(CAMERA).down_tracks[0].layers == []


def test_muting_affects_all_audio_of_a_user_but_no_video_and_needs_no_new_offer() -> None:
    call = Call()
    ann = call.joined("ann", mic="", camera="", screen_audio="")
    call.room().control_audio("ann", AudioControl(is_muted=True))
    assert [ann.forwarder(mid).muted for mid in (MIC, CAMERA, SCREEN_AUDIO)] == [True, False, True]
    call.room().control_audio("ann", AudioControl())
    assert not ann.forwarder(MIC).muted and len(ann.offers) == 1


def test_users_stay_muted_or_deafened_after_leaving_and_rejoining() -> None:
    call = Call()
    call.joined("ann", mic="").session.close()
    call.room().control_audio("ann", AudioControl(is_muted=True, is_deafened=True))
    ann = call.joined("ann", mic="")
    assert ann.forwarder(MIC).muted and ann.transport.deafened


def test_the_tracks_of_a_rejoining_user_are_forwarded_to_the_others_again() -> None:
    call = Call()
    ben = call.joined("ben")
    call.joined("ann", mic="s t")
    ben.answer()
    again = call.joined("ann", mic="s t")
    ben.answer()
    assert call.people[1].closed == (CloseCode.REPLACED, "Joined again from elsewhere")
    assert [track["track_id"] for track in ben.offer["tracks"].values()] == ["t"]
    ben.answer()
    assert again.forwarder(MIC).down_tracks[0].payload_types >= {OPUS}


def test_rooms_with_the_same_id_on_two_servers_share_nothing() -> None:
    call = Call()
    call.joined("ann", mic="s t")
    stranger = call.join("ben", room=call.room("lobby", server_id="elsewhere"))
    assert stranger.offer["tracks"] == {}
    assert stranger.events("room_joined")[0]["peers"] == []


def test_an_offer_always_fits_in_a_message_and_waiting_tracks_get_the_next_free_section(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subscriptions, "MAX_VIDEO_BYTES", 2 * 3_350)
    call = Call()
    ann = call.joined("ann", camera="a one", screen="a two", mic="a voice")
    call.joined("ben", camera="b three")
    cai = call.join("cai")
    assert sorted(ids(cai).values()) == ["one", "two", "voice"]
    assert cai.events("track_unavailable") == [
        {"track_id": "three", "user_id": "ben", "source": "camera", "reason": "no_line"}
    ]
    cai.answer()
    ann.session.close()
    call.settle()
    assert ids(cai) == {}
    cai.answer()
    assert sorted(ids(cai).values()) == ["three"]
    assert cai.events("track_available") == [{"track_id": "three"}]


def test_a_full_offer_fits_into_one_message() -> None:
    call = Call()
    ann = call.join("ann")
    for number in range(40):
        call.joined(f"user-with-a-uuid-as-its-id-{number:010}", mic="", camera="", screen="", screen_audio="")
    ann.answer()
    ann.answer()
    frame = serialise("offer", ann.offer)
    assert MAX_FRAME_BYTES * 0.8 < len(frame) < MAX_FRAME_BYTES
    answer = serialise("answer", {"type": "answer", "sdp": ann.answering.answer(ann.offer["sdp"])})
    assert len(answer) < MAX_FRAME_BYTES
    sources = [track["source"] for track in ann.offer["tracks"].values()]
    assert sources.count("mic") == sources.count("screen_audio") == 40
