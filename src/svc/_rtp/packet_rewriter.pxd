"""Rewrites the descriptor and the picture ids of a packet for one receiver."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t

from svc._rtp.core cimport Core
from svc._rtp.header cimport Rewrite
from svc._rtp.objects cimport DownTrack, Sent, Splice
from svc._rtp.pool cimport Slot


cdef void replace_descriptor(Core* core, DownTrack* down_track, Slot* slot, const Sent* sent, Rewrite* rewrite,
                             uint8_t* out) noexcept nogil
cdef size_t replace_pictures(Core* core, const Slot* slot, const Splice* splice, uint8_t* out) noexcept nogil
