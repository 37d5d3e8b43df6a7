"""Collector: where a ManualEngine sends to."""

from svc._rtp.egress cimport Egress


cdef class Outlet:
    cdef list datagrams
    cdef object room        # how many datagrams; None = without end


cdef void collect(void* context, Egress* egress) noexcept with gil
