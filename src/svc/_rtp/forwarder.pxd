"""Selects the receivers of each packet, and numbers the packet for each receiver."""

from libc.stdint cimport int64_t

from svc._rtp.core cimport Core
from svc._rtp.objects cimport DownTrack, Forwarder, Transport
from svc._rtp.pool cimport Slot


cdef void forward(Core* core, Forwarder* forwarder, Slot* slot) noexcept nogil
cdef void catch_up(Core* core, Forwarder* forwarder, DownTrack* down_track, int64_t first) noexcept nogil
cdef bint start_in_history(Core* core, DownTrack* down_track) noexcept nogil
cdef void restart(Core* core, Forwarder* forwarder, bint new_source) noexcept nogil
cdef void limit_spatial(const Forwarder* forwarder, DownTrack* down_track) noexcept nogil
cdef void structure_received(Forwarder* forwarder) noexcept nogil
