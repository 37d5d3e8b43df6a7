"""FrameReader: keeps the descriptor state of one received stream, and reads each packet's frame."""

from typing import TypedDict

from svc._rtp.descriptor import Structure

class FrameFields(TypedDict):
    number: int
    start: bool
    end: bool
    spatial_id: int
    temporal_id: int
    switch_to: list[int]
    opens: list[int]
    dependencies: list[int]

class Reader:
    @property
    def active_decode_targets(self) -> int: ...
    def structure(self, data: bytes) -> Structure | None: ...
    def read(self, data: bytes, timestamp: int) -> FrameFields | None: ...
    def recall(self, timestamp: int) -> FrameFields | None: ...
