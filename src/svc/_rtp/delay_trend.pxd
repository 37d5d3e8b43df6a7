"""DelayTrend: detects a growing queue on the way to a receiver."""

from libc.stdint cimport int64_t

from svc._rtp.arrival_groups cimport GroupDelta

cdef enum:
    TREND_WINDOW = 20       # groups
    BASE_PERIODS = 4


cdef enum Usage:
    NORMAL
    OVERUSE                 # the queue is growing
    UNDERUSE                # the queue is shrinking


cdef struct DelayTrend:
    Usage usage
    double arrivals[TREND_WINDOW]   # ms since the first group
    double delays[TREND_WINDOW]     # ms, accumulated and smoothed
    int count               # groups added, at most MAX_COUNT
    int at                  # index for the next group
    int64_t first_arrival   # ns, the receiver's clock
    double accumulated      # ms: sum of all differences
    double smoothed         # ms
    double threshold        # ms
    double slope            # result of the last regression
    double over_ms          # time for which the trend has been above the threshold
    int over_count
    int64_t adapted_at      # ns, the receiver's clock


# Measures how much longer packets are in transit than the fastest packet of the last few seconds.
cdef struct QueueDelay:
    int64_t bases[BASE_PERIODS] # ns: the shortest transit time of each period
    int64_t period_began    # ns, our clock
    int periods             # number of periods in `bases`
    bint kept               # the queue never empties, so no period is forgotten
    int64_t floor           # ns: the shortest transit time of the current short period
    int64_t floor_began     # ns, our clock
    int64_t level           # ns: the shortest transit time of the last `level_periods` short periods
    int level_periods
    int64_t last            # ns: queue delay of the last packet


cdef void reset(DelayTrend* trend) noexcept nogil
cdef void update(DelayTrend* trend, const GroupDelta* delta) noexcept nogil
cdef int64_t measure_queue(QueueDelay* queue, int64_t sent, int64_t arrival) noexcept nogil
cdef void forget_level(QueueDelay* queue) noexcept nogil
