"""Collector: receives a ManualEngine's output."""

from svc._rtp.egress_batch cimport Egress


cdef class Outlet:
    cdef list datagrams
    cdef object room        # number of datagrams that are still accepted, or None for no limit


cdef void collect(void* context, Egress* egress) noexcept with gil
