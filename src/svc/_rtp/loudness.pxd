"""Detects speech by the audio level that senders attach to each packet."""

from libc.stdint cimport int64_t, uint8_t


cdef struct Loudness:
    int64_t level           # smoothed, dBov x 256: 0 is the loudest, -127 x 256 silence
    int64_t loud_since      # ns: when the level rose above the threshold, or 0 while it is below
    int64_t last_loud       # ns
    bint started
    bint speaking


cdef bint heard(Loudness* loudness, uint8_t level, int64_t now) noexcept nogil
cdef bint expire_speech(Loudness* loudness, int64_t now) noexcept nogil
cdef int64_t expires_at(const Loudness* loudness) noexcept nogil
