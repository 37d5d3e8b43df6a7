"""The batch of datagrams that wait to be sent."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from svc._rtp.address cimport Path

cdef enum:
    BATCH = 128
    # A received packet, its header grown by two-byte extensions and a mid (at most 60 bytes), RTX's two
    # bytes, and what SRTP or SRTCP append (148).
    OUTGOING_BYTES = 1720


cdef struct Outgoing:
    uint8_t data[OUTGOING_BYTES]    # first, and so aligned: libsrtp stores words
    Path path
    uint16_t length


# Sends the batch and empties it; called when it is full, and at the end of each turn.
ctypedef void (*flush_function)(void* context, Egress* egress) noexcept nogil


cdef struct Egress:
    Outgoing* batch         # BATCH of them
    uint32_t count
    flush_function flush
    void* context


cdef int init(Egress* egress, flush_function flush, void* context) noexcept nogil
cdef void clear(Egress* egress) noexcept nogil


cdef inline Outgoing* next_outgoing(Egress* egress) noexcept nogil:
    """Where the next datagram is to be written; it is not sent until commit."""
    if egress.count == BATCH:
        egress.flush(egress.context, egress)
    return &egress.batch[egress.count]


cdef inline void commit(Egress* egress, int length) noexcept nogil:
    egress.batch[egress.count].length = <uint16_t>length
    egress.count += 1
