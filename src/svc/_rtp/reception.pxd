"""Tracks the SFU's reception of one source: statistics, duplicates and missing packets."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from svc._rtp.rtcp cimport ReportBlock
from svc._rtp.sequence cimport extend

cdef enum:
    SEEN_WINDOW = 2048      # duplicates are recognised within this many packets
    MAX_MISSING = 256       # missing numbers tracked; a larger gap needs a new keyframe
    MAX_GAP = 3000          # RFC 3550 A.1 MAX_DROPOUT: a larger jump restarts the numbering
    MAX_TRIES = 10          # NACKs for one packet, as in libwebrtc


cdef enum Arrival:
    IN_ORDER
    LATE                    # an earlier number, seen for the first time
    DUPLICATE
    TOO_OLD
    RESTARTED               # the numbers jumped: earlier packets are not comparable


cdef struct Missing:
    int64_t ext_seq
    int64_t since           # ns: when the gap was found
    int64_t first_asked     # ns
    int64_t ask_at          # ns: when to send the next NACK
    int tries


cdef struct Reception:
    bint started
    bint is_audio           # packets are requested again only while the response can still be played
    uint32_t clock_rate     # Hz; set_clock_rate changes it
    int64_t base            # the first extended number; numbers before a restart are two cycles lower
    int64_t highest
    int64_t keyframe        # start of the newest keyframe; earlier missing packets do no damage
    int64_t received        # packets without duplicates
    int64_t expected_prior  # at the last report
    int64_t received_prior
    int64_t transit         # RTP units, of the last packet, or 0 if there is no packet to compare with
    int64_t jitter          # RTP units x 16 (RFC 3550 A.8)
    uint64_t seen[SEEN_WINDOW / 64]
    Missing missing[MAX_MISSING]
    int missing_count
    int64_t next_nack       # ns: when to send a NACK or give up; valid while packets are missing
    bint gave_up            # a missing packet has been given up on since the last check
    int64_t rtt             # ns: round trip to the sender, from NACK to response, or 0 if unknown
    int ignored             # audio: packets given up on since the sender's last response to a NACK
    int64_t quiet_until     # ns: audio: send no NACK before this time
    uint32_t lsr            # middle 32 bits of the source's last SR
    int64_t sr_arrival      # ns


cdef Arrival update(Reception* reception, uint16_t seq, bint leapt, uint32_t timestamp, int64_t arrival, int64_t now,
                    int64_t* ext_seq) noexcept nogil
cdef inline void set_clock_rate(Reception* reception, uint32_t clock_rate) noexcept nogil:
    """Set the codec's clock rate, starting with this packet."""
    if reception.clock_rate != clock_rate:
        reception.clock_rate = clock_rate
        reception.transit = 0


cdef inline bint is_repeatable(const Reception* reception, uint16_t seq) noexcept nogil:
    """Return whether a retransmission may carry this number, which must be close to the numbers received."""
    cdef int64_t ahead = extend(reception.highest, seq) - reception.highest
    return -SEEN_WINDOW < ahead < SEEN_WINDOW


cdef inline bint is_missing(const Reception* reception, uint16_t seq) noexcept nogil:
    """Return whether the packet with this number, close to those received, has not arrived."""
    cdef int64_t ext_seq = extend(reception.highest, seq)
    if not reception.started or not -SEEN_WINDOW < ext_seq - reception.highest < MAX_GAP:
        return False
    if ext_seq > reception.highest:
        return True
    return ext_seq >= reception.base and not reception.seen[(ext_seq & (SEEN_WINDOW - 1)) >> 6] >> (ext_seq & 63) & 1


cdef int64_t retry_interval(const Reception* reception) noexcept nogil
cdef int due_nacks(Reception* reception, int64_t now, int64_t retry_after, uint16_t* numbers) noexcept nogil
cdef void report(Reception* reception, uint32_t ssrc, int64_t now, ReportBlock* block) noexcept nogil
