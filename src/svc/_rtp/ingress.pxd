"""Turns a received datagram into an authenticated packet on its track (steps 2 to 6 of a packet's
journey).
"""

from svc._rtp.address cimport Path
from svc._rtp.core cimport Core
from svc._rtp.objects cimport Transport
from svc._rtp.pool cimport Slot


cdef void received(Core* core, Slot* slot, const Path* path) noexcept nogil
cdef void forget_path(Core* core, Transport* transport, int index) noexcept nogil
