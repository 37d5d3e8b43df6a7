"""Whether anything still comes over the path that a participant's media goes to.

Only says so: what to ask, and where the media goes, is sfu/following's to decide. A sign of life is any
datagram from the selected address that belongs to the participant: checks and what SRTP is to authenticate, and
answers to our own checks, which Python authenticates. Somebody who forges them can delay what is noticed here
until consent ends (RFC 7675), no more.
"""

from libc.stdint cimport int64_t, uint32_t
from libc.string cimport memset

from svc._rtp.ring cimport SILENT, Event, push

# A path over which nothing has come for this long (ns) is reported: idle browsers check theirs every 2.5 s. Where
# something came all the time it is reported sooner: even a voice that is silent sends two packets a second and more.
cdef int64_t SILENCE = 2_600_000_000
cdef int64_t SUDDEN_SILENCE = 1_500_000_000
# How often this is looked for while the thread is awake; it is at least every half second (engine).
cdef int64_t WATCH_INTERVAL = 100_000_000


cdef bint tell_silence(Core* core, Transport* transport, bint silent) noexcept nogil:
    cdef Event event
    memset(&event, 0, sizeof(Event))
    event.kind = SILENT
    event.transport = transport.id
    event.a = <uint32_t>silent
    return push(&core.ice, &event, NULL)


cdef void watch_paths(Core* core) noexcept nogil:
    """Report the selected paths that have fallen silent, each once; what finds no room is told the next time."""
    cdef Transport* transport = core.transports
    cdef int64_t patience
    if core.now < core.next_watch:
        return
    core.next_watch = core.now + WATCH_INTERVAL
    while transport != NULL:
        patience = SUDDEN_SILENCE if transport.steady else SILENCE
        if transport.has_selected and not transport.silent and core.now - transport.heard_at > patience:
            transport.silent = tell_silence(core, transport, True)
        transport = transport.next
