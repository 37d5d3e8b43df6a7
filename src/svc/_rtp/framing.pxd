"""Frames datagrams on a byte stream by preceding each datagram with its length (RFC 4571)."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from svc._rtp.pool cimport MAX_DATAGRAM

cdef enum:
    PREFIX = 2              # bytes of the length field
    # Results of next_frame that are not lengths.
    INCOMPLETE = -1
    BROKEN = -2


cdef struct Deframer:
    uint8_t held[PREFIX + MAX_DATAGRAM]     # beginning of an incomplete frame
    uint16_t count


cdef struct FrameQueue:     # whole frames waiting to be written; part of the first frame may already be sent
    uint8_t* data           # NULL until a frame first waits
    uint32_t capacity
    uint32_t head
    uint32_t length
    uint32_t rest           # bytes left of the first frame if part of it is sent, otherwise 0


cdef int next_frame(const uint8_t* data, size_t length, size_t* at, const uint8_t** frame) noexcept nogil
cdef size_t resume(const Deframer* deframer, uint8_t* data) noexcept nogil
cdef void hold(Deframer* deframer, const uint8_t* data, size_t length) noexcept nogil

cdef bint put(FrameQueue* queue, const uint8_t* frame, uint16_t length, uint32_t gone, uint32_t limit) noexcept nogil
cdef void take(FrameQueue* queue, uint32_t count) noexcept nogil
cdef void clear(FrameQueue* queue) noexcept nogil
