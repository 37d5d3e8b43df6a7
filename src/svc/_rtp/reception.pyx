"""Keeps statistics on one received source, and tracks its duplicate and missing packets.

Does not send packets: `feedback` writes the NACKs and reports. See RFC 3550 section 6.4.1 and appendices A.1,
A.3 and A.8 (statistics), RFC 4585 section 6.2.1 (NACK).
"""

from libc.string cimport memset

from svc._rtp.sequence cimport extend

# The first NACK is delayed by this time, because packets might merely be out of order.
cdef int64_t REORDER_WAIT = 10_000_000
# The time between two NACKs for one packet is slightly more than a round trip, within these limits (ns).
cdef int64_t UNKNOWN_RTT = 100_000_000
cdef int64_t MIN_RETRY_NS = 20_000_000
cdef int64_t MAX_RETRY_NS = 250_000_000
# After this time, a requested keyframe has made the missing packet useless.
cdef int64_t GIVE_UP = 1_000_000_000
# NetEq plays audio 60 to 200 ms after it arrives, so a later retransmission is useless.
cdef int64_t AUDIO_GIVE_UP = 200_000_000
cdef int64_t AUDIO_MAX_RTT = 150_000_000
# A browser's SDP answer does not state whether it resends audio. A sender that has ignored NACKs for this
# many packets in a row, or whose round trip is too long, gets no NACKs for a while (ns). Later it gets NACKs
# again, because an outage has the same symptoms.
cdef int MAX_IGNORED = 16
cdef int64_t QUIET = 10_000_000_000
cdef int64_t CYCLE = 1 << 16


cdef void restart(Reception* reception, uint16_t seq) noexcept nogil:
    memset(reception.seen, 0, sizeof(reception.seen))
    # Continue more than a cycle above all earlier numbers. An extended number then always identifies the same
    # packet, so neither the history nor resends confuse a new packet with an old one.
    reception.base = (reception.highest & ~(CYCLE - 1)) + 2 * CYCLE + seq
    reception.highest = reception.base
    reception.received = 0
    reception.expected_prior = 0
    reception.received_prior = 0
    reception.transit = 0
    reception.missing_count = 0
    reception.started = True


cdef inline bint test_and_set(Reception* reception, int64_t ext_seq) noexcept nogil:
    cdef uint64_t* word = &reception.seen[(ext_seq & (SEEN_WINDOW - 1)) >> 6]
    cdef uint64_t bit = <uint64_t>1 << (ext_seq & 63)
    cdef bint was = (word[0] & bit) != 0
    word[0] |= bit
    return was


cdef void open_gap(Reception* reception, int64_t ext_seq, int64_t now) noexcept nogil:
    """Record the skipped numbers as missing. Forget the numbers that are one window older."""
    cdef int64_t first = reception.highest + 1
    cdef int64_t i
    cdef Missing* missing
    if ext_seq - first > SEEN_WINDOW:
        first = ext_seq - SEEN_WINDOW
    for i in range(first, ext_seq):
        reception.seen[(i & (SEEN_WINDOW - 1)) >> 6] &= ~(<uint64_t>1 << (i & 63))
        if now < reception.quiet_until:
            continue
        if reception.missing_count == MAX_MISSING:
            reception.gave_up = True
            reception.next_nack = now
            continue
        missing = &reception.missing[reception.missing_count]
        missing.ext_seq = i
        missing.since = now
        missing.ask_at = now + REORDER_WAIT
        missing.tries = 0
        if reception.missing_count == 0 or missing.ask_at < reception.next_nack:
            reception.next_nack = missing.ask_at
        reception.missing_count += 1


cdef void close_gap(Reception* reception, int64_t ext_seq, int64_t now) noexcept nogil:
    """Record that a late packet has arrived. It is no longer missing and may reveal the round-trip time."""
    cdef int i, kept = 0
    for i in range(reception.missing_count):
        if reception.missing[i].ext_seq != ext_seq:
            if kept != i:
                reception.missing[kept] = reception.missing[i]
            kept += 1
        elif reception.missing[i].tries:
            answered(reception, now, now - reception.missing[i].first_asked)
    reception.missing_count = kept


cdef void answered(Reception* reception, int64_t now, int64_t took) noexcept nogil:
    """Measure the round-trip time with a packet that has arrived after a NACK for it."""
    measure_round_trip(reception, took)
    reception.ignored = 0
    if reception.is_audio and reception.rtt > AUDIO_MAX_RTT:
        fall_quiet(reception, now)


cdef void fall_quiet(Reception* reception, int64_t now) noexcept nogil:
    """Stop sending NACKs for a while. Afterwards, determine again whether the sender responds, and how
    fast.
    """
    reception.quiet_until = now + QUIET
    reception.ignored = 0
    reception.rtt = 0


cdef void measure_round_trip(Reception* reception, int64_t took) noexcept nogil:
    """Update the round-trip time. `took` counts from the first NACK, although the packet might be the
    response to a later NACK. The minimum is stored and rises slowly if all values are higher. A packet that
    was merely out of order makes the value wrong for the next few losses.
    """
    if reception.rtt == 0 or took < reception.rtt + (reception.rtt >> 3):
        reception.rtt = max(took, <int64_t>1)
    else:
        reception.rtt += max(reception.rtt >> 3, <int64_t>1_000_000)


cdef void measure_jitter(Reception* reception, uint32_t timestamp, int64_t arrival) noexcept nogil:
    """Compute the jitter of RFC 3550 appendix A.8, in integers."""
    cdef int64_t rate = reception.clock_rate
    # Calculate in two parts, because the product would overflow after three years of uptime.
    cdef int64_t seconds = arrival // 1_000_000_000
    cdef int64_t rest = arrival % 1_000_000_000
    cdef int64_t transit = seconds * rate + rest * rate // 1_000_000_000 - timestamp
    cdef int64_t difference = transit - reception.transit
    if reception.transit != 0:
        if difference < 0:
            difference = -difference
        # A wrapped timestamp is not jitter.
        if difference < rate * 10:
            reception.jitter += difference - ((reception.jitter + 8) >> 4)
    reception.transit = transit


cdef Arrival update(Reception* reception, uint16_t seq, bint leapt, uint32_t timestamp, int64_t arrival, int64_t now,
                    int64_t* ext_seq) noexcept nogil:
    """Account for one packet and set its extended number. Return how the packet arrived.

    `leapt` means that the packet is at least half a cycle ahead, which only SRTP can determine.
    """
    cdef int64_t ext
    cdef Arrival result = IN_ORDER
    if not reception.started:
        restart(reception, seq)
        ext = reception.highest
    else:
        ext = extend(reception.highest, seq)
        if leapt or ext > reception.highest + MAX_GAP:
            restart(reception, seq)
            ext = reception.highest
            result = RESTARTED
        elif ext > reception.highest:
            open_gap(reception, ext, now)
            reception.seen[(ext & (SEEN_WINDOW - 1)) >> 6] &= ~(<uint64_t>1 << (ext & 63))
            reception.highest = ext
        elif reception.highest - ext >= SEEN_WINDOW:
            return TOO_OLD
        else:
            result = LATE
    if test_and_set(reception, ext):
        return DUPLICATE
    if result == LATE and reception.missing_count:
        close_gap(reception, ext, now)
    if result == IN_ORDER or result == RESTARTED:
        measure_jitter(reception, timestamp, arrival)
    reception.received += 1
    ext_seq[0] = ext
    return result


cdef int64_t retry_interval(const Reception* reception) noexcept nogil:
    """Return how long to wait for a response to a NACK, in ns."""
    if reception.rtt == 0:
        return UNKNOWN_RTT
    # Add a quarter for jitter, and time for reordering of the response.
    return min(max(reception.rtt + (reception.rtt >> 2) + REORDER_WAIT, MIN_RETRY_NS), MAX_RETRY_NS)


cdef int due_nacks(Reception* reception, int64_t now, int64_t retry_after, uint16_t* numbers) noexcept nogil:
    """Write the numbers for which to send a NACK now, up to MAX_MISSING. Return how many there are."""
    cdef int i, kept = 0, due = 0
    cdef int64_t give_up_after = AUDIO_GIVE_UP if reception.is_audio else GIVE_UP
    cdef Missing* missing
    for i in range(reception.missing_count):
        missing = &reception.missing[i]
        if missing.ask_at <= now:
            if missing.tries == MAX_TRIES or now - missing.since > give_up_after or now < reception.quiet_until:
                reception.gave_up |= missing.ext_seq >= reception.keyframe
                reception.ignored += missing.tries > 0
                continue
            if missing.tries == 0:
                missing.first_asked = now
            missing.tries += 1
            missing.ask_at = now + retry_after
            numbers[due] = <uint16_t>missing.ext_seq
            due += 1
        if kept == 0 or missing.ask_at < reception.next_nack:
            reception.next_nack = missing.ask_at
        if kept != i:
            reception.missing[kept] = missing[0]
        kept += 1
    reception.missing_count = kept
    if reception.is_audio and reception.ignored >= MAX_IGNORED:
        fall_quiet(reception, now)
    return due


cdef void report(Reception* reception, uint32_t ssrc, int64_t now, ReportBlock* block) noexcept nogil:
    """Fill a report block and begin the next reporting interval (RFC 3550 appendix A.3)."""
    cdef int64_t expected = reception.highest - reception.base + 1
    cdef int64_t expected_now = expected - reception.expected_prior
    cdef int64_t lost_now = expected_now - (reception.received - reception.received_prior)
    cdef int64_t lost = expected - reception.received
    reception.expected_prior = expected
    reception.received_prior = reception.received
    block.ssrc = ssrc
    block.fraction_lost = 0
    if expected_now > 0 and lost_now > 0:
        block.fraction_lost = <uint8_t>(255 if lost_now >= expected_now else (lost_now << 8) // expected_now)
    block.lost = <int>(0x7FFFFF if lost > 0x7FFFFF else (-0x800000 if lost < -0x800000 else lost))
    block.highest = <uint32_t>(reception.highest - (reception.base & ~(CYCLE - 1)))
    block.jitter = <uint32_t>(reception.jitter >> 4)
    block.lsr = reception.lsr
    block.dlsr = 0
    if reception.lsr:
        block.dlsr = <uint32_t>((now - reception.sr_arrival) * 65536 // 1_000_000_000)


cdef class Source:
    """A Reception for Python, in tests. Times are in seconds."""

    cdef Reception reception

    def __cinit__(self, unsigned int clock_rate=90000, bint audio=False):
        memset(&self.reception, 0, sizeof(Reception))
        self.reception.clock_rate = clock_rate
        self.reception.is_audio = audio

    def update(self, int seq, unsigned int timestamp, double now, *, bint leapt=False) -> str:
        cdef int64_t ext = 0
        cdef int64_t at = <int64_t>(now * 1e9)
        cdef Arrival arrival = update(&self.reception, <uint16_t>seq, leapt, timestamp, at, at, &ext)
        return ("in order", "late", "duplicate", "too old", "restarted")[<int>arrival]

    def due_nacks(self, double now, double retry_after) -> list:
        cdef uint16_t numbers[MAX_MISSING]
        cdef int64_t interval = <int64_t>(retry_after * 1e9)
        cdef int count = due_nacks(&self.reception, <int64_t>(now * 1e9), interval, numbers)
        return [numbers[i] for i in range(count)]

    def report(self, double now) -> dict:
        cdef ReportBlock block
        report(&self.reception, 1, <int64_t>(now * 1e9), &block)
        return {"fraction_lost": block.fraction_lost, "lost": block.lost, "highest": block.highest,
                "jitter": block.jitter, "dlsr": block.dlsr}
