"""Placement: finds the track of an RTP packet."""

from libc.stdint cimport uint32_t

from svc._rtp.core cimport Core
from svc._rtp.objects cimport Forwarder, MediaSection, Transport
from svc._rtp.pool cimport Slot


cdef Forwarder* place(Core* core, Transport* transport, Slot* slot) noexcept nogil
cdef void remember_sources(Transport* transport, MediaSection* section) noexcept nogil
cdef void name_encodings(MediaSection* section, const uint32_t* ssrcs, int count) noexcept nogil
