"""Writes Dependency Descriptors as strings of "0" and "1", independently of the core.

It is written for clarity rather than speed. It is the inverse of the syntax functions in section A.8.2 of the
AV1 RTP specification. It validates nothing, so it can also write invalid descriptors. The last two functions
in this module parse a descriptor with the core.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from svc._rtp.descriptor import Structure as Known
from svc._rtp.descriptor import read_descriptor

if TYPE_CHECKING:
    from svc._rtp.descriptor import ParsedDescriptor


def f(n: int, value: int) -> str:
    return format(value, f"0{n}b") if n else ""


def ns(n: int, value: int) -> str:
    """Encode a value as in section A.8.2: the first 2^w - n values take w - 1 bits, the others w bits."""
    w = n.bit_length()
    short = 2**w - n
    return f(w - 1, value) if value < short else f(w, value + short)


def dtis(symbols: str) -> str:
    return "".join(f(2, "-DSR".index(symbol)) for symbol in symbols)


@dataclass(frozen=True)
class Template:
    spatial_id: int
    temporal_id: int
    dtis: str
    fdiffs: Sequence[int] = ()
    chain_fdiffs: Sequence[int] = ()


@dataclass(frozen=True)
class Structure:
    templates: Sequence[Template]
    template_id_offset: int = 0
    decode_target_protected_by: Sequence[int] = ()
    chain_cnt: int = 0
    resolutions: Sequence[tuple[int, int]] = ()

    @property
    def dt_cnt(self) -> int:
        return len(self.templates[0].dtis)

    def bits(self) -> str:
        return "".join(
            [
                f(6, self.template_id_offset),
                f(5, self.dt_cnt - 1),
                self._layers(),
                *(dtis(template.dtis) for template in self.templates),
                *(self._fdiffs(template.fdiffs) for template in self.templates),
                self._chains(),
                f(1, 1 if self.resolutions else 0),
                *(f(16, width - 1) + f(16, height - 1) for width, height in self.resolutions),
            ]
        )

    def _layers(self) -> str:
        idcs = {(0, 0): 0, (0, 1): 1}
        layers = [(template.spatial_id, template.temporal_id) for template in self.templates]
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(layers)]
        return "".join(f(2, idcs.get(step, 2)) for step in steps) + f(2, 3)

    @staticmethod
    def _fdiffs(fdiffs: Sequence[int]) -> str:
        return "".join(f(1, 1) + f(4, fdiff - 1) for fdiff in fdiffs) + f(1, 0)

    def _chains(self) -> str:
        if not self.chain_cnt:
            return ns(self.dt_cnt + 1, 0)
        protections = "".join(ns(self.chain_cnt, chain) for chain in self.decode_target_protected_by)
        fdiffs = "".join(f(4, fdiff) for template in self.templates for fdiff in template.chain_fdiffs)
        return ns(self.dt_cnt + 1, self.chain_cnt) + protections + fdiffs


@dataclass(frozen=True)
class Descriptor:
    """The fields of one packet's descriptor.

    A field that is None is absent, so the template's value applies.
    """

    structure: Structure  # the structure that the receiver applies
    template_id: int
    frame_number: int = 0
    start_of_frame: bool = True
    end_of_frame: bool = True
    attached: bool = False
    active_decode_targets: int | None = None
    custom_dtis: str | None = None
    custom_fdiffs: Sequence[int] | None = None
    custom_chain_fdiffs: Sequence[int] | None = None
    extended: bool = False  # whether to write the five flags even if none of them is set

    def serialise(self) -> bytes:
        bits = (
            f(1, self.start_of_frame)
            + f(1, self.end_of_frame)
            + f(6, self.template_id)
            + f(16, self.frame_number)
        )
        custom = (self.custom_dtis, self.custom_fdiffs, self.custom_chain_fdiffs)
        flags = [self.attached, *(value is not None for value in (self.active_decode_targets, *custom))]
        if self.extended or any(flags):
            bits += "".join(f(1, flag) for flag in flags) + self._extended_fields()
        return packed(bits)

    def _extended_fields(self) -> str:
        bits = self.structure.bits() if self.attached else ""
        if self.active_decode_targets is not None:
            bits += f(self.structure.dt_cnt, self.active_decode_targets)
        if self.custom_dtis is not None:
            bits += dtis(self.custom_dtis)
        if self.custom_fdiffs is not None:
            bits += "".join(self._sized(fdiff - 1) for fdiff in self.custom_fdiffs) + f(2, 0)
        if self.custom_chain_fdiffs is not None:
            bits += "".join(f(8, fdiff) for fdiff in self.custom_chain_fdiffs)
        return bits

    @staticmethod
    def _sized(fdiff_minus_one: int) -> str:
        size = max(1, -(-fdiff_minus_one.bit_length() // 4))
        return f(2, size) + f(4 * size, fdiff_minus_one)


def packed(bits: str) -> bytes:
    """Return the bits as bytes, padded with zeros."""
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))


def read(data: bytes, known: Known | None = None) -> "ParsedDescriptor":
    """Parse a descriptor with the core. An error fails the test."""
    parsed = read_descriptor(data, known)
    assert not isinstance(parsed, str), parsed
    return parsed


def known_structure(structure: Structure) -> Known:
    """Return the structure as the core's parser stores it."""
    first_template = Descriptor(structure, structure.template_id_offset, attached=True)
    attached = read(first_template.serialise())["structure"]
    assert attached is not None
    return attached
