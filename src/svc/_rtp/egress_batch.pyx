"""Egress: a batch of datagrams waiting to be sent. `udploop` sends it."""

from libc.stdlib cimport calloc, free
from libc.string cimport memmove


cdef int init(Egress* egress, flush_function flush, void* context, uint64_t* dropped) noexcept nogil:
    """Initialise an egress. Return -1 if memory allocation fails."""
    egress.batch = <Outgoing*>calloc(BATCH, sizeof(Outgoing))
    egress.count = 0
    egress.blocked = False
    egress.dropped = dropped
    egress.flush = flush
    egress.context = context
    return 0 if egress.batch != NULL else -1


cdef void clear(Egress* egress) noexcept nogil:
    free(egress.batch)
    egress.batch = NULL


cdef void take_off(Egress* egress, uint32_t sent) noexcept nogil:
    """Remove the first `sent` datagrams. If any remain, the kernel cannot accept data now."""
    egress.count -= sent
    egress.blocked = egress.count > 0
    if sent and egress.count:
        memmove(egress.batch, &egress.batch[sent], egress.count * sizeof(Outgoing))
