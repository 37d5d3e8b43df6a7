"""Dependency Descriptors from any sender are parsed, rejected with a specific error, or rewritten with other
decode targets.
"""

import pytest

from svc._rtp.descriptor import ERRORS, read_descriptor
from svc._rtp.descriptor_writer import rewrite_descriptor
from tests.kit.dependency_descriptor import (
    Descriptor,
    Structure,
    Template,
    f,
    known_structure,
    packed,
    read,
)

# The example in section A.10.2.1, with decode targets from the highest frame rate to the lowest.
L1T3 = Structure(
    templates=(
        Template(0, 0, "SSS", (), (0,)),
        Template(0, 0, "SSS", (4,), (4,)),
        Template(0, 1, "SD-", (2,), (2,)),
        Template(0, 2, "D--", (1,), (1,)),
        Template(0, 2, "D--", (1,), (3,)),
    ),
    template_id_offset=62,
    decode_target_protected_by=(0, 0, 0),
    chain_cnt=1,
    resolutions=((1280, 720),),
)

# Three spatial layers that never refer to each other (S3T1), without chains. Each is a decode target.
S3T1 = Structure(
    templates=tuple(
        Template(sid, 0, "".join("S" if dt == sid else "-" for dt in range(3)), fdiffs)
        for sid in range(3)
        for fdiffs in ((), (3,))
    ),
    resolutions=((320, 180), (640, 360), (65536, 65536)),
)

# Two spatial layers. The upper one depends on the lower one only at key frames (L2T1_KEY).
L2T1_KEY = Structure(
    templates=(
        Template(0, 0, "SS", (), (0, 0)),
        Template(0, 0, "S-", (2,), (2, 1)),
        Template(1, 0, "-S", (1,), (1, 1)),
        Template(1, 0, "-S", (2,), (1, 2)),
    ),
    decode_target_protected_by=(0, 1),
    chain_cnt=2,
)


def test_the_layers_of_decode_targets_are_derived_in_any_order() -> None:
    assert known_structure(L1T3).fields()["decode_target_layers"] == [(0, 2), (0, 1), (0, 0)]
    assert known_structure(S3T1).fields()["decode_target_layers"] == [(0, 0), (1, 0), (2, 0)]
    assert known_structure(L2T1_KEY).fields()["decode_target_layers"] == [(0, 0), (1, 0)]


def test_a_three_byte_descriptor_takes_all_other_fields_from_the_template() -> None:
    known = known_structure(L1T3)
    # Index 2 has the id (62 + 2) modulo 64.
    data = Descriptor(L1T3, template_id=0, frame_number=0xFFFF, end_of_frame=False).serialise()
    assert len(data) == 3
    assert read(data, known) == {
        "start_of_frame": True,
        "end_of_frame": False,
        "template_id": 0,
        "frame_number": 0xFFFF,
        "flags": [],
        "structure": None,
        "active_decode_targets": None,
        "spatial_id": 0,
        "temporal_id": 1,
        "dtis": "SD-",
        "fdiffs": [2],
        "chain_fdiffs": [2],
        "resolution": (1280, 720),
    }


@pytest.mark.parametrize(
    ("template_id", "contained"), [(61, False), (62, True), (63, True), (0, True), (2, True), (3, False)]
)
def test_template_ids_are_numbered_modulo_64(template_id: int, contained: bool) -> None:
    known = known_structure(L1T3)
    assert known.contains(template_id) is contained
    result = read_descriptor(Descriptor(L1T3, template_id).serialise(), known)
    assert (result == "unknown template") is not contained


def test_an_attached_structure_replaces_the_stored_structure() -> None:
    parsed = read(Descriptor(S3T1, 5, attached=True).serialise(), known_structure(L1T3))
    assert (parsed["spatial_id"], parsed["dtis"], parsed["resolution"]) == (2, "--S", (65536, 65536))
    assert parsed["active_decode_targets"] == 0b111


def test_a_packet_can_customise_its_frame_without_changing_the_template() -> None:
    known = known_structure(L2T1_KEY)
    custom = Descriptor(
        L2T1_KEY, 1, custom_dtis="RD", custom_fdiffs=(4096, 1, 16, 17, 256, 257), custom_chain_fdiffs=(255, 0)
    )
    parsed = read(custom.serialise(), known)
    assert parsed["dtis"] == "RD"
    assert parsed["fdiffs"] == [4096, 1, 16, 17, 256, 257]
    assert parsed["chain_fdiffs"] == [255, 0]
    assert read(Descriptor(L2T1_KEY, 1).serialise(), known)["fdiffs"] == [2]


def test_a_customised_frame_may_have_no_dependencies() -> None:
    assert read(Descriptor(L1T3, 63, custom_fdiffs=()).serialise(), known_structure(L1T3))["fdiffs"] == []


def test_an_explicit_bitmask_overrides_the_implied_one() -> None:
    data = Descriptor(L1T3, 62, attached=True, active_decode_targets=0b110).serialise()
    assert read(data)["active_decode_targets"] == 0b110


def test_32_decode_targets_have_a_32_bit_bitmask() -> None:
    structure = Structure((Template(0, 0, "S" * 32),))
    data = Descriptor(structure, 0, attached=True).serialise()
    assert read(data)["active_decode_targets"] == 0xFFFFFFFF
    explicit = Descriptor(structure, 0, active_decode_targets=0x80000001).serialise()
    assert read(explicit, known_structure(structure))["active_decode_targets"] == 0x80000001


def test_padding_is_ignored_regardless_of_its_content() -> None:
    data = Descriptor(L1T3, 62, attached=True).serialise()
    assert read(data + b"\xff" * 7)["dtis"] == "SSS"
    assert (
        read(Descriptor(L1T3, 63, extended=True).serialise() + b"\xff", known_structure(L1T3))["flags"] == []
    )


def wide(templates: int, *, fdiffs: int = 0) -> Structure:
    return Structure((Template(0, 0, "S", (1,) * fdiffs),) * templates)


def layered(*, temporal: bool) -> Structure:
    """Return nine layers, which is one more than allowed."""
    return Structure(tuple(Template(0, i, "S") if temporal else Template(i, 0, "S") for i in range(9)))


def test_structures_that_exactly_fill_the_arrays_are_parsed() -> None:
    largest = Structure(
        tuple(Template(i // 8, i % 8, "S" * 32, range(1, 17), (15,) * 32) for i in range(64)),
        chain_cnt=32,
        decode_target_protected_by=tuple(range(32)),
        resolutions=((1, 65536),) * 8,
    )
    data = Descriptor(largest, 63, attached=True, custom_fdiffs=range(4081, 4097)).serialise()
    parsed = read(data)
    assert (parsed["spatial_id"], parsed["temporal_id"], parsed["fdiffs"][-1]) == (7, 7, 4096)
    assert known_structure(largest).fields()["templates"][63]["chain_fdiffs"] == [15] * 32


MALFORMED = [
    ("truncated", b"", None),
    ("truncated", b"\xc0\x00", L1T3),
    ("truncated", Descriptor(L1T3, 62, attached=True).serialise()[:-1], None),
    ("truncated", Descriptor(L1T3, 63, custom_chain_fdiffs=(9,)).serialise()[:-1], L1T3),
    ("no structure", Descriptor(L1T3, 62).serialise(), None),
    ("no structure", Descriptor(L1T3, 62, active_decode_targets=1).serialise(), None),
    ("unknown template", Descriptor(L1T3, 3).serialise(), L1T3),
    ("unknown template", Descriptor(L1T3, 3, attached=True).serialise(), L1T3),
    ("too many templates", Descriptor(wide(65), 0, attached=True).serialise(), None),
    (
        "too many temporal layers",
        Descriptor(layered(temporal=True), 0, attached=True).serialise(),
        None,
    ),
    (
        "too many spatial layers",
        Descriptor(layered(temporal=False), 0, attached=True).serialise(),
        None,
    ),
    ("too many frame differences", Descriptor(wide(1, fdiffs=17), 0, attached=True).serialise(), None),
    ("too many frame differences", Descriptor(L1T3, 63, custom_fdiffs=(1,) * 17).serialise(), L1T3),
]


@pytest.mark.parametrize(("error", "data", "known"), MALFORMED)
def test_each_kind_of_malformed_descriptor_has_a_named_error(
    error: str, data: bytes, known: Structure | None
) -> None:
    assert read_descriptor(data, known_structure(known) if known else None) == error


def test_every_parse_error_has_a_test_case() -> None:
    assert {error for error, _, _ in MALFORMED} == set(ERRORS.values()) - {"no space"}


@pytest.mark.parametrize(("temporal_id", "bitmask"), [(0, 0b100), (1, 0b110), (2, 0b111), (7, 0b111)])
def test_a_temporal_layer_includes_the_decode_targets_up_to_it(temporal_id: int, bitmask: int) -> None:
    assert known_structure(L1T3).decode_targets_up_to(temporal_id) == bitmask


def test_spatial_layers_do_not_count_against_a_temporal_limit() -> None:
    assert known_structure(S3T1).decode_targets_up_to(0) == 0b111


def test_a_bitmask_can_be_added_to_a_three_byte_descriptor() -> None:
    plain = Descriptor(L1T3, 63, frame_number=7)
    written = Descriptor(L1T3, 63, frame_number=7, active_decode_targets=0b100)
    known = known_structure(L1T3)
    assert rewrite_descriptor(plain.serialise(), known, active_decode_targets=0b100) == written.serialise()
    assert len(written.serialise()) == 4


def test_a_new_bitmask_replaces_the_senders_bitmask() -> None:
    known = known_structure(L1T3)
    sent = Descriptor(L1T3, 63, active_decode_targets=0b111, custom_fdiffs=(3,))
    written = Descriptor(L1T3, 63, active_decode_targets=0b100, custom_fdiffs=(3,))
    assert rewrite_descriptor(sent.serialise(), known, active_decode_targets=0b100) == written.serialise()


def test_adding_a_bitmask_may_make_a_structure_too_long_for_the_one_byte_form() -> None:
    # An element in the one-byte form has at most 16 bytes. This descriptor has two bits to spare.
    structure = Structure(L1T3.templates, 0, L1T3.decode_target_protected_by, 1)
    sent = Descriptor(structure, 0, attached=True).serialise()
    serialised = Descriptor(structure, 0, attached=True, active_decode_targets=0b001).serialise()
    assert (len(sent), len(serialised)) == (16, 17)
    assert rewrite_descriptor(sent, active_decode_targets=0b001) == serialised


@pytest.mark.parametrize("capacity", range(17))
def test_a_result_that_does_not_fit_is_an_error(capacity: int) -> None:
    structure = Structure(L1T3.templates, 0, L1T3.decode_target_protected_by, 1)
    sent = Descriptor(structure, 0, attached=True).serialise()
    assert rewrite_descriptor(sent, active_decode_targets=1, capacity=capacity) == "no space"


def test_long_encodings_are_rewritten_in_the_shortest_form() -> None:
    known = known_structure(L1T3)
    # The frame difference 1, written with 12 bits instead of the shortest form.
    wasteful = packed(f(8, 0b11_111111) + f(16, 5) + "00010" + f(2, 3) + f(12, 0) + f(2, 0))
    assert read(wasteful, known)["fdiffs"] == [1]
    assert rewrite_descriptor(wasteful, known) == Descriptor(L1T3, 63, 5, custom_fdiffs=(1,)).serialise()
    assert rewrite_descriptor(Descriptor(L1T3, 63, extended=True).serialise(), known) == b"\xff\x00\x00"
