"""Outlet: passes one thread's datagrams to the kernel."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from svc._rtp.egress_batch cimport Outgoing
from svc._rtp.stream_io cimport StreamIO
from svc._rtp.udp cimport SVC_BATCH, svc_datagram

cdef enum:
    DELAY_BUCKETS = 12


cdef struct Outlet:
    int sockets[2]          # IPv4, IPv6, or -1 if none; shared by all threads
    bint bound[2]           # bound to a single address, so datagrams need no source address
    StreamIO* connections   # NULL for a worker: only the core's thread has connections
    bint portable
    int segment             # whether the kernel may segment runs of datagrams of equal size from one message
    int full                # the socket whose buffer is full, or -1 if none
    uint64_t failed         # datagrams that could not be sent
    uint64_t delays[DELAY_BUCKETS]  # histogram: packets sent to all receivers within 2^i x 50 us of arrival
    uint64_t delay_ns       # the sum of these delays
    svc_datagram datagrams[SVC_BATCH]


cdef uint32_t send_batch(Outlet* outlet, Outgoing* batch, uint32_t count) noexcept nogil
