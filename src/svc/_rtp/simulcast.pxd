"""Simulcast: selects the encoding of a track for each receiver."""

from libc.stdint cimport uint8_t

from svc._rtp.core cimport Core
from svc._rtp.objects cimport DownTrack, Forwarder, Simulcast
from svc._rtp.pool cimport Slot


cdef void encoding_received(Core* core, Forwarder* forwarder, Slot* slot) noexcept nogil
cdef Forwarder* best(const Simulcast* simulcast, uint8_t max_spatial) noexcept nogil
cdef void report_encoding(Core* core, const DownTrack* down_track) noexcept nogil
cdef void choose(Core* core, DownTrack* down_track) noexcept nogil
