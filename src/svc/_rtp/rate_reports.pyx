"""Reports the number of bytes in published tracks to Python, by encoding and temporal layer.

If a track has a single stream with spatial layers (SVC), these layers are reported like encodings. The
allocation needs these rates to decide which layers fit into a receiver's downlink. A report covers about a
quarter of a second. A track in a single encoding is not reported until an estimate has been requested. The
rates are smoothed by sfu/layer_rates. See docs/bandwidth.md.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memset

from svc._rtp.core cimport fall_due
from svc._rtp.objects cimport MAX_ENCODINGS, Transport
from svc._rtp.event_ring cimport RATES, Event, is_half_full, push

cdef enum:
    LAYERS = 3

cdef int64_t REPORT_INTERVAL = 250_000_000
# Reports do not wake a sleeping thread, because nothing has changed if nothing is received.
cdef int64_t MAX_DELAY = 500_000_000


cdef void report_rates(Core* core) noexcept nogil:
    """Report every track that has received packets since the previous report, or that has just stopped."""
    cdef Transport* transport = core.transports
    cdef int64_t elapsed = core.now - core.rates_reported_at
    cdef int i
    if elapsed < REPORT_INTERVAL:
        fall_due(core, core.rates_reported_at + REPORT_INTERVAL, MAX_DELAY)
        return
    core.rates_reported_at = core.now
    fall_due(core, core.now + REPORT_INTERVAL, MAX_DELAY)
    while transport != NULL:
        for i in range(transport.section_count):
            if transport.sections[i].forwarder != NULL:
                report(core, transport.sections[i].forwarder, elapsed)
        transport = transport.next


cdef int collect_layers(Forwarder* forwarder, uint32_t* sizes, uint32_t* active) noexcept nogil:
    """Move the byte counts to `sizes`. Return the number of encodings, or of spatial layers in a stream."""
    cdef Forwarder* encoding = forwarder
    cdef int count = 0, layer
    if forwarder.simulcast == NULL:
        count = 1
        for layer in range(MAX_ENCODINGS * LAYERS):
            sizes[layer] = forwarder.layer_bytes[layer]
            if sizes[layer]:
                count = layer // LAYERS + 1
        memset(forwarder.layer_bytes, 0, sizeof(forwarder.layer_bytes))
        if forwarder.ssrc and not forwarder.stopped:
            active[0] = (<uint32_t>1 << count) - 1
        return count
    while encoding != NULL and count < MAX_ENCODINGS:
        for layer in range(MAX_ENCODINGS * LAYERS):
            sizes[count * LAYERS + layer % LAYERS] += encoding.layer_bytes[layer]
        memset(encoding.layer_bytes, 0, sizeof(encoding.layer_bytes))
        if encoding.ssrc and not encoding.stopped:
            active[0] |= <uint32_t>1 << count
        count += 1
        encoding = encoding.next_encoding
    return count


cdef void report(Core* core, Forwarder* forwarder, int64_t elapsed) noexcept nogil:
    cdef uint32_t sizes[MAX_ENCODINGS * LAYERS]
    cdef Event event
    cdef bint flows = False
    cdef int count, layer
    memset(&event, 0, sizeof(Event))
    memset(sizes, 0, sizeof(sizes))
    count = collect_layers(forwarder, sizes, &event.b)
    for layer in range(count * LAYERS):
        flows |= sizes[layer] > 0
    if not flows:
        event.b = 0
        if not forwarder.flowed:
            return
    forwarder.flowed = flows
    if core.probed == NULL and forwarder.simulcast == NULL:
        return
    event.kind = RATES
    event.transport = forwarder.transport.id
    event.length = <uint32_t>(count * LAYERS) * sizeof(uint32_t)
    event.a = <uint32_t>min(elapsed // 1000, <int64_t>0xFFFFFFFF)
    event.c = forwarder.section
    # The other half of the ring is reserved for events that are sent only once.
    if is_half_full(&core.events) or not push(&core.events, &event, <const uint8_t*>sizes):
        core.counters.dropped_ring_full += 1
