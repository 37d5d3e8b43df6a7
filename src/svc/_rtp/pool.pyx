"""Packet pool: allocates memory for 64 packets at a time.

Received datagrams are written directly into slots. Histories and send queues refer to the slots. This module
does not interpret packets. One thread owns the pool, so reference counts are plain numbers.
"""

from libc.stdlib cimport calloc, free


cdef struct Chunk:
    void* next
    Slot slots[SLOTS_PER_CHUNK]


cdef bint grow(Pool* pool) noexcept nogil:
    cdef Chunk* chunk
    cdef int i
    if pool.slots + SLOTS_PER_CHUNK > MAX_SLOTS:
        return False
    chunk = <Chunk*>calloc(1, sizeof(Chunk))
    if chunk == NULL:
        return False
    chunk.next = pool.chunks
    pool.chunks = chunk
    pool.slots += SLOTS_PER_CHUNK
    for i in range(SLOTS_PER_CHUNK):
        chunk.slots[i].next_free = pool.free
        pool.free = &chunk.slots[i]
    return True


cdef Slot* acquire(Pool* pool) noexcept nogil:
    """Return a slot with one reference, or NULL if the pool is at its limit."""
    cdef Slot* slot
    if pool.free == NULL and not grow(pool):
        return NULL
    slot = pool.free
    pool.free = slot.next_free
    slot.references = 1
    pool.used += 1
    return slot


cdef void release(Pool* pool, Slot* slot) noexcept nogil:
    """Drop one reference. Dropping the last reference frees the slot."""
    slot.references -= 1
    if slot.references == 0:
        slot.next_free = pool.free
        pool.free = slot
        pool.used -= 1


cdef void destroy(Pool* pool) noexcept nogil:
    """Free every chunk, even if slots are still referenced."""
    cdef void* chunk = pool.chunks
    cdef void* following
    while chunk != NULL:
        following = (<Chunk*>chunk).next
        free(chunk)
        chunk = following
    pool.chunks = NULL
    pool.free = NULL
    pool.slots = 0
    pool.used = 0
