"""Descriptors from an independent writer are parsed as intended.

Any other input is rejected with a specific error.
"""

from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from svc._rtp.descriptor import ERRORS, read_descriptor
from svc._rtp.descriptor import Structure as Known
from svc._rtp.descriptor_writer import rewrite_descriptor
from tests.kit.dependency_descriptor import Descriptor, Structure, Template, known_structure, read

# A slow machine must not make the test fail.


def symbols(dt_cnt: int) -> st.SearchStrategy[str]:
    return st.text("-DSR", min_size=dt_cnt, max_size=dt_cnt)


@st.composite
def structures(draw: st.DrawFn) -> Structure:
    dt_cnt = draw(st.integers(1, 32))
    chain_cnt = draw(st.integers(0, dt_cnt))
    layers = [(0, 0)]
    for idc in draw(st.lists(st.sampled_from([0, 0, 1, 2]), max_size=20)):
        sid, tid = layers[-1]
        layers.append([(sid, tid), (sid, min(tid + 1, 7)), (min(sid + 1, 7), 0 if sid < 7 else tid)][idc])
    sizes = st.integers(1, 65536)
    return Structure(
        templates=tuple(
            Template(
                *layer,
                draw(symbols(dt_cnt)),
                draw(st.lists(st.integers(1, 16), max_size=16)),
                draw(st.lists(st.integers(0, 15), min_size=chain_cnt, max_size=chain_cnt)),
            )
            for layer in layers
        ),
        template_id_offset=draw(st.integers(0, 63)),
        chain_cnt=chain_cnt,
        decode_target_protected_by=[draw(st.integers(0, chain_cnt - 1)) for _ in range(dt_cnt) if chain_cnt],
        resolutions=[draw(st.tuples(sizes, sizes)) for _ in range(layers[-1][0] + 1)]
        if draw(st.booleans())
        else (),
    )


@st.composite
def valid_descriptors(draw: st.DrawFn) -> Descriptor:
    structure = draw(structures())
    chains = structure.chain_cnt
    return Descriptor(
        structure,
        template_id=(draw(st.integers(0, len(structure.templates) - 1)) + structure.template_id_offset) % 64,
        frame_number=draw(st.integers(0, 0xFFFF)),
        start_of_frame=draw(st.booleans()),
        end_of_frame=draw(st.booleans()),
        attached=draw(st.booleans()),
        active_decode_targets=draw(st.none() | st.integers(0, 2**structure.dt_cnt - 1)),
        custom_dtis=draw(st.none() | symbols(structure.dt_cnt)),
        custom_fdiffs=draw(st.none() | st.lists(st.integers(1, 4096), max_size=16)),
        custom_chain_fdiffs=draw(st.none() | st.lists(st.integers(0, 255), min_size=chains, max_size=chains)),
    )


@given(valid_descriptors())
def test_descriptors_from_an_independent_writer_are_parsed_and_rewritten_identically(
    sent: Descriptor,
) -> None:
    structure, data = sent.structure, sent.serialise()
    known = known_structure(structure)
    parsed = read(data, None if sent.attached else known)
    template = structure.templates[(sent.template_id - structure.template_id_offset) % 64]
    everything = 2**structure.dt_cnt - 1 if sent.attached else None
    assert (parsed["start_of_frame"], parsed["end_of_frame"]) == (sent.start_of_frame, sent.end_of_frame)
    assert (parsed["template_id"], parsed["frame_number"]) == (sent.template_id, sent.frame_number)
    assert (parsed["spatial_id"], parsed["temporal_id"]) == (template.spatial_id, template.temporal_id)
    assert parsed["active_decode_targets"] == (
        everything if sent.active_decode_targets is None else sent.active_decode_targets
    )
    assert parsed["dtis"] == given_or(sent.custom_dtis, template.dtis)
    assert parsed["fdiffs"] == list(given_or(sent.custom_fdiffs, template.fdiffs))
    assert parsed["chain_fdiffs"] == list(given_or(sent.custom_chain_fdiffs, template.chain_fdiffs))
    assert parsed["resolution"] == (
        structure.resolutions[template.spatial_id] if structure.resolutions else None
    )
    assert rewrite_descriptor(data, known, capacity=1000) == data
    check_structure(known, structure)


T = TypeVar("T")


def given_or(custom: T | None, template: T) -> T:
    return template if custom is None else custom


def check_structure(known: Known, structure: Structure) -> None:
    fields = known.fields()
    assert fields["template_id_offset"] == structure.template_id_offset
    assert (fields["dt_cnt"], fields["chain_cnt"]) == (structure.dt_cnt, structure.chain_cnt)
    assert fields["decode_target_protected_by"] == list(structure.decode_target_protected_by)
    assert fields["resolutions"] == list(structure.resolutions)
    assert [
        Template(t["spatial_id"], t["temporal_id"], t["dtis"], t["fdiffs"], t["chain_fdiffs"])
        for t in fields["templates"]
    ] == list(structure.templates)
    for dt, layers in enumerate(fields["decode_target_layers"]):
        present = [t for t in structure.templates if t.dtis[dt] != "-"]
        assert layers == (
            max((t.spatial_id for t in present), default=0),
            max((t.temporal_id for t in present), default=0),
        )


@given(valid_descriptors(), st.integers(0, 2**32 - 1))
def test_any_descriptor_can_be_rewritten_with_another_bitmask(sent: Descriptor, bitmask: int) -> None:
    bitmask &= 2**sent.structure.dt_cnt - 1
    known = known_structure(sent.structure)
    serialised = Descriptor(**(vars(sent) | {"active_decode_targets": bitmask})).serialise()
    assert (
        rewrite_descriptor(sent.serialise(), known, active_decode_targets=bitmask, capacity=1000)
        == serialised
    )


@given(valid_descriptors(), st.data())
def test_a_shortened_descriptor_is_reported_as_truncated(sent: Descriptor, data: st.DataObject) -> None:
    whole = sent.serialise()
    length = data.draw(st.integers(0, len(whole) - 1))
    if length != 3:
        assert read_descriptor(whole[:length], known_structure(sent.structure)) == "truncated"


@given(st.binary(max_size=255), valid_descriptors())
def test_arbitrary_bytes_are_parsed_as_a_descriptor_or_rejected_with_a_named_error(
    data: bytes, other: Descriptor
) -> None:
    known = known_structure(other.structure)
    parsed = read_descriptor(data, known)
    if isinstance(parsed, str):
        assert parsed in ERRORS.values()
    else:
        assert (parsed["structure"] or known).contains(parsed["template_id"])
