"""Bandwidth: estimates the bit rate of one receiver's downlink from the receiver's feedback.

Combines arrival groups, the trend of their delay, the rate that the delay permits, the limit implied by
losses, and probes. Sans-I/O: the inputs are sent packets, reports and `now`, and the outputs are the
estimate, its reason and the bytes that a probe needs. Lowering the sent rate is up to the allocation. See
docs/bandwidth.md.
"""

from libc.stdint cimport uint16_t
from libc.string cimport memset

from svc._rtp.arrival_groups cimport GroupDelta, add
from svc._rtp.delay_trend cimport NORMAL, OVERUSE, Usage, forget_level, measure_queue, reset
from svc._rtp.delay_trend cimport update as update_trend
from svc._rtp.loss_limit cimport average_loss, latest_loss, note_packet, observe, update_limit, was_limiting
from svc._rtp.probing cimport (
    Probing, believed, bytes_due, cluster_received, consider, go_on, take_result, watch_queue)
from svc._rtp.rate_control cimport Delivery, is_competing, set_estimate
from svc._rtp.rate_control cimport update as update_control
from svc._rtp.rate_window cimport RATE_BUCKETS
from svc._rtp.rate_window cimport count as count_bytes, rate
from svc._rtp.sent_packets cimport NOT_TIMED, RECEIVED, REPORTED_LOST, UNDER_WAY, SentPacket, clear, find
from svc._rtp.sent_packets cimport forget_timing, init, note_sent, time_sent
from svc._rtp.sequence cimport extend

cdef double FIRST_ESTIMATE = 300_000.0
cdef double MIN_ESTIMATE = 20_000.0     # below this rate, not even audio gets through
cdef double MAX_ESTIMATE = 1e9
# Window lengths in buckets of 25 ms. The rate that determines the size of a decrease must be recent, and the
# rate that limits growth must be steady.
cdef int RECENT = 8
cdef int STEADY = 20
# The minimum rate that can be measured: five packets in the shorter window.
cdef double FEW_PACKETS_BPS = 240_000.0
# A sender that uses less than this share of the estimate does not test the downlink.
cdef double LIMITED_SHARE = 0.65
# A sender at or below this share of the estimate counts as obeying the estimate.
cdef double FOLLOWING_SHARE = 1.2
cdef int MIN_LOW_RESULTS = 2
cdef double WARY_STEP = 1.3
cdef double MAX_OVER_DELIVERED = 1.5
# A token bucket cannot sustain this multiple of the carried rate for a second.
cdef double SURPASSED = 2.5
# For this long after a decrease (ns), the measured rate still includes packets from before the downlink
# narrowed.
cdef int64_t SURPASSED_TIME = 1_000_000_000
cdef int64_t FORGET_ALLOWED = 1_000_000_000
# Feedback reference times count 64 ms in 24 bits (ns). Unwrapped times start high, so that none becomes
# negative, and stay low enough for nanoseconds in 64 bits.
cdef int64_t REFERENCE = 64_000_000
cdef int64_t REFERENCES = 1 << 24
cdef int64_t MAX_REFERENCES = 1 << 36
# Groups further apart than this belong to a different path, or to a machine that was suspended (ns).
cdef int64_t MAX_LEAP = 3_000_000_000
# A queue has grown suddenly if it is this long (ns), half of that is new since the last feedback, and at most
# this share of the sent rate arrives. This can be detected without a regression.
cdef int64_t LEAP_QUEUE = 100_000_000
cdef double LEAP_SHARE = 0.8
# If no packet sent during this time (ns) has arrived, the link was down. A downlink that is too narrow still
# delivers some packets.
cdef int64_t OUTAGE = 300_000_000
# If another flow still competes, it is detected again within this time (ns).
cdef int64_t CHECK_TIME = 3_000_000_000
# A queue shorter than this does not count as growing (ns).
cdef int64_t MIN_OVERUSE_QUEUE = 10_000_000
# Do not probe when the queue is longer than this (ns).
cdef int64_t MAX_PROBED_QUEUE = 60_000_000
# Above this share of loss, a probe would only cause more loss.
cdef double MAX_PROBED_LOSS = 0.25
# The estimate falls if packets were sent but no feedback arrives for this time (ns) and this many round
# trips.
cdef int64_t MIN_SILENCE = 1_000_000_000
cdef int64_t SILENCE_ROUND_TRIPS = 3
cdef double SILENCE_FACTOR = 0.8


cdef void begin(Bandwidth* bandwidth) noexcept nogil:
    """Initialise the state with a guessed estimate."""
    memset(bandwidth, 0, sizeof(Bandwidth))
    bandwidth.estimate = bandwidth.control.estimate = FIRST_ESTIMATE
    reset(&bandwidth.trend)


cdef int take_feedback(Bandwidth* bandwidth, SentPackets* sent, const PacketStatus* statuses, int count,
                       uint32_t reference, int64_t now) noexcept nogil:
    """Process a feedback packet. Return the number of packets with a new report.

    Packets that were never sent, have been forgotten, or were already reported as received do not count.
    """
    cdef int64_t shift = (unwrap(bandwidth, reference) - <int64_t>reference) * REFERENCE
    cdef int64_t newest = 0, sent_at
    cdef SentPacket* packet
    cdef int i, news = 0, losses_end = 0
    cdef bint down = False
    fill_gap(bandwidth, sent, statuses, count, shift, now)
    for i in range(count):
        packet = find(sent, statuses[i].sequence)
        if i >= losses_end:
            losses_end = end_of_losses(sent, statuses, count, i)
            down = losses_end > i and is_outage(sent, statuses[i].sequence, statuses[losses_end - 1].sequence, now)
            if down:
                bandwidth.loss.packets = 0
        if packet == NULL or packet.state == RECEIVED or (
                packet.state == REPORTED_LOST and not statuses[i].received):
            continue
        news += 1
        sent_at = time_sent(packet, now)
        if statuses[i].received:
            newest = max(newest, sent_at)
            received(bandwidth, packet, sent_at, statuses[i].arrival + shift)
        else:
            # This late copy of a packet lost in an outage reveals no more than the loss did.
            packet.state = RECEIVED if down else REPORTED_LOST
            forget_level(&bandwidth.queue)
            count_bytes(&bandwidth.sent, sent_at, packet.size)
            if not down:
                note_packet(&bandwidth.loss, sent_at, packet.size, True)
    if newest:
        # The round trip includes the delay of feedback, because the rate control depends on the total
        # response time.
        bandwidth.rtt += (now - newest - bandwidth.rtt) // 8 if bandwidth.rtt else now - newest
    if news:
        bandwidth.reported_at = now
        estimate(bandwidth, now)
    return news


cdef inline int end_of_losses(SentPackets* sent, const PacketStatus* statuses, int count, int begin) noexcept nogil:
    """Return the index after the losses that begin at `begin`.

    Resent packets do not end the run of losses, because the link may have delivered only the second copy.
    """
    cdef int i, end = begin
    cdef SentPacket* packet
    for i in range(begin, count):
        if not statuses[i].received:
            end = i + 1
            continue
        packet = find(sent, statuses[i].sequence) if end > begin else NULL
        if packet == NULL or packet.cluster != NOT_TIMED:
            break
    return end


cdef bint is_outage(SentPackets* sent, uint16_t first, uint16_t last, int64_t now) noexcept nogil:
    """Return whether consecutive losses took so long that the link must have been down."""
    cdef SentPacket* earliest = find(sent, first)
    cdef SentPacket* latest = find(sent, last)
    return earliest != NULL and latest != NULL and time_sent(latest, now) - time_sent(earliest, now) >= OUTAGE


cdef void fill_gap(Bandwidth* bandwidth, SentPackets* sent, const PacketStatus* statuses, int count, int64_t shift,
                   int64_t now) noexcept nogil:
    """Count packets as arrived if their feedback was lost. Otherwise the received rate would seem too low."""
    cdef const PacketStatus* first = statuses
    cdef SentPacket* packet
    cdef int64_t number, begin, late
    cdef int i = 0
    while i < count and not statuses[i].received:
        i += 1
    if i == count or find(sent, statuses[i].sequence) == NULL:
        return
    first = &statuses[i]
    begin = extend(sent.next_number - 1, statuses[0].sequence)
    late = first.arrival + shift - time_sent(find(sent, first.sequence), now)
    if bandwidth.next_reported:
        for number in range(max(bandwidth.next_reported, sent.next_number - sent.mask), begin):
            packet = &sent.packets[number & sent.mask]
            if packet.state == UNDER_WAY:
                packet.state = RECEIVED
                count_bytes(&bandwidth.delivered, time_sent(packet, now) + late, packet.size)
                count_bytes(&bandwidth.sent, time_sent(packet, now), packet.size)
    bandwidth.next_reported = max(bandwidth.next_reported, min(begin + count, sent.next_number))


cdef int64_t unwrap(Bandwidth* bandwidth, uint32_t reference) noexcept nogil:
    """Return an unwrapped reference time. The result stays within bounds for every input."""
    cdef int64_t step = (<int64_t>reference - bandwidth.reference) & (REFERENCES - 1)
    if step >= REFERENCES // 2:
        step -= REFERENCES
    if bandwidth.reference == 0 or not REFERENCES // 2 < bandwidth.reference + step < MAX_REFERENCES:
        bandwidth.reference = REFERENCES + reference
        bandwidth.groups.groups = 0
        reset(&bandwidth.trend)
        bandwidth.queue.periods = 0
    else:
        bandwidth.reference += step
    return bandwidth.reference


cdef void received(Bandwidth* bandwidth, SentPacket* packet, int64_t sent_at, int64_t arrival) noexcept nogil:
    """Account for one packet that has arrived."""
    cdef GroupDelta delta
    if packet.state == REPORTED_LOST:
        # The packet arrived late and was already counted as lost.
        bandwidth.loss.lost -= 1
    else:
        note_packet(&bandwidth.loss, sent_at, packet.size, False)
        count_bytes(&bandwidth.sent, sent_at, packet.size)
    packet.state = RECEIVED
    count_bytes(&bandwidth.delivered, arrival, packet.size)
    if packet.cluster == NOT_TIMED:
        return
    if packet.cluster:
        cluster_received(&bandwidth.probing, packet.cluster, packet.size, sent_at, arrival)
    bandwidth.longest_queue = max(bandwidth.longest_queue, measure_queue(&bandwidth.queue, sent_at, arrival))
    bandwidth.queues[bandwidth.next_queue] = bandwidth.queue.last
    bandwidth.next_queue = (bandwidth.next_queue + 1) & 3
    if add(&bandwidth.groups, sent_at, arrival, &delta):
        if not -MAX_LEAP < delta.arrived - delta.sent < MAX_LEAP:
            reset(&bandwidth.trend)
            bandwidth.queue.periods = 0
            return
        update_trend(&bandwidth.trend, &delta)


cdef void estimate(Bandwidth* bandwidth, int64_t now) noexcept nogil:
    """Update the estimate from the reports."""
    cdef Delivery delivery
    cdef double before = bandwidth.estimate
    cdef double sent_rate = rate(&bandwidth.sent, STEADY)
    cdef double result, taken
    cdef double kept = 1.0
    cdef bint limited = sent_rate < LIMITED_SHARE * before
    delivery.queue = bandwidth.queue.last
    if delivery.queue < MAX_PROBED_QUEUE:
        # A loss that occurs at every rate reveals nothing about the downlink's capacity.
        kept -= bandwidth.loss.inherent
    delivery.recent = recent_rate(bandwidth) / kept
    delivery.sent = rate(&bandwidth.sent, RECENT)
    delivery.steadily_sent = sent_rate
    delivery.smooth = rate(&bandwidth.delivered, STEADY) / kept
    delivery.rtt = bandwidth.rtt
    delivery.usage = usage_with_queue(bandwidth)
    delivery.stepped = (delivery.queue > LEAP_QUEUE and delivery.queue - bandwidth.previous_queue > LEAP_QUEUE // 2
                        and 0 < delivery.recent < LEAP_SHARE * min(sent_rate, before))
    bandwidth.allowed = max(before, bandwidth.allowed * (
        1 - min(<double>(now - bandwidth.estimated_at) / <double>FORGET_ALLOWED, 1.0)))
    bandwidth.estimated_at = now
    delivery.follows = rate(&bandwidth.sent, RECENT) < FOLLOWING_SHARE * bandwidth.allowed
    delivery.probing = bandwidth.probing.waiting_until > now
    delivery.lost = latest_loss(&bandwidth.loss)
    bandwidth.previous_queue = delivery.queue
    bandwidth.known = bandwidth.known or delivery.smooth > 0
    update_control(&bandwidth.control, &delivery, now)
    # For CHECK_TIME after `competing_until`, check again whether another flow competes.
    bandwidth.queue.kept = now < bandwidth.control.competing_until + CHECK_TIME
    doubt(bandwidth, &delivery, limited, now)
    if bandwidth.loss.limiting and delivery.smooth:
        # The delay might permit a higher rate, but no higher rate has been tried.
        bandwidth.control.estimate = min(
            bandwidth.control.estimate, max(bandwidth.loss.limit, MAX_OVER_DELIVERED * delivery.smooth))
    if observe(&bandwidth.loss):
        if is_competing(&bandwidth.control, now):
            # The losses are caused by the other flow, and the rate control reacts to them.
            bandwidth.loss.limit = bandwidth.control.estimate
            bandwidth.loss.limiting = False
        else:
            update_limit(&bandwidth.loss, bandwidth.control.estimate, rate(&bandwidth.delivered, STEADY),
                         bandwidth.longest_queue >= MAX_PROBED_QUEUE, now)
        bandwidth.longest_queue = 0
    result = take_result(&bandwidth.probing, now)
    if result:
        taken = believed(&bandwidth.probing, result, delivery.queue, now)
        # A policer lets a burst through, but not a longer flow at the same rate.
        if was_limiting(&bandwidth.loss, now):
            taken = min(taken, WARY_STEP * before)
        if now < bandwidth.loss.held_until:
            taken = min(taken, before)
        take_probe(bandwidth, &delivery, limited, taken, now)
        go_on(&bandwidth.probing, result, taken, before, now)
    choose(bandwidth, limited)
    if may_probe(bandwidth, now) and (limited if is_competing(&bandwidth.control, now) else delivery.usage != OVERUSE):
        consider(&bandwidth.probing, bandwidth.estimate, limited, now)


cdef void doubt(Bandwidth* bandwidth, const Delivery* delivery, bint limited, int64_t now) noexcept nogil:
    """Remember the rate that the downlink carried when it was too narrow. The rate is kept until the downlink
    carries much more.
    """
    cdef Probing* probing = &bandwidth.probing
    if is_competing(&bandwidth.control, now):
        # The carried rate was only the capacity that the other flow left for us. Verifying it would require
        # an empty queue.
        probing.carried = 0.0
    elif bandwidth.control.decreased_at == now and delivery.recent and not (limited and delivery.queue < LEAP_QUEUE):
        probing.carried = delivery.recent
    elif (now - bandwidth.control.decreased_at > SURPASSED_TIME
            and rate(&bandwidth.delivered, RATE_BUCKETS - 1) > SURPASSED * probing.carried):
        probing.carried = 0.0
    watch_queue(probing, standing_queue(bandwidth), now)


cdef Usage usage_with_queue(const Bandwidth* bandwidth) noexcept nogil:
    """Return the trend's usage, or NORMAL if the overuse left hardly any queue. Packets that waited for a
    busy processor look like a growing queue, but the last of them were hardly delayed.
    """
    if bandwidth.trend.usage == OVERUSE and standing_queue(bandwidth) < MIN_OVERUSE_QUEUE:
        return NORMAL
    return bandwidth.trend.usage


cdef int64_t standing_queue(const Bandwidth* bandwidth) noexcept nogil:
    """Return the shortest queue delay among the last packets. Jitter delays only some of them, but a queue
    delays all.
    """
    cdef int64_t standing = bandwidth.queue.last
    cdef int i
    for i in range(4):
        standing = min(standing, bandwidth.queues[i])
    return standing


cdef double recent_rate(const Bandwidth* bandwidth) noexcept nogil:
    """Return the recently received rate (bit/s), averaged over a longer time if few packets arrived."""
    cdef double recent = rate(&bandwidth.delivered, RECENT)
    if recent >= FEW_PACKETS_BPS:
        return recent
    recent = rate(&bandwidth.delivered, STEADY)
    return recent if recent >= FEW_PACKETS_BPS / 2 else rate(&bandwidth.delivered, RATE_BUCKETS - 1)


cdef inline bint may_probe(Bandwidth* bandwidth, int64_t now) noexcept nogil:
    return ((bandwidth.queue.last < MAX_PROBED_QUEUE or is_competing(&bandwidth.control, now))
            and now >= bandwidth.loss.held_until and average_loss(&bandwidth.loss) < MAX_PROBED_LOSS)


cdef void take_probe(Bandwidth* bandwidth, const Delivery* delivery, bint limited, double result,
                     int64_t now) noexcept nogil:
    """Apply a probe's result. Raise the estimate, or lower it if nothing else tests the downlink."""
    bandwidth.known = True
    if delivery.stepped or now < bandwidth.loss.held_until or (
            delivery.usage == OVERUSE and not is_competing(&bandwidth.control, now)):
        return
    if result >= LIMITED_SHARE * bandwidth.control.estimate:
        bandwidth.low_results = 0
    if result > bandwidth.control.estimate:
        set_estimate(&bandwidth.control, result)
        if bandwidth.loss.limit < result:
            bandwidth.loss.limit = result
            bandwidth.loss.limiting = False
    elif limited and result < LIMITED_SHARE * bandwidth.control.estimate:
        # A busy machine also delays packets, so a single low result is checked by another probe.
        bandwidth.low_results += 1
        if bandwidth.low_results < MIN_LOW_RESULTS:
            return
        set_estimate(&bandwidth.control, max(result, delivery.smooth))


cdef void choose(Bandwidth* bandwidth, bint limited) noexcept nogil:
    """Set the estimate to the lower of the rates that delay and loss permit."""
    cdef double by_delay = bandwidth.control.estimate
    bandwidth.estimate = by_delay
    if bandwidth.loss.limit and bandwidth.loss.limiting and bandwidth.loss.limit < by_delay:
        bandwidth.estimate = bandwidth.loss.limit
        bandwidth.reason = BY_LOSS
    elif limited:
        bandwidth.reason = BY_USE
    else:
        bandwidth.reason = BY_PROBE if bandwidth.control.probed else BY_DELAY
    bandwidth.estimate = min(max(bandwidth.estimate, MIN_ESTIMATE), MAX_ESTIMATE)
    bandwidth.control.estimate = min(max(by_delay, MIN_ESTIMATE), MAX_ESTIMATE)


cdef void advance(Bandwidth* bandwidth, SentPackets* sent, int64_t now) noexcept nogil:
    """Do the periodic work: request a probe if one is due, and lower the estimate if feedback is missing."""
    cdef int64_t patience = max(MIN_SILENCE, SILENCE_ROUND_TRIPS * bandwidth.rtt)
    cdef SentPacket* last = &sent.packets[(sent.next_number - 1) & sent.mask]
    if bandwidth.known and last.state == UNDER_WAY and time_sent(last, now) > bandwidth.reported_at:
        if now - max(bandwidth.reported_at, bandwidth.punished_at) > patience:
            bandwidth.punished_at = now
            bandwidth.control.estimate *= SILENCE_FACTOR
            choose(bandwidth, False)
    elif may_probe(bandwidth, now) and not is_competing(&bandwidth.control, now):
        consider(&bandwidth.probing, bandwidth.estimate, True, now)


REASONS = {BY_DELAY: "delay", BY_LOSS: "loss", BY_PROBE: "probe", BY_USE: "use"}


cdef class Estimator:
    """A Bandwidth with its packets, for manual control in tests. Times are in seconds."""

    cdef Bandwidth bandwidth
    cdef SentPackets packets

    def __cinit__(self, double wanted=0.0, int first_number=0):
        begin(&self.bandwidth)
        self.bandwidth.probing.wanted = wanted
        if init(&self.packets, <uint16_t>first_number) < 0:
            raise MemoryError

    def __dealloc__(self):
        clear(&self.packets)

    def want(self, double wanted):
        self.bandwidth.probing.wanted = wanted

    def sent(self, uint32_t size, double now) -> int:
        number = self.packets.next_number & 0xFFFF
        note_sent(&self.packets, <int64_t>(now * 1e9), size)
        return number

    def resent(self, uint16_t number):
        forget_timing(&self.packets, number)

    def feedback(self, list statuses, uint32_t reference, double now) -> int:
        cdef PacketStatus read[2048]
        cdef int i
        if len(statuses) > 2048:
            raise ValueError("at most 2048 packets")
        for i in range(<int>len(statuses)):
            number, arrival = statuses[i]
            read[i].sequence = <uint16_t>number
            read[i].received = arrival is not None
            read[i].arrival = <int64_t>(arrival * 1e9) if arrival is not None else 0
        return take_feedback(&self.bandwidth, &self.packets, read, <int>len(statuses), reference, <int64_t>(now * 1e9))

    def advance(self, double now):
        advance(&self.bandwidth, &self.packets, <int64_t>(now * 1e9))

    def bytes_due(self, double now) -> int:
        return bytes_due(&self.bandwidth.probing, &self.packets, <int64_t>(now * 1e9))

    def estimate(self) -> float:
        return self.bandwidth.estimate

    def reason(self) -> str:
        return REASONS[self.bandwidth.reason]

    def capacity(self) -> int:
        return self.packets.mask + 1

    def state(self) -> dict:
        return {
            "usage": self.bandwidth.trend.usage, "threshold": self.bandwidth.trend.threshold,
            "queue": self.bandwidth.queue.last / 1e9, "delay": self.bandwidth.control.estimate,
            "capacity": self.bandwidth.control.capacity, "limit": self.bandwidth.loss.limit,
            "inherent": self.bandwidth.loss.inherent, "recent": rate(&self.bandwidth.delivered, RECENT),
            "smooth": rate(&self.bandwidth.delivered, STEADY), "rtt": self.bandwidth.rtt / 1e9,
        }
