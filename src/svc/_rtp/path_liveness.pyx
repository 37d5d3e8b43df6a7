"""Detects a selected path over which no datagrams arrive.

Only reports the silence. sfu/path_monitor decides which path to check and where to send media. Any datagram
from the participant at the selected address counts as a sign of life: checks, packets for SRTP to
authenticate, and responses to our checks, which Python authenticates. An attacker who forges such datagrams
can delay the detection only until consent expires (RFC 7675).
"""

from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memset

from svc._rtp.event_ring cimport SILENT, Event, push

# A path is reported after this long without a datagram (ns), because idle browsers check their path every 2.5
# s. A path with steady traffic is reported sooner, because even a silent microphone sends at least two
# packets a second.
cdef int64_t SILENCE_NS = 2_600_000_000
cdef int64_t STEADY_SILENCE_NS = 1_500_000_000
# The interval at which paths are checked while the thread is awake. Otherwise they are checked at least every
# half second (engine).
cdef int64_t WATCH_INTERVAL = 100_000_000


cdef bint report_silence(Core* core, Transport* transport, bint silent) noexcept nogil:
    cdef Event event
    memset(&event, 0, sizeof(Event))
    event.kind = SILENT
    event.transport = transport.id
    event.a = <uint32_t>silent
    return push(&core.ice, &event, NULL)


cdef void watch_paths(Core* core) noexcept nogil:
    """Report each selected path that has fallen silent, once per silence. Retry later if the ring is full."""
    cdef Transport* transport = core.transports
    cdef int64_t patience
    if core.now < core.next_watch:
        return
    core.next_watch = core.now + WATCH_INTERVAL
    while transport != NULL:
        patience = STEADY_SILENCE_NS if transport.steady else SILENCE_NS
        if transport.has_selected and not transport.silent and core.now - transport.heard_at > patience:
            transport.silent = report_silence(core, transport, True)
        transport = transport.next
