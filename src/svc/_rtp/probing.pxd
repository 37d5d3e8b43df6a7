"""Probing: decides when to try a higher rate and how much to send, and computes the result."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from svc._rtp.sent_packets cimport SentPackets

cdef enum:
    CLUSTERS = 4


cdef struct Cluster:        # packets sent faster than usual, and the reports on them
    uint8_t number          # 1 to 254, or 0 if none
    double rate             # bit/s to send
    bint verifies           # the packets before it emptied any token bucket
    uint32_t sent_packets
    uint32_t sent_bytes
    uint32_t packets        # received
    uint32_t bytes
    uint32_t first_bytes    # size of the packet that arrived first
    uint32_t last_bytes     # size of the packets that were sent together last
    int64_t first_sent      # ns, our clock
    int64_t last_sent
    int64_t first_arrival   # ns, the receiver's clock
    int64_t last_arrival


cdef struct Probing:
    double wanted           # bit/s that would be used if the downlink carried it, or 0 to send no probes
    Cluster clusters[CLUSTERS]  # by number
    uint8_t last_number
    # The cluster being sent.
    double rate             # bit/s, or 0 if none
    int64_t began           # ns
    int64_t first_number    # extended transport-wide number
    int64_t lead            # ns of packets before the cluster, to empty a token bucket, or 0 if none
    bint leading            # the packets before the cluster are being sent
    # The state after the cluster.
    double second_rate      # bit/s of a second cluster that does not wait for the first, or 0 if none
    double results_above    # bit/s: a higher result leads to a higher probe
    int64_t waiting_until   # ns: results may arrive until then, or 0 if none are expected
    int64_t next_probe      # ns
    bint begun              # the first probes were sent
    double carried          # bit/s that the downlink carried at the last decrease; 0 if none or exceeded
    bint verified           # the latest result is that of a verification
    int64_t verify_after    # ns


cdef bint consider(Probing* probing, double estimate, bint limited, int64_t now) noexcept nogil
cdef int64_t bytes_due(Probing* probing, SentPackets* sent, int64_t now) noexcept nogil
cdef void cluster_received(Probing* probing, uint8_t number, uint32_t size, int64_t sent, int64_t arrival) noexcept nogil
cdef double take_result(Probing* probing, int64_t now) noexcept nogil
cdef void go_on(Probing* probing, double result, double taken, double before, int64_t now) noexcept nogil
cdef double believed(Probing* probing, double result, int64_t queue, int64_t now) noexcept nogil
cdef void watch_queue(Probing* probing, int64_t queue, int64_t now) noexcept nogil
