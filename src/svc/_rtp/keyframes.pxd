"""Asking a sender for a keyframe, and recognising one when it comes."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t


cdef enum Codec:
    OTHER                   # no keyframe is recognised: any packet may start a receiver
    H264
    VP8
    VP9
    AV1


cdef struct KeyframeRequester:
    int64_t next_periodic   # ns: the PLI that goes out whatever happens
    int64_t last_sent       # ns: 0 = never
    int64_t last_shared     # ns: of the last that was not for receivers alone that keep asking; 0 = never
    int64_t due             # ns: a request held back until then; 0 = none
    bint for_repeats        # only receivers that keep asking wait for `due`
    bint answered           # a keyframe has come since `last_sent`


cdef bint starts_keyframe(Codec codec, const uint8_t* payload, size_t length) noexcept nogil
cdef void request(KeyframeRequester* requester, int64_t now, bint repeated) noexcept nogil
cdef void skip_unneeded(KeyframeRequester* requester, int64_t now, bint needed) noexcept nogil
cdef bint take_due(KeyframeRequester* requester, int64_t now) noexcept nogil
cdef int64_t next_due(const KeyframeRequester* requester) noexcept nogil
cdef void keyframe_came(KeyframeRequester* requester) noexcept nogil
