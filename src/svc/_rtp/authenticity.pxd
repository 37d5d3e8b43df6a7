"""Finds the participant to which an RTP or RTCP packet belongs."""

from libc.stdint cimport uint32_t

from svc._rtp.address cimport Address
from svc._rtp.core cimport Core
from svc._rtp.objects cimport Transport
from svc._rtp.pool cimport Slot

cdef bint authenticate(Core* core, Transport* transport, Slot* slot, bint rtcp) noexcept nogil
cdef Transport* authenticate_from_elsewhere(Core* core, Slot* slot, bint rtcp) noexcept nogil
cdef Transport* link_of(Core* core, const Slot* slot, const Address* remote, bint rtcp) noexcept nogil
cdef void link_sources(Core* core, Transport* transport, const uint32_t* ssrcs) noexcept nogil
cdef void forget_links(Core* core, Transport* transport) noexcept nogil
cdef void forget_sources(Core* core, Transport* transport) noexcept nogil
