"""Stores packets for retransmission, in one history per track, shared by all receivers of the track."""

from libc.stdint cimport int64_t

from svc._rtp.pool cimport Pool, Slot

cdef enum:
    # The number of packets stored. One second of video at 8 Mbit/s in 1100-byte packets is 910 packets, and
    # one second of audio is 50 packets.
    VIDEO_HISTORY = 1024
    AUDIO_HISTORY = 64
    # The maximum age of a packet (ns). Receivers cannot use older packets.
    MAX_AGE = 600_000_000


cdef struct History:
    Slot** slots            # by extended sequence number & mask; NULL where empty
    int64_t mask
    int64_t oldest          # the lowest number that may be in use
    int64_t newest          # the highest number in use; below `oldest` if the history is empty


cdef int init(History* history, int64_t size) noexcept nogil
cdef void clear(History* history, Pool* pool) noexcept nogil
cdef void forget(History* history, Pool* pool) noexcept nogil
cdef void expire(History* history, Pool* pool, int64_t now) noexcept nogil
cdef void put(History* history, Pool* pool, Slot* slot) noexcept nogil
cdef Slot* get(History* history, int64_t ext_seq) noexcept nogil
cdef bint has_all(History* history, int64_t first, int64_t last) noexcept nogil
