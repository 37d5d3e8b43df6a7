"""RateWindow: measures the bit rate over at most the last second."""

from libc.stdint cimport int64_t, uint32_t

cdef enum:
    RATE_BUCKETS = 40
    BUCKET_NS = 25_000_000


cdef struct RateWindow:
    int64_t newest          # the number of the newest bucket, or 0 if nothing has been counted yet
    int64_t first           # the bucket in which counting began
    uint32_t bytes[RATE_BUCKETS]    # by bucket number modulo RATE_BUCKETS


cdef void count(RateWindow* window, int64_t at, uint32_t size) noexcept nogil
cdef double rate(const RateWindow* window, int buckets) noexcept nogil
