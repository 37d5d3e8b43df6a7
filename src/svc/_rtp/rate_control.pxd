"""RateControl: the rate that the delay allows, additive up and multiplicative down."""

from libc.stdint cimport int64_t

from svc._rtp.delay_trend cimport Usage

cdef struct RateControl:
    double estimate         # bit/s
    bint probed             # its last change was a probe's result
    double capacity         # bit/s: the mean of what came through when the queue grew; 0 = unknown
    double deviation        # of it, squared and relative, as kbit/s
    double resume           # bit/s: to go on with when the queue has emptied; 0 = it is not being let empty
    int64_t draining_until  # ns: a queue that has not emptied by then is somebody else's
    int64_t standing_since  # ns: since when the queue has been long; 0 = it is not
    int64_t competing_until # ns: until then the queue is taken to be somebody else's
    int64_t updated_at      # ns
    int64_t decreased_at    # ns
    bint lowered            # and by 5 % or more
    int64_t queue_then      # ns: the queue at that time
    int64_t lowest_queue    # ns: the shortest since then
    int futile              # decreases in a row after which the queue was no shorter


cdef struct Delivery:       # what the last feedback says of the line
    double recent           # bit/s that arrived in the last 200 ms; 0 = unknown
    double smooth           # bit/s that arrived in the last 500 ms; 0 = unknown
    double sent             # bit/s that were sent in 200 ms, of what has been reported
    int64_t queue           # ns
    int64_t rtt             # ns
    Usage usage
    bint stepped            # the queue has leapt, and less comes through than is sent
    bint follows            # the sender keeps to the estimate
    double lost             # share of what was reported lately


cdef void update(RateControl* control, const Delivery* delivery, int64_t now) noexcept nogil
cdef void set_estimate(RateControl* control, double estimate) noexcept nogil
