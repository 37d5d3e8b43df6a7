"""Transport-wide congestion control: reports the arrival time of each packet to its sender."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

from svc._rtp.rtcp cimport Packet

cdef enum:
    ARRIVALS = 2048         # packets remembered between two reports: 20,000 a second at 10 Hz


cdef struct ArrivalLog:
    bint started
    int64_t next_report     # the first extended number not yet reported
    int64_t highest
    int64_t arrivals[ARRIVALS]  # ns by number & mask, or 0 if not received
    uint32_t media_ssrc     # SSRC of the last packet
    uint8_t feedback_count


cdef struct PacketStatus:   # the report on one packet in a feedback packet
    uint16_t sequence
    bint received
    int64_t arrival         # ns by the reporter's clock, from a multiple of its 64 ms; valid if received


cdef void record(ArrivalLog* log, uint16_t seq, uint32_t ssrc, int64_t arrival) noexcept nogil
cdef inline bint has_news(const ArrivalLog* log) noexcept nogil:
    return log.started and log.next_report <= log.highest


cdef size_t write_feedback(ArrivalLog* log, uint32_t sender, uint8_t* out) noexcept nogil
cdef int read_feedback(const Packet* packet, PacketStatus* statuses, int capacity) noexcept nogil
