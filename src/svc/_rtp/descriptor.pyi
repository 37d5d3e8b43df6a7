"""Dependency Descriptor: describes the frame of a packet, and which frames and receivers depend on it."""

from typing import TypedDict

class TemplateFields(TypedDict):
    spatial_id: int
    temporal_id: int
    dtis: str
    fdiffs: list[int]
    chain_fdiffs: list[int]

class StructureFields(TypedDict):
    template_id_offset: int
    dt_cnt: int
    chain_cnt: int
    decode_target_protected_by: list[int]
    decode_target_layers: list[tuple[int, int]]
    resolutions: list[tuple[int, int]]
    templates: list[TemplateFields]

class Structure:
    def contains(self, template_id: int) -> bool: ...
    def decode_targets_up_to(self, temporal_id: int, spatial_id: int = ...) -> int: ...
    def fields(self) -> StructureFields: ...

class ParsedDescriptor(TypedDict):
    start_of_frame: bool
    end_of_frame: bool
    template_id: int
    frame_number: int
    flags: list[str]
    structure: Structure | None
    active_decode_targets: int | None
    spatial_id: int
    temporal_id: int
    dtis: str
    fdiffs: list[int]
    chain_fdiffs: list[int]
    resolution: tuple[int, int] | None

ERRORS: dict[int, str]

def read_template_id(data: bytes) -> int | None: ...
def read_descriptor(data: bytes, known: Structure | None = None) -> ParsedDescriptor | str: ...
