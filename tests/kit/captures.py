"""Reads real captures, with the known fields of each packet. The README alongside the captures explains the
fields.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svc._rtp.header import parse_header
from svc.tools.rtpdump import read

if TYPE_CHECKING:
    from svc._rtp.header import ParsedHeader

FOLDER = Path(__file__).parent.parent / "data/captures"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


@dataclass(frozen=True)
class Packet:
    """An RTP packet, and its row in the sidecar file. Audio packets have no row."""

    data: bytes
    offset_ms: int
    row: dict[str, Any]

    @property
    def header(self) -> "ParsedHeader":
        header = parse_header(self.data)
        assert header is not None
        return header

    def extension(self, ext_id: int | None) -> bytes | None:
        return dict(self.header["extensions"]).get(ext_id or 0)


@dataclass(frozen=True)
class Capture:
    name: str
    sidecar: dict[str, Any]
    packets: list[Packet]

    @property
    def descriptor_id(self) -> int | None:
        """The negotiated extension id of the Dependency Descriptor, or None."""
        negotiated: int | None = self.sidecar["dd_ext_id"]
        return negotiated


@cache
def capture(name: str) -> Capture:
    sidecar = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    rows = {row["i"]: row for row in sidecar["packets"]}
    with (FOLDER / f"{name}.rtpdump").open("rb") as file:
        records = list(enumerate(read(file)))
    packets = [
        Packet(record.data, record.offset_ms, rows.pop(i, {})) for i, record in records if not record.is_rtcp
    ]
    assert not rows, "the sidecar describes packets that are not in the capture"
    return Capture(name, sidecar, packets)
