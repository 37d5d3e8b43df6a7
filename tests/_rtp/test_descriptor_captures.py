"""Every field of every Dependency Descriptor from a real browser is parsed as listed in the capture's sidecar
file.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from svc._rtp.descriptor import Structure, read_descriptor, read_template_id
from svc._rtp.descriptor_writer import rewrite_descriptor
from tests.kit.captures import NAMES, Capture, capture

FLAGS = ["structure", "active", "custom_dtis", "custom_fdiffs", "custom_chains"]
WITH_DESCRIPTOR = [name for name in NAMES if any("dd" in packet.row for packet in capture(name).packets)]


@dataclass
class Stream:
    """The receiver's state for one SSRC, and the expected state from the sidecar file."""

    known: Structure | None = None
    structure: dict[str, Any] = field(default_factory=dict)
    active_decode_targets: int | None = None


def descriptors(source: Capture) -> Iterator[tuple[dict[str, Any], bytes, Stream]]:
    """Yield each media packet's row, its descriptor, and the state of its stream before that packet."""
    streams: dict[int, Stream] = {}
    for packet in source.packets:
        if "dd" not in packet.row:
            continue
        stream = streams.setdefault(packet.row["ssrc"], Stream())
        data = packet.extension(source.descriptor_id)
        assert data is not None
        yield packet.row, data, stream
        parsed = read_descriptor(data, stream.known)
        assert not isinstance(parsed, str)
        if parsed["structure"] is not None:
            stream.known = parsed["structure"]


def attached_structures(source: Capture) -> dict[int, dict[str, Any]]:
    return {entry["i"]: entry["structure"] for entry in source.sidecar["structures"]}


def test_the_captures_cover_codecs_spatial_layers_and_simulcast() -> None:
    assert {"av1_l1t3", "av1_l3t3_key", "h264_l1t3", "vp8_l1t3", "vp8_simulcast_l1t3", "vp9_l1t3"} <= set(
        WITH_DESCRIPTOR
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_descriptor_has_the_negotiated_id(name: str) -> None:
    source = capture(name)
    for packet in source.packets:
        data = packet.extension(source.descriptor_id)
        assert (data.hex() if data else None) == packet.row.get("dd_hex"), packet.row["i"]


@pytest.mark.parametrize("name", WITH_DESCRIPTOR)
def test_every_attached_structure_is_parsed_completely(name: str) -> None:
    source = capture(name)
    expected = attached_structures(source)
    read = {}
    for row, data, _ in descriptors(source):
        parsed = read_descriptor(data)
        if not isinstance(parsed, str) and parsed["structure"] is not None:
            read[row["i"]] = tuples_as_lists(parsed["structure"].fields())
    assert read == expected


def tuples_as_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: tuples_as_lists(item) for key, item in value.items()}
    return [tuples_as_lists(item) for item in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", WITH_DESCRIPTOR)
def test_every_field_of_every_descriptor_is_parsed(name: str) -> None:
    source = capture(name)
    attached = attached_structures(source)
    for row, data, stream in descriptors(source):
        parsed = read_descriptor(data, stream.known)
        assert not isinstance(parsed, str), (row["i"], parsed)
        stream.structure = attached.get(row["i"], stream.structure)
        if parsed["active_decode_targets"] is not None:
            stream.active_decode_targets = parsed["active_decode_targets"]
        comparable = {key: value for key, value in parsed.items() if key not in ("structure", "resolution")}
        assert comparable | {"active_decode_targets": stream.active_decode_targets} == expected_fields(
            row["dd"], stream.structure
        ), row["i"]
        assert (parsed["structure"] is not None) == row["dd"].get("is_keyframe", False)
        resolutions = stream.structure["resolutions"]
        assert list(parsed["resolution"] or []) == (resolutions[parsed["spatial_id"]] if resolutions else [])


def expected_fields(dd: dict[str, Any], structure: dict[str, Any]) -> dict[str, Any]:
    """Return the sidecar's row, completed with the default values that the sidecar omits."""
    template = structure["templates"][(dd["template_id"] - structure["template_id_offset"]) % 64]
    defaults = {"dtis": template["dtis"], "chain_fdiffs": template["chain_fdiffs"], "flags": []}
    fields = {key: value for key, value in (defaults | dd).items() if key != "is_keyframe"}
    fields["flags"] = sorted(fields["flags"], key=FLAGS.index)
    for key in ("start_of_frame", "end_of_frame"):
        fields[key] = bool(fields[key])
    return fields


@pytest.mark.parametrize("name", WITH_DESCRIPTOR)
def test_every_descriptor_is_rewritten_bit_for_bit(name: str) -> None:
    for row, data, stream in descriptors(capture(name)):
        assert rewrite_descriptor(data, stream.known) == data, row["i"]


@pytest.mark.parametrize("name", WITH_DESCRIPTOR)
def test_writing_another_bitmask_changes_no_other_field(name: str) -> None:
    for _, data, stream in descriptors(capture(name)):
        before = read_descriptor(data, stream.known)
        assert not isinstance(before, str)
        structure = before["structure"] or stream.known
        assert structure is not None
        bitmask = structure.decode_targets_up_to(0)
        rewritten = rewrite_descriptor(data, stream.known, active_decode_targets=bitmask)
        assert isinstance(rewritten, bytes)
        after = read_descriptor(rewritten, stream.known)
        assert not isinstance(after, str)
        flags = sorted({*before["flags"], "active"}, key=FLAGS.index)
        ignored = {"structure": None}
        assert after | ignored == before | ignored | {"active_decode_targets": bitmask, "flags": flags}
        assert (after["structure"] is None) == (before["structure"] is None)
        if after["structure"] and before["structure"]:
            assert after["structure"].fields() == before["structure"].fields()


@pytest.mark.parametrize("name", WITH_DESCRIPTOR)
def test_every_truncated_descriptor_is_reported_as_truncated(name: str) -> None:
    for data, known in distinct_descriptors(capture(name)):
        # Three bytes are a complete descriptor if the structure is known.
        for length in {*range(len(data))} - {3}:
            assert read_descriptor(data[:length], known) == "truncated", (data.hex(), length)


@pytest.mark.parametrize("name", WITH_DESCRIPTOR)
def test_a_descriptor_with_flipped_bits_is_parsed_or_rejected(name: str) -> None:
    seeded = random.Random(name)
    for data, known in distinct_descriptors(capture(name)):
        bits = len(data) * 8
        for at in range(bits):
            check_sane(flipped(data, [at]), known)
        for _ in range(50):
            check_sane(flipped(data, [seeded.randrange(bits) for _ in range(seeded.randint(2, 8))]), known)


def distinct_descriptors(source: Capture) -> list[tuple[bytes, Structure | None]]:
    """Return the descriptors, without duplicates that differ only in their frame numbers."""
    kinds = {data[:1] + data[3:]: (data, stream.known) for _, data, stream in descriptors(source)}
    return list(kinds.values())


def flipped(data: bytes, positions: list[int]) -> bytes:
    changed = bytearray(data)
    for at in positions:
        changed[at // 8] ^= 0x80 >> at % 8
    return bytes(changed)


def check_sane(data: bytes, known: Structure | None) -> None:
    """Check that parsing either fails with an error, or gives a descriptor that stays within its structure's
    bounds and can be rewritten.
    """
    parsed = read_descriptor(data, known)
    if isinstance(parsed, str):
        assert rewrite_descriptor(data, known) == parsed
        return
    structure = parsed["structure"] or known
    assert structure is not None and structure.contains(parsed["template_id"])
    fields = structure.fields()
    assert len(parsed["dtis"]) == fields["dt_cnt"] <= 32
    assert len(parsed["chain_fdiffs"]) == fields["chain_cnt"] <= fields["dt_cnt"]
    assert len(parsed["fdiffs"]) <= 16 and all(1 <= fdiff <= 4096 for fdiff in parsed["fdiffs"])
    assert all(chain < fields["chain_cnt"] for chain in fields["decode_target_protected_by"])
    again = rewrite_descriptor(data, known)
    assert isinstance(again, bytes) and len(again) <= len(data)
    reread = read_descriptor(again, known)
    assert not isinstance(reread, str)
    assert reread | {"structure": None} == parsed | {"structure": None}


def test_a_template_id_can_be_read_without_a_structure() -> None:
    for row, data, _ in descriptors(capture("av1_l3t3_key")):
        assert read_template_id(data) == row["dd"]["template_id"]
    assert read_template_id(b"\xc0\x00") is None
