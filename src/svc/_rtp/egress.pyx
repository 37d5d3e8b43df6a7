"""The batch of datagrams that wait to be sent; how they are sent is udploop's."""

from libc.stdlib cimport calloc, free
from libc.string cimport memmove


cdef int init(Egress* egress, flush_function flush, void* context, uint64_t* dropped) noexcept nogil:
    """-1 when there is no memory."""
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
    """The first ones are sent; where some are left, the system takes no more."""
    egress.count -= sent
    egress.blocked = egress.count > 0
    if sent and egress.count:
        memmove(egress.batch, &egress.batch[sent], egress.count * sizeof(Outgoing))
