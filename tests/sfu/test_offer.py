"""Offers contain everything that browsers need, and no string from a peer can break out of its SDP line."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.sfu.codecs import TRANSPORT_CC, VIDEO
from svc.sfu.offer import IceParameters, Transceiver, build_offer, is_msid_token
from svc.sfu.sdp import MAX_TEXT, MediaDescription, SdpError, SessionDescription
from tests.kit.signalling_server import signalling_server
from tests.kit.virtual_time import in_virtual_time
from tests.sfu.sdp_exchange import CALL, CAMERA, CANDIDATE, FINGERPRINT, ICE, OWN, VOICE, offer


def built(*transceivers: Transceiver, candidates: Sequence[str] = ()) -> SessionDescription:
    text = build_offer(
        session_id=77,
        version=3,
        ice=ICE,
        fingerprint=FINGERPRINT,
        candidates=candidates,
        transceivers=transceivers,
    )
    return SessionDescription.parse(text)


def section(transceiver: Transceiver) -> MediaDescription:
    return built(transceiver).media[0]


def test_the_origin_line_contains_the_session_id_and_version() -> None:
    assert built(*OWN).origin == "- 77 3 IN IP4 127.0.0.1"


def test_all_sections_are_bundled_and_extension_forms_may_be_mixed() -> None:
    session = built(*CALL["receiving"])
    assert session.groups("BUNDLE") == [["0", "1", "2", "3", "4", "5"]]
    assert session.has("extmap-allow-mixed")


def test_every_section_uses_the_one_transport_and_offers_both_dtls_roles() -> None:
    for media in built(*CALL["left"]).media:
        assert (media.port, media.protocol) == (9, "UDP/TLS/RTP/SAVPF")
        assert media.value("ice-ufrag") == ICE.ufrag
        assert media.value("ice-pwd") == ICE.pwd
        assert media.value("fingerprint") == f"sha-256 {FINGERPRINT}"
        assert media.value("setup") == "actpass"
        assert media.has("rtcp-mux") and media.has("rtcp-rsize")


def test_candidates_are_in_the_first_section_only() -> None:
    session = built(*OWN, candidates=[CANDIDATE])
    assert [media.values("candidate") for media in session.media] == [
        [CANDIDATE.removeprefix("candidate:")],
        [],
        [],
        [],
    ]


def test_each_section_has_the_direction_of_its_transceiver() -> None:
    directions = [media.direction for media in built(*CALL["left"]).media]
    assert directions == ["recvonly"] * 4 + ["inactive"] * 2


def test_video_sections_list_each_codec_alongside_its_rtx() -> None:
    media = section(OWN[1])
    numbers = [(codec.payload_type, codec.rtx_payload_type) for codec in VIDEO]
    assert media.formats == [str(number) for pair in numbers for number in pair]
    assert media.rtpmaps()[97].name == "rtx"
    assert "97 apt=96" in media.values("fmtp")


def test_video_is_requested_in_three_encodings_smallest_first() -> None:
    media = section(replace(OWN[1], simulcast=True))
    assert media.values("rid") == ["q recv", "h recv", "f recv"]
    assert media.values("simulcast") == ["recv q;h;f"]
    uris = {entry.uri.rpartition(":")[2] for entry in media.extmaps()}
    assert {"rtp-stream-id", "repaired-rtp-stream-id"} <= uris


@pytest.mark.parametrize(
    "transceiver", [OWN[1], replace(OWN[0], simulcast=True), replace(CAMERA, simulcast=True)]
)
def test_other_media_are_requested_in_one_encoding(transceiver: Transceiver) -> None:
    media = section(transceiver)
    assert not media.has("rid") and not media.has("simulcast")
    assert not any("stream-id" in entry.uri for entry in media.extmaps())


def test_neither_red_nor_ulpfec_is_offered_by_default() -> None:
    assert "red/" not in offer("receiving") and "ulpfec" not in offer("receiving")


@pytest.mark.parametrize(("requested", "offered"), [(True, True), (False, False), ("yes", False)])
@in_virtual_time
async def test_red_is_offered_after_opus_to_a_client_that_requests_redundancy(
    requested: object, offered: bool
) -> None:
    async with signalling_server() as server:
        await server.control()
        ann = await server.ask_to_join("ann", redundancy=requested)
        await ann.hear("room_joined")
        session = SessionDescription.parse((await ann.hear("offer"))["sdp"])
    for media in session.media:
        names = [media.rtpmaps()[int(number)].name for number in media.formats]
        assert ("red" in names) == (offered and media.kind == "audio")
        if media.kind == "audio":
            assert names[0] == "opus", "browsers send the first codec"
            assert ("63 111/111" in media.values("fmtp")) == offered


@pytest.mark.parametrize(
    "transceiver", [OWN[0], OWN[1], VOICE, CAMERA, replace(CAMERA, direction="inactive")]
)
def test_transport_wide_feedback_is_offered_in_both_directions(transceiver: Transceiver) -> None:
    media = section(transceiver)
    assert TRANSPORT_CC.uri in [entry.uri for entry in media.extmaps()]
    assert any(value.endswith(" transport-cc") for value in media.values("rtcp-fb"))


def test_nack_pli_and_fir_are_offered_for_video_in_both_directions() -> None:
    for transceiver in (OWN[1], CAMERA):
        feedback = section(transceiver).values("rtcp-fb")
        assert {"112 nack", "112 nack pli", "112 ccm fir"} <= set(feedback)


def test_the_publishers_codec_is_listed_first_and_the_others_keep_their_order() -> None:
    assert section(CAMERA).formats[:4] == ["112", "113", "96", "97"]
    assert sorted(section(CAMERA).formats) == sorted(section(OWN[1]).formats)


def test_a_sendonly_section_identifies_its_track_and_pairs_its_sources() -> None:
    media = section(CAMERA)
    assert media.value("msid") == "ann ann-camera"
    assert media.values("ssrc-group") == ["FID 5001 5002"]
    assert media.values("ssrc") == ["5001 cname:ann", "5002 cname:ann"]
    assert section(VOICE).values("ssrc") == ["4001 cname:ann"]
    assert not section(VOICE).has("ssrc-group")


def test_a_freed_section_contains_no_track_or_source() -> None:
    media = section(replace(CAMERA, direction="inactive"))
    assert not media.has("msid") and media.ssrcs() == ()


@pytest.mark.parametrize(
    ("other", "what"),
    [
        (replace(VOICE, ssrc=4, track_id="x"), "mid"),
        (replace(VOICE, mid="9", track_id="x"), "source"),
        (replace(VOICE, mid="9", ssrc=4), "track"),
        (replace(VOICE, mid="9", ssrc=4, rtx_ssrc=4001, track_id="x"), "source"),
    ],
)
def test_two_sections_with_the_same_mid_source_or_track_are_rejected(other: Transceiver, what: str) -> None:
    with pytest.raises(SdpError, match=f"two sections of the offer have the same {what}"):
        built(VOICE, other)


@pytest.mark.parametrize(
    "text", ["", " ", "a b", "a\r\na=recvonly", "a\nb", "a\0", "é", "x" * 65, "a:b", "a/b"]
)
def test_an_invalid_name_never_becomes_an_msid(text: str) -> None:
    assert not is_msid_token(text)
    for bad in (replace(VOICE, stream_id=text), replace(VOICE, track_id=text)):
        with pytest.raises(SdpError, match="not tokens"):
            built(bad)


@pytest.mark.parametrize("text", ["-", "{4f2a}", "8c897ee7-4f2a-4b4e-9395-34d469f94efc", "x" * 64])
def test_track_names_from_browsers_are_valid_tokens(text: str) -> None:
    assert is_msid_token(text)


@pytest.mark.parametrize("text", ["", "a b", "a\r\n", "x" * 256])
def test_a_cname_that_is_not_a_token_is_rejected(text: str) -> None:
    with pytest.raises(SdpError, match="not tokens"):
        built(replace(VOICE, cname=text))


def test_a_mid_or_candidate_with_a_line_break_is_rejected() -> None:
    with pytest.raises(SdpError, match="not a section of an offer"):
        built(replace(OWN[0], mid="0\r\na=x"))
    with pytest.raises(SdpError, match="line break"):
        built(*OWN, candidates=[CANDIDATE + "\r\na=recvonly"])


def test_a_direction_that_an_sfu_never_offers_is_rejected() -> None:
    with pytest.raises(SdpError, match="not a section of an offer"):
        built(replace(OWN[0], direction="sendrecv"))


@pytest.mark.parametrize(
    ("ufrag", "pwd"),
    [("abc", "p" * 22), ("u" * 257, "p" * 22), ("a:bc", "p" * 22), ("abcd", "p" * 21), ("abcd", "p" * 257)],
)
def test_ice_credentials_have_the_lengths_and_characters_of_rfc_8839(ufrag: str, pwd: str) -> None:
    with pytest.raises(SdpError, match=r"^An ice-(ufrag|pwd) has"):
        IceParameters(ufrag, pwd)


def test_printed_ice_credentials_do_not_contain_the_password() -> None:
    assert ICE.pwd not in repr(ICE)


@given(stream=st.text(max_size=70), track=st.text(max_size=70), cname=st.text(max_size=70))
def test_a_peers_track_name_never_changes_the_lines_in_an_offer(stream: str, track: str, cname: str) -> None:
    hostile = replace(CAMERA, stream_id=stream, track_id=track, cname=cname)
    try:
        session = built(hostile)
    except SdpError:
        return
    expected = [(name, None if value is None else "") for name, value in section(CAMERA).attributes]
    assert [(name, None if value is None else "") for name, value in session.media[0].attributes] == expected


def test_an_offer_for_seventy_cameras_still_fits_in_a_frame() -> None:
    cameras = [
        replace(CAMERA, mid=str(4 + 2 * i), ssrc=10 * i, rtx_ssrc=10 * i + 1, track_id=f"camera{i}")
        for i in range(70)
    ]
    voices = [replace(VOICE, mid=str(5 + 2 * i), ssrc=10 * i + 2, track_id=f"voice{i}") for i in range(70)]
    assert len(str(built(*OWN, *cameras, *voices))) <= MAX_TEXT
