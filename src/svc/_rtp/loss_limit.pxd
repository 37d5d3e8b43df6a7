"""LossLimit: estimates the rate above which packets are lost, apart from losses that occur at every
rate.
"""

from libc.stdint cimport int64_t, uint32_t

cdef enum:
    OBSERVATIONS = 20


cdef struct Observation:    # feedback on 250 ms of packets
    double packets
    double lost
    double rate             # bit/s sent


cdef struct LossLimit:
    Observation observations[OBSERVATIONS]  # ring buffer
    int count               # observations made, at most OBSERVATIONS
    int at                  # index for the next observation
    double inherent         # share of packets that the downlink loses at every rate
    double limit            # bit/s, or 0 if unknown
    bint limiting           # the limit is below the rate that the delay allows
    int64_t held_until      # ns: until then the limit hardly rises and probes do not raise it
    int64_t hold            # ns: duration of the next hold
    int64_t limited_at      # ns: when the limit last applied
    # The current observation.
    uint32_t packets
    int64_t lost            # packets reported lost, minus those that arrived late
    uint32_t bytes
    int64_t began           # ns: when its first packet was sent
    int64_t ended


cdef void note_packet(LossLimit* loss, int64_t sent, uint32_t size, bint lost) noexcept nogil
cdef bint observe(LossLimit* loss) noexcept nogil
cdef void update_limit(LossLimit* loss, double by_delay, double delivered, bint queued,
                       int64_t now) noexcept nogil
cdef bint was_limiting(const LossLimit* loss, int64_t now) noexcept nogil
cdef double latest_loss(const LossLimit* loss) noexcept nogil
cdef double average_loss(const LossLimit* loss) noexcept nogil
