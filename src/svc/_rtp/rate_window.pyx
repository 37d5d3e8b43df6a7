"""RateWindow: measures the bit rate over at most the last second.

Counts bytes in buckets of 25 ms, timed by any one clock. The bucket being filled is excluded, because it
would lower every rate. Does not deal with packets.
"""

from libc.string cimport memset


cdef void count(RateWindow* window, int64_t at, uint32_t size) noexcept nogil:
    """Count bytes at the given time. Bytes from before the window or before the clock's zero are ignored."""
    cdef int64_t bucket = at // BUCKET_NS
    cdef int64_t i
    if at < 0:
        return
    if window.newest == 0 or bucket - window.newest >= RATE_BUCKETS or window.newest - bucket >= 8 * RATE_BUCKETS:
        # Start over after a second of silence, or if the clock has gone back.
        memset(window.bytes, 0, sizeof(window.bytes))
        window.first = window.newest = bucket
    for i in range(window.newest + 1, bucket + 1):
        window.bytes[i % RATE_BUCKETS] = 0
    if bucket > window.newest:
        window.newest = bucket
    if window.newest - bucket < RATE_BUCKETS:
        window.bytes[bucket % RATE_BUCKETS] += size


cdef double rate(const RateWindow* window, int buckets) noexcept nogil:
    """Return the rate (bit/s) over the latest complete buckets, at most `buckets`, or 0 if there are fewer
    than four.
    """
    cdef int64_t oldest = max(window.newest - min(buckets, RATE_BUCKETS - 1), window.first)
    cdef int64_t total = 0, i
    if window.newest - oldest < 4:
        return 0.0
    for i in range(oldest, window.newest):
        total += window.bytes[i % RATE_BUCKETS]
    return <double>total * 8e9 / <double>((window.newest - oldest) * BUCKET_NS)
