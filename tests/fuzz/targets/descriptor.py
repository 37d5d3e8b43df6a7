"""A series of Dependency Descriptors is either parsed and rewritten without loss or rejected with an error.

The input is a stream with a length byte before each descriptor. Structures stay in effect as in a track.
"""

from typing import TYPE_CHECKING

from svc._rtp.descriptor import ERRORS, Structure, read_descriptor, read_template_id
from svc._rtp.descriptor_writer import rewrite_descriptor

if TYPE_CHECKING:
    from svc._rtp.descriptor import ParsedDescriptor

IN_PYTHON = False


def run(data: bytes) -> None:
    # Also parse the whole buffer, because only then can the sanitizer check the very end of it.
    read_descriptor(data)
    known: Structure | None = None
    while data:
        descriptor, data = data[1 : 1 + data[0]], data[1 + data[0] :]
        assert (read_template_id(descriptor) is None) == (len(descriptor) < 3)
        parsed = read_descriptor(descriptor, known)
        if isinstance(parsed, str):
            assert parsed in ERRORS.values()
            continue
        _is_written_back(descriptor, parsed, known)
        known = parsed["structure"] or known


def _is_written_back(descriptor: bytes, parsed: "ParsedDescriptor", known: Structure | None) -> None:
    written = rewrite_descriptor(descriptor, known)
    assert isinstance(written, bytes) and len(written) <= len(descriptor)
    assert _plain(read_descriptor(written, known)) == _plain(parsed)
    structure = parsed["structure"] or known
    assert structure is not None
    targets = structure.decode_targets_up_to(parsed["temporal_id"])
    cut = rewrite_descriptor(descriptor, known, active_decode_targets=targets)
    assert cut == "no space" if isinstance(cut, str) else len(cut) <= len(descriptor) + 5


def _plain(parsed: "ParsedDescriptor | str") -> dict[str, object]:
    assert not isinstance(parsed, str), parsed
    structure = parsed["structure"]
    return {**parsed, "structure": structure and structure.fields()}
