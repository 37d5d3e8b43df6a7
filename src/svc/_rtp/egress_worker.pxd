"""EgressWorker: a thread that sends the batches of one shard."""

from libc.stddef cimport size_t
from libc.stdint cimport uint32_t

from svc._rtp.egress cimport Egress, Outgoing
from svc._rtp.outlet cimport Outlet

cdef enum:
    # Of a worker: one is being filled, the others are sent. A quarter of a millisecond's work: what waits longer
    # had better wait in the send queues, where audio goes first and what is too late is dropped.
    BATCHES = 4


cdef struct EgressWorker:
    # The core's thread writes:
    Outgoing* batches[BATCHES]
    uint32_t counts[BATCHES]
    size_t handed           # batches ever handed over
    size_t stopping
    Egress* egress          # which is being filled
    Outlet* direct          # the core's thread's own outlet
    # The worker writes:
    size_t sent             # batches ever sent
    Outlet outlet
    # Both, the core's thread only while nothing is under way:
    size_t stalled          # the line took less than it was given
    # Both:
    size_t core_waits       # for a batch to be sent: it is signalled then
    int core_fd             # how
    int wake_fds[2]         # read, write: there is a batch


cdef int init(EgressWorker* worker, Egress* egress, Outlet* direct, int core_fd) noexcept nogil
cdef void clear(EgressWorker* worker) noexcept nogil
cdef void run(EgressWorker* worker) noexcept nogil
cdef void stop(EgressWorker* worker) noexcept nogil
