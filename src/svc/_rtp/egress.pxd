"""The batch of datagrams that wait to be sent."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from svc._rtp.address cimport Path

cdef enum:
    BATCH = 64
    # A received packet, its header grown by two-byte extensions, a mid and a number (at most 60 bytes), RTX's two
    # bytes, and what SRTP or SRTCP append (148).
    OUTGOING_BYTES = 1720


cdef struct Outgoing:
    uint8_t data[OUTGOING_BYTES]    # first, and so aligned: libsrtp stores words
    Path path
    uint16_t length
    uint16_t is_video       # on a connection, all else goes first
    int64_t last_of         # ns: when the packet came whose last datagram this is; 0 = others follow, or no media


# Sends the batch; called when it is full, and at the end of each turn. What the system does not take now stays,
# in its order, and the egress is blocked.
ctypedef void (*flush_function)(void* context, Egress* egress) noexcept nogil


cdef struct Egress:
    Outgoing* batch         # BATCH of them
    uint32_t count
    bint blocked            # the system takes no more: what is here waits, and so do the send queues
    uint64_t* dropped       # counts what found no place
    flush_function flush
    void* context


cdef inline void flush(Egress* egress) noexcept nogil:
    if egress.count:
        egress.flush(egress.context, egress)


cdef int init(Egress* egress, flush_function flush, void* context, uint64_t* dropped) noexcept nogil
cdef void clear(Egress* egress) noexcept nogil
cdef void take_off(Egress* egress, uint32_t sent) noexcept nogil


cdef inline bint has_room_for(Egress* egress, uint32_t count) noexcept nogil:
    """Whether so much media, at most a BATCH, may be written: else it had better wait where it can be overtaken."""
    if egress.count + count > BATCH:
        egress.flush(egress.context, egress)
    return not egress.blocked


cdef inline bint has_room(Egress* egress) noexcept nogil:
    return has_room_for(egress, 1)


cdef inline Outgoing* next_outgoing(Egress* egress) noexcept nogil:
    """Where the next datagram is to be written; it is not sent until commit."""
    if egress.count == BATCH:
        egress.flush(egress.context, egress)
        if egress.count == BATCH:
            # Blocked. The newest gives way: it is no media, and what it said can be said again.
            egress.count -= 1
            egress.dropped[0] += 1
    return &egress.batch[egress.count]


cdef inline void commit(Egress* egress, int length) noexcept nogil:
    egress.batch[egress.count].length = <uint16_t>length
    egress.batch[egress.count].is_video = 0
    egress.batch[egress.count].last_of = 0
    egress.count += 1
