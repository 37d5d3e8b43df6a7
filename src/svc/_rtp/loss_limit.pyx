"""LossLimit: estimates the rate above which packets are lost, apart from losses that occur at every rate.

The model has two parameters: the share lost at every rate (inherent loss), and a limit above which all the
excess is also lost. From a few candidates, the module selects the limit that makes the observations of the
last five seconds most likely. A downlink that loses a tenth of all packets therefore keeps its rate, but a
policer, which drops only the excess, is detected. See docs/bandwidth.md, "Loss".
"""

from libc.math cimport log

# The duration of one observation (ns). On an idle downlink, an observation lasts until the silence ends.
cdef int64_t OBSERVATION_TIME = 250_000_000
cdef int MIN_OBSERVATIONS = 3
# The weight of an observation decreases with age.
cdef double AGEING = 0.9
cdef double MIN_INHERENT = 0.001
# The largest inherent loss. If more is lost, the rate must be the cause. Slow downlinks are allowed a larger
# share, because a few packets are a large part of their traffic. libwebrtc uses 5 %, but a loss of 10 %
# without any queue is common on Wi-Fi.
cdef double MAX_INHERENT = 0.12
cdef double INHERENT_BPS = 75_000.0
# Above this share of loss, the limit is lowered immediately, without using the model.
cdef double HOPELESS = 0.16
# Bias per packet in favour of a higher limit, so that the estimate does not get stuck at a lower limit that
# explains the losses equally well.
cdef double BIAS_PER_KBPS = 0.0002
cdef double BIAS_PER_LOG = 0.02
# Above this average loss, there is no bias in favour of a higher limit.
cdef double BIASED_UP_TO = 0.15
cdef double NEWTON_STEP = 0.75
cdef int NEWTON_STEPS = 2
# The limit cannot start to apply while less than this share is lost.
cdef double MIN_LIMITING_LOSS = 0.01
cdef double LOWER_BOUND = 0.85          # as a share of the received rate
cdef double MAX_STEP_UP = 1.08          # per observation
cdef double HELD_STEP_UP = 1.01
# How long a limit is held after it last applied, how long until this hold is reset, and how long losses count
# as recent (ns).
cdef int64_t FIRST_HOLD = 2_000_000_000
cdef int64_t QUEUED_HOLD = 500_000_000
cdef int64_t FORGOTTEN = 15_000_000_000
cdef int64_t LATELY = 5_000_000_000
cdef int64_t MAX_HOLD = 30_000_000_000
cdef uint32_t LATEST_PACKETS = 20


cdef void note_packet(LossLimit* loss, int64_t sent, uint32_t size, bint lost) noexcept nogil:
    """Add one reported packet."""
    if loss.packets == 0:
        loss.began = loss.ended = sent
        loss.bytes = 0
    loss.packets += 1
    loss.bytes += size
    loss.lost += lost
    loss.ended = max(loss.ended, sent)


cdef bint observe(LossLimit* loss) noexcept nogil:
    """End the observation if it is long enough. Return whether it has ended."""
    cdef Observation* observation = &loss.observations[loss.at]
    if loss.packets == 0 or loss.ended - loss.began < OBSERVATION_TIME:
        return False
    observation.packets = loss.packets
    observation.lost = <double>min(max(loss.lost, <int64_t>0), <int64_t>loss.packets)
    observation.rate = <double>loss.bytes * 8e9 / <double>(loss.ended - loss.began)
    loss.at = (loss.at + 1) % OBSERVATIONS
    loss.count = <int>min(loss.count + 1, <int>OBSERVATIONS)
    loss.packets = loss.bytes = 0
    loss.lost = 0
    return True


cdef double average_loss(const LossLimit* loss) noexcept nogil:
    """Return the weighted share of packets that were lost."""
    cdef double packets = 0.0, lost = 0.0, weight = 1.0
    cdef int i
    for i in range(loss.count):
        packets += weight * newest(loss, i).packets
        lost += weight * newest(loss, i).lost
        weight *= AGEING
    return lost / packets if packets else 0.0


cdef inline const Observation* newest(const LossLimit* loss, int i) noexcept nogil:
    return &loss.observations[(loss.at - 1 - i + 2 * OBSERVATIONS) % OBSERVATIONS]


cdef inline double probability(double inherent, double limit, double rate) noexcept nogil:
    """Return the share of packets that is lost at `rate`, according to the model."""
    cdef double share = inherent
    if rate > limit:
        share += (1 - inherent) * (rate - limit) / rate
    return min(max(share, 1e-6), 1 - 1e-6)


cdef double likeliest_inherent(const LossLimit* loss, double limit) noexcept nogil:
    """Return the inherent loss that explains the observations best under this limit."""
    cdef double maximum = min(MAX_INHERENT + INHERENT_BPS / limit, 1.0)
    cdef double inherent = min(max(loss.inherent, MIN_INHERENT), maximum)
    cdef double first, second, share, kept, weight, below, above
    cdef const Observation* observation
    cdef int i, step
    for step in range(NEWTON_STEPS):
        first = second = 0.0
        weight = 1.0
        for i in range(loss.count):
            observation = newest(loss, i)
            share = probability(inherent, limit, observation.rate)
            kept = 1.0 if observation.rate <= limit else limit / observation.rate
            below = observation.lost / share
            above = (observation.packets - observation.lost) / (1 - share)
            first += weight * kept * (below - above)
            second -= weight * kept * kept * (below / share + above / (1 - share))
            weight *= AGEING
        if second == 0:
            break
        inherent = min(max(inherent - NEWTON_STEP * first / second, MIN_INHERENT), maximum)
    return inherent


cdef double likelihood(const LossLimit* loss, double limit, double inherent, double average) noexcept nogil:
    """Return how well the model explains the observations, with a bias towards higher limits."""
    cdef double bias = 0.0
    cdef double total = 0.0, weight = 1.0, share
    cdef const Observation* observation
    cdef int i
    if average < BIASED_UP_TO:
        bias = (1 - average / BIASED_UP_TO) * (BIAS_PER_KBPS * limit / 1000.0 + BIAS_PER_LOG * log(1 + limit / 1000.0))
    for i in range(loss.count):
        observation = newest(loss, i)
        share = probability(inherent, limit, observation.rate)
        total += weight * (observation.lost * log(share) + (observation.packets - observation.lost) * log(1 - share)
                           + bias * observation.packets)
        weight *= AGEING
    return total


cdef void update_limit(LossLimit* loss, double by_delay, double delivered, bint queued,
                       int64_t now) noexcept nogil:
    """Choose a limit after an observation.

    `by_delay` is the rate that the delay permits, and `delivered` the received rate (bit/s). `queued` means
    that packets wait in a queue on the way, so losses are caused by a full queue.
    """
    cdef double step = HELD_STEP_UP if now < loss.held_until else MAX_STEP_UP
    cdef double candidates[5]
    cdef double best = loss.limit, best_inherent = loss.inherent, best_likelihood = 0.0
    cdef double inherent, found, average = average_loss(loss)
    cdef int i
    if loss.limit == 0 or loss.count < MIN_OBSERVATIONS:
        loss.limit = by_delay
        loss.inherent = max(loss.inherent, MIN_INHERENT)
        return
    candidates[0] = loss.limit
    candidates[1] = 1.02 * loss.limit
    candidates[2] = 0.95 * loss.limit
    candidates[3] = delivered if delivered else loss.limit
    candidates[4] = by_delay
    for i in range(5):
        inherent = likeliest_inherent(loss, candidates[i])
        found = likelihood(loss, candidates[i], inherent, average)
        if i == 0 or found > best_likelihood:
            best_likelihood = found
            best = candidates[i]
            best_inherent = inherent
    if best > loss.limit:
        best = loss.limit if average > best_inherent * 1.2 + 0.005 else min(best, step * loss.limit)
    if average > HOPELESS:
        best = min(best, max(INHERENT_BPS / (average - HOPELESS), LOWER_BOUND * delivered))
    best = max(best, LOWER_BOUND * delivered)
    loss.inherent = best_inherent
    if best < by_delay and not loss.limiting and newest(loss, 0).lost < MIN_LIMITING_LOSS * newest(loss, 0).packets:
        # Nothing is lost, so the delay limits the rate.
        best = by_delay
    note_limiting(loss, best < by_delay, queued, now)
    # A limit above the rate that the delay permits has not been tested and is meaningless.
    loss.limit = min(best, by_delay)


cdef void note_limiting(LossLimit* loss, bint limiting, bint queued, int64_t now) noexcept nogil:
    """Hold a limit that applies again without a queue. Each hold is twice as long as the previous one,
    because each attempt to exceed the limit costs packets.
    """
    if limiting and not loss.limiting:
        if now - loss.limited_at > FORGOTTEN or loss.hold == 0:
            loss.hold = FIRST_HOLD
        loss.held_until = now + (QUEUED_HOLD if queued else loss.hold)
        if not queued:
            loss.hold = min(2 * loss.hold, MAX_HOLD)
    if limiting:
        loss.limited_at = now
    loss.limiting = limiting


cdef double latest_loss(const LossLimit* loss) noexcept nogil:
    """Return the share of packets lost since the last observation, or in the last observation if few packets
    have been reported since.
    """
    cdef const Observation* observation = newest(loss, 0)
    if loss.packets >= LATEST_PACKETS:
        return <double>max(loss.lost, <int64_t>0) / loss.packets
    return observation.lost / observation.packets if loss.count else 0.0


cdef bint was_limiting(const LossLimit* loss, int64_t now) noexcept nogil:
    """Return whether losses have recently revealed a limit."""
    return loss.limited_at > 0 and now - loss.limited_at < LATELY
