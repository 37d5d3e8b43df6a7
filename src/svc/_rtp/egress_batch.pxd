"""Egress: a batch of datagrams waiting to be sent."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from svc._rtp.address cimport Path

cdef enum:
    BATCH = 64
    # The maximum size of a datagram: a received packet whose header has grown by two-byte extensions, a mid
    # and a transport-wide number (at most 60 bytes), plus two bytes for RTX and the trailer of SRTP or SRTCP
    # (148).
    OUTGOING_BYTES = 1720


cdef struct Outgoing:
    uint8_t data[OUTGOING_BYTES]    # first in the struct for alignment: libsrtp stores words
    Path path
    uint16_t length
    uint16_t is_video       # TCP connections send everything else first
    int64_t last_of  # ns: arrival of the packet, if this is its last datagram; 0 for other datagrams


# Sends the batch. Called when the batch is full, and at the end of each iteration. Datagrams that the kernel
# does not accept stay in the batch, in order, and the egress is blocked.
ctypedef void (*flush_function)(void* context, Egress* egress) noexcept nogil


cdef struct Egress:
    Outgoing* batch         # array of BATCH
    uint32_t count
    bint blocked            # the kernel cannot accept data now, so this batch and the send queues wait
    uint64_t* dropped       # number of datagrams dropped for lack of space
    flush_function flush
    void* context


cdef inline void flush(Egress* egress) noexcept nogil:
    if egress.count:
        egress.flush(egress.context, egress)


cdef int init(Egress* egress, flush_function flush, void* context, uint64_t* dropped) noexcept nogil
cdef void clear(Egress* egress) noexcept nogil
cdef void take_off(Egress* egress, uint32_t sent) noexcept nogil


cdef inline bint has_room_for(Egress* egress, uint32_t count) noexcept nogil:
    """Return whether `count` media datagrams (at most a BATCH) fit. Otherwise the datagrams must wait in the
    send queues, where audio can overtake them.
    """
    if egress.count + count > BATCH:
        egress.flush(egress.context, egress)
    return not egress.blocked


cdef inline bint has_room(Egress* egress) noexcept nogil:
    return has_room_for(egress, 1)


cdef inline Outgoing* next_outgoing(Egress* egress) noexcept nogil:
    """Return the slot for the next datagram. The datagram is not sent before commit."""
    if egress.count == BATCH:
        egress.flush(egress.context, egress)
        if egress.count == BATCH:
            # The egress is blocked. Replace the newest datagram, which is not media and can be sent again.
            egress.count -= 1
            egress.dropped[0] += 1
    return &egress.batch[egress.count]


cdef inline void commit(Egress* egress, int length) noexcept nogil:
    egress.batch[egress.count].length = <uint16_t>length
    egress.batch[egress.count].is_video = 0
    egress.batch[egress.count].last_of = 0
    egress.count += 1
