"""Reads RTCP packets from peers, and writes our own.

Handles formats only. `feedback` acts on the packets. See docs/rtcp.md; RFC 3550 section 6, RFC 4585 section
6, RFC 5104 section 4.3.1. Reduced-size packets (RFC 5506) are accepted: a compound need not begin with a
report.
"""

from libc.string cimport memcpy, memset

from svc._rtp.sequence cimport seq_newer
from svc._rtp.wire cimport load16, load24, load32, load64, store16, store24, store32, store64, take


cdef int next_packet(Cursor* compound, Packet* packet) noexcept nogil:
    """Read the next packet of a compound. Return 1, 0 at its end, or -1 if it is malformed."""
    cdef const uint8_t* head
    cdef size_t padding
    if compound.left == 0:
        return 0
    head = take(compound, 4)
    if head == NULL or head[0] >> 6 != 2:
        return -1
    packet.type = head[1]
    packet.count = head[0] & 0x1F
    packet.length = 4 * <size_t>load16(head + 2)
    packet.body = take(compound, packet.length)
    if packet.body == NULL:
        return -1
    if head[0] & 0x20:
        if packet.length == 0:
            return -1
        padding = packet.body[packet.length - 1]
        if padding == 0 or padding > packet.length:
            return -1
        packet.length -= padding
    return 1


cdef int read_sender_info(const Packet* packet, SenderInfo* info) noexcept nogil:
    """Read the sender info of an SR. Return -1 if it is truncated."""
    if packet.length < 24:
        return -1
    info.ssrc = load32(packet.body)
    info.ntp = load64(packet.body + 4)
    info.rtp = load32(packet.body + 12)
    info.packets = load32(packet.body + 16)
    info.octets = load32(packet.body + 20)
    return 0


cdef int read_report(const Packet* packet, int index, ReportBlock* block) noexcept nogil:
    """Read report block `index` of an SR or RR. Return -1 if there is none."""
    cdef size_t at = (24 if packet.type == SR else 4) + 24 * <size_t>index
    cdef const uint8_t* p = packet.body + at
    if index >= packet.count or at + 24 > packet.length:
        return -1
    block.ssrc = load32(p)
    block.fraction_lost = p[4]
    # Sign-extend the 24 bits, because duplicates can make the number negative.
    block.lost = <int32_t>(load24(p + 5) << 8) >> 8
    block.highest = load32(p + 8)
    block.jitter = load32(p + 12)
    block.lsr = load32(p + 16)
    block.dlsr = load32(p + 20)
    return 0


cdef inline void write_head(uint8_t* out, int count, uint8_t packet_type, size_t length) noexcept nogil:
    """Write a packet's header. `length` is the length of the whole packet, a multiple of 4."""
    out[0] = <uint8_t>(0x80 | count)
    out[1] = packet_type
    store16(out + 2, <uint32_t>(length / 4 - 1))


cdef size_t write_rr(uint8_t* out, uint32_t sender, const ReportBlock* blocks, int count) noexcept nogil:
    """Write a receiver report with at most 31 blocks."""
    cdef size_t length = 8 + 24 * <size_t>count
    cdef uint8_t* p
    cdef int i
    write_head(out, count, RR, length)
    store32(out + 4, sender)
    for i in range(count):
        p = out + 8 + 24 * i
        store32(p, blocks[i].ssrc)
        p[4] = blocks[i].fraction_lost
        store24(p + 5, <uint32_t>blocks[i].lost)
        store32(p + 8, blocks[i].highest)
        store32(p + 12, blocks[i].jitter)
        store32(p + 16, blocks[i].lsr)
        store32(p + 20, blocks[i].dlsr)
    return length


cdef size_t write_sr(uint8_t* out, const SenderInfo* info) noexcept nogil:
    """Write a sender report without report blocks."""
    write_head(out, 0, SR, 28)
    store32(out + 4, info.ssrc)
    store64(out + 8, info.ntp)
    store32(out + 16, info.rtp)
    store32(out + 20, info.packets)
    store32(out + 24, info.octets)
    return 28


cdef size_t write_cname(uint8_t* out, uint32_t ssrc, const uint8_t* cname, uint8_t length) noexcept nogil:
    """Write an SDES packet with one chunk that contains the CNAME."""
    # The packet has a header, the SSRC, the item's header and text, and one to four zero bytes that end the
    # chunk.
    cdef size_t total = (4 + 4 + 2 + <size_t>length + 4) & ~<size_t>3
    memset(out, 0, total)
    write_head(out, 1, SDES, total)
    store32(out + 4, ssrc)
    out[8] = 1
    out[9] = length
    memcpy(out + 10, cname, length)
    return total


cdef size_t write_bye(uint8_t* out, uint32_t ssrc) noexcept nogil:
    write_head(out, 1, BYE, 8)
    store32(out + 4, ssrc)
    return 8


cdef size_t write_pli(uint8_t* out, uint32_t sender, uint32_t media) noexcept nogil:
    write_head(out, FMT_PLI, PSFB, 12)
    store32(out + 4, sender)
    store32(out + 8, media)
    return 12


cdef size_t write_nack(uint8_t* out, uint32_t sender, uint32_t media, const uint16_t* missing, int count) noexcept nogil:
    """Write a generic NACK for the numbers in `missing`, which must be ascending. An entry covers a number
    and the next 16.
    """
    cdef size_t length = 12
    cdef uint16_t first
    cdef uint32_t mask
    cdef int i = 0
    while i < count and length + 4 <= MAX_RTCP:
        first = missing[i]
        mask = 0
        i += 1
        while i < count and seq_newer(missing[i], first) and <uint16_t>(missing[i] - first) <= 16:
            mask |= <uint32_t>1 << (<uint16_t>(missing[i] - first) - 1)
            i += 1
        store16(out + length, first)
        store16(out + length + 2, mask)
        length += 4
    write_head(out, FMT_NACK, RTPFB, length)
    store32(out + 4, sender)
    store32(out + 8, media)
    return length


def parse_compound(bytes data) -> list | None:
    """Return the packets in a compound as (type, count, body), or None if it is malformed. For tests and
    tools."""
    cdef Cursor compound
    cdef Packet packet
    cdef int more
    packets = []
    compound.at = data
    compound.left = <size_t>len(data)
    more = next_packet(&compound, &packet)
    while more > 0:
        packets.append((packet.type, packet.count, (<bytes>packet.body[:<Py_ssize_t>packet.length])))
        more = next_packet(&compound, &packet)
    return packets if more == 0 else None


def nack_packet(unsigned int sender, unsigned int media, list missing) -> bytes:
    """Call write_nack with at most 512 numbers. For tests."""
    cdef uint16_t numbers[512]
    cdef uint8_t out[MAX_RTCP]
    cdef int i
    if len(missing) > 512:
        raise ValueError("at most 512 numbers")
    for i in range(len(missing)):
        numbers[i] = missing[i]
    return out[:<Py_ssize_t>write_nack(out, sender, media, numbers, <int>len(missing))]
