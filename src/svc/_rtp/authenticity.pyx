"""Finds an RTP or RTCP packet's participant by the keys that decrypt it (step 4 of a packet's journey).

Does not deal with media sections or tracks. A source is known after its first authentic packet. Its
ReplayWindow records the packets received from it. See RFC 3711.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from svc._rtp.address cimport Address, mix, same
from svc._rtp.objects cimport MAX_HEARD, MAX_LINKED
from svc._rtp.replay cimport ReplayWindow, begin, guess_index, leaps
from svc._rtp.srtp cimport unprotect, unprotect_rtcp
from svc._rtp.table cimport insert, lookup, remove
from svc._rtp.wire cimport load16, load32

# After a packet from an unknown address has failed authentication, no other packet from an unknown address is
# tried with the same participant's keys for this long (ns). Otherwise an attacker who knows an SSRC could
# waste our CPU time.
cdef int64_t AFTER_FORGERY = 20_000_000


cdef inline uint64_t key_of(const Core* core, uint32_t ssrc) noexcept nogil:
    return mix(core.hash_seed ^ ssrc)


cdef bint authenticate(Core* core, Transport* transport, Slot* slot, bint rtcp) noexcept nogil:
    """Decrypt a packet in place (step 4). If decryption fails or there are too many sources, count the packet
    and return False.
    """
    cdef size_t at = 4 if rtcp else 8
    cdef ReplayWindow* window = NULL
    cdef ReplayWindow* known
    cdef ReplayWindow fresh
    cdef int length = -1
    if transport.keyed and slot.length >= at + 4:
        window = window_of(transport, load32(slot.data + at))
        if window == NULL:
            if transport.heard_count == MAX_HEARD:
                core.counters.dropped_not_negotiated += 1
                return False
            begin(&fresh, load32(slot.data + at))
        if rtcp:
            length = unprotect_rtcp(&transport.inbound, slot.data, slot.length)
        else:
            known = window if window != NULL else &fresh
            slot.leapt = leaps(known, guess_index(known, load16(slot.data + 2)))
            length = unprotect(&transport.inbound, known, slot.data, slot.length)
    if length < 0 or (window == NULL and not remember_window(core, transport, &fresh)):
        core.counters.dropped_unauthenticated += 1
        return False
    slot.length = <uint16_t>length
    return True


cdef ReplayWindow* window_of(Transport* transport, uint32_t ssrc) noexcept nogil:
    cdef int i
    for i in range(transport.heard_count):
        if transport.heard[i].ssrc == ssrc:
            return transport.heard[i]
    return NULL


cdef bint remember_window(Core* core, Transport* transport, const ReplayWindow* window) noexcept nogil:
    """Store a source's replay window. Return False if memory allocation fails. The packet must then be
    dropped, because without the window it could be replayed.
    """
    cdef ReplayWindow* kept = <ReplayWindow*>malloc(sizeof(ReplayWindow))
    if kept == NULL:
        return False
    kept[0] = window[0]
    transport.heard[transport.heard_count] = kept
    transport.heard_count += 1
    # The table entry for an SSRC belongs to the first participant that uses it. Later participants with the
    # same SSRC are found by the addresses of their connectivity checks.
    if lookup(&core.by_ssrc, key_of(core, window.ssrc)) == NULL:
        insert(&core.by_ssrc, key_of(core, window.ssrc), transport)
    return True


cdef Transport* authenticate_from_elsewhere(Core* core, Slot* slot, bint rtcp) noexcept nogil:
    """Decrypt a packet from an unknown address with the keys of the participant that uses its SSRC. Return
    NULL on failure.
    """
    cdef size_t at = 4 if rtcp else 8
    cdef Transport* transport
    if slot.length < at + 4:
        return NULL
    transport = <Transport*>lookup(&core.by_ssrc, key_of(core, load32(slot.data + at)))
    if transport == NULL or transport.is_link or not transport.has_selected or core.now < transport.strangers_after:
        return NULL
    if authenticate(core, transport, slot, rtcp):
        return transport
    transport.strangers_after = core.now + AFTER_FORGERY
    return NULL


cdef Transport* link_of(Core* core, const Slot* slot, const Address* remote, bint rtcp) noexcept nogil:
    """Return the link from another SFU's address that carries the packet's SSRC, or NULL if there is none."""
    cdef size_t at = 4 if rtcp else 8
    cdef Transport* transport
    if slot.length < at + 4:
        return NULL
    transport = <Transport*>lookup(&core.by_ssrc, key_of(core, load32(slot.data + at)))
    if transport == NULL or not transport.is_link or not same(&transport.selected.remote, remote):
        return NULL
    return transport


cdef void link_sources(Core* core, Transport* transport, const uint32_t* ssrcs) noexcept nogil:
    """Register a link under these SSRCs. The list ends with 0."""
    cdef int i
    for i in range(MAX_LINKED):
        transport.linked[i] = ssrcs[i]
        if ssrcs[i] == 0:
            return
        insert(&core.by_ssrc, key_of(core, ssrcs[i]), transport)


cdef void forget_links(Core* core, Transport* transport) noexcept nogil:
    cdef int i
    for i in range(MAX_LINKED):
        if transport.linked[i] and lookup(&core.by_ssrc, key_of(core, transport.linked[i])) == transport:
            remove(&core.by_ssrc, key_of(core, transport.linked[i]))


cdef void forget_sources(Core* core, Transport* transport) noexcept nogil:
    """Remove all sources of a leaving participant."""
    cdef int i
    for i in range(transport.heard_count):
        if lookup(&core.by_ssrc, key_of(core, transport.heard[i].ssrc)) == transport:
            remove(&core.by_ssrc, key_of(core, transport.heard[i].ssrc))
        free(transport.heard[i])
    transport.heard_count = 0
