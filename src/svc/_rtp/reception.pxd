"""What the SFU knows of a source it receives: statistics, duplicates, what is missing."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from svc._rtp.rtcp cimport ReportBlock
from svc._rtp.sequence cimport extend

cdef enum:
    SEEN_WINDOW = 2048      # packets within which a duplicate is recognised
    MAX_MISSING = 256       # numbers asked for at once; a larger hole is a new key frame's business
    MAX_GAP = 3000          # RFC 3550 A.1 MAX_DROPOUT: a larger jump starts the numbers anew
    MAX_TRIES = 10          # NACKs for one packet, as libwebrtc


cdef enum Arrival:
    IN_ORDER
    LATE                    # an earlier number, not seen before
    DUPLICATE
    TOO_OLD
    RESTARTED               # the numbers jumped: nothing before this packet is comparable


cdef struct Missing:
    int64_t ext_seq
    int64_t since           # ns: when it was missed
    int64_t first_asked     # ns
    int64_t ask_at          # ns: when to send the next NACK for it
    int tries


cdef struct Reception:
    bint started
    bint is_audio           # asked for again only while the answer still comes in time to be played
    uint32_t clock_rate     # Hz; set_clock_rate changes it
    int64_t base            # the first extended number; what came before a restart is two cycles lower
    int64_t highest
    int64_t keyframe        # where the newest keyframe starts: what is missing before it breaks no picture
    int64_t received        # packets, duplicates not counted
    int64_t expected_prior  # at the last report
    int64_t received_prior
    int64_t transit         # RTP units, of the last packet; 0 = there is none to compare with
    int64_t jitter          # RTP units x 16 (RFC 3550 A.8)
    uint64_t seen[SEEN_WINDOW / 64]
    Missing missing[MAX_MISSING]
    int missing_count
    int64_t next_nack       # ns: when there is something to ask for, or given up; while something is missing
    bint gave_up            # something missing was given up since it was last looked at
    int64_t rtt             # ns: to the sender and back, from NACK to answer; 0 = unknown
    int ignored             # audio: packets given up since the sender last answered a NACK
    int64_t quiet_until     # ns: audio: nothing is asked for before
    uint32_t lsr            # middle 32 bits of the source's last SR
    int64_t sr_arrival      # ns


cdef Arrival update(Reception* reception, uint16_t seq, bint leapt, uint32_t timestamp, int64_t arrival, int64_t now,
                    int64_t* ext_seq) noexcept nogil
cdef inline void set_clock_rate(Reception* reception, uint32_t clock_rate) noexcept nogil:
    """The codec of the packets from now on counts time in these units."""
    if reception.clock_rate != clock_rate:
        reception.clock_rate = clock_rate
        reception.transit = 0


cdef inline bint is_repeatable(const Reception* reception, uint16_t seq) noexcept nogil:
    """Whether a retransmission may speak of this number: it is near what has come."""
    cdef int64_t ahead = extend(reception.highest, seq) - reception.highest
    return -SEEN_WINDOW < ahead < SEEN_WINDOW


cdef int64_t retry_interval(const Reception* reception) noexcept nogil
cdef int due_nacks(Reception* reception, int64_t now, int64_t retry_after, uint16_t* numbers) noexcept nogil
cdef void report(Reception* reception, uint32_t ssrc, int64_t now, ReportBlock* block) noexcept nogil
