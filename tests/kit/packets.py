"""Builds RTP and RTCP packets by hand, byte by byte, independently of the core.

It has no cryptography and no state. Tests build packets with this module so that the core is not checked
against its own writers. See RFC 3550, RFC 8285 and RFC 4585.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


def one_byte_extensions(elements: Sequence[tuple[int, bytes]]) -> bytes:
    """Return the extension block of RFC 8285 section 4.2, with its header."""
    body = b"".join(bytes([(ext_id << 4) | (len(value) - 1)]) + value for ext_id, value in elements)
    body += bytes(-len(body) % 4)
    return struct.pack("!HH", 0xBEDE, len(body) // 4) + body


def two_byte_extensions(elements: Sequence[tuple[int, bytes]]) -> bytes:
    """Return the extension block of RFC 8285 section 4.3, with its header."""
    body = b"".join(bytes([ext_id, len(value)]) + value for ext_id, value in elements)
    body += bytes(-len(body) % 4)
    return struct.pack("!HH", 0x1000, len(body) // 4) + body


def rtp(
    *,
    ssrc: int,
    sequence: int,
    payload_type: int,
    timestamp: int = 0,
    marker: bool = False,
    extensions: bytes = b"",
    csrcs: Sequence[int] = (),
    payload: bytes = b"",
    padding: int = 0,
) -> bytes:
    first = 0x80 | (0x20 if padding else 0) | (0x10 if extensions else 0) | len(csrcs)
    head = struct.pack(
        "!BBHII",
        first,
        (0x80 if marker else 0) | payload_type,
        sequence & 0xFFFF,
        timestamp & 0xFFFFFFFF,
        ssrc,
    )
    tail = bytes(padding - 1) + bytes([padding]) if padding else b""
    return head + b"".join(struct.pack("!I", csrc) for csrc in csrcs) + extensions + payload + tail


def rtcp(packet_type: int, count: int, body: bytes) -> bytes:
    return struct.pack("!BBH", 0x80 | count, packet_type, len(body) // 4) + body


def sender_report(ssrc: int, ntp: int, rtp_time: int, packets: int = 0, octets: int = 0) -> bytes:
    return rtcp(200, 0, struct.pack("!IQIII", ssrc, ntp, rtp_time, packets, octets))


def receiver_report(sender: int, media: int, *, fraction_lost: int = 0, lsr: int = 0, dlsr: int = 0) -> bytes:
    return rtcp(201, 1, struct.pack("!IIIIIII", sender, media, fraction_lost << 24, 0, 0, lsr, dlsr))


def pli(media: int) -> bytes:
    return rtcp(206, 1, struct.pack("!II", 1, media))


def fir(media: int) -> bytes:
    return rtcp(206, 4, struct.pack("!IIIBBBB", 1, 0, media, 1, 0, 0, 0))


def nack(media: int, numbers: Iterable[int]) -> bytes:
    entries = b"".join(struct.pack("!HH", number & 0xFFFF, 0) for number in numbers)
    return rtcp(205, 1, struct.pack("!II", 1, media) + entries)


def remb(media: int) -> bytes:
    return rtcp(206, 15, struct.pack("!II", 1, 0) + b"REMB" + struct.pack("!II", 0x01000000, media))


def transport_feedback(arrivals: Sequence[tuple[int, float]], count: int = 0) -> bytes:
    """Build feedback with the arrival times of these sequence numbers, in seconds.

    The sequence numbers that are skipped between the given ones are reported as lost.

    See draft-holmer-rmcat-transport-wide-cc-extensions-01, section 3.1, with two-byte deltas.
    """
    first = arrivals[0][0]
    by_offset = {(number - first) & 0xFFFF: at for number, at in arrivals}
    reference = int(arrivals[0][1] / 0.064)
    body = struct.pack("!IIHH", 1, 0, first & 0xFFFF, max(by_offset) + 1)
    body += (reference & 0xFFFFFF).to_bytes(3, "big") + bytes([count & 0xFF])
    deltas, ticks = b"", reference * 256
    symbols = [2 if offset in by_offset else 0 for offset in range(max(by_offset) + 1)]
    for at in range(0, len(symbols), 7):
        part = symbols[at : at + 7]
        chunk = 0xC000 | sum(symbol << (12 - 2 * i) for i, symbol in enumerate(part))
        body += struct.pack("!H", chunk)
    for offset in sorted(by_offset):
        delta = round(by_offset[offset] * 4000) - ticks
        deltas += struct.pack("!h", delta)
        ticks += delta
    body += deltas
    return rtcp(205, 15, body + bytes(-len(body) % 4))


def is_rtcp(datagram: bytes) -> bool:
    """Distinguish RTCP from RTP by the second byte (RFC 5761 section 4)."""
    return 192 <= datagram[1] < 224


def split_compound(compound: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield (type, count or format, body) for each packet in a compound."""
    while compound:
        size = 4 * (1 + int.from_bytes(compound[2:4], "big"))
        yield compound[1], compound[0] & 31, compound[4:size]
        compound = compound[size:]


def read_nack(body: bytes) -> Iterator[int]:
    """Yield the sequence numbers that a generic NACK requests."""
    for first, mask in struct.iter_unpack("!HH", body[8:]):
        yield first
        for i in range(16):
            if mask >> i & 1:
                yield (first + i + 1) & 0xFFFF


@dataclass(frozen=True, slots=True)
class Rtp:
    """The fields of a packet that a media receiver reads."""

    marker: bool
    payload_type: int
    sequence: int
    timestamp: int
    ssrc: int
    payload: bytes


def read_rtp(packet: bytes) -> Rtp:
    """Read a packet without CSRCs. Extensions are skipped, and padding is removed."""
    first, second, sequence, timestamp, ssrc = struct.unpack_from("!BBHII", packet)
    start = 12
    if first & 0x10:
        start += 4 + 4 * int.from_bytes(packet[14:16], "big")
    end = len(packet) - (packet[-1] if first & 0x20 else 0)
    return Rtp(second > 127, second & 127, sequence, timestamp, ssrc, packet[start:end])
