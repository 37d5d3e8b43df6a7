"""The tables of codecs and extensions match the specification, and their numbers fit in the packets."""

import pytest

from svc.sfu.codecs import (
    AUDIO,
    AUDIO_LEVEL,
    DEPENDENCY_DESCRIPTOR,
    EXTENSIONS,
    MID,
    TRANSPORT_CC,
    VIDEO,
    Codec,
    codecs,
    payload_types,
)


def test_audio_is_opus_g722_pcmu_and_pcma_in_this_order() -> None:
    assert [(codec.rtpmap, codec.fmtp) for codec in AUDIO] == [
        ("opus/48000/2", "minptime=10;useinbandfec=1"),
        ("G722/8000", ""),
        ("PCMU/8000", ""),
        ("PCMA/8000", ""),
    ]


def test_the_static_payload_types_match_rfc_3551() -> None:
    assert {codec.name: codec.payload_type for codec in AUDIO[1:]} == {"G722": 9, "PCMU": 0, "PCMA": 8}


def test_five_h264_variants_precede_vp9_vp8_and_av1() -> None:
    asymmetric = "level-asymmetry-allowed=1;packetization-mode="
    assert [(codec.name, codec.fmtp) for codec in VIDEO] == [
        ("H264", asymmetric + "1;profile-level-id=42e01f"),
        ("H264", asymmetric + "1;profile-level-id=42001f"),
        ("H264", asymmetric + "1;profile-level-id=64001f"),
        ("H264", asymmetric + "0;profile-level-id=42e01f"),
        ("H264", asymmetric + "0;profile-level-id=42001f"),
        ("VP9", "profile-id=0"),
        ("VP9", "profile-id=2"),
        ("VP8", ""),
        ("AV1", "level-idx=5;profile=0;tier=0"),
    ]


def test_every_video_codec_supports_retransmission_and_keyframe_requests() -> None:
    for codec in VIDEO:
        assert codec.rtx_payload_type is not None
        assert set(codec.feedback) == {"nack", "nack pli", "ccm fir"}


def test_no_payload_type_is_ambiguous_or_can_be_mistaken_for_rtcp() -> None:
    rtx = [codec.rtx_payload_type for codec in VIDEO if codec.rtx_payload_type is not None]
    numbers = [codec.payload_type for codec in AUDIO + VIDEO] + rtx
    assert len(set(numbers)) == len(numbers)
    # RFC 5761 section 4: 64 to 95 are reserved when RTCP shares the port.
    assert all(0 <= number < 64 or 96 <= number <= 127 for number in numbers)


@pytest.mark.parametrize(("kind", "table"), [("audio", AUDIO), ("video", VIDEO)])
def test_the_payload_types_for_a_media_kind_include_red_and_rtx(kind: str, table: tuple[Codec, ...]) -> None:
    assert codecs(kind) == table
    offered = codecs(kind, redundancy=True)
    repeats = {codec.rtx_payload_type for codec in offered} - {None}
    assert payload_types(kind) == {codec.payload_type for codec in offered} | repeats


def test_extension_ids_are_distinct_and_fit_the_one_byte_form() -> None:
    ids = [extension.id for extension in EXTENSIONS]
    assert len(set(ids)) == len(ids) and all(1 <= number <= 14 for number in ids)


def test_only_the_mid_and_transport_feedback_extensions_are_hop_by_hop() -> None:
    assert [extension for extension in EXTENSIONS if extension.hop_by_hop] == [MID, TRANSPORT_CC]


def test_the_dependency_descriptor_is_for_video_and_the_audio_level_for_audio() -> None:
    assert DEPENDENCY_DESCRIPTOR.kinds == {"video"}
    assert AUDIO_LEVEL.kinds == {"audio"}
