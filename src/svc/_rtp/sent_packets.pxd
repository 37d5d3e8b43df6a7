"""SentPackets: what went to one receiver under transport-wide numbers, until it is reported."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

cdef enum:
    FIRST_PACKETS = 256     # a second of one camera
    MAX_PACKETS = 8192      # 1.6 s at 50 Mbit/s; 64 KB


cdef enum:
    NOT_TIMED = 255         # in the place of a cluster: the packet went twice, its delay tells nothing


cdef enum SentState:
    NOTHING                 # no packet has had this place yet
    UNDER_WAY
    REPORTED_LOST           # it may still turn out to have been late
    RECEIVED


cdef struct SentPacket:
    uint32_t sent_at        # us, the clock's low 32 bits
    uint16_t size           # bytes of the datagram
    uint8_t state           # SentState
    uint8_t cluster         # of a probe, 0 = none


# The first three are needed for every packet that is sent, and stand in the transport.
cdef struct SentPackets:
    SentPacket* packets     # by number & mask; NULL = the receiver has not negotiated transport-wide numbers
    int64_t next_number     # extended
    uint32_t mask
    uint8_t cluster         # of what is sent now; 0 = no probe is under way


cdef int init(SentPackets* sent, uint16_t first) noexcept nogil
cdef void clear(SentPackets* sent) noexcept nogil
cdef void grow(SentPackets* sent, int64_t now) noexcept nogil
cdef SentPacket* find(SentPackets* sent, uint16_t number) noexcept nogil
cdef void forget_timing(SentPackets* sent, uint16_t number) noexcept nogil


cdef inline void note_sent(SentPackets* sent, int64_t now, uint32_t size) noexcept nogil:
    """Remember that a packet went under `next_number`."""
    cdef SentPacket* packet = &sent.packets[sent.next_number & sent.mask]
    if packet.state == UNDER_WAY:
        grow(sent, now)
        packet = &sent.packets[sent.next_number & sent.mask]
    packet.sent_at = <uint32_t>(now // 1000)
    packet.size = <uint16_t>size
    packet.state = UNDER_WAY
    packet.cluster = sent.cluster
    sent.next_number += 1


cdef inline int64_t time_sent(const SentPacket* packet, int64_t now) noexcept nogil:
    """Return when a packet went, in ns; right for an hour."""
    return now - <int64_t>(<uint32_t>(now // 1000) - packet.sent_at) * 1000
