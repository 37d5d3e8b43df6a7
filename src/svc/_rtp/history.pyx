"""Stores packets for retransmission, by the publisher's extended sequence number.

Stores references to pool slots, not copies. `delivery` decides which packets are resent and how many times,
and `forwarder` decides which receivers start from the history. See RFC 4585 section 6.2.1 (NACK).
"""

from libc.stdlib cimport calloc, free

from svc._rtp.pool cimport release, scarce


cdef int init(History* history, int64_t size) noexcept nogil:
    """Reserve space for `size` packets (a power of two). Return -1 if memory allocation fails."""
    history.slots = <Slot**>calloc(<size_t>size, sizeof(Slot*))
    history.mask = size - 1
    history.oldest = 0
    history.newest = -1
    return 0 if history.slots != NULL else -1


cdef void forget(History* history, Pool* pool) noexcept nogil:
    """Drop every packet, because a new sender starts with unrelated numbers."""
    cdef int64_t i
    for i in range(history.mask + 1):
        if history.slots[i] != NULL:
            release(pool, history.slots[i])
            history.slots[i] = NULL
    history.newest = history.oldest - 1


cdef void clear(History* history, Pool* pool) noexcept nogil:
    """Drop every packet and free the history."""
    if history.slots != NULL:
        forget(history, pool)
        free(history.slots)
        history.slots = NULL


cdef void expire(History* history, Pool* pool, int64_t now) noexcept nogil:
    """Drop packets that are too old, because a slow track would otherwise keep its packets for minutes."""
    cdef Slot** place
    while history.oldest <= history.newest:
        place = &history.slots[history.oldest & history.mask]
        if place[0] != NULL and place[0].ext_seq == history.oldest:
            if now - place[0].arrival <= MAX_AGE:
                return
            release(pool, place[0])
            place[0] = NULL
        history.oldest += 1


cdef void put(History* history, Pool* pool, Slot* slot) noexcept nogil:
    """Store a packet, and drop packets that have become too old.

    The new packet replaces the packet one whole window earlier. A late packet never replaces a newer packet.
    """
    cdef Slot** place = &history.slots[slot.ext_seq & history.mask]
    expire(history, pool, slot.arrival)
    if place[0] != NULL:
        if place[0].ext_seq >= slot.ext_seq:
            return
        release(pool, place[0])
    elif scarce(pool):
        return
    slot.references += 1
    place[0] = slot
    if history.newest < history.oldest:
        history.oldest = history.newest = slot.ext_seq
    elif slot.ext_seq < history.oldest:
        history.oldest = slot.ext_seq
    elif slot.ext_seq > history.newest:
        history.newest = slot.ext_seq


cdef Slot* get(History* history, int64_t ext_seq) noexcept nogil:
    """Return the packet with this number, or NULL if it was never stored or has been dropped."""
    cdef Slot* slot = history.slots[ext_seq & history.mask]
    if slot != NULL and slot.ext_seq == ext_seq:
        return slot
    return NULL


cdef bint has_all(History* history, int64_t first, int64_t last) noexcept nogil:
    """Return whether every packet from `first` to `last` is stored."""
    cdef int64_t i
    for i in range(first, last + 1):
        if get(history, i) == NULL:
            return False
    return True
