"""Forwarding: who gets a packet, under which number, and what is sent."""

from libc.stdint cimport int64_t, uint16_t

from svc._rtp.core cimport Core, SendQueue
from svc._rtp.objects cimport DownTrack, Forwarder, Transport
from svc._rtp.pool cimport Slot


cdef void forward(Core* core, Forwarder* forwarder, Slot* slot) noexcept nogil
cdef void drain(Core* core) noexcept nogil
cdef void restart(Core* core, Forwarder* forwarder, bint new_source) noexcept nogil
cdef void resend(Core* core, DownTrack* down_track, uint16_t sequence) noexcept nogil
