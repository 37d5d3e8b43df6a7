"""The batch of datagrams that wait to be sent; how they are sent is udploop's."""

from libc.stdlib cimport calloc, free


cdef int init(Egress* egress, flush_function flush, void* context) noexcept nogil:
    """-1 when there is no memory."""
    egress.batch = <Outgoing*>calloc(BATCH, sizeof(Outgoing))
    egress.count = 0
    egress.flush = flush
    egress.context = context
    return 0 if egress.batch != NULL else -1


cdef void clear(Egress* egress) noexcept nogil:
    free(egress.batch)
    egress.batch = NULL
