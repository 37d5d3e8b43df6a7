"""Bandwidth: how many bits a second the line to one receiver carries, by what its feedback reports."""

from libc.stdint cimport int64_t, uint32_t

from svc._rtp.arrival_groups cimport ArrivalGroups
from svc._rtp.delay_trend cimport DelayTrend, QueueDelay
from svc._rtp.loss_estimate cimport LossEstimate
from svc._rtp.probing cimport Probing
from svc._rtp.rate_control cimport RateControl
from svc._rtp.rate_window cimport RateWindow
from svc._rtp.sent_packets cimport SentPackets
from svc._rtp.twcc cimport PacketStatus

cdef enum Reason:           # of the estimate; Python knows them under these numbers
    BY_DELAY
    BY_LOSS
    BY_PROBE
    BY_USE                  # less is sent than the line carries: it may carry more


cdef struct Bandwidth:
    double estimate         # bit/s
    Reason reason
    bint known              # feedback has come: the estimate is more than a first guess
    Probing probing
    int64_t rtt             # ns, feedback's delay included; 0 = unknown
    int64_t next_reported   # extended number: of the packet that the next feedback should begin with; 0 = unknown
    int64_t reported_at     # ns: when feedback last came that reported anything new
    int64_t punished_at     # ns: when the estimate was last lowered because none came
    int64_t reference       # of the last feedback, unwrapped; 0 = none has come
    int64_t previous_queue  # ns: at the last feedback
    int64_t longest_queue   # ns: since the last observation of losses
    double allowed          # bit/s: the estimates of about the last second, the highest
    int64_t estimated_at    # ns
    double told             # bit/s: what Python knows
    int64_t told_at         # ns; 0 = it knows nothing
    ArrivalGroups groups
    DelayTrend trend
    QueueDelay queue
    RateWindow delivered    # by the receiver's clock
    RateWindow sent         # by ours, of what has been reported
    RateControl control
    LossEstimate loss


cdef void begin(Bandwidth* bandwidth) noexcept nogil
cdef int take_feedback(Bandwidth* bandwidth, SentPackets* sent, const PacketStatus* statuses, int count,
                       uint32_t reference, int64_t now) noexcept nogil
cdef void advance(Bandwidth* bandwidth, SentPackets* sent, int64_t now) noexcept nogil
