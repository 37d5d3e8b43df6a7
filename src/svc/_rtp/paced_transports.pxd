"""Tracks the transports that have a pacer, and when their paced packets are due."""

from svc._rtp.core cimport Core
from svc._rtp.objects cimport Transport


cdef bint has_pacer(Core* core, Transport* transport) noexcept nogil
cdef void update_pace(Core* core, Transport* transport) noexcept nogil
cdef void wake_resting(Core* core) noexcept nogil
cdef void leave_ready(Core* core) noexcept nogil
cdef void forget_pacer(Core* core, Transport* transport) noexcept nogil


cdef inline void note_queued(Core* core, Transport* transport) noexcept nogil:
    """Note that a paced packet was queued."""
    if not transport.paced:
        transport.paced = True
        transport.next_paced = core.ready
        core.ready = transport
