"""SentPackets: what went to one receiver under transport-wide numbers, until it is reported.

A ring by number, 8 bytes for each packet. It grows while packets that it would forget may still be reported, up to
a bound. Estimates nothing.
"""

from libc.stddef cimport size_t
from libc.stdlib cimport calloc, free

from svc._rtp.sequence cimport FIRST_CYCLE, extend

# A packet that has not been reported after this time is lost, with its feedback or without (us).
cdef uint32_t MAX_WAIT_US = 2_000_000


cdef int init(SentPackets* sent, uint16_t first) noexcept nogil:
    """Begin to number packets, with `first`; -1 when there is no memory."""
    sent.packets = <SentPacket*>calloc(FIRST_PACKETS, sizeof(SentPacket))
    sent.mask = FIRST_PACKETS - 1
    sent.next_number = FIRST_CYCLE + first
    sent.cluster = 0
    return 0 if sent.packets != NULL else -1


cdef void clear(SentPackets* sent) noexcept nogil:
    free(sent.packets)
    sent.packets = NULL


cdef void grow(SentPackets* sent, int64_t now) noexcept nogil:
    """Make room for twice as many packets, where the oldest may still be reported and there is memory."""
    cdef uint32_t mask = 2 * sent.mask + 1
    cdef SentPacket* packets
    cdef int64_t number
    if (<uint32_t>(now // 1000) - sent.packets[sent.next_number & sent.mask].sent_at > MAX_WAIT_US
            or mask >= MAX_PACKETS):
        return
    packets = <SentPacket*>calloc(<size_t>mask + 1, sizeof(SentPacket))
    if packets == NULL:
        return
    for number in range(sent.next_number - sent.mask - 1, sent.next_number):
        packets[number & mask] = sent.packets[number & sent.mask]
    free(sent.packets)
    sent.packets = packets
    sent.mask = mask


cdef SentPacket* find(SentPackets* sent, uint16_t number) noexcept nogil:
    """Return the packet that went under a number; NULL where none did, or where it is forgotten."""
    cdef int64_t extended = extend(sent.next_number - 1, number)
    cdef SentPacket* packet
    if extended >= sent.next_number or extended < sent.next_number - <int64_t>sent.mask - 1:
        return NULL
    packet = &sent.packets[extended & sent.mask]
    return packet if packet.state != NOTHING else NULL


cdef void forget_timing(SentPackets* sent, uint16_t number) noexcept nogil:
    """Note that a packet goes a second time under the same number: what arrives may be either."""
    cdef SentPacket* packet = find(sent, number)
    if packet != NULL:
        packet.cluster = NOT_TIMED
