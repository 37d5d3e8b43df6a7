"""Detects a selected path over which nothing arrives."""

from libc.stdint cimport int64_t

from svc._rtp.address cimport Address, same
from svc._rtp.core cimport Core
from svc._rtp.objects cimport Transport


# A path is steady if at least STEADY_SIGNS datagrams arrive within STEADY_TIME_NS (ns). Checks and their
# responses alone amount to fewer.
cdef enum:
    STEADY_TIME_NS = 1_000_000_000
    STEADY_SIGNS = 4


cdef bint report_silence(Core* core, Transport* transport, bint silent) noexcept nogil
cdef void watch_paths(Core* core) noexcept nogil


cdef inline void note_sign_of_life(Core* core, Transport* transport, const Address* source) noexcept nogil:
    """Record a datagram from `source`. If this is the remote end of the selected path, the path works."""
    if transport.has_selected and same(&transport.selected.remote, source):
        transport.heard_at = core.now
        if core.now - transport.counted_since > STEADY_TIME_NS:
            transport.steady = transport.signs >= STEADY_SIGNS
            transport.counted_since = core.now
            transport.signs = 0
        transport.signs += 1
        if transport.silent and report_silence(core, transport, False):
            transport.silent = False
