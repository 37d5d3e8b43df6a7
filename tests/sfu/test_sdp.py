"""Session descriptions survive parsing and writing, and any other text is rejected with a reason."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc.sfu.sdp import (
    MAX_LINE,
    MAX_LINES,
    MAX_MEDIA_SECTIONS,
    MAX_TEXT,
    TOKEN,
    Attribute,
    ExtMap,
    MediaDescription,
    Msid,
    RtpMap,
    SdpError,
    SessionDescription,
)
from tests.sfu.sdp_exchange import ANSWERS, offer

REAL = {path.stem: path.read_bytes().decode() for path in sorted(ANSWERS.glob("*.sdp"))}

HEAD = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n"

words = st.text(st.sampled_from(string.ascii_letters + string.digits + "-+/"), min_size=1, max_size=12)
tokens = st.from_regex(TOKEN, fullmatch=True)
values = st.text(st.characters(exclude_characters="\0\r\n", exclude_categories=["Cs"]), max_size=60).map(
    lambda text: text.rstrip(" ")
)
attributes = st.lists(st.builds(Attribute, tokens, st.none() | values), max_size=6)
media_sections = st.builds(
    MediaDescription,
    kind=words,
    port=st.integers(0, 0xFFFF),
    protocol=words,
    formats=st.lists(words, min_size=1, max_size=5),
    lines=st.lists(st.tuples(st.sampled_from("icbk"), values), max_size=3),
    attributes=attributes,
)
sessions = st.builds(
    SessionDescription,
    origin=values,
    name=values,
    media=st.lists(media_sections, max_size=4),
    lines=st.lists(st.tuples(st.sampled_from("iuepcbtrzk"), values), max_size=3),
    attributes=attributes,
)


def media(*lines: str) -> MediaDescription:
    text = HEAD + "m=video 9 UDP/TLS/RTP/SAVPF 96\r\n" + "".join(f"{line}\r\n" for line in lines)
    return SessionDescription.parse(text).media[0]


@given(sessions)
def test_written_descriptions_are_parsed_back_unchanged(session: SessionDescription) -> None:
    assert SessionDescription.parse(str(session)) == session


@pytest.mark.parametrize("name", REAL)
def test_a_real_answer_is_written_exactly_as_it_was_parsed(name: str) -> None:
    assert str(SessionDescription.parse(REAL[name])) == REAL[name]


def test_bare_line_feeds_and_a_missing_final_newline_are_accepted() -> None:
    text = REAL["chromium-receiving"]
    assert str(SessionDescription.parse(text.replace("\r\n", "\n").rstrip())) == text


def test_unknown_attributes_keep_their_position() -> None:
    line = media("a=mid:1", "a=x-new:some thing", "a=x-flag", "a=sendonly")
    assert line.attributes[1:3] == [Attribute("x-new", "some thing"), Attribute("x-flag")]


def test_attributes_in_a_media_section_can_be_read_by_name() -> None:
    line = media(
        "a=mid:1",
        "a=extmap:3/recvonly urn:x:y with attributes",
        "a=extmap:4 urn:x:z",
        "a=msid:stream track",
        "a=recvonly",
        "a=rtpmap:96 VP8/90000",
        "a=rtpmap:111 opus/48000/2",
        "a=ssrc-group:FID 7 8",
        "a=ssrc:7 cname:c",
        "a=ssrc:7 msid:stream track",
        "a=ssrc:8 cname:c",
        "a=candidate:1",
        "a=candidate:2",
    )
    assert (line.mid, line.direction) == ("1", "recvonly")
    assert line.extmaps() == [ExtMap(3, "recvonly", "urn:x:y"), ExtMap(4, None, "urn:x:z")]
    assert line.msid() == Msid("stream", "track")
    assert line.rtpmaps() == {96: RtpMap("VP8", 90000, 1), 111: RtpMap("opus", 48000, 2)}
    assert line.ssrcs() == (7, 8)
    assert line.values("candidate") == ["1", "2"]
    assert line.has("recvonly") and not line.has("rtcp-mux")


def test_omitted_columns_are_parsed_as_absent() -> None:
    line = media()
    assert (line.mid, line.direction, line.msid()) == (None, "sendrecv", None)
    assert (line.rtpmaps(), line.extmaps(), line.ssrcs()) == ({}, [], ())


def test_groups_are_distinguished_by_their_semantics() -> None:
    session = SessionDescription.parse(HEAD + "a=group:LS 1 2\r\na=group:BUNDLE 0 1 2\r\na=group:\r\n")
    assert session.groups("BUNDLE") == [["0", "1", "2"]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not a line of a session description"),
        ("hello", "'hello' is not a line of a session description"),
        ("v=1\r\no=-\r\ns=-\r\n", "a session description begins with v=0, o= and s="),
        ("v=0\r\ns=-\r\no=-\r\n", "a session description begins with v=0, o= and s="),
        ("v=0\r\n", "a session description begins with v=0, o= and s="),
        (HEAD + "\r\nm=audio 9 x 0\r\n", "'' is not a line of a session description"),
        (HEAD + "q=1\r\n", "a q= line is not allowed here"),
        (HEAD + "m=audio 9 x 0\r\nt=0 0\r\n", "a t= line is not allowed here"),
        (HEAD + "m=audio x 0\r\n", "'audio x 0' is not a media section"),
        (HEAD + "m=audio 65536 x 0\r\n", "'audio 65536 x 0' is not a media section"),
        (HEAD + "m=audio 9 x\r\n", "'audio 9 x' is not a media section"),
        (HEAD + "a=:x\r\n", "'' is not an attribute name"),
        (HEAD + "a=two words\r\n", "'two words' is not an attribute name"),
        (HEAD + "a=x:\0\r\n", r"'a=x:\x00' is not a line of a session description"),
        (HEAD + "a=x:\ra=y\r\n", r"'a=x:\ra=y' is not a line of a session description"),
        (HEAD + "é=1\r\n", "'é=1' is not a line of a session description"),
        (HEAD + "z" * 99, f"'{'z' * 40}…' is not a line of a session description"),
        (HEAD + "a=" + "x" * MAX_TEXT, f"a session description has at most {MAX_TEXT} characters"),
        # Each of these descriptions fits in a frame, and once blocked the event loop for 25 to 70 ms.
        (HEAD + "a=x\n" * MAX_LINES, f"a session description has at most {MAX_LINES} lines"),
        (
            HEAD + "m=audio 9 x" + " 1" * MAX_LINE,
            f"'m=audio 9 x{' 1' * 14} …' has more than {MAX_LINE} characters",
        ),
        (
            HEAD + "m=audio 9 x 0\n" * (MAX_MEDIA_SECTIONS + 1),
            f"more than {MAX_MEDIA_SECTIONS} media sections",
        ),
    ],
)
def test_a_malformed_description_is_rejected_with_a_message(text: str, message: str) -> None:
    with pytest.raises(SdpError, match=f"^{re.escape(message)}$"):
        SessionDescription.parse(text)


@pytest.mark.parametrize("value", ["128 VP8/90000", "96 VP8", "96", "", "٣ VP8/90000", "96 VP8/90000/2/3"])
def test_a_malformed_payload_type_mapping_is_rejected(value: str) -> None:
    with pytest.raises(SdpError, match="is not a payload type mapping"):
        media(f"a=rtpmap:{value}").rtpmaps()


@pytest.mark.parametrize("value", ["3", "x urn:y", "3/both urn:y", "", "100000 urn:y"])
def test_a_malformed_header_extension_is_rejected(value: str) -> None:
    with pytest.raises(SdpError, match="is not a header extension"):
        media(f"a=extmap:{value}").extmaps()


@pytest.mark.parametrize("value", ["4294967296 cname:x", "-1 cname:x", "x", ""])
def test_a_malformed_source_is_rejected(value: str) -> None:
    with pytest.raises(SdpError, match="is not a source"):
        media(f"a=ssrc:{value}").ssrcs()


@pytest.mark.parametrize("text", ["a\r\na=b", "a\nb", "a\rb", "a\0b"])
def test_a_value_that_would_break_out_of_its_line_is_never_written(text: str) -> None:
    session = SessionDescription("-", attributes=[Attribute("x", text)])
    with pytest.raises(SdpError, match="line break"):
        str(session)


@given(st.data())
def test_a_damaged_description_is_either_parsed_or_rejected(data: st.DataObject) -> None:
    text = damaged(data, data.draw(st.sampled_from([*REAL.values(), offer("receiving")])))
    try:
        session = SessionDescription.parse(text)
        for line in session.media:
            line.rtpmaps(), line.extmaps(), line.ssrcs(), line.msid()
    except SdpError as error:
        assert len(str(error)) < 200
    else:
        assert SessionDescription.parse(str(session)) == session


def damaged(data: st.DataObject, text: str) -> str:
    """Return the text with some pieces replaced, moved or deleted."""
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        junk = st.text(max_size=8) | st.sampled_from(["\r\n", "\0", "m=", "a=", text[end : end + 80]])
        text = text[:start] + data.draw(junk) + text[end:]
    return text
