"""SentPackets: remembers packets sent to one receiver under transport-wide numbers until they are
reported.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

cdef enum:
    FIRST_PACKETS = 256     # one second of a camera
    MAX_PACKETS = 8192      # 1.6 s at 50 Mbit/s; 64 KB


cdef enum:
    NOT_TIMED = 255         # instead of a cluster: the packet was sent twice, so its delay is unknown


cdef enum SentState:
    NOTHING                 # not used yet
    UNDER_WAY
    REPORTED_LOST           # it might still arrive late
    RECEIVED


cdef struct SentPacket:
    uint32_t sent_at        # us, low 32 bits of the clock
    uint16_t size           # bytes of the datagram
    uint8_t state           # SentState
    uint8_t cluster         # probe cluster of the packet, or 0 if none


# Every outgoing packet uses the first three fields, so this struct is part of the transport.
cdef struct SentPackets:
    SentPacket* packets     # by number & mask; NULL if the receiver has not negotiated such numbers
    int64_t next_number     # extended
    uint32_t mask
    uint8_t cluster         # probe cluster of the packets being sent, or 0 if none


cdef int init(SentPackets* sent, uint16_t first) noexcept nogil
cdef void clear(SentPackets* sent) noexcept nogil
cdef void grow(SentPackets* sent, int64_t now) noexcept nogil
cdef SentPacket* find(SentPackets* sent, uint16_t number) noexcept nogil
cdef void forget_timing(SentPackets* sent, uint16_t number) noexcept nogil


cdef inline void note_sent(SentPackets* sent, int64_t now, uint32_t size) noexcept nogil:
    """Record that a packet was sent under `next_number`."""
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
    """Return the time at which a packet was sent, in ns. The result is correct for an hour."""
    return now - <int64_t>(<uint32_t>(now // 1000) - packet.sent_at) * 1000
