"""Passes a thread's datagrams to the kernel (step 9 of a packet's journey).

Each sending thread has its own outlet for the shared sockets. The caller chooses the datagrams and handles
datagrams that the kernel does not accept.
"""

from libc.errno cimport ENOBUFS, errno
from libc.string cimport memcpy, memset

from svc._rtp.address cimport is_ipv4
from svc._rtp.stream_io cimport write_frames
from svc._rtp.udp cimport svc_monotonic, svc_udp_send

cdef enum:
    STREAM = -2             # a connection instead of a socket

cdef int64_t FIRST_DELAY_BUCKET = 50_000    # ns


cdef uint32_t send_batch(Outlet* outlet, Outgoing* batch, uint32_t count) noexcept nogil:
    """Send a batch in order, one address family at a time. Return the number of datagrams that were sent or
    have failed.

    The rest have not been tried, because the kernel cannot accept data now.
    """
    cdef uint32_t i = 0, done = 0
    cdef int waiting = 0, fd = -1, this_fd, family
    outlet.full = -1
    while i < count:
        family = 0 if is_ipv4(&batch[i].path.remote) else 1
        this_fd = STREAM if batch[i].path.remote.stream else outlet.sockets[family]
        if waiting == SVC_BATCH or (waiting and this_fd != fd):
            done += send_run(outlet, fd, waiting)
            waiting = 0
            if done < i:
                break
        fd = this_fd
        if fd == STREAM:
            done += send_streamed(outlet, &batch[i], count - i)
            i = done
            continue
        write_datagram(&outlet.datagrams[waiting], &batch[i], outlet.bound[family])
        waiting += 1
        i += 1
    if waiting:
        done += send_run(outlet, fd, waiting)
    measure_delay(outlet, batch, done)
    return done


cdef uint32_t send_streamed(Outlet* outlet, Outgoing* batch, uint32_t count) noexcept nogil:
    """Send the first datagrams, all of which go to one connection. All of them count as done, even if the
    connection is slow.
    """
    if outlet.connections == NULL:
        outlet.failed += 1
        return 1
    return write_frames(outlet.connections, batch, count)


cdef uint32_t send_run(Outlet* outlet, int fd, int count) noexcept nogil:
    cdef int failed = 0, done = count
    if fd < 0:
        failed = count
    else:
        done = svc_udp_send(fd, outlet.datagrams, count, outlet.portable, &outlet.segment, &failed)
        if done < count and errno != ENOBUFS:
            outlet.full = fd
    outlet.failed += <uint32_t>failed
    return <uint32_t>done


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


cdef void measure_delay(Outlet* outlet, Outgoing* batch, uint32_t count) noexcept nogil:
    """Record the delay of packets whose last datagram is in the batch."""
    cdef int64_t now = 0, delay, bound
    cdef uint32_t i
    cdef int bucket
    for i in range(count):
        if batch[i].last_of == 0:
            continue
        if now == 0:
            now = svc_monotonic()
        delay = now - batch[i].last_of
        bound = FIRST_DELAY_BUCKET
        bucket = 0
        while bucket < DELAY_BUCKETS - 1 and delay > bound:
            bound *= 2
            bucket += 1
        outlet.delays[bucket] += 1
        outlet.delay_ns += <uint64_t>delay
