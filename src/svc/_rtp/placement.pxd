"""Placement: finds the track of an RTP packet."""

from svc._rtp.core cimport Core
from svc._rtp.objects cimport Forwarder, Transport
from svc._rtp.pool cimport Slot


cdef Forwarder* place(Core* core, Transport* transport, Slot* slot) noexcept nogil
