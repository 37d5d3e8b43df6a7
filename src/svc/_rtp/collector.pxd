"""Collector: receives the output of a ManualEngine."""

from svc._rtp.egress cimport Egress


cdef class Outlet:
    cdef list datagrams
    cdef object room        # number of datagrams that are still accepted; None = unlimited


cdef void collect(void* context, Egress* egress) noexcept with gil
