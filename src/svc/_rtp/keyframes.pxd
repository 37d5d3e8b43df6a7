"""Requests keyframes from a sender, and recognises keyframes."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t


cdef enum Codec:
    OTHER                   # keyframes cannot be recognised, so a receiver may start at any packet
    H264
    VP8
    VP9
    AV1


cdef struct KeyframeRequester:
    int64_t next_periodic   # ns: when the periodic PLI is due
    int64_t last_sent       # ns, or 0 if never
    # ns: last PLI that was not only for receivers that keep requesting keyframes, or 0 if never.
    int64_t last_shared
    int64_t due             # ns: when the delayed request is due, or 0 if none
    bint for_repeats        # only receivers that keep requesting keyframes wait for `due`
    bint answered           # a keyframe has arrived since `last_sent`


cdef bint starts_keyframe(Codec codec, const uint8_t* payload, size_t length) noexcept nogil
cdef void request(KeyframeRequester* requester, int64_t now, bint repeated) noexcept nogil
cdef void skip_unneeded(KeyframeRequester* requester, int64_t now, bint needed) noexcept nogil
cdef bint take_due(KeyframeRequester* requester, int64_t now) noexcept nogil
cdef int64_t next_due(const KeyframeRequester* requester) noexcept nogil
cdef void keyframe_came(KeyframeRequester* requester) noexcept nogil
