"""Outlet: the way of one thread's datagrams into the kernel."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from svc._rtp.egress cimport Outgoing
from svc._rtp.stream_io cimport StreamIO
from svc._rtp.udp cimport SVC_BATCH, svc_datagram

cdef enum:
    DELAY_BUCKETS = 12


cdef struct Outlet:
    int sockets[2]          # IPv4, IPv6; -1 = none. The same for every thread
    bint bound[2]           # to one address, as far as we know: no datagram is told which to leave from
    StreamIO* connections   # NULL = none: only the core's thread has any
    bint portable
    int segment             # whether the kernel may cut runs of equal datagrams out of one message
    int full                # the socket that takes no more for now; -1 = none
    uint64_t failed         # datagrams that could not be sent
    uint64_t delays[DELAY_BUCKETS]  # histogram: packets that left for everybody within 2^i x 50 us of arrival
    uint64_t delay_ns       # their sum
    svc_datagram datagrams[SVC_BATCH]


cdef uint32_t send_batch(Outlet* outlet, Outgoing* batch, uint32_t count) noexcept nogil
