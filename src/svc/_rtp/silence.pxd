"""Whether anything still comes over the path that a participant's media goes to."""

from libc.stdint cimport int64_t

from svc._rtp.address cimport Address, same
from svc._rtp.core cimport Core
from svc._rtp.objects cimport Transport


# Signs of life in a second (ns) that make a path steady: more than checks and their answers.
cdef enum:
    STEADY_TIME = 1_000_000_000
    STEADY_SIGNS = 4


cdef bint tell_silence(Core* core, Transport* transport, bint silent) noexcept nogil
cdef void watch_paths(Core* core) noexcept nogil


cdef inline void note_sign_of_life(Core* core, Transport* transport, const Address* source) noexcept nogil:
    """Something has come from `source`; where that is the selected path's end, it shows that this path works."""
    if transport.has_selected and same(&transport.selected.remote, source):
        transport.heard_at = core.now
        if core.now - transport.counted_since > STEADY_TIME:
            transport.steady = transport.signs >= STEADY_SIGNS
            transport.counted_since = core.now
            transport.signs = 0
        transport.signs += 1
        if transport.silent and tell_silence(core, transport, False):
            transport.silent = False
