"""Counts received packets, and authenticates and times as many of them as the budget allows."""

from libc.stdint cimport int64_t

from svc.tools.bench.load cimport Load


cdef void drain_all(Load* load, int64_t now) noexcept nogil
