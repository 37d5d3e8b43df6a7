"""Lists the transports with waiting paced packets, so that a tick need not scan all transports.

A transport with a pacer whose queue contains packets is in one of two lists: ready, when a packet may be due,
or resting. `pacer` computes the times, `pacing` admits frames, and `delivery` sends packets. See
docs/bandwidth.md, "Pacing".
"""

from libc.stdint cimport INT64_MAX, int64_t
from libc.stdlib cimport calloc, free

from svc._rtp.bandwidth cimport BY_LOSS, Bandwidth
from svc._rtp.core cimport fall_due
from svc._rtp.pacer cimport Pacer, set_rate
from svc._rtp.rate_control cimport is_competing
from svc._rtp.sendqueue cimport SendQueue

# The minimum time between two checks of the resting transports (ns).
cdef int64_t RELEASE_SPACING = 2_000_000


cdef struct Paced:
    Pacer pacer
    SendQueue queue


cdef bint has_pacer(Core* core, Transport* transport) noexcept nogil:
    """Return whether the receiver has a pacer, creating one if possible. Creating a pacer requires an
    estimate and enough memory.
    """
    cdef Paced* paced
    if transport.pacer != NULL:
        return True
    if transport.bandwidth == NULL or transport.wanted_bps == 0:
        return False
    paced = <Paced*>calloc(1, sizeof(Paced))
    if paced == NULL:
        return False
    transport.pacer = &paced.pacer
    transport.paced_queue = &paced.queue
    update_pace(core, transport)
    return True


cdef void update_pace(Core* core, Transport* transport) noexcept nogil:
    """Pace at the current estimate, unless the estimate is only an initial guess.

    Pacing can shorten only a queue that we have caused. If losses or another flow are the problem, pacing
    would merely withhold frames.
    """
    cdef Bandwidth* bandwidth = transport.bandwidth
    cdef bint paced
    if transport.pacer != NULL:
        paced = bandwidth.known and bandwidth.reason != BY_LOSS and not is_competing(&bandwidth.control, core.now)
        set_rate(transport.pacer, bandwidth.estimate if paced else 0, bandwidth.queue.last)


cdef void wake_resting(Core* core) noexcept nogil:
    """Move the resting transports to the ready list, if their check is due."""
    cdef Transport* transport
    if core.resting == NULL:
        return
    if core.now < core.next_release:
        # The last tick cleared this deadline, so set it again.
        fall_due(core, core.next_release, 0)
        return
    while core.resting != NULL:
        transport = core.resting
        core.resting = transport.next_paced
        transport.next_paced = core.ready
        core.ready = transport
    core.next_release = INT64_MAX


cdef void leave_ready(Core* core) noexcept nogil:
    """Move the first ready transport to the resting list, or remove it if it has no waiting packets."""
    cdef Transport* transport = core.ready
    core.ready = transport.next_paced
    if (<SendQueue*>transport.paced_queue).count == 0:
        transport.paced = False
        return
    if core.resting == NULL:
        core.next_release = INT64_MAX
    transport.next_paced = core.resting
    core.resting = transport
    core.next_release = min(core.next_release, max(transport.pacer.free_at, core.now + RELEASE_SPACING))
    fall_due(core, core.next_release, 0)


cdef void forget_pacer(Core* core, Transport* transport) noexcept nogil:
    """Free the pacer of a leaving receiver. Its tracks are already closed."""
    unlink(&core.ready, transport)
    unlink(&core.resting, transport)
    # The pacer is the first field of the allocation.
    free(transport.pacer)
    transport.pacer = NULL
    transport.paced_queue = NULL


cdef void unlink(Transport** link, Transport* transport) noexcept nogil:
    while link[0] != NULL and link[0] != transport:
        link = &link[0].next_paced
    if link[0] != NULL:
        link[0] = transport.next_paced
