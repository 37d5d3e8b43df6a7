"""Pacing: selects the frames that a receiver gets while its packets are paced."""

from svc._rtp.core cimport Core
from svc._rtp.objects cimport DownTrack
from svc._rtp.pool cimport Slot


cdef void set_paced(Core* core, DownTrack* down_track, bint paced) noexcept nogil
cdef bint admits(Core* core, DownTrack* down_track, const Slot* slot) noexcept nogil
