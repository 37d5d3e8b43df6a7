"""Packets kept for retransmission: one history per track, whoever receives it."""

from libc.stdint cimport int64_t

from svc._rtp.pool cimport Pool, Slot

cdef enum:
    # A second of video at 8 Mbit/s in 1100-byte packets is 910 packets; of audio, 50.
    VIDEO_HISTORY = 1024
    AUDIO_HISTORY = 64
    # Older packets are of no use to a receiver any more (ns).
    MAX_AGE = 600_000_000


cdef struct History:
    Slot** slots            # by extended sequence number & mask; NULL where empty
    int64_t mask
    int64_t oldest          # no kept packet has a lower number
    int64_t newest          # nor a higher one; below `oldest` where none is kept


cdef int init(History* history, int64_t size) noexcept nogil
cdef void clear(History* history, Pool* pool) noexcept nogil
cdef void forget(History* history, Pool* pool) noexcept nogil
cdef void expire(History* history, Pool* pool, int64_t now) noexcept nogil
cdef void put(History* history, Pool* pool, Slot* slot) noexcept nogil
cdef Slot* get(History* history, int64_t ext_seq) noexcept nogil
cdef bint has_all(History* history, int64_t first, int64_t last) noexcept nogil
