"""What clients receive: counted, and as much as the budget allows authenticated and timed."""

from libc.stdint cimport int64_t

from svc.tools.bench.load cimport Load


cdef void drain_all(Load* load, int64_t now) noexcept nogil
