"""SentPackets: remembers packets sent to one receiver under transport-wide numbers until they are reported.

The packets are in a ring indexed by number, with 8 bytes per packet. The ring grows, up to a limit, while its
oldest packets can still be reported. Makes no estimates.
"""

from libc.stddef cimport size_t
from libc.stdlib cimport calloc, free

from svc._rtp.sequence cimport FIRST_CYCLE, extend

# A packet not reported within this time is lost, even if its feedback was lost (us).
cdef uint32_t MAX_WAIT_US = 2_000_000


cdef int init(SentPackets* sent, uint16_t first) noexcept nogil:
    """Start numbering packets at `first`. Return -1 if memory allocation fails."""
    sent.packets = <SentPacket*>calloc(FIRST_PACKETS, sizeof(SentPacket))
    sent.mask = FIRST_PACKETS - 1
    sent.next_number = FIRST_CYCLE + first
    sent.cluster = 0
    return 0 if sent.packets != NULL else -1


cdef void clear(SentPackets* sent) noexcept nogil:
    free(sent.packets)
    sent.packets = NULL


cdef void grow(SentPackets* sent, int64_t now) noexcept nogil:
    """Double the size, if the oldest packets may still be reported and memory allocation succeeds."""
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
    """Return the packet with this number, or NULL if there is none or it has been forgotten."""
    cdef int64_t extended = extend(sent.next_number - 1, number)
    cdef SentPacket* packet
    if extended >= sent.next_number or extended < sent.next_number - <int64_t>sent.mask - 1:
        return NULL
    packet = &sent.packets[extended & sent.mask]
    return packet if packet.state != NOTHING else NULL


cdef void forget_timing(SentPackets* sent, uint16_t number) noexcept nogil:
    """Record that a packet is sent again under the same number. A reported arrival may then belong to either
    transmission.
    """
    cdef SentPacket* packet = find(sent, number)
    if packet != NULL:
        packet.cluster = NOT_TIMED
