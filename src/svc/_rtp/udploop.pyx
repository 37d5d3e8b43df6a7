"""UdpLoop: serves the media port on a native thread without the GIL.

This is the only file in the core that opens sockets, starts threads and reads clocks. It drives the Engine,
which handles the datagrams. Step 1 of a packet's journey (receiving a batch) is here, and step 9 is in
`outlet`. Additional workers are threads that only send (egress_worker). There are two sockets on one port if
both IPv4 and IPv6 are requested. stream_io serves TCP connections at the same port number.
"""

import os
import threading
from contextlib import suppress

with suppress(ImportError):
    # `resource` is not available on Windows, where TCP is not served.
    from resource import RLIMIT_NOFILE, getrlimit

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from svc._rtp.address cimport Address, Path, from_text, is_ipv4, is_unspecified
from svc._rtp.atomics cimport load_acquire, store_release
from svc._rtp.core cimport MAX_SHARDS, Shard, is_blocked, is_pending
from svc._rtp.egress_batch cimport Egress, take_off
from svc._rtp.egress_worker cimport EgressWorker
from svc._rtp.egress_worker cimport clear as clear_worker, init as init_worker, run as run_worker, stop as stop_worker
from svc._rtp.engine cimport Engine
from svc._rtp.ingress cimport received
from svc._rtp.outlet cimport DELAY_BUCKETS, Outlet, send_batch
from svc._rtp.pool cimport MAX_DATAGRAM, Slot, acquire, release
from svc._rtp.stream_io cimport StreamIO
from svc._rtp.stream_io cimport adopt as adopt_listener, close as close_streams, open as open_listener, tidy
from svc._rtp.stream_io cimport turn as stream_turn
from svc._rtp.streams cimport MAX_STREAMS
from svc._rtp.tcp cimport SVC_TCP
from svc._rtp.udp cimport (
    SVC_BATCH, svc_clear_signal, svc_close, svc_datagram, svc_monotonic, svc_realtime, svc_signal, svc_signal_open,
    svc_udp_adopt, svc_udp_open, svc_udp_port, svc_udp_receive, svc_wait,
)

cdef enum:
    # The number of batches received from one socket before packets are sent. If the core gets too little CPU
    # time and reads too late, the kernel drops datagrams, including audio.
    BATCHES_PER_TURN = 4
    # A full socket signals when it can accept more data. A full network interface does not, so sending is
    # retried after this time (ms).
    RETRY_MS = 1
    # If the thread is busy and there are no connections, it checks for new connections only once in this many
    # iterations.
    TURNS_BETWEEN_ACCEPTS = 64
    # If no port is specified, the number of ports to try until one is free for both UDP and TCP.
    PORTS_TRIED = 20


cdef void flush(void* context, Egress* egress) noexcept nogil:
    take_off(egress, send_batch(<Outlet*>context, egress.batch, egress.count))


cdef class UdpLoop(Engine):
    """An Engine on real sockets. See udploop.pyi for the contract of each method."""

    cdef Outlet outlet          # outlet of the core's thread, with the sockets
    cdef StreamIO streams       # connections of the core's thread
    cdef EgressWorker* workers[MAX_SHARDS]  # the other sending threads, or NULL if none
    cdef int worker_count
    cdef int wake_fds[2]        # read, write: Python posted a command
    cdef int event_fds[2]       # read, write: signals events to Python
    cdef size_t stopping
    cdef size_t signalled       # number of bytes written to the rings when Python was last signalled
    cdef Slot* slots[SVC_BATCH]  # slots for the next received batch
    cdef svc_datagram incoming[SVC_BATCH]
    cdef int used               # number of slots, from the first, used since they were prepared
    cdef list threads
    cdef readonly int port
    cdef readonly str tcp_refused   # why TCP is not served; "" if TCP is served

    def __cinit__(self, **_ignored):
        # Set here, because __dealloc__ closes them even if __init__ never ran.
        self.streams.poller = -1
        self.outlet.sockets[0] = self.outlet.sockets[1] = self.outlet.full = -1
        self.wake_fds[0] = self.wake_fds[1] = self.event_fds[0] = self.event_fds[1] = -1

    def __init__(self, *, seed, addresses, port, sockets=(), listeners=(), tcp=True, portable=False, workers=1):
        self.outlet.portable = portable
        self.outlet.segment = not portable
        self.threads = []
        self.used = SVC_BATCH
        self.port = port
        self.tcp_refused = "it is not asked for"
        try:
            if sockets:
                self._adopt(sockets)
                self._listen(addresses if tcp else (), listeners)
            else:
                self._open_port(addresses, addresses if tcp else ())
            open_signal(self.wake_fds)
            open_signal(self.event_fds)
            self.core.egress.flush = flush
            self.core.egress.context = &self.outlet
            self._share_out(workers)
        except BaseException:
            self._close()
            raise

    def __dealloc__(self):
        self._close()

    def _open_port(self, addresses, listening):
        """Open UDP and TCP sockets with the same port number. If no port is specified, find one that is free
        for both.
        """
        port = self.port
        for _ in range(PORTS_TRIED if port == 0 and SVC_TCP and listening else 1):
            self._close()
            self.port = port
            for address in addresses:
                self._open(address)
            self._listen(listening, ())
            if not self.tcp_refused:
                break

    def _open(self, str ip):
        cdef Address address
        from_text(&address, ip, 0)
        at = 0 if is_ipv4(&address) else 1
        if self.outlet.sockets[<int>at] >= 0:
            raise ValueError("one address of each family")
        fd = svc_udp_open(address.ip, <uint16_t>self.port)
        if fd < 0:
            raise OSError(-fd, f"UDP port {self.port} on {ip}: {os.strerror(-fd)}")
        self.outlet.sockets[<int>at] = fd
        self.outlet.bound[<int>at] = not is_unspecified(&address) and ip != "0.0.0.0"
        self.port = svc_udp_port(fd)

    def _adopt(self, sockets):
        for fd in sockets:
            is_v4 = svc_udp_adopt(fd)
            if is_v4 < 0:
                raise OSError(-is_v4, f"UDP socket {fd}: {os.strerror(-is_v4)}")
            at = 0 if is_v4 else 1
            if self.outlet.sockets[<int>at] >= 0:
                raise ValueError("one socket of each family")
            # Use our own copies, because the caller closes its descriptors.
            self.outlet.sockets[<int>at] = os.dup(fd)
            self.port = svc_udp_port(fd)

    def _listen(self, addresses, listeners):
        """Serve TCP on the same port number. If that is impossible, calls fail only in networks that block
        UDP.
        """
        if not SVC_TCP:
            self.tcp_refused = "this system has no epoll"
            return
        for fd in listeners:
            own = os.dup(fd)
            if adopt_listener(&self.streams, own) < 0:
                os.close(own)
        for address in addresses if not listeners else ():
            failed = self._open_listener(address)
            if failed:
                self.tcp_refused = f"TCP port {self.port} on {address}: {os.strerror(failed)}"
                return
        if self.streams.listener_count:
            self.tcp_refused = ""
            self.streams.streams.limit = most_streams()
            self.core.streams = &self.streams.streams
            self.outlet.connections = &self.streams

    cdef int _open_listener(self, str ip) except -1:
        cdef Address address
        from_text(&address, ip, 0)
        cdef int failed = -open_listener(&self.streams, address.ip, <uint16_t>self.port)
        if failed < 0:
            return 0
        return failed

    def _share_out(self, int workers):
        """Divide the receivers among the sending threads: all other threads if there are any, or else the
        core's thread.
        """
        if not 1 <= workers <= MAX_SHARDS:
            raise ValueError(f"1 to {MAX_SHARDS} workers")
        cdef Shard* shard
        cdef int i, failed
        if workers == 1:
            return
        # The last shard is for TCP receivers, because connections belong to this thread.
        self.core.shard_count = <uint32_t>workers
        self.core.packet_shards = self.core.stream_shard = <uint32_t>(workers - 1)
        self.core.shards[workers - 1].egress = &self.core.egress
        for i in range(workers - 1):
            shard = &self.core.shards[i]
            shard.egress = &shard.handed_over
            shard.egress.dropped = &self.core.counters.dropped_send_failed
            self.workers[self.worker_count] = <EgressWorker*>calloc(1, sizeof(EgressWorker))
            if self.workers[self.worker_count] == NULL:
                raise MemoryError
            self.worker_count += 1
            failed = init_worker(self.workers[self.worker_count - 1], shard.egress, &self.outlet, self.wake_fds[1])
            if failed < 0:
                raise OSError(-failed, os.strerror(-failed))

    cpdef _close(self):
        cdef int i
        for i in range(self.worker_count):
            clear_worker(self.workers[i])
            free(self.workers[i])
        self.worker_count = 0
        close_streams(&self.streams)
        for fd in {self.outlet.sockets[0], self.outlet.sockets[1], self.wake_fds[0], self.wake_fds[1], self.event_fds[0],
                   self.event_fds[1]}:
            if fd >= 0:
                svc_close(fd)
        self.outlet.sockets[0] = self.outlet.sockets[1] = -1
        self.wake_fds[0] = self.wake_fds[1] = self.event_fds[0] = self.event_fds[1] = -1

    # --- on Python's thread ---

    def fileno(self) -> int:
        return self.event_fds[0]

    def descriptors(self) -> list:
        cdef uint32_t i
        udp = [fd for fd in (self.outlet.sockets[0], self.outlet.sockets[1]) if fd >= 0]
        return udp + [self.streams.listeners[i] for i in range(self.streams.listener_count)]

    def start(self):
        self._start("svc-udp", self._run)
        for i in range(self.worker_count):
            self._start(f"svc-send-{i}", self._run_worker, i)

    def _start(self, name, target, *args):
        thread = threading.Thread(target=target, args=args, name=name, daemon=True)
        thread.start()
        # Append the thread only after it has started, so that `stop` ends only existing threads if the system
        # refuses to start more.
        self.threads.append(thread)

    def stop(self):
        cdef int i
        if self.threads:
            store_release(&self.stopping, 1)
            svc_signal(self.wake_fds[1])
            for i in range(self.worker_count):
                stop_worker(self.workers[i])
            for thread in self.threads:
                thread.join()
            self.threads.clear()
        self._close()

    def counters(self) -> dict:
        counted = Engine.counters(self)
        cdef int i
        counted["dropped_send_failed"] += self.outlet.failed + self.streams.streams.failed
        counted["tcp_accepted"] = self.streams.streams.accepted
        counted["tcp_refused"] = self.streams.streams.refused
        for i in range(self.worker_count):
            counted["dropped_send_failed"] += self.workers[i].outlet.failed
        return counted

    def forwarding_delay(self) -> tuple:
        cdef int i, bucket
        counts = [self.outlet.delays[bucket] for bucket in range(DELAY_BUCKETS)]
        total = self.outlet.delay_ns
        for i in range(self.worker_count):
            for bucket in range(DELAY_BUCKETS):
                counts[bucket] += self.workers[i].outlet.delays[bucket]
            total += self.workers[i].outlet.delay_ns
        return counts, total / 1e9

    def take_events(self) -> list:
        if self.event_fds[0] >= 0:
            svc_clear_signal(self.event_fds[0])
        return Engine.take_events(self)

    cdef void wake(self) noexcept:
        svc_signal(self.wake_fds[1])

    def _run(self):
        with nogil:
            self.run()

    def _run_worker(self, int worker):
        with nogil:
            run_worker(self.workers[worker])

    # --- on the core's thread ---

    cdef void run(self) noexcept nogil:
        cdef int fds[4]
        cdef int count = 1, i
        cdef int readable, of_connections = 0
        cdef uint32_t turns = 0
        cdef size_t written
        fds[0] = self.wake_fds[0]
        for i in range(2):
            if self.outlet.sockets[i] >= 0:
                fds[count] = self.outlet.sockets[i]
                count += 1
        if self.streams.poller >= 0:
            fds[count] = self.streams.poller
            of_connections = 1 << count
            count += 1
        while not load_acquire(&self.stopping):
            turns += 1
            readable = of_connections if self.streams.streams.count or turns % TURNS_BETWEEN_ACCEPTS == 0 else 0
            if not is_pending(&self.core):
                self.core.now = svc_monotonic()
                readable = svc_wait(fds, count, self.outlet.full, self.timeout_ms())
                if readable & 1:
                    svc_clear_signal(self.wake_fds[0])
            self.core.now = self.streams.streams.now = svc_monotonic()
            self.apply_commands()
            for i in range(2):
                if self.outlet.sockets[i] >= 0:
                    self.receive_turn(self.outlet.sockets[i])
            if readable & of_connections:
                stream_turn(&self.streams, &self.core)
            if self.core.now >= self.core.next_tick:
                self.tick(self.core.now)
                if of_connections:
                    tidy(&self.streams, &self.core)
            self.end_turn()
            written = self.core.ice.head + self.core.events.head + self.core.details.head
            if written != self.signalled:
                self.signalled = written
                svc_signal(self.event_fds[1])

    cdef int timeout_ms(self) noexcept nogil:
        cdef int64_t left = self.core.deadline - self.core.now
        if left <= 0:
            return 0
        if is_blocked(&self.core) and self.outlet.full < 0:
            return RETRY_MS
        return <int>((left + 999_999) // 1_000_000)

    cdef void receive_turn(self, int fd) noexcept nogil:
        cdef int turn
        for turn in range(BATCHES_PER_TURN):
            if self.receive_batch(fd) < SVC_BATCH:
                return

    cdef int receive_batch(self, int fd) noexcept nogil:
        """Receive datagrams into slots (step 1) and pass each to the engine. Return the number of datagrams
        received.
        """
        cdef int capacity = self.fill_slots()
        cdef int count, i
        cdef int64_t behind
        cdef Path path
        count = svc_udp_receive(fd, self.incoming, capacity, min(self.used, capacity), self.outlet.portable)
        self.used = count if capacity == SVC_BATCH else SVC_BATCH
        if count == 0:
            return 0
        self.core.now = svc_monotonic()
        # The kernel's timestamps use the wall clock. Convert them to our clock by their distance from now.
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
                # A history or a send queue still uses this slot, so the next batch gets another slot.
                release(&self.core.pool, self.slots[i])
                self.slots[i] = NULL
        return count

    cdef int fill_slots(self) noexcept nogil:
        """Provide a slot for each datagram of the next batch. Return the number of slots."""
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


cdef inline void read_path(Path* path, const svc_datagram* datagram) noexcept nogil:
    memset(path, 0, sizeof(Path))
    memcpy(path.remote.ip, datagram.remote, 16)
    path.remote.scope = datagram.scope
    path.remote.port = datagram.port
    memcpy(path.local.ip, datagram.local, 16)


def most_streams() -> int:
    """Return a quarter of the number of descriptors that this process may open. The rest are for
    signalling.
    """
    descriptors, _ = getrlimit(RLIMIT_NOFILE)
    return MAX_STREAMS if descriptors < 0 else min(MAX_STREAMS, descriptors // 4)


cdef int open_signal(int* fds) except -1:
    """Create two descriptors. Signalling the second wakes a thread that is waiting for the first."""
    cdef int failed = svc_signal_open(fds)
    if failed < 0:
        raise OSError(-failed, os.strerror(-failed))
    return 0
