"""EgressWorker: a thread that sends the batches of one shard while the core's thread continues.

Almost all of a datagram's cost is kernel time, so only that part is distributed. Decisions, numbering and
encryption stay on the core's thread, because only this thread uses the receivers' state. Batches pass through
a ring in order, and each receiver belongs to one shard, so its datagrams stay in order. Waking a thread costs
more than sending a few datagrams, so the core's thread sends a small batch on its own if no other batch is
ahead of it. The core's thread also sends every batch itself while the network is the bottleneck: a second
thread would only add delay after the point at which late packets are dropped.
"""

from libc.errno cimport ENOMEM
from libc.stdlib cimport calloc, free

from svc._rtp.atomics cimport exchange_size, load_acquire, load_ordered, store_release
from svc._rtp.egress_batch cimport BATCH, take_off
from svc._rtp.outlet cimport send_batch
from svc._rtp.udp cimport svc_clear_signal, svc_close, svc_signal, svc_signal_open, svc_wait, svc_wait_for_room

cdef enum:
    FEW = BATCH // 2
    # A full socket signals when it can accept more data. A full network interface does not, so sending is
    # retried after this time (ms).
    RETRY_MS = 1
    # The upper limit for every wait (ms), as a precaution.
    MAX_SLEEP_MS = 1000


cdef int init(EgressWorker* worker, Egress* egress, Outlet* direct, int core_fd) noexcept nogil:
    """Connect an egress to this worker. The egress then hands its batches to the worker. Return 0, or -errno.

    `worker` must be zeroed.
    """
    cdef int i, failed
    worker.wake_fds[0] = worker.wake_fds[1] = -1
    worker.egress = egress
    worker.direct = direct
    worker.outlet = direct[0]
    worker.outlet.connections = NULL
    worker.core_fd = core_fd
    for i in range(BATCHES):
        worker.batches[i] = <Outgoing*>calloc(BATCH, sizeof(Outgoing))
        if worker.batches[i] == NULL:
            return -ENOMEM
    failed = svc_signal_open(worker.wake_fds)
    if failed < 0:
        return failed
    egress.batch = worker.batches[0]
    egress.flush = hand_over
    egress.context = worker
    return 0


cdef void clear(EgressWorker* worker) noexcept nogil:
    """Free the resources that `init` allocated. The thread must have ended."""
    cdef int i
    worker.egress.batch = NULL
    worker.egress.count = 0
    for i in range(BATCHES):
        free(worker.batches[i])
    if worker.wake_fds[0] >= 0:
        svc_close(worker.wake_fds[0])
    if worker.wake_fds[1] >= 0 and worker.wake_fds[1] != worker.wake_fds[0]:
        svc_close(worker.wake_fds[1])


# --- on the core's thread ---


cdef inline size_t under_way(EgressWorker* worker) noexcept nogil:
    return worker.handed - load_acquire(&worker.sent)


cdef void hand_over(void* context, Egress* egress) noexcept nogil:
    """Take the batch from the egress and give the egress an empty batch. Without an empty batch, the egress
    is blocked.
    """
    cdef EgressWorker* worker = <EgressWorker*>context
    cdef size_t maximum = 1 if load_acquire(&worker.stalled) else BATCHES - 1
    if under_way(worker) == 0 and (egress.count <= FEW or worker.stalled):
        take_off(egress, send_batch(worker.direct, egress.batch, egress.count))
        worker.stalled = <size_t>egress.blocked
        return
    if under_way(worker) >= maximum:
        exchange_size(&worker.core_waits, 1)
        if worker.handed - load_ordered(&worker.sent) >= maximum:
            egress.blocked = True
            return
    worker.counts[worker.handed % BATCHES] = egress.count
    store_release(&worker.handed, worker.handed + 1)
    svc_signal(worker.wake_fds[1])
    egress.batch = worker.batches[worker.handed % BATCHES]
    egress.count = 0
    egress.blocked = False


cdef void stop(EgressWorker* worker) noexcept nogil:
    """Make `run` return soon. Batches that have not been sent by then are discarded."""
    store_release(&worker.stopping, 1)
    svc_signal(worker.wake_fds[1])


# --- on the worker's thread ---


cdef void run(EgressWorker* worker) noexcept nogil:
    """Send the batches that are handed over, until `stop` is called."""
    while not load_acquire(&worker.stopping):
        if load_acquire(&worker.handed) != worker.sent:
            send_oldest(worker)
        elif svc_wait(worker.wake_fds, 1, -1, MAX_SLEEP_MS):
            svc_clear_signal(worker.wake_fds[0])


cdef void send_oldest(EgressWorker* worker) noexcept nogil:
    cdef size_t at = worker.sent % BATCHES
    cdef uint32_t done = 0
    while not load_acquire(&worker.stopping):
        done += send_batch(&worker.outlet, &worker.batches[at][done], worker.counts[at] - done)
        if done == worker.counts[at]:
            break
        store_release(&worker.stalled, 1)
        svc_wait_for_room(worker.outlet.full, RETRY_MS)
    exchange_size(&worker.sent, worker.sent + 1)
    if exchange_size(&worker.core_waits, 0):
        svc_signal(worker.core_fd)
