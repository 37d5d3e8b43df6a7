"""`svc rtp inspect`: print one line for each RTP packet in a capture, as JSON or as a table.

Dependency Descriptors are parsed separately for each stream, as in the core. A retransmission's descriptor
belongs to the stream whose packet is retransmitted. See the AV1 RTP specification, appendix A.
"""

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from svc._rtp.descriptor import read_descriptor
from svc._rtp.frames import Reader
from svc.tools.rtp.capture_streams import find_streams
from svc.tools.rtp.packets import PADDING_BIT, Malformed, Packet, read_packets
from svc.tools.rtpdump import Record

if TYPE_CHECKING:
    from svc._rtp.descriptor import ParsedDescriptor

Row = dict[str, object]


def rows(records: Iterable[Record], descriptor_id: int | None) -> Iterator[tuple[int, Row]]:
    """Yield each packet's time in milliseconds since the start, and its fields."""
    packets = read_packets(records)
    streams = find_streams(packets)
    readers: dict[int, Reader] = {}
    for packet in packets:
        if isinstance(packet, Malformed):
            yield packet.offset_ms, {"seq": packet.sequence, "error": packet.problem}
            continue
        data = packet.extension(descriptor_id) if descriptor_id is not None else None
        if data is None:
            yield packet.offset_ms, _of_header(packet)
            continue
        reader = readers.setdefault(streams.source_of(packet.header["ssrc"]), Reader())
        parsed = read_descriptor(data, reader.structure(data))
        reader.read(data, packet.header["timestamp"])
        if isinstance(parsed, str):
            error = f"dependency descriptor: {parsed}"
            yield packet.offset_ms, {"seq": packet.header["sequence"], "error": error}
        else:
            yield packet.offset_ms, _of_header(packet) | _of_descriptor(parsed, reader.active_decode_targets)


def _of_header(packet: Packet) -> Row:
    header = packet.header
    return {
        "seq": header["sequence"],
        "timestamp": header["timestamp"],
        "ssrc": header["ssrc"],
        "payload_type": header["payload_type"],
        "marker": header["marker"],
        # The last byte is the amount of padding. A truncated packet lacks that byte.
        "padding": None if packet.cut and packet.data[0] & PADDING_BIT else header["padding"],
        "size": len(packet.data),
    }


def _of_descriptor(parsed: "ParsedDescriptor", active_decode_targets: int) -> Row:
    return {
        "start_of_frame": parsed["start_of_frame"],
        "end_of_frame": parsed["end_of_frame"],
        "frame_number": parsed["frame_number"],
        "template_id": parsed["template_id"],
        "spatial_id": parsed["spatial_id"],
        "temporal_id": parsed["temporal_id"],
        "structure": parsed["structure"] is not None,
        # The decode targets that are active after this packet, whether or not the packet changes them.
        "active_decode_targets": active_decode_targets,
        "frame_dependencies": parsed["fdiffs"],
        "dtis": list(parsed["dtis"]),
    }


def json_lines(records: Iterable[Record], descriptor_id: int | None) -> Iterator[str]:
    return (json.dumps(row) for _, row in rows(records, descriptor_id))


HEAD = (
    "      ms    seq   timestamp        ssrc  pt  m  pad  size"
    "   frame  part  layer  template  needs         dtis       targets"
)


def table(records: Iterable[Record], descriptor_id: int | None) -> Iterator[str]:
    """Yield the table's lines. Column `part` marks a frame's start (S) and end (E). `needs` lists the frames
    to which it refers.

    `targets` shows the active decode targets, the last target first. `DTIs` shows the frame's role for each
    target.
    """
    yield HEAD
    for offset_ms, row in rows(records, descriptor_id):
        if "error" in row:
            seq = "?" if row["seq"] is None else row["seq"]
            yield f"{offset_ms:8} {seq:>6}  {row['error']}"
        else:
            yield (_header_columns(offset_ms, row) + _descriptor_columns(row)).rstrip()


def _header_columns(offset_ms: int, row: Row) -> str:
    padding = "?" if row["padding"] is None else row["padding"] or "."
    return (
        f"{offset_ms:8} {row['seq']:>6}  {row['timestamp']:>10}  {row['ssrc']:>10} {row['payload_type']:>3}"
        f"  {'M' if row['marker'] else '.'} {padding:>4} {row['size']:>5}"
    )


def _descriptor_columns(row: Row) -> str:
    if "frame_number" not in row:
        return ""
    part = ("S" if row["start_of_frame"] else "-") + ("E" if row["end_of_frame"] else "-")
    dependencies, dtis = row["frame_dependencies"], row["dtis"]
    assert isinstance(dependencies, list) and isinstance(dtis, list)
    needs = ",".join(f"-{difference}" for difference in dependencies) or "nothing"
    targets = f"{row['active_decode_targets']:0{len(dtis)}b}"
    structure = "  structure" if row["structure"] else ""
    return (
        f"  {row['frame_number']:>6}    {part}   S{row['spatial_id']}T{row['temporal_id']}"
        f"  {row['template_id']:>8}  {needs:<12}  {''.join(dtis):<9}  {targets}{structure}"
    )
