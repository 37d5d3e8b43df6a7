"""Finding the participant that an RTP or RTCP packet belongs to."""

from svc._rtp.core cimport Core
from svc._rtp.objects cimport Transport
from svc._rtp.pool cimport Slot

cdef bint authenticate(Core* core, Transport* transport, Slot* slot, bint rtcp) noexcept nogil
cdef Transport* authenticate_from_elsewhere(Core* core, Slot* slot, bint rtcp) noexcept nogil
cdef void forget_sources(Core* core, Transport* transport) noexcept nogil
