"""Sends paced packets that contain the time, and one report per second."""

from libc.stdint cimport int64_t

from svc.tools.bench.load cimport Client, Load

cdef enum:
    HEADER = 24             # 12 for the fixed header, 12 for extensions


cdef int64_t send_due(Load* load, int64_t now) noexcept nogil
cdef void report(Load* load, Client* client, int64_t now) noexcept nogil
