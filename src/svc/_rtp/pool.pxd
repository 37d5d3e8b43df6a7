"""Packet pool: slots that each contain one received packet and are shared by reference counting."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

from svc._rtp.header cimport Header
from svc._rtp.layers cimport Frame

cdef enum:
    # The largest accepted datagram. Browsers send at most 1200 bytes of RTP, and Ethernet's MTU is 1500.
    MAX_DATAGRAM = 1500
    SLOTS_PER_CHUNK = 64
    # The maximum number of slots: about 110 MB, enough for the histories (600 ms) of a thousand tracks at 1
    # Mbit/s.
    MAX_SLOTS = 65536
    # The last slots are reserved for receiving, and are not used for histories.
    RESERVE = 256


cdef struct Slot:
    Slot* next_free
    int64_t ext_seq         # extended sequence number of the publisher
    int64_t arrival         # ns, monotonic
    uint32_t references
    uint32_t queued         # references that belong to records waiting to be sent
    uint16_t length         # bytes in data, decrypted
    bint late               # a packet with a higher number arrived before it
    bint leapt              # its index is at least half a cycle above all earlier indices
    bint starts_keyframe
    bint has_frame          # its descriptor, or a descriptor of its frame, was read
    bint from_history       # it was sent to a receiver from the history, so its delay is not measured
    Frame frame
    Header header
    # 16 bytes more than a datagram, because libsrtp works in place. Aligned, because libsrtp loads words.
    uint8_t data[1520]


cdef struct Pool:
    Slot* free
    uint32_t slots          # number allocated
    uint32_t used
    void* chunks            # list of chunks, linked through their first word


cdef Slot* acquire(Pool* pool) noexcept nogil
cdef void release(Pool* pool, Slot* slot) noexcept nogil
cdef void destroy(Pool* pool) noexcept nogil


cdef inline bint scarce(const Pool* pool) noexcept nogil:
    """Return whether only slots reserved for receiving are left. If so, stop storing packets."""
    return pool.used > MAX_SLOTS - RESERVE
