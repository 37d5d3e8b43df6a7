"""DelayTrend: detects a growing queue on the way to a receiver.

Accumulates and smooths the differences between groups, fits a line through the last 20 values, and compares
its slope with a threshold that adapts to the downlink. QueueDelay measures the queue relative to the fastest
packet in the last 20 s, so the clocks need not agree. See docs/bandwidth.md, "Delay".
"""

# The weight of the old value when the accumulated delay is smoothed.
cdef double SMOOTHING = 0.9
# A slope has more weight if it is based on more groups, up to MAX_GAIN_COUNT groups.
cdef double TREND_GAIN = 4.0
cdef int MAX_GAIN_COUNT = 60
cdef int MAX_COUNT = 1000
# The threshold (ms) follows the trend, falling quickly and rising slowly. It must rise so that a parallel TCP
# flow that keeps its queue full does not starve us.
cdef double FIRST_THRESHOLD = 12.5
cdef double MIN_THRESHOLD = 6.0
cdef double MAX_THRESHOLD = 600.0
cdef double RISE = 0.0087
cdef double FALL = 0.039
# A single spike must not raise the threshold.
cdef double MAX_ADAPTED_EXCESS = 15.0
cdef double MAX_ADAPTED_MS = 100.0
# How long the trend must stay above the threshold to count as a growing queue (ms).
cdef double OVERUSE_MS = 10.0
# The length of each period for which QueueDelay stores the fastest packet (ns). Clocks drift by less than 1
# ms in 20 s.
cdef int64_t BASE_PERIOD = 5_000_000_000
# If the fastest packets of this many short periods took equally long (to within LEVEL, ns) and no packet was
# lost, they did not wait in a queue, because every queue grows and shrinks, whether filled by us or by
# another flow. The path must have become longer. A difference below MIN_STEP does not matter.
cdef int64_t FLOOR_PERIOD = 250_000_000
cdef int LEVEL_PERIODS = 8
cdef int64_t LEVEL = 2_000_000
cdef int64_t MIN_STEP = 20_000_000


cdef void reset(DelayTrend* trend) noexcept nogil:
    """Forget all groups, but keep the threshold, because a new path usually has similar jitter."""
    cdef double threshold = trend.threshold if trend.threshold > 0 else FIRST_THRESHOLD
    trend.usage = NORMAL
    trend.count = trend.at = trend.over_count = 0
    trend.accumulated = trend.smoothed = trend.slope = 0.0
    trend.over_ms = -1.0
    trend.adapted_at = 0
    trend.threshold = threshold


cdef void update(DelayTrend* trend, const GroupDelta* delta) noexcept nogil:
    """Add the comparison of one more group."""
    cdef double slope = trend.slope
    if trend.count == 0:
        trend.first_arrival = delta.arrival
    trend.accumulated += <double>(delta.arrived - delta.sent) / 1e6
    trend.smoothed = SMOOTHING * trend.smoothed + (1 - SMOOTHING) * trend.accumulated
    trend.arrivals[trend.at] = <double>(delta.arrival - trend.first_arrival) / 1e6
    trend.delays[trend.at] = trend.smoothed
    trend.at = (trend.at + 1) % TREND_WINDOW
    if trend.count < MAX_COUNT:
        trend.count += 1
    if trend.count >= TREND_WINDOW:
        slope = regression(trend)
    detect(trend, slope, delta)


cdef double regression(const DelayTrend* trend) noexcept nogil:
    """Return the slope of the least-squares line through the window."""
    cdef double mean_x = 0.0, mean_y = 0.0, above = 0.0, below = 0.0, x
    cdef int i
    for i in range(TREND_WINDOW):
        mean_x += trend.arrivals[i]
        mean_y += trend.delays[i]
    mean_x /= TREND_WINDOW
    mean_y /= TREND_WINDOW
    for i in range(TREND_WINDOW):
        x = trend.arrivals[i] - mean_x
        above += x * (trend.delays[i] - mean_y)
        below += x * x
    return above / below if below > 0 else trend.slope


cdef void detect(DelayTrend* trend, double slope, const GroupDelta* delta) noexcept nogil:
    """Compare the slope with the threshold, then adapt the threshold."""
    cdef double scaled = slope * min(trend.count, MAX_GAIN_COUNT) * TREND_GAIN
    cdef double sent_ms = <double>delta.sent / 1e6
    if scaled > trend.threshold:
        # Count half of the first interval, because the threshold was crossed somewhere within it.
        trend.over_ms = sent_ms / 2 if trend.over_ms < 0 else trend.over_ms + sent_ms
        trend.over_count += 1
        if trend.over_ms > OVERUSE_MS and trend.over_count > 1 and slope >= trend.slope:
            trend.over_ms = 0
            trend.over_count = 0
            trend.usage = OVERUSE
    else:
        trend.over_ms = -1.0
        trend.over_count = 0
        trend.usage = UNDERUSE if scaled < -trend.threshold else NORMAL
    trend.slope = slope
    adapt(trend, scaled, delta.arrival)


cdef void adapt(DelayTrend* trend, double scaled, int64_t now) noexcept nogil:
    cdef double size = scaled if scaled >= 0 else -scaled
    cdef double elapsed_ms
    if trend.adapted_at == 0:
        trend.adapted_at = now
    if size <= trend.threshold + MAX_ADAPTED_EXCESS:
        elapsed_ms = min(<double>(now - trend.adapted_at) / 1e6, MAX_ADAPTED_MS)
        trend.threshold += (FALL if size < trend.threshold else RISE) * (size - trend.threshold) * elapsed_ms
        trend.threshold = min(max(trend.threshold, MIN_THRESHOLD), MAX_THRESHOLD)
    trend.adapted_at = now


# --- queue delay ---


cdef int64_t measure_queue(QueueDelay* queue, int64_t sent, int64_t arrival) noexcept nogil:
    """Return how much longer a packet was in transit than the fastest packet (ns)."""
    cdef int64_t way = arrival - sent
    cdef int64_t base
    cdef int64_t oldest = queue.bases[BASE_PERIODS - 1]
    cdef int i
    if queue.periods == 0 or sent - queue.period_began >= BASE_PERIOD:
        for i in range(BASE_PERIODS - 1, 0, -1):
            queue.bases[i] = queue.bases[i - 1]
        if queue.kept and queue.periods == BASE_PERIODS:
            queue.bases[BASE_PERIODS - 1] = min(queue.bases[BASE_PERIODS - 1], oldest)
        queue.bases[0] = way
        queue.period_began = sent
        queue.periods = <int>min(queue.periods + 1, <int>BASE_PERIODS)
    queue.bases[0] = min(queue.bases[0], way)
    base = queue.bases[0]
    for i in range(1, queue.periods):
        base = min(base, queue.bases[i])
    if is_level(queue, sent, way) and queue.level - base >= MIN_STEP:
        for i in range(queue.periods):
            queue.bases[i] = queue.level
        base = min(way, queue.level)
    queue.last = way - base
    return queue.last


cdef inline bint is_level(QueueDelay* queue, int64_t sent, int64_t way) noexcept nogil:
    """Add a transit time. Return whether the shortest transit time has now been level for LEVEL_PERIODS."""
    cdef bint level
    if sent - queue.floor_began < FLOOR_PERIOD:
        queue.floor = min(queue.floor, way)
        return False
    if queue.level_periods and sent - queue.floor_began < 2 * FLOOR_PERIOD and (
            -LEVEL <= queue.floor - queue.level <= LEVEL):
        queue.level_periods += 1
    else:
        queue.level = queue.floor
        queue.level_periods = 1
    queue.floor = way
    queue.floor_began = sent
    level = queue.level_periods >= LEVEL_PERIODS
    if level:
        queue.level_periods = 1
    return level


cdef void forget_level(QueueDelay* queue) noexcept nogil:
    """Start again after a loss, because the delay of a queue that is always full is level too."""
    queue.level_periods = 0
    queue.floor_began = 0
