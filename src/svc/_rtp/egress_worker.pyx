"""EgressWorker: a thread that sends the batches of one shard, while the core's thread goes on deciding.

Nearly all of a datagram's time is the kernel's, so that is what is shared out; deciding, numbering and sealing
stay with the core's thread, which alone knows receivers. Batches come by a ring, in order, and a receiver
belongs to one shard: its datagrams keep their order. To wake a thread costs more than to send a few
datagrams, so a small batch that nothing is in front of is sent by the core's thread itself. So is every batch
while the line is what lacks: then a second thread only lengthens the way past what is dropped when it is late.
"""

from libc.errno cimport ENOMEM
from libc.stdlib cimport calloc, free

from svc._rtp.atomics cimport exchange_size, load_acquire, load_ordered, store_release
from svc._rtp.egress cimport BATCH, take_off
from svc._rtp.outlet cimport send_batch
from svc._rtp.udp cimport svc_clear_signal, svc_close, svc_signal, svc_signal_open, svc_wait, svc_wait_for_room

cdef enum:
    FEW = BATCH // 2
    # A full socket says when it can take more; a full interface does not, and is asked again (ms).
    RETRY_MS = 1
    # Nothing is waited for without end (ms), though nothing is known to need this.
    LONGEST_SLEEP_MS = 1000


cdef int init(EgressWorker* worker, Egress* egress, Outlet* direct, int core_fd) noexcept nogil:
    """Have an egress hand its batches to this worker; 0, or -errno.

    `worker` is all zeroes before.
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
    """Free what `init` has made; its thread has ended."""
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
    """Take the batch from the egress, and give it an empty one; where there is none, it is blocked."""
    cdef EgressWorker* worker = <EgressWorker*>context
    cdef size_t most = 1 if load_acquire(&worker.stalled) else BATCHES - 1
    if under_way(worker) == 0 and (egress.count <= FEW or worker.stalled):
        take_off(egress, send_batch(worker.direct, egress.batch, egress.count))
        worker.stalled = <size_t>egress.blocked
        return
    if under_way(worker) >= most:
        exchange_size(&worker.core_waits, 1)
        if worker.handed - load_ordered(&worker.sent) >= most:
            egress.blocked = True
            return
    worker.counts[worker.handed % BATCHES] = egress.count
    store_release(&worker.handed, worker.handed + 1)
    svc_signal(worker.wake_fds[1])
    egress.batch = worker.batches[worker.handed % BATCHES]
    egress.count = 0
    egress.blocked = False


cdef void stop(EgressWorker* worker) noexcept nogil:
    """Have `run` return soon; what it has not sent stays unsent."""
    store_release(&worker.stopping, 1)
    svc_signal(worker.wake_fds[1])


# --- on the worker's ---


cdef void run(EgressWorker* worker) noexcept nogil:
    """Send what is handed over, until `stop`."""
    while not load_acquire(&worker.stopping):
        if load_acquire(&worker.handed) != worker.sent:
            send_oldest(worker)
        elif svc_wait(worker.wake_fds, 1, -1, LONGEST_SLEEP_MS):
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
