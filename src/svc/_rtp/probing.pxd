"""Probing: when to try a higher rate, how much to send for it, and what it has shown."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from svc._rtp.sent_packets cimport SentPackets

cdef enum:
    CLUSTERS = 4


cdef struct Cluster:        # packets that were sent faster than usual, and what is reported of them
    uint8_t number          # 1 to 254; 0 = none
    double rate             # bit/s that were to be sent
    uint32_t sent_packets
    uint32_t sent_bytes
    uint32_t packets        # received
    uint32_t bytes
    uint32_t first_bytes    # of the packet that arrived first
    uint32_t last_bytes     # of those that were sent together last
    int64_t first_sent      # ns, our clock
    int64_t last_sent
    int64_t first_arrival   # ns, the receiver's
    int64_t last_arrival


cdef struct Probing:
    double wanted           # bit/s that would be used if the line carried it; 0 = do not probe
    Cluster clusters[CLUSTERS]  # by number
    uint8_t last_number
    # The cluster that is being sent.
    double rate             # bit/s; 0 = none
    int64_t began           # ns
    int64_t first_number    # extended transport-wide number
    # What follows.
    double second_rate      # bit/s: of a cluster that follows without waiting for the first; 0 = none
    double results_above    # bit/s: a result above this is followed by a higher probe
    int64_t waiting_until   # ns: results of what was sent may come until then; 0 = none is awaited
    int64_t next_probe      # ns
    int64_t interval        # ns
    bint begun              # the first probes have been sent


cdef bint consider(Probing* probing, double estimate, bint limited, int64_t now) noexcept nogil
cdef int64_t owed(Probing* probing, SentPackets* sent, int64_t now) noexcept nogil
cdef void cluster_received(Probing* probing, uint8_t number, uint32_t size, int64_t sent, int64_t arrival) noexcept nogil
cdef double take_result(Probing* probing) noexcept nogil
cdef void go_on(Probing* probing, double result, double taken, double before, int64_t now) noexcept nogil
cdef void hurry(Probing* probing, int64_t now) noexcept nogil
