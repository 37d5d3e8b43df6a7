"""Ring: passes events from one writer (the core's thread) to one reader (Python's thread) without a lock.

A full ring rejects the event, and the writer counts the loss. Lost events are repeated by their protocol
(STUN, DTLS) or reported again. The reader is woken by udploop.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from svc._rtp.atomics cimport load_acquire, store_release


cdef int init(Ring* ring, size_t capacity) noexcept nogil:
    """Initialise a ring. Return -1 if memory allocation fails. `capacity` is a power of two."""
    ring.data = <uint8_t*>malloc(capacity)
    ring.capacity = capacity
    ring.head = 0
    ring.tail = 0
    return 0 if ring.data != NULL else -1


cdef void clear(Ring* ring) noexcept nogil:
    free(ring.data)
    ring.data = NULL


cdef bint is_half_full(const Ring* ring) noexcept nogil:
    return ring.head - load_acquire(<size_t*>&ring.tail) > ring.capacity // 2


cdef bint push(Ring* ring, Event* event, const uint8_t* attached) noexcept nogil:
    """Append an event with `event.length` attached bytes. Return False if there is no space."""
    cdef size_t size = (sizeof(Event) + event.length + 7) & ~<size_t>7
    cdef size_t at = ring.head & (ring.capacity - 1)
    cdef size_t to_end = ring.capacity - at
    # Records are contiguous. A record that does not fit before the end of the buffer is written at its start.
    cdef size_t skip = 0 if size <= to_end else to_end
    if size + skip > ring.capacity - (ring.head - load_acquire(&ring.tail)):
        return False
    if skip:
        if skip >= sizeof(uint32_t):
            (<Event*>(ring.data + at)).size = 0
        at = 0
    event.size = <uint32_t>size
    memcpy(ring.data + at, event, sizeof(Event))
    if event.length:
        memcpy(ring.data + at + sizeof(Event), attached, event.length)
    store_release(&ring.head, ring.head + skip + size)
    return True


cdef Event* peek(Ring* ring) noexcept nogil:
    """Return the oldest event, followed by its bytes, or NULL if there is none. The result is valid until
    pop.
    """
    cdef size_t head = load_acquire(&ring.head)
    cdef size_t at
    if head == ring.tail:
        return NULL
    at = ring.tail & (ring.capacity - 1)
    if (<Event*>(ring.data + at)).size == 0:
        ring.tail += ring.capacity - at
        at = 0
    return <Event*>(ring.data + at)


cdef void pop(Ring* ring) noexcept nogil:
    """Free the record that peek has returned."""
    cdef size_t at = ring.tail & (ring.capacity - 1)
    store_release(&ring.tail, ring.tail + (<Event*>(ring.data + at)).size)
