"""Probing: decides when to try a higher rate and how much to send, and computes the result.

A probe consists of packets sent for 25 ms at the rate to be tried. Probing starts at three and six times the
first estimate, and continues at twice each result. Later, a probe is sent from time to time while the wanted
rate exceeds the estimate. A token bucket lets a short probe through at any rate, so a result far above the
known capacity is verified by a probe that empties the bucket first. Does not send packets: `bytes_due`
returns the number of bytes to send. See docs/bandwidth.md, "Probes".
"""

from libc.string cimport memset

from svc._rtp.sent_packets cimport SentPacket

cdef double FIRST_SCALE = 3.0
cdef double SECOND_SCALE = 6.0
cdef double NEXT_SCALE = 2.0
cdef double LIMITED_SCALE = 2.0         # if the sender uses much less than the estimate
cdef double FULL_SCALE = 1.5
# A result of at least this share of the tried rate leads to the next step immediately.
cdef double SUCCESS = 0.7
cdef double PROGRESS = 1.1            # times the previous estimate
# Packets are sent in bursts of 5 ms, because that is the tick interval.
cdef int64_t BURST = 5_000_000
cdef int64_t LENGTH = 25_000_000
# A cluster that could not be sent within this time is abandoned.
cdef int64_t MAX_LENGTH = 200_000_000
cdef uint32_t MIN_PACKETS = 5
# The minimum rate of a probe, at which each burst still contains a packet.
cdef double MIN_RATE = 150_000.0
# The maximum number of bytes due at a time, so that a late thread does not send its whole backlog.
cdef int64_t MAX_BURST_BYTES = 65_536
cdef int64_t RESULT_TIME = 1_000_000_000
# The interval between repeated probes, at which they cost about a twentieth of the rate.
cdef int64_t INTERVAL = 650_000_000
# After a decrease, a result that is more than this many times the carried rate must be verified. Until then,
# the result counts as the second multiple. A verification first sends packets at the third multiple (after a
# success, at NEXT_SCALE), until it has sent this many bits more than the downlink carries, which is more than
# a typical token bucket allows.
cdef double DOUBTED = 1.25
cdef double BELIEVED = 1.1
cdef double VERIFY_SCALE = 1.5
cdef double VERIFY_BITS = 95_000.0
cdef int64_t MAX_LEAD = 1_000_000_000
# A queue of this length shows that the downlink cannot carry the verification (ns).
cdef int64_t MAX_VERIFY_QUEUE = 15_000_000
# The time from a failed verification to the next verification.
cdef int64_t VERIFY_INTERVAL = 1_000_000_000
# The share of a cluster that must arrive for a result.
cdef double MIN_RECEIVED = 0.8
# If packets arrive this much faster than they were sent, the clocks or the reports are wrong.
cdef double MAX_RATIO = 2.0
# If sending took less than this share of the time that the arrivals took, the downlink cannot carry the sent
# rate.
cdef double UNSATURATED = 0.9
cdef double SATURATED_SHARE = 0.95


cdef bint consider(Probing* probing, double estimate, bint limited, int64_t now) noexcept nogil:
    """Request a probe if one is due. Return whether one was due. `limited` means that the sender does not use
    the whole estimate.
    """
    cdef double scale = LIMITED_SCALE if limited else FULL_SCALE
    if probing.wanted == 0 or probing.rate or probing.waiting_until > now:
        return False
    probing.second_rate = 0.0
    if estimate >= probing.wanted:
        return False
    if not probing.begun:
        probing.begun = True
        ask(probing, FIRST_SCALE * estimate, now)
        if FIRST_SCALE * estimate < probing.wanted:
            probing.second_rate = min(SECOND_SCALE * estimate, probing.wanted)
        return True
    if now < probing.next_probe:
        return False
    if limited and estimate < VERIFY_SCALE * probing.carried:
        # A higher result would not count until it is verified.
        ask(probing, min(scale * estimate, VERIFY_SCALE * probing.carried), now)
    else:
        ask(probing, scale * estimate, now)
    return True


cdef void ask(Probing* probing, double rate, int64_t now) noexcept nogil:
    probing.rate = min(max(rate, MIN_RATE), probing.wanted)
    probing.began = 0
    probing.lead = 0
    probing.results_above = SUCCESS * probing.rate
    probing.waiting_until = now + RESULT_TIME
    probing.next_probe = now + INTERVAL


cdef double believed(Probing* probing, double result, int64_t queue, int64_t now) noexcept nogil:
    """Return how much of a result counts, and request a verification of the rest if one is due."""
    cdef double scale = VERIFY_SCALE
    cdef double counts = BELIEVED * probing.carried
    if probing.carried == 0:
        return result
    if probing.verified:
        if result <= DOUBTED * probing.carried and queue <= MAX_VERIFY_QUEUE:
            # If there is no queue, the machine was busy, not the downlink.
            verify_again(probing, VERIFY_SCALE * probing.carried, now)
        elif result <= DOUBTED * probing.carried:
            verification_failed(probing, now)
        else:
            probing.carried = result
            scale = NEXT_SCALE
        counts = result
    elif result <= DOUBTED * probing.carried:
        return result
    if probing.rate == 0 and now >= probing.verify_after and probing.wanted > DOUBTED * probing.carried:
        verify(probing, scale * probing.carried, VERIFY_BITS, now)
    return counts


cdef void verify(Probing* probing, double rate, double bits, int64_t now) noexcept nogil:
    """Request a verification that exceeds the carried rate by this many bits."""
    ask(probing, rate, now)
    if probing.rate > probing.carried:
        probing.lead = min(<int64_t>(bits * 1e9 / (probing.rate - probing.carried)), MAX_LEAD)
        probing.waiting_until += probing.lead


cdef void verify_again(Probing* probing, double rate, int64_t now) noexcept nogil:
    """Repeat a verification that yielded no result. A token bucket can hardly have refilled in the
    meantime.
    """
    if probing.rate == 0 and probing.carried:
        verify(probing, rate, VERIFY_BITS / 3, now)


cdef void watch_queue(Probing* probing, int64_t queue, int64_t now) noexcept nogil:
    """Stop a verification that the downlink cannot carry."""
    if probing.leading and queue > MAX_VERIFY_QUEUE:
        probing.rate = 0.0
        probing.lead = 0
        probing.leading = False
        probing.waiting_until = 0
        verification_failed(probing, now)


cdef void verification_failed(Probing* probing, int64_t now) noexcept nogil:
    probing.verify_after = now + VERIFY_INTERVAL


cdef void take_up(Probing* probing, SentPackets* sent, int64_t now) noexcept nogil:
    """Start the requested cluster. All packets sent from now on belong to it."""
    cdef Cluster* cluster
    probing.last_number = <uint8_t>(probing.last_number % 254 + 1)
    probing.began = now
    probing.first_number = sent.next_number
    cluster = &probing.clusters[probing.last_number % CLUSTERS]
    memset(cluster, 0, sizeof(Cluster))
    cluster.number = probing.last_number
    cluster.rate = probing.rate
    cluster.verifies = probing.lead > 0
    sent.cluster = probing.last_number


cdef int64_t bytes_due(Probing* probing, SentPackets* sent, int64_t now) noexcept nogil:
    """Start the cluster if one is requested. Return how many bytes to send now, including media."""
    cdef int64_t elapsed, bytes, number
    cdef uint32_t packets = 0
    cdef SentPacket* packet
    if probing.rate == 0:
        return 0
    if probing.began == 0 and probing.lead > 0:
        probing.began = now
        probing.first_number = sent.next_number
        probing.leading = True
    elif probing.began == 0 or (probing.leading and now - probing.began >= probing.lead):
        probing.leading = False
        take_up(probing, sent, now)
    elapsed = now - probing.began
    if not probing.leading:
        elapsed = min(elapsed, 2 * LENGTH)
    bytes = <int64_t>(probing.rate * <double>(elapsed + BURST) / 8e9)
    for number in range(max(probing.first_number, sent.next_number - sent.mask), sent.next_number):
        packet = &sent.packets[number & sent.mask]
        if packet.cluster == sent.cluster:
            bytes -= packet.size
            packets += 1
    if probing.leading:
        return min(max(bytes, <int64_t>0), MAX_BURST_BYTES)
    if elapsed >= LENGTH and packets < MIN_PACKETS:
        bytes = max(bytes, <int64_t>1)
    if (elapsed >= LENGTH and bytes <= 0) or now - probing.began > MAX_LENGTH:
        end_cluster(probing, sent, now)
        return 0
    return min(bytes, MAX_BURST_BYTES)


cdef void end_cluster(Probing* probing, SentPackets* sent, int64_t now) noexcept nogil:
    """End the cluster being sent and start the second cluster."""
    cdef Cluster* cluster = &probing.clusters[probing.last_number % CLUSTERS]
    cdef SentPacket* packet
    cdef int64_t number
    for number in range(max(probing.first_number, sent.next_number - sent.mask), sent.next_number):
        packet = &sent.packets[number & sent.mask]
        if packet.cluster == cluster.number:
            cluster.sent_packets += 1
            cluster.sent_bytes += packet.size
    sent.cluster = 0
    probing.lead = 0
    probing.rate = probing.second_rate
    probing.second_rate = 0.0
    probing.began = 0
    probing.waiting_until = now + RESULT_TIME
    if probing.rate:
        probing.results_above = SUCCESS * probing.rate


cdef void cluster_received(Probing* probing, uint8_t number, uint32_t size, int64_t sent, int64_t arrival) noexcept nogil:
    """Process a packet of a cluster that has arrived."""
    cdef Cluster* cluster = &probing.clusters[number % CLUSTERS]
    if cluster.number != number:
        return
    if cluster.packets == 0 or sent < cluster.first_sent:
        cluster.first_sent = sent
    if cluster.packets == 0 or sent > cluster.last_sent:
        cluster.last_sent = sent
        cluster.last_bytes = 0
    if sent == cluster.last_sent:
        cluster.last_bytes += size
    if cluster.packets == 0 or arrival < cluster.first_arrival:
        cluster.first_arrival = arrival
        cluster.first_bytes = size
    if cluster.packets == 0 or arrival > cluster.last_arrival:
        cluster.last_arrival = arrival
    cluster.packets += 1
    cluster.bytes += size


cdef double take_result(Probing* probing, int64_t now) noexcept nogil:
    """Return the downlink's capacity as shown by a cluster (bit/s), once per cluster, or 0 if there is no new
    result.
    """
    cdef double found = 0.0, result
    cdef Cluster* cluster
    cdef int i
    for i in range(CLUSTERS):
        cluster = &probing.clusters[i]
        if cluster.number == 0 or cluster.sent_packets == 0:
            continue
        if (cluster.packets < max(MIN_RECEIVED * cluster.sent_packets, 4.0)
                or cluster.bytes < MIN_RECEIVED * cluster.sent_bytes):
            continue
        result = measured(cluster)
        if result > found:
            found = result
            probing.verified = cluster.verifies
        if result == 0:
            # On a busy machine, packets can all arrive at the same time. Do not wait for a result.
            cluster.number = 0
            probing.waiting_until = 0
            probing.next_probe = min(probing.next_probe, now)
            if cluster.verifies:
                verify_again(probing, cluster.rate, now)
        elif cluster.packets >= cluster.sent_packets:
            cluster.number = 0
        else:
            # Packets that have yet to arrive belong to this cluster and must not count towards another.
            cluster.sent_packets = 0
    return found


cdef double measured(const Cluster* cluster) noexcept nogil:
    cdef double sent_ns = <double>(cluster.last_sent - cluster.first_sent)
    cdef double arrived_ns = <double>(cluster.last_arrival - cluster.first_arrival)
    if sent_ns <= 0 or arrived_ns <= 0 or sent_ns > 1e9 or arrived_ns > 1e9 or sent_ns > MAX_RATIO * arrived_ns:
        return 0.0
    if sent_ns < UNSATURATED * arrived_ns:
        return SATURATED_SHARE * <double>(cluster.bytes - cluster.first_bytes) * 8e9 / arrived_ns
    # Packets differ in size, so the same packets must count in both rates.
    return <double>(cluster.bytes - cluster.last_bytes) * 8e9 / max(sent_ns, arrived_ns)


cdef void go_on(Probing* probing, double result, double taken, double before, int64_t now) noexcept nogil:
    """Follow up a success immediately. `taken` is the part of `result` that counts, and `before` is the
    estimate before the probe.
    """
    if probing.rate or probing.wanted == 0:
        return
    if result >= probing.results_above and PROGRESS * before < taken < probing.wanted:
        ask(probing, NEXT_SCALE * taken, now)
    else:
        probing.waiting_until = 0
