"""EgressWorker: a thread that sends the batches of one shard."""

from libc.stddef cimport size_t
from libc.stdint cimport uint32_t

from svc._rtp.egress_batch cimport Egress, Outgoing
from svc._rtp.outlet cimport Outlet

cdef enum:
    # The number of batches per worker. One batch is filled while the others are sent. Sending them takes a
    # quarter of a millisecond. Packets that must wait longer should wait in the send queues, where audio is
    # sent first and late packets are dropped.
    BATCHES = 4


cdef struct EgressWorker:
    # Written by the core's thread:
    Outgoing* batches[BATCHES]
    uint32_t counts[BATCHES]
    size_t handed           # batches handed over since the start
    size_t stopping
    Egress* egress          # the egress being filled
    Outlet* direct          # the outlet of the core's thread
    # Written by the worker:
    size_t sent             # batches sent since the start
    Outlet outlet
    # Written by both threads, but by the core's thread only while no batch is being sent:
    size_t stalled          # the kernel accepted less than a whole batch
    # Written by both threads:
    size_t core_waits       # the core's thread is waiting for a batch to be sent, and must be signalled
    int core_fd             # the descriptor to signal
    int wake_fds[2]         # read end, write end: signals a new batch to the worker


cdef int init(EgressWorker* worker, Egress* egress, Outlet* direct, int core_fd) noexcept nogil
cdef void clear(EgressWorker* worker) noexcept nogil
cdef void run(EgressWorker* worker) noexcept nogil
cdef void stop(EgressWorker* worker) noexcept nogil
