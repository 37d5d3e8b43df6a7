"""Measures the bandwidth of receivers' downlinks: packet numbers, feedback, probes, and events for Python."""

from svc._rtp.core cimport Core
from svc._rtp.objects cimport Transport
from svc._rtp.rtcp cimport Packet


cdef bint number_packets(Core* core, Transport* transport) noexcept nogil
cdef void want_bandwidth(Core* core, Transport* transport, double wanted) noexcept nogil
cdef void forget_bandwidth(Core* core, Transport* transport) noexcept nogil
cdef void feedback_received(Core* core, Transport* transport, const Packet* packet) noexcept nogil
cdef void probe_downlinks(Core* core) noexcept nogil
