"""RateControl: computes the rate that the delay permits, with additive increase and multiplicative decrease.

While the queue grows, the rate falls to 0.85 of the received rate. Otherwise it rises: by 8 % a second if the
capacity is unknown or clearly higher, and by about a packet per round trip near the capacity. It does not
exceed one and a half times the received rate, because no higher rate has been tried. See docs/bandwidth.md,
"Rate".
"""

from libc.math cimport cbrt, pow, sqrt

from svc._rtp.delay_trend cimport OVERUSE, UNDERUSE

cdef double BACK_OFF = 0.85
cdef double GROWTH_PER_S = 1.08
cdef double MAX_OVER_DELIVERED = 1.5
cdef double MARGIN_BPS = 10_000.0
# One packet of 1200 bytes per response time: the round trip plus the feedback interval.
cdef double PACKET_BITS = 9600.0
cdef double FEEDBACK_S = 0.1
cdef double MIN_ADDITION_BPS = 4000.0
# The weight of a new observation in the mean capacity, and the limits for the relative variance.
cdef double CAPACITY_WEIGHT = 0.05
cdef double MIN_DEVIATION = 0.4
cdef double MAX_DEVIATION = 2.5
# The minimum time between decreases is a round trip, within these limits (ns).
cdef int64_t MIN_SPACING = 50_000_000
cdef int64_t MAX_SPACING = 200_000_000
# A long queue is drained. The longer it is, the lower the rate, down to half of the received rate.
cdef double DRAIN_PER_S = 1.5
cdef double MAX_DRAIN = 0.5
cdef int64_t DRAINED = 40_000_000
cdef int64_t NO_QUEUE = 10_000_000
cdef int64_t DRAIN_TIME = 1_500_000_000
# The length above which a queue is long, and the time after which a long queue counts as persistent (ns).
cdef int64_t LONG_QUEUE = 100_000_000
cdef int64_t MAX_STANDING = 500_000_000
# If less than this share of the estimate arrives, decrease immediately.
cdef double COLLAPSE = 0.6
# On a busy machine, packets arrive late and all at once, so a single report may show too low a rate.
cdef int MIN_COLLAPSES = 3
cdef double STALE = 0.8
# A sender that uses less than this share of the estimate does not test the downlink.
cdef double LIMITED = 0.65
# On a busy machine, packets arrive late as if they had queued. Without a queue, a sender that uses less than
# this share of the estimate does not test the downlink either.
cdef double NEARLY = 0.9
# How long to assume that a competing flow exists (ns), and the response to losses in that time, as in TCP.
cdef int64_t COMPETITION = 15_000_000_000
# A wrong assumption ends after this time (ns), even if losses seem to confirm it.
cdef int64_t MAX_COMPETITION = 60_000_000_000
cdef int MAX_FUTILE = 2
cdef int64_t MIN_FUTILE_QUEUE = 60_000_000
# The effect of a decrease is judged by the length of the queue between these times after the decrease (ns).
# Later, the queue has other causes.
cdef int64_t MIN_EFFECT_TIME = 150_000_000
cdef int64_t MAX_EFFECT_TIME = 3_000_000_000
cdef double MIN_THROUGH = 0.7
cdef double EFFECT = 0.6
cdef double NOTICEABLE = 0.95
cdef double COMPETING_LOSS = 0.01
cdef double COMPETING_BACK_OFF = 0.7
# With a competing flow, decreases are at least a round trip plus this time (ns) apart, which covers two
# observations of losses. Losses reported sooner may be older than the previous decrease.
cdef int64_t COMPETING_SPACING = 700_000_000
# With a competing flow, the rate grows like CUBIC's (RFC 9438, section 4.2).
cdef double CUBIC = 0.4
cdef double TCP_PACKET_BITS = 12_000.0
# With a competing flow, a decrease starts from at most this multiple of the sent rate. A sender that uses
# less than its share then loses only spare capacity at the first loss.
cdef double MAX_UNTRIED = 1.6
# While the queue is shorter than this (ns), the received rate shows the downlink's capacity.
cdef int64_t SHORT_QUEUE = 30_000_000


cdef void set_estimate(RateControl* control, double estimate) noexcept nogil:
    """Adopt the result of a probe."""
    control.estimate = estimate
    control.probed = True
    control.resume = 0.0
    if control.capacity and estimate > control.capacity + margin(control):
        control.capacity = 0.0


cdef void update(RateControl* control, const Delivery* delivery, int64_t now) noexcept nogil:
    """Update the rate from the last feedback."""
    cdef double elapsed_s = min(<double>(now - control.updated_at) / 1e9, 1.0) if control.updated_at else 0.0
    cdef bint overused = delivery.usage == OVERUSE or delivery.stepped
    control.updated_at = now
    control.lowest_queue = min(control.lowest_queue, delivery.queue)
    if delivery.queue < LONG_QUEUE:
        control.standing_since = 0
    elif control.standing_since == 0:
        control.standing_since = now
    if delivery.probing or not (delivery.stepped or (
            0 < delivery.recent < COLLAPSE * min(control.estimate, delivery.steadily_sent)
            and delivery.lost > COMPETING_LOSS)):
        control.collapses = 0
    else:
        control.collapses += 1
    if now < control.competing_until and control.collapses >= MIN_COLLAPSES:
        # A flow that competes fairly causes neither a sudden queue nor a collapse, so no such flow exists.
        control.competing_until = 0
        overused = True
    if now < control.competing_until:
        compete(control, delivery, now)
        return
    if delivery.queue < DRAINED:
        control.plateau = 0.0
    if control.resume:
        drain(control, delivery, overused, now)
    elif overused or (control.standing_since and now - control.standing_since > MAX_STANDING):
        decrease(control, delivery, now)
    elif delivery.usage != UNDERUSE:
        increase(control, delivery, elapsed_s)


cdef void drain(RateControl* control, const Delivery* delivery, bint overused, int64_t now) noexcept nogil:
    """Wait until the queue is empty. A queue that persists although we send less belongs to another flow."""
    if delivery.queue < DRAINED:
        control.estimate = max(control.estimate, control.resume)
        control.resume = 0.0
    elif overused:
        decrease(control, delivery, now)
    elif now > control.draining_until:
        control.estimate = max(control.estimate, control.resume)
        control.resume = 0.0
        if delivery.follows:
            begin_competition(control, delivery, now)


cdef void begin_competition(RateControl* control, const Delivery* delivery, int64_t now) noexcept nogil:
    """Start competing. Aim for the previous plateau or the current estimate, whichever is higher."""
    control.competing_since = now
    control.competing_until = now + COMPETITION
    grow_to(control, delivery, max(control.plateau, control.estimate), now)


cdef void grow_to(RateControl* control, const Delivery* delivery, double plateau, int64_t now) noexcept nogil:
    """Make the rate grow like CUBIC's: fast up to `plateau`, slowly near it, and then faster and faster."""
    control.plateau = plateau
    control.plateau_at = now + <int64_t>(1e9 * cbrt((plateau - control.estimate) / curvature(delivery)))


cdef void compete(RateControl* control, const Delivery* delivery, int64_t now) noexcept nogil:
    """Compete with a flow that always fills the queue, so that only losses show that the rate is too high."""
    cdef double since_s = <double>(now - control.plateau_at) / 1e9
    cdef double tried = control.estimate
    if delivery.lost > COMPETING_LOSS:
        if delivery.steadily_sent:
            tried = min(tried, MAX_UNTRIED * delivery.steadily_sent)
        if now - control.decreased_at >= COMPETING_SPACING + delivery.rtt:
            control.estimate = COMPETING_BACK_OFF * tried
            grow_to(control, delivery, tried, now)
            control.decreased_at = now
            if delivery.follows:
                # The decrease would have emptied a queue that we caused.
                control.competing_until = min(now + COMPETITION, control.competing_since + MAX_COMPETITION)
    elif delivery.queue < NO_QUEUE:
        # The other flow has ended.
        control.competing_until = 0
    else:
        grow(control, delivery, control.plateau + curvature(delivery) * since_s * since_s * since_s)


cdef inline double curvature(const Delivery* delivery) noexcept nogil:
    """Return the factor of CUBIC's curve, for a rate in bit/s and a time in seconds."""
    return CUBIC * TCP_PACKET_BITS * 1e9 / <double>max(delivery.rtt, MIN_SPACING)


cdef void decrease(RateControl* control, const Delivery* delivery, int64_t now) noexcept nogil:
    cdef double through = delivery.recent if delivery.recent else control.estimate
    cdef double estimate = BACK_OFF * through
    cdef bint collapsed = through < COLLAPSE * control.estimate or (
        # The previous decrease used an earlier received rate.
        through < control.resume and through < STALE * delivery.sent)
    if not collapsed and (control.resume or
                          now - control.decreased_at < min(max(delivery.rtt, MIN_SPACING), MAX_SPACING)):
        return
    if estimate > control.estimate and control.capacity:
        estimate = BACK_OFF * control.capacity
    elif not delivery.stepped and through > STALE * delivery.sent and delivery.sent < control.estimate * (
            NEARLY if delivery.queue < SHORT_QUEUE else LIMITED if delivery.queue < LONG_QUEUE else 0.0):
        # Little was sent and all of it arrived, so the received rate is not the downlink's capacity.
        estimate = BACK_OFF * control.estimate
    learn_capacity(control, through)
    if is_futile(control, delivery, now):
        control.futile = 0
        begin_competition(control, delivery, now)
        return
    control.queue_then = control.lowest_queue = delivery.queue
    if delivery.queue > LONG_QUEUE:
        if control.resume == 0:
            control.draining_until = now + DRAIN_TIME
        control.resume = estimate
        if delivery.follows or delivery.stepped:
            estimate *= 1 - min(DRAIN_PER_S * <double>delivery.queue / 1e9, MAX_DRAIN)
    control.lowered = estimate < NOTICEABLE * control.estimate
    if estimate < control.estimate:
        control.estimate = estimate
        control.probed = False
    control.decreased_at = now


cdef bint is_futile(RateControl* control, const Delivery* delivery, int64_t now) noexcept nogil:
    """Return whether decreases no longer shorten the queue, although less is sent and all of it arrives."""
    cdef int64_t since = now - control.decreased_at
    if since > MAX_EFFECT_TIME or not delivery.follows or delivery.stepped or (
            delivery.recent < MIN_THROUGH * control.estimate or delivery.queue < MIN_FUTILE_QUEUE
            or control.lowest_queue < EFFECT * <double>control.queue_then):
        control.futile = 0
    elif control.lowered and since > delivery.rtt + MIN_EFFECT_TIME:
        control.futile += 1
    return control.futile >= MAX_FUTILE


cdef void increase(RateControl* control, const Delivery* delivery, double elapsed_s) noexcept nogil:
    cdef double rtt_s = <double>delivery.rtt / 1e9
    cdef double estimate = control.estimate
    if delivery.smooth == 0:
        return
    if control.capacity and delivery.smooth > control.capacity + margin(control):
        control.capacity = 0.0
    if control.capacity and estimate > control.capacity - margin(control):
        estimate += elapsed_s * max(PACKET_BITS / (rtt_s + FEEDBACK_S), MIN_ADDITION_BPS)
    else:
        estimate += max(estimate * (pow(GROWTH_PER_S, elapsed_s) - 1), MIN_ADDITION_BPS * elapsed_s)
    if delivery.queue < SHORT_QUEUE:
        # The downlink carries this rate, regardless of the estimate.
        estimate = max(estimate, delivery.smooth)
    grow(control, delivery, estimate)


cdef void grow(RateControl* control, const Delivery* delivery, double estimate) noexcept nogil:
    """Raise the rate, but not far beyond the delivered rate."""
    cdef double maximum = MAX_OVER_DELIVERED * delivery.smooth + MARGIN_BPS
    estimate = min(estimate, maximum)
    if estimate > control.estimate:
        if estimate > control.estimate * 1.01:
            control.probed = False
        control.estimate = estimate


cdef inline double margin(const RateControl* control) noexcept nogil:
    """Return three times the standard deviation of the capacity."""
    return 3000.0 * sqrt(control.deviation * control.capacity / 1000.0)


cdef void learn_capacity(RateControl* control, double through) noexcept nogil:
    cdef double difference
    if control.capacity and through < control.capacity - margin(control):
        control.capacity = 0.0
    if control.capacity == 0:
        control.capacity = through
        control.deviation = MIN_DEVIATION
        return
    difference = (through - control.capacity) / 1000.0
    control.capacity += CAPACITY_WEIGHT * (through - control.capacity)
    control.deviation = (1 - CAPACITY_WEIGHT) * control.deviation + (
        CAPACITY_WEIGHT * difference * difference / max(control.capacity / 1000.0, 1.0))
    control.deviation = min(max(control.deviation, MIN_DEVIATION), MAX_DEVIATION)
