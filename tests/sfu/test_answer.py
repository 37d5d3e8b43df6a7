"""Answers from real peers are parsed, and answers that do not match the offer are rejected with a reason."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.sfu.answer import AnsweredSection, AnswerError, AnswerTerms, read_answer
from svc.sfu.codecs import AUDIO_LEVEL, DEPENDENCY_DESCRIPTOR, MID, RED, TRANSPORT_CC, payload_types
from svc.sfu.sdp import Attribute, SdpError, SessionDescription
from tests.sfu.sdp_exchange import CALL, FINGERPRINT, OWN, answer, offer
from tests.sfu.test_sdp import damaged

STEPS = {
    "alone": ["inactive"] * 4,
    "publishing": ["sending"] * 2 + ["inactive"] * 2,
    "receiving": ["sending"] * 2 + ["inactive"] * 2 + ["receiving"] * 2,
    "left": ["sending"] * 2 + ["inactive"] * 4,
    "reused": ["sending"] * 2 + ["inactive"] * 2 + ["receiving"] * 2,
}


def read(peer: str, step: str) -> AnswerTerms:
    return read_answer(answer(peer, step), CALL[step])


def part(section: AnsweredSection) -> str:
    if section.rejected:
        return "rejected"
    return "sending" if section.sending else "receiving" if section.receiving else "inactive"


def edited(old: str, new: str, step: str = "receiving", times: int = -1) -> str:
    text = answer("chromium", step)
    assert old in text
    return text.replace(old, new, times)


def rejecting(index: int, *, keep_attributes: bool = True) -> str:
    """Return Chromium's answer with one media section rejected (RFC 8829 section 5.3.1)."""
    session = SessionDescription.parse(answer("chromium", "receiving"))
    media = session.media[index]
    media.port = 0
    if not keep_attributes:
        media.attributes.clear()
    bundled = " ".join(str(number) for number in range(6) if number != index)
    session.attributes[0] = session.attributes[0]._replace(value=f"BUNDLE {bundled}")
    return str(session)


def refused(text: str, message: str, step: str = "receiving") -> None:
    with pytest.raises(SdpError, match=f"^{re.escape(message)}$"):
        read_answer(text, CALL[step])


def encodings(*lines: str, direction: str = "sendonly") -> tuple[str, ...]:
    """Return the camera's encodings after an answer with these additional lines for the camera."""
    session = SessionDescription.parse(answer("chromium", "publishing"))
    camera = session.media[1]
    camera.attributes += [Attribute(*text.split(":", 1)) for text in lines]
    if direction != "sendonly":
        camera.attributes = [
            Attribute(direction) if attribute.name == "sendonly" else attribute
            for attribute in camera.attributes
        ]
    offered = [replace(transceiver, simulcast=True) for transceiver in CALL["publishing"]]
    return read_answer(str(session), offered).sections[1].rids


ALL_RIDS = ("rid:q send", "rid:h send", "rid:f send")


@pytest.mark.parametrize(
    ("lines", "rids"),
    [
        # as in answers from Chromium and Firefox
        ((*ALL_RIDS, "simulcast:send q;h;f"), ("q", "h", "f")),
        ((*ALL_RIDS, "simulcast:send ~q;~h;f"), ("q", "h", "f")),
        # in another order, with alternatives, and with encodings to receive
        ((*ALL_RIDS, "simulcast:send f;h,q"), ("q", "h", "f")),
        ((*ALL_RIDS, "simulcast:recv a;b send f;q"), ("q", "f")),
        (("rid:q send pt=112;max-width=320", "rid:f send", "simulcast:send q;f"), ("q", "f")),
        # An encoding counts only if it was requested, and if both a rid line and the simulcast line list it.
        # A single encoding needs no rid.
        (("rid:q send", "rid:h recv", "simulcast:send q;h;f"), ()),
        (("rid:q send", "rid:x send", "rid:f send", "simulcast:send q;x;f"), ("q", "f")),
        ((*ALL_RIDS, "simulcast:recv q;h;f"), ()),
        (ALL_RIDS, ()),
        ((), ()),
    ],
)
def test_only_the_encodings_that_an_answer_declares_as_sent_count(
    lines: tuple[str, ...], rids: tuple[str, ...]
) -> None:
    assert encodings(*lines) == rids


def test_a_camera_that_is_off_has_no_encodings() -> None:
    assert encodings(*ALL_RIDS, "simulcast:send q;h;f", direction="inactive") == ()


@pytest.mark.parametrize(
    "attribute", ["", "send", "send q;;f", "send q send f", "both q;f", "send q;f!", "send q h"]
)
def test_encodings_that_cannot_be_parsed_are_rejected(attribute: str) -> None:
    with pytest.raises(SdpError, match=re.escape(f"a=simulcast:'{attribute}' is not a list of encodings")):
        encodings(*ALL_RIDS, f"simulcast:{attribute}")


@pytest.mark.parametrize("peer", ["chromium", "aiortc"])
@pytest.mark.parametrize("step", STEPS)
def test_the_directions_of_sections_are_read_from_a_real_answer(peer: str, step: str) -> None:
    assert [part(section) for section in read(peer, step).sections] == STEPS[step]
    assert [section.mid for section in read(peer, step).sections] == [track.mid for track in CALL[step]]


@pytest.mark.parametrize("peer", ["chromium", "aiortc"])
def test_the_transport_parameters_are_read_from_a_real_answer(peer: str) -> None:
    terms = read(peer, "publishing")
    media = SessionDescription.parse(answer(peer, "publishing")).media[0]
    assert (terms.ice.ufrag, terms.ice.pwd) == (media.value("ice-ufrag"), media.value("ice-pwd"))
    assert terms.setup == "active"
    assert terms.fingerprints[0][0] == "sha-256" and len(terms.fingerprints[0][1]) == 95


def test_chromium_accepts_the_dependency_descriptor_and_mixed_extensions() -> None:
    terms = read("chromium", "receiving")
    assert terms.mixed
    for section in terms.sections:
        assert (DEPENDENCY_DESCRIPTOR.id in section.extension_ids) == (section.kind == "video")
        assert (AUDIO_LEVEL.id in section.extension_ids) == (section.kind == "audio")
        assert (TRANSPORT_CC.id in section.extension_ids) == (section.mid in "0123")
        assert MID.id in section.extension_ids


def test_chromium_accepts_every_codec_except_one_h264_profile() -> None:
    audio, video = read("chromium", "publishing").sections[:2]
    assert audio.payload_types == payload_types("audio") - {RED.payload_type}
    assert video.payload_types == payload_types("video") - {100, 101}


def test_an_answer_from_aiortc_accepts_the_features_that_aiortc_supports() -> None:
    terms = read("aiortc", "receiving")
    assert terms.sections[5].payload_types == {96, 97, 98, 99, 112, 113}
    assert not terms.mixed
    assert [algorithm for algorithm, _ in terms.fingerprints] == ["sha-256", "sha-384", "sha-512"]


def test_the_sources_and_the_track_are_read_from_a_sending_section() -> None:
    audio, video, screen, _ = read("chromium", "publishing").sections
    assert (len(audio.ssrcs), len(video.ssrcs), screen.ssrcs) == (1, 2, ())
    assert audio.stream_id is None  # "-" means that the track belongs to no stream.
    assert audio.track_id is not None and len(audio.track_id) == 36


def test_sources_announced_in_a_section_without_a_sender_are_ignored() -> None:
    assert SessionDescription.parse(answer("aiortc", "receiving")).media[5].has("ssrc")
    section = read("aiortc", "receiving").sections[5]
    assert (section.ssrcs, section.stream_id, section.track_id) == ((), None, None)


def test_a_candidate_repeated_in_every_section_is_reported_once() -> None:
    candidates = read("aiortc", "publishing").candidates
    assert len(candidates) == len(set(candidates)) > 0
    assert all(text.startswith("candidate:") for text in candidates)


@pytest.mark.parametrize("msid", ["stream tra:ck", "stream " + "x" * 65, "stream", "stream "])
def test_an_invalid_track_id_is_ignored(msid: str) -> None:
    text = re.sub(r"a=msid:- .*", f"a=msid:{msid}", answer("chromium", "publishing").replace("\r", ""))
    section = read_answer(text, OWN).sections[0]
    assert (section.stream_id, section.track_id) == ("stream", None)


def test_transport_attributes_may_appear_only_once_at_session_level() -> None:
    session = SessionDescription.parse(answer("chromium", "receiving"))
    names = ("ice-ufrag", "ice-pwd", "fingerprint", "setup", "extmap-allow-mixed")
    session.attributes += [entry for entry in session.media[0].attributes if entry.name in names]
    for media in session.media:
        media.attributes = [entry for entry in media.attributes if entry.name not in names]
    assert read_answer(str(session), CALL["receiving"]) == read("chromium", "receiving")


def test_a_passive_client_is_the_dtls_server() -> None:
    assert read_answer(edited("setup:active", "setup:passive"), CALL["receiving"]).setup == "passive"


@pytest.mark.parametrize("keep_attributes", [True, False])
def test_a_rejected_section_is_reported_and_the_others_remain(keep_attributes: bool) -> None:
    terms = read_answer(rejecting(5, keep_attributes=keep_attributes), CALL["receiving"])
    assert [part(section) for section in terms.sections] == [*STEPS["receiving"][:5], "rejected"]


def test_a_section_without_a_common_codec_counts_as_rejected() -> None:
    text = edited("H264/90000", "H263/90000")
    for name in ("VP8", "VP9", "AV1"):
        text = text.replace(f"{name}/90000", "theora/90000")
    parts = [part(section) for section in read_answer(text, CALL["receiving"]).sections]
    assert parts == ["sending", "rejected", "rejected", "inactive", "receiving", "rejected"]


def test_payload_types_and_extensions_that_were_not_offered_are_ignored() -> None:
    text = edited("m=audio", "m=audio", times=1).replace(
        " 111 9 0 8\r\n", " 111 9 0 8 120\r\na=rtpmap:120 red/48000\r\n"
    )
    text = text.replace(
        "a=extmap:4 urn:ietf", "a=extmap:13 urn:x:new\r\na=extmap:3 urn:x:other\r\na=extmap:4 urn:ietf"
    )
    assert read_answer(text, CALL["receiving"]) == read("chromium", "receiving")


def test_retransmission_without_its_codec_is_ignored() -> None:
    text = edited(" 112 113 ", " 113 ", "publishing")
    assert not {112, 113} & read_answer(text, OWN).sections[1].payload_types


def test_an_extension_that_the_answer_marks_as_inactive_is_not_used() -> None:
    text = edited("a=extmap:3 ", "a=extmap:3/inactive ", "publishing")
    assert DEPENDENCY_DESCRIPTOR.id not in read_answer(text, OWN).sections[1].extension_ids


def test_an_unknown_fingerprint_algorithm_is_skipped() -> None:
    known = f"a=fingerprint:SHA-256 {FINGERPRINT.lower()}"
    text = re.sub(
        r"a=fingerprint:[^\r]*", f"a=fingerprint:md5 00:11\r\n{known}", answer("chromium", "receiving")
    )
    assert read_answer(text, CALL["receiving"]).fingerprints == (("sha-256", FINGERPRINT),)


def test_a_different_number_of_sections_is_rejected() -> None:
    refused(answer("chromium", "alone"), "The offer has 6 media sections, the answer 4")


def test_sections_in_another_order_are_rejected() -> None:
    session = SessionDescription.parse(answer("chromium", "receiving"))
    session.media[0], session.media[3] = session.media[3], session.media[0]
    refused(str(session), "Section 0 of the answer is not the audio section of the offer")


def test_a_section_with_a_different_media_type_is_rejected() -> None:
    refused(edited("m=video", "m=audio"), "Section 1 of the answer is not the video section of the offer")


def test_a_section_without_its_mid_is_rejected() -> None:
    refused(edited("a=mid:4", "a=mud:4"), "Section 4 of the answer is not the audio section of the offer")


def test_a_section_with_a_different_protocol_is_rejected() -> None:
    refused(edited("UDP/TLS/RTP/SAVPF", "UDP/BFCP"), "Section 0 of the answer does not use RTP")


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        pytest.param("UDP/TLS/RTP/SAVPF", "RTP/SAVPF", id="a section with only SRTP"),
        pytest.param("UDP/TLS/RTP/SAVPF", "RTP/AVP", id="a section declared as unencrypted"),
        pytest.param("UDP/TLS/RTP/SAVPF", "TCP/DTLS/RTP/SAVPF", id="a section over TCP"),
        pytest.param("\r\n", " \r\n", id="a space at the end of each line"),
        pytest.param("UDP/TLS/RTP/SAVPF ", "UDP/TLS/RTP/SAVPF  ", id="two spaces between formats"),
        pytest.param(r"\Z", "\r\n\r\n", id="empty lines at the end"),
        pytest.param("a=setup:active", "a=x", id="no role"),
        pytest.param(
            r"(?<=a=mid:1\r\n)", "a=ice-ufrag:anotherUfrag\r\n", id="another ufrag on a later section"
        ),
    ],
)
def test_an_answer_in_chromium_style_has_the_same_meaning(pattern: str, replacement: str) -> None:
    text = re.sub(pattern, replacement, answer("chromium", "receiving"))
    assert text != answer("chromium", "receiving")
    assert read_answer(text, CALL["receiving"]) == read("chromium", "receiving")


def test_a_bundle_may_still_list_a_rejected_section() -> None:
    text = rejecting(5).replace("BUNDLE 0 1 2 3 4", "BUNDLE 0 1 2 3 4 5")
    assert [part(section) for section in read_answer(text, CALL["receiving"]).sections][5] == "rejected"


@pytest.mark.parametrize(
    ("step", "old", "new", "message"),
    [
        ("publishing", "a=sendonly", "a=sendrecv", "to recvonly it can be sendonly or inactive"),
        ("publishing", "a=sendonly", "a=recvonly", "to recvonly it can be sendonly or inactive"),
        ("publishing", "a=sendonly", "a=x", "to recvonly it can be sendonly or inactive"),
        ("receiving", "a=recvonly", "a=sendrecv", "to sendonly it can be recvonly or inactive"),
        ("receiving", "a=recvonly", "a=sendonly", "to sendonly it can be recvonly or inactive"),
    ],
)
def test_a_direction_that_does_not_match_the_offered_one_is_rejected(
    step: str, old: str, new: str, message: str
) -> None:
    with pytest.raises(AnswerError, match=message):
        read_answer(edited(old, new, step), CALL[step])


def test_the_answer_must_keep_an_inactive_section_inactive() -> None:
    offered = [replace(track, direction="inactive") for track in CALL["publishing"]]
    with pytest.raises(
        AnswerError, match=r"^Section 0 of the answer is sendonly; to inactive it can be inactive$"
    ):
        read_answer(answer("chromium", "publishing"), offered)


@pytest.mark.parametrize(
    "group", ["x:y", "group:BUNDLE 0 1 2 3 4", "group:BUNDLE 0 1 2 3 4 5 6", "group:LS 0"]
)
def test_sections_that_are_not_all_bundled_are_rejected(group: str) -> None:
    text = edited("group:BUNDLE 0 1 2 3 4 5", group)
    refused(text, "The answer does not bundle all its media sections into one transport")


def test_an_answer_that_rejects_every_section_is_an_error() -> None:
    text = re.sub(r"m=(\w+) \d+ ", r"m=\1 0 ", answer("chromium", "alone"))
    refused(text, "The answer rejects every media section", "alone")


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"a=ice-ufrag:.*", "a=ice-ufrag:abc", "An ice-ufrag has 4 to 256 letters, digits, + or /"),
        (r"a=ice-ufrag:.*", "a=x", "The answer needs one a=ice-ufrag"),
        (r"a=ice-pwd:.*", "a=ice-pwd:" + "p" * 21, "An ice-pwd has 22 to 256 letters, digits, + or /"),
        (r"a=ice-pwd:.*", "a=ice-pwd:" + "p" * 257, "An ice-pwd has 22 to 256 letters, digits, + or /"),
        (r"a=ice-pwd:.*", "a=x", "The answer needs one a=ice-pwd"),
        (
            r"a=fingerprint:sha-256 ..:",
            "a=fingerprint:sha-256 ",
            "The sha-256 fingerprint of the answer is malformed",
        ),
        (
            r"a=fingerprint:sha-256",
            "a=fingerprint:sha-1",
            "The answer needs a fingerprint of one of these kinds: sha-256, sha-384, sha-512",
        ),
        (
            r"a=fingerprint.*",
            "a=x",
            "The answer needs a fingerprint of one of these kinds: sha-256, sha-384, sha-512",
        ),
        (r"a=setup:active", "a=setup:actpass", "The answer needs a=setup:active or a=setup:passive"),
        (r"a=rtcp-mux", "a=x", "The answer needs a=rtcp-mux in every media section"),
    ],
)
def test_an_answer_without_a_usable_transport_is_rejected(
    pattern: str, replacement: str, message: str
) -> None:
    text = answer("chromium", "receiving").replace("\r", "")
    refused(re.sub(pattern, replacement, text), message)


def test_an_answer_that_copies_the_offered_sections_with_one_codec_is_parsed() -> None:
    """Check an answer as simple clients write it: a copy of the offer's media sections, with a single codec
    wherever the client sends.
    """
    session = SessionDescription.parse(offer("receiving"))
    for media in session.media:
        copied = (
            "mid",
            "extmap",
            "rtcp-mux",
            "rtpmap",
            "fmtp",
            "rtcp-fb",
            "ice-ufrag",
            "ice-pwd",
            "fingerprint",
        )
        media.attributes = [entry for entry in media.attributes if entry.name in copied]
        opposite = "recvonly" if media.mid in ("4", "5") else "sendonly" if media.mid == "1" else "inactive"
        media.attributes += [Attribute("setup", "active"), Attribute(opposite)]
    session.media[1].formats = ["112"]
    terms = read_answer(str(session), CALL["receiving"])
    assert [part(section) for section in terms.sections] == [
        "inactive",
        "sending",
        "inactive",
        "inactive",
        "receiving",
        "receiving",
    ]
    assert terms.sections[1].payload_types == {112}


@given(st.data())
def test_a_damaged_answer_is_parsed_or_rejected(data: st.DataObject) -> None:
    peer, step = data.draw(st.sampled_from(["chromium", "aiortc"])), data.draw(st.sampled_from(list(CALL)))
    try:
        terms = read_answer(damaged(data, answer(peer, step)), CALL[step])
    except SdpError as error:
        assert "\n" not in str(error) and len(str(error)) < 200
    else:
        assert len(terms.sections) == len(CALL[step])
