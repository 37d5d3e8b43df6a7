"""Bandwidth: estimates the bit rate of one receiver's downlink from the receiver's feedback."""

from libc.stdint cimport int64_t, uint32_t

from svc._rtp.arrival_groups cimport ArrivalGroups
from svc._rtp.delay_trend cimport DelayTrend, QueueDelay
from svc._rtp.loss_limit cimport LossLimit
from svc._rtp.probing cimport Probing
from svc._rtp.rate_control cimport RateControl
from svc._rtp.rate_window cimport RateWindow
from svc._rtp.sent_packets cimport SentPackets
from svc._rtp.twcc cimport PacketStatus

cdef enum Reason:           # for the estimate; Python uses the same numbers
    BY_DELAY
    BY_LOSS
    BY_PROBE
    BY_USE                  # less is sent than the downlink could carry, so the estimate might be too low


cdef struct Bandwidth:
    double estimate         # bit/s
    Reason reason
    bint known              # feedback has arrived, so the estimate is more than an initial guess
    Probing probing
    int low_results         # consecutive probes that found a rate far below the estimate
    int64_t rtt             # ns, including the delay of feedback, or 0 if unknown
    # Extended number of the first packet that the next feedback covers, or 0 if unknown.
    int64_t next_reported
    int64_t reported_at     # ns: when feedback last contained a new report
    int64_t punished_at     # ns: when the estimate was last lowered for lack of feedback
    int64_t reference       # reference time of the last feedback, unwrapped, or 0 before the first feedback
    int64_t previous_queue  # ns: queue delay at the last feedback
    int64_t queues[4]       # ns: queue delays of the packets that arrived last
    int next_queue
    int64_t longest_queue   # ns: longest queue delay since the last loss observation
    double allowed          # bit/s: the highest estimate of about the last second
    int64_t estimated_at    # ns
    double published        # bit/s: the estimate last reported to Python
    int64_t published_at    # ns: when it was reported, or 0 if never
    ArrivalGroups groups
    DelayTrend trend
    QueueDelay queue
    RateWindow delivered    # timed by the receiver's clock
    RateWindow sent         # timed by our clock, counting only reported packets
    RateControl control
    LossLimit loss


cdef void begin(Bandwidth* bandwidth) noexcept nogil
cdef int take_feedback(Bandwidth* bandwidth, SentPackets* sent, const PacketStatus* statuses, int count,
                       uint32_t reference, int64_t now) noexcept nogil
cdef void advance(Bandwidth* bandwidth, SentPackets* sent, int64_t now) noexcept nogil
