"""Delivery: writes and encrypts queued packets, resends lost packets, and drops late packets."""

from libc.stdint cimport int64_t, uint16_t

from svc._rtp.core cimport Core
from svc._rtp.objects cimport DownTrack
from svc._rtp.pool cimport Slot
from svc._rtp.sendqueue cimport SendQueue


cdef void enqueue(Core* core, DownTrack* down_track, Slot* slot, int64_t output, bint filler) noexcept nogil
cdef void drain(Core* core) noexcept nogil
cdef void shed(Core* core) noexcept nogil
cdef int send_paced(Core* core, SendQueue* queue) noexcept nogil
cdef void send_waiting(Core* core, DownTrack* down_track) noexcept nogil
cdef bint resend(Core* core, DownTrack* down_track, uint16_t sequence) noexcept nogil
