"""RateControl: computes the rate that the delay permits, with additive increase and multiplicative
decrease.
"""

from libc.stdint cimport int64_t

from svc._rtp.delay_trend cimport Usage

cdef struct RateControl:
    double estimate         # bit/s
    bint probed             # a probe set the estimate last
    double capacity         # bit/s: mean rate received when the queue grew, or 0 if unknown
    double deviation        # relative variance of the capacity, in kbit/s
    double resume           # bit/s: rate to resume when the queue is empty, or 0 if not draining
    int64_t draining_until  # ns: a queue that is not empty by then belongs to another flow
    int64_t standing_since  # ns: when the queue became long, or 0 if it is short
    int64_t competing_since # ns
    int64_t competing_until # ns: until then the queue is attributed to another flow
    double plateau          # bit/s: rate before the last decrease alongside another flow
    int64_t plateau_at      # ns: when the rate is due back at the plateau
    int64_t updated_at      # ns
    int64_t decreased_at    # ns
    int collapses           # consecutive reports in which much less arrived than was sent
    bint lowered            # the last decrease was 5 % or more
    int64_t queue_then      # ns: queue at the last decrease
    int64_t lowest_queue    # ns: shortest queue since the last decrease
    int futile              # consecutive decreases that did not shorten the queue


cdef struct Delivery:       # the state of the downlink, according to the last feedback
    double recent           # bit/s received in the last 200 ms, or 0 if unknown
    double smooth           # bit/s received in the last 500 ms, or 0 if unknown
    double sent             # bit/s sent in 200 ms, counting only reported packets
    double steadily_sent    # bit/s sent in 500 ms, counting only reported packets
    int64_t queue           # ns
    int64_t rtt             # ns
    Usage usage
    bint stepped            # the queue has grown suddenly, and less arrives than is sent
    bint follows            # the sender obeys the estimate
    bint probing            # some of the sent packets may be a probe
    double lost             # share of recently reported packets that were lost


cdef void update(RateControl* control, const Delivery* delivery, int64_t now) noexcept nogil
cdef void set_estimate(RateControl* control, double estimate) noexcept nogil


cdef inline bint is_competing(const RateControl* control, int64_t now) noexcept nogil:
    """Return whether another flow fills the queue, so that delay reveals nothing about our rate."""
    return now < control.competing_until
