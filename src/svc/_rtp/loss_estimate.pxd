"""LossEstimate: the rate above which packets are lost, told apart from what the line loses at any rate."""

from libc.stdint cimport int64_t, uint32_t

cdef enum:
    OBSERVATIONS = 20


cdef struct Observation:    # what was reported of about 250 ms
    double packets
    double lost
    double rate             # bit/s, as sent


cdef struct LossEstimate:
    Observation observations[OBSERVATIONS]  # a ring
    int count               # of all, at most OBSERVATIONS
    int at                  # where the next one goes
    double inherent         # the share that the line loses at any rate
    double limit            # bit/s; 0 = unknown
    bint limiting           # the limit is below what the delay allows
    int64_t held_until      # ns: until then the limit hardly rises, and no probe lifts it
    int64_t hold            # ns: how long the next time
    int64_t limited_at      # ns: when it was last limiting
    # The observation that is being made.
    uint32_t packets
    int64_t lost            # less those that turned out to have been late
    uint32_t bytes
    int64_t began           # ns, when its first packet was sent
    int64_t ended


cdef void note_packet(LossEstimate* loss, int64_t sent, uint32_t size, bint lost) noexcept nogil
cdef bint observe(LossEstimate* loss) noexcept nogil
cdef void update_limit(LossEstimate* loss, double by_delay, double delivered, bint queued,
                       int64_t now) noexcept nogil
cdef bint was_limiting(const LossEstimate* loss, int64_t now) noexcept nogil
cdef double latest_loss(const LossEstimate* loss) noexcept nogil
cdef double average_loss(const LossEstimate* loss) noexcept nogil
