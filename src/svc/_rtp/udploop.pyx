"""UdpLoop: the one UDP port, and the native thread that serves it without the GIL.

The only file of the core with a socket, a thread or a clock: what to do with a datagram is the
Engine's, which it drives. Step 1 of a packet's journey (a batch is received) and step 9 (a batch is
sent) are here. Two sockets on one port when IPv4 and IPv6 are both asked for.
"""

import os
import threading

from libc.errno cimport ENOBUFS, errno
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from svc._rtp.address cimport Address, Path, from_text, is_ipv4, is_unspecified
from svc._rtp.atomics cimport load_acquire, store_release
from svc._rtp.delivery cimport is_pending
from svc._rtp.egress cimport Egress, Outgoing, take_off
from svc._rtp.engine cimport Engine
from svc._rtp.ingress cimport received
from svc._rtp.pool cimport MAX_DATAGRAM, Slot, acquire, release

cdef extern from "udp.h":
    enum:
        SVC_BATCH

    struct svc_datagram:
        uint8_t* data
        int length
        uint8_t remote[16]
        uint32_t scope
        uint16_t port
        uint8_t local[16]
        int64_t arrival

    int64_t svc_monotonic() nogil
    int64_t svc_realtime() nogil
    int svc_udp_open(const uint8_t* ip, uint16_t port) nogil
    int svc_udp_adopt(int fd) nogil
    int svc_udp_port(int fd) nogil
    int svc_udp_receive(int fd, svc_datagram* datagrams, int count, int fresh, bint portable) nogil
    int svc_udp_send(int fd, const svc_datagram* datagrams, int count, bint portable, int* segment, int* failed) nogil
    bint svc_wait(const int* fds, int count, int full, int timeout_ms) nogil
    int svc_signal_open(int* fds) nogil
    void svc_signal(int fd) nogil
    void svc_clear_signal(int fd) nogil
    void svc_close(int fd) nogil

cdef enum:
    # Batches received from one socket before something is sent: where the core is starved, what is not taken
    # from the kernel in time is lost there, audio among it.
    BATCHES_PER_TURN = 4
    # A full socket says when it can take more; a full interface does not, and is asked again (ms).
    RETRY_MS = 1
    FIRST_DELAY_BUCKET = 50_000     # ns
    DELAY_BUCKETS = 12


cdef void flush(void* context, Egress* egress) noexcept nogil:
    (<UdpLoop>context).send_batch(egress)


cdef class UdpLoop(Engine):
    """See udploop.pyi for the contract of each method."""

    cdef int sockets[2]         # IPv4, IPv6; -1 = not asked for
    cdef bint bound[2]          # to one address, as far as we know: no datagram is told which to leave from
    cdef int wake_fds[2]        # read, write: Python posted a command
    cdef int event_fds[2]       # read, write: there are events for Python
    cdef bint portable
    cdef int segment            # whether the kernel may cut runs of equal datagrams out of one message
    cdef int full               # the socket that takes no more for now; -1 = none
    cdef size_t stopping
    cdef size_t signalled       # bytes ever written to the rings when Python was last signalled
    cdef Slot* slots[SVC_BATCH]  # what the next batch is received into
    cdef svc_datagram incoming[SVC_BATCH]
    cdef int used               # how many of these, the first ones, took something in since they were made ready
    cdef svc_datagram outgoing[SVC_BATCH]
    cdef object thread
    cdef readonly int port

    def __cinit__(self, **_ignored):
        # Here, because __dealloc__ closes them even if __init__ never ran.
        self.sockets[0] = self.sockets[1] = self.full = -1
        self.wake_fds[0] = self.wake_fds[1] = self.event_fds[0] = self.event_fds[1] = -1

    def __init__(self, *, seed, addresses, port, sockets=(), portable=False):
        self.portable = portable
        self.segment = not portable
        self.used = SVC_BATCH
        self.port = port
        try:
            if sockets:
                self._adopt(sockets)
            else:
                for address in addresses:
                    self._open(address)
            open_signal(self.wake_fds)
            open_signal(self.event_fds)
        except BaseException:
            self._close()
            raise
        self.core.egress.flush = flush
        self.core.egress.context = <void*>self

    def __dealloc__(self):
        self._close()

    def _open(self, str ip):
        cdef Address address
        from_text(&address, ip, 0)
        at = 0 if is_ipv4(&address) else 1
        if self.sockets[<int>at] >= 0:
            raise ValueError("one address of each family")
        fd = svc_udp_open(address.ip, <uint16_t>self.port)
        if fd < 0:
            raise OSError(-fd, f"UDP port {self.port} on {ip}: {os.strerror(-fd)}")
        self.sockets[<int>at] = fd
        self.bound[<int>at] = not is_unspecified(&address) and ip != "0.0.0.0"
        self.port = svc_udp_port(fd)

    def _adopt(self, sockets):
        for fd in sockets:
            is_v4 = svc_udp_adopt(fd)
            if is_v4 < 0:
                raise OSError(-is_v4, f"UDP socket {fd}: {os.strerror(-is_v4)}")
            at = 0 if is_v4 else 1
            if self.sockets[<int>at] >= 0:
                raise ValueError("one socket of each family")
            # Our own from now on; the giver's is theirs to close.
            self.sockets[<int>at] = os.dup(fd)
            self.port = svc_udp_port(fd)

    cpdef _close(self):
        for fd in {self.sockets[0], self.sockets[1], self.wake_fds[0], self.wake_fds[1], self.event_fds[0],
                   self.event_fds[1]}:
            if fd >= 0:
                svc_close(fd)
        self.sockets[0] = self.sockets[1] = -1
        self.wake_fds[0] = self.wake_fds[1] = self.event_fds[0] = self.event_fds[1] = -1

    # --- on Python's thread ---

    def fileno(self) -> int:
        return self.event_fds[0]

    def descriptors(self) -> list:
        return [fd for fd in (self.sockets[0], self.sockets[1]) if fd >= 0]

    def start(self):
        self.thread = threading.Thread(target=self._run, name="svc-udp", daemon=True)
        self.thread.start()

    def stop(self):
        if self.thread is not None:
            store_release(&self.stopping, 1)
            svc_signal(self.wake_fds[1])
            self.thread.join()
            self.thread = None
        self._close()

    def take_events(self) -> list:
        if self.event_fds[0] >= 0:
            svc_clear_signal(self.event_fds[0])
        return Engine.take_events(self)

    cdef void wake(self) noexcept:
        svc_signal(self.wake_fds[1])

    def _run(self):
        with nogil:
            self.run()

    # --- on the core's thread ---

    cdef void run(self) noexcept nogil:
        cdef int fds[3]
        cdef int count = 1, i
        cdef size_t written
        fds[0] = self.wake_fds[0]
        for i in range(2):
            if self.sockets[i] >= 0:
                fds[count] = self.sockets[i]
                count += 1
        while not load_acquire(&self.stopping):
            if not is_pending(&self.core):
                self.core.now = svc_monotonic()
                if svc_wait(fds, count, self.full, self.timeout_ms()):
                    svc_clear_signal(self.wake_fds[0])
            self.core.now = svc_monotonic()
            self.apply_commands()
            for i in range(2):
                if self.sockets[i] >= 0:
                    self.receive_turn(self.sockets[i])
            if self.core.now >= self.core.next_tick:
                self.tick(self.core.now)
            self.end_turn()
            self.measure_delay()
            written = self.core.ice.head + self.core.events.head + self.core.details.head
            if written != self.signalled:
                self.signalled = written
                svc_signal(self.event_fds[1])

    cdef int timeout_ms(self) noexcept nogil:
        cdef int64_t left = self.core.next_tick - self.core.now
        if left <= 0:
            return 0
        if self.core.egress.blocked and self.full < 0:
            return RETRY_MS
        return <int>((left + 999_999) // 1_000_000)

    cdef void receive_turn(self, int fd) noexcept nogil:
        cdef int turn
        for turn in range(BATCHES_PER_TURN):
            if self.receive_batch(fd) < SVC_BATCH:
                return

    cdef int receive_batch(self, int fd) noexcept nogil:
        """Step 1: receive into slots, and let the engine act on each; how many came."""
        cdef int capacity = self.fill_slots()
        cdef int count, i
        cdef int64_t behind
        cdef Path path
        count = svc_udp_receive(fd, self.incoming, capacity, min(self.used, capacity), self.portable)
        self.used = count if capacity == SVC_BATCH else SVC_BATCH
        if count == 0:
            return 0
        self.core.now = svc_monotonic()
        # What the kernel stamps is real time: carried over to ours by its distance from now.
        behind = svc_realtime()
        for i in range(count):
            if self.incoming[i].length < 0:
                self.core.counters.dropped_oversized += 1
                continue
            read_path(&path, &self.incoming[i])
            self.slots[i].length = <uint16_t>self.incoming[i].length
            self.slots[i].arrival = self.core.now
            if 0 < behind - self.incoming[i].arrival < 1_000_000_000:
                self.slots[i].arrival -= behind - self.incoming[i].arrival
            received(&self.core, self.slots[i], &path)
            if self.slots[i].references > 1:
                # A history keeps it, or it waits to be sent: the next batch gets another slot.
                release(&self.core.pool, self.slots[i])
                self.slots[i] = NULL
        return count

    cdef int fill_slots(self) noexcept nogil:
        """Make sure of a slot for each datagram of the next batch; how many there are."""
        cdef int i
        for i in range(self.used):
            if self.slots[i] == NULL:
                self.slots[i] = acquire(&self.core.pool)
                if self.slots[i] == NULL:
                    self.core.counters.dropped_pool_exhausted += 1
                    return i
            self.incoming[i].data = self.slots[i].data
            self.incoming[i].length = MAX_DATAGRAM
        return SVC_BATCH

    cdef void measure_delay(self) noexcept nogil:
        """Of the packets of which nothing waits to be sent any more."""
        cdef int64_t now, delay, bound
        cdef uint32_t i
        cdef int bucket
        if self.core.departed_count == 0:
            return
        now = svc_monotonic()
        for i in range(self.core.departed_count):
            delay = now - self.core.departed[i]
            bound = FIRST_DELAY_BUCKET
            bucket = 0
            while bucket < DELAY_BUCKETS - 1 and delay > bound:
                bound *= 2
                bucket += 1
            self.core.counters.forwarding_delay[bucket] += 1
            self.core.counters.forwarding_delay_ns += <uint64_t>delay

    cdef void send_batch(self, Egress* egress) noexcept nogil:
        """Step 9: hand the batch to the kernel, in order; one family at a time where both are there."""
        cdef uint32_t i, done = 0
        cdef int count = 0, fd = -1, this_fd, family
        self.full = -1
        for i in range(egress.count):
            family = 0 if is_ipv4(&egress.batch[i].path.remote) else 1
            this_fd = self.sockets[family]
            if count == SVC_BATCH or (count and this_fd != fd):
                done += self.send_run(fd, count)
                if done < i:
                    break
                count = 0
            fd = this_fd
            write_datagram(&self.outgoing[count], &egress.batch[i], self.bound[family])
            count += 1
        else:
            if count:
                done += self.send_run(fd, count)
        take_off(egress, done)

    cdef uint32_t send_run(self, int fd, int count) noexcept nogil:
        """How many are done with."""
        cdef int failed = 0, done = count
        if fd < 0:
            failed = count
        else:
            done = svc_udp_send(fd, self.outgoing, count, self.portable, &self.segment, &failed)
            if done < count and errno != ENOBUFS:
                self.full = fd
        self.core.counters.dropped_send_failed += <uint32_t>failed
        return <uint32_t>done


cdef inline void read_path(Path* path, const svc_datagram* datagram) noexcept nogil:
    memset(path, 0, sizeof(Path))
    memcpy(path.remote.ip, datagram.remote, 16)
    path.remote.scope = datagram.scope
    path.remote.port = datagram.port
    memcpy(path.local.ip, datagram.local, 16)


cdef inline void write_datagram(svc_datagram* datagram, Outgoing* outgoing, bint bound) noexcept nogil:
    datagram.data = outgoing.data
    datagram.length = outgoing.length
    memcpy(datagram.remote, outgoing.path.remote.ip, 16)
    datagram.scope = outgoing.path.remote.scope
    datagram.port = outgoing.path.remote.port
    if bound:
        memset(datagram.local, 0, 16)
    else:
        memcpy(datagram.local, outgoing.path.local.ip, 16)


cdef int open_signal(int* fds) except -1:
    """Two descriptors: what is signalled at the second wakes who waits for the first."""
    cdef int failed = svc_signal_open(fds)
    if failed < 0:
        raise OSError(-failed, os.strerror(-failed))
    return 0
