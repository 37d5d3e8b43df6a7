"""Writes transport-wide feedback for a sender.

The feedback reports packet arrival times. Without it, browsers send only a few hundred kbit/s. Also parses
such feedback from receivers, for `congestion`. Makes no estimates. See
draft-holmer-rmcat-transport-wide-cc-extensions-01, section 3.1.
"""

from libc.string cimport memset

from libc.stdint cimport int16_t

from svc._rtp.rtcp cimport FMT_TWCC, MAX_RTCP, RTPFB
from svc._rtp.sequence cimport FIRST_CYCLE, extend
from svc._rtp.wire cimport Cursor, load16, load24, store16, store24, store32, take

cdef int64_t TICK = 250_000             # ns: the unit of deltas
cdef int64_t REFERENCE = 64_000_000     # ns: the unit of the reference time

cdef enum:
    NOT_RECEIVED = 0
    SMALL = 1               # one byte of delta
    LARGE = 2               # two bytes of delta
    MAX_STATUSES = 900      # per packet: 900 single-byte deltas and their chunks stay below 1200 bytes


cdef void record(ArrivalLog* log, uint16_t seq, uint32_t ssrc, int64_t arrival) noexcept nogil:
    """Record one packet's arrival. A packet that was already reported as lost is ignored."""
    cdef int64_t ext, i
    # No packet can be this late, so the sender has restarted its numbering. Without feedback, the sender
    # would send hardly anything.
    if not log.started or extend(log.highest, seq) <= log.highest - ARRIVALS:
        log.started = True
        log.highest = FIRST_CYCLE + seq
        log.next_report = log.highest
        memset(log.arrivals, 0, sizeof(log.arrivals))
    ext = extend(log.highest, seq)
    log.media_ssrc = ssrc
    if ext < log.next_report:
        return
    if ext > log.highest:
        if ext - log.highest >= ARRIVALS:
            memset(log.arrivals, 0, sizeof(log.arrivals))
        else:
            for i in range(log.highest + 1, ext):
                log.arrivals[i & (ARRIVALS - 1)] = 0
        log.highest = ext
        if log.highest - log.next_report >= ARRIVALS:
            log.next_report = log.highest - ARRIVALS + 1
    log.arrivals[ext & (ARRIVALS - 1)] = arrival


cdef inline size_t run_length(const uint8_t* symbols, size_t left) noexcept nogil:
    cdef size_t run = 1
    while run < left and run < 0x1FFF and symbols[run] == symbols[0]:
        run += 1
    return run


cdef size_t write_chunk(const uint8_t* symbols, size_t left, uint8_t* out) noexcept nogil:
    """Write one 16-bit chunk. Return the number of symbols that it contains (sections 3.1.2 to 3.1.4)."""
    cdef size_t run = run_length(symbols, left)
    cdef size_t count, i
    cdef uint32_t chunk
    cdef bint one_bit = True
    if run >= 7 or run == left:
        store16(out, (<uint32_t>symbols[0] << 13) | <uint32_t>run)
        return run
    count = left if left < 14 else 14
    for i in range(count):
        if symbols[i] == LARGE:
            one_bit = False
            break
    if one_bit:
        chunk = 0x8000
        for i in range(count):
            chunk |= <uint32_t>symbols[i] << (13 - i)
    else:
        count = left if left < 7 else 7
        chunk = 0xC000
        for i in range(count):
            chunk |= <uint32_t>symbols[i] << (12 - 2 * i)
    store16(out, chunk)
    return count


cdef size_t write_feedback(ArrivalLog* log, uint32_t sender, uint8_t* out) noexcept nogil:
    """Write one feedback packet about the packets since the previous feedback. Return its length, or 0 if
    there is nothing to report.

    Call this until it returns 0, because a long or irregular series takes several feedback packets.
    """
    cdef uint8_t symbols[MAX_STATUSES]
    cdef uint8_t deltas[MAX_RTCP]
    cdef size_t count = 0, delta_bytes = 0, written = 0, length = 20
    cdef int64_t at, delta, reference, previous = 0
    cdef int64_t seq = log.next_report
    if not has_news(log):
        return 0
    while log.arrivals[seq & (ARRIVALS - 1)] == 0:
        # `highest` was received, so the loop ends.
        seq += 1
    reference = log.arrivals[seq & (ARRIVALS - 1)] // REFERENCE
    previous = reference * REFERENCE
    seq = log.next_report
    while seq <= log.highest and count < MAX_STATUSES and delta_bytes < 900:
        at = log.arrivals[seq & (ARRIVALS - 1)]
        if at == 0:
            symbols[count] = NOT_RECEIVED
        else:
            delta = (at - previous + (TICK // 2 if at >= previous else -(TICK // 2))) // TICK
            if delta < -0x8000 or delta > 0x7FFF:
                break
            previous += delta * TICK
            if 0 <= delta <= 0xFF:
                symbols[count] = SMALL
                deltas[delta_bytes] = <uint8_t>delta
                delta_bytes += 1
            else:
                symbols[count] = LARGE
                store16(deltas + delta_bytes, <uint32_t>delta)
                delta_bytes += 2
        count += 1
        seq += 1
    while written < count:
        written += write_chunk(symbols + written, count - written, out + length)
        length += 2
    for written in range(delta_bytes):
        out[length + written] = deltas[written]
    length += delta_bytes
    while length & 3:
        out[length] = 0
        length += 1
    out[0] = 0x80 | FMT_TWCC
    out[1] = RTPFB
    store16(out + 2, <uint32_t>(length // 4 - 1))
    store32(out + 4, sender)
    store32(out + 8, log.media_ssrc)
    store16(out + 12, <uint32_t>(log.next_report & 0xFFFF))
    store16(out + 14, <uint32_t>count)
    store24(out + 16, <uint32_t>(reference & 0xFFFFFF))
    out[19] = log.feedback_count
    log.feedback_count += 1
    log.next_report = seq
    return length


# --- reading ---


cdef inline uint8_t symbol_of(uint32_t chunk, int i) noexcept nogil:
    """Return symbol i of a chunk: a run length (section 3.1.3), or a status vector of one or two bits
    (section 3.1.4).
    """
    if not chunk & 0x8000:
        return (chunk >> 13) & 3
    if not chunk & 0x4000:
        return (chunk >> (13 - i)) & 1
    return (chunk >> (12 - 2 * i)) & 3


cdef inline int symbols_in(uint32_t chunk) noexcept nogil:
    if not chunk & 0x8000:
        return chunk & 0x1FFF
    return 14 if not chunk & 0x4000 else 7


cdef int read_feedback(const Packet* packet, PacketStatus* statuses, int capacity) noexcept nogil:
    """Parse a feedback packet. Return the number of reported packets, in order, or -1 if it is malformed."""
    cdef Cursor cursor
    cdef const uint8_t* p
    cdef uint32_t chunk, base
    cdef int64_t at
    cdef uint8_t symbol
    cdef int count, decoded = 0, i
    cursor.at = packet.body
    cursor.left = packet.length
    p = take(&cursor, 16)
    if p == NULL:
        return -1
    base = load16(p + 8)
    count = load16(p + 10)
    at = <int64_t>load24(p + 12) * REFERENCE
    if count > capacity:
        return -1
    while decoded < count:
        p = take(&cursor, 2)
        if p == NULL:
            return -1
        chunk = load16(p)
        if symbols_in(chunk) == 0:
            return -1
        for i in range(symbols_in(chunk)):
            if decoded < count:
                # Until the deltas are read, `arrival` contains the symbol.
                statuses[decoded].sequence = <uint16_t>(base + <uint32_t>decoded)
                statuses[decoded].arrival = symbol_of(chunk, i)
                decoded += 1
    for i in range(count):
        symbol = <uint8_t>statuses[i].arrival
        statuses[i].received = symbol == SMALL or symbol == LARGE
        if statuses[i].received:
            p = take(&cursor, symbol)
            if p == NULL:
                return -1
            at += TICK * (<int64_t>p[0] if symbol == SMALL else <int64_t><int16_t>load16(p))
            statuses[i].arrival = at
    return count


def parse_feedback(bytes body) -> list | None:
    """Return (number, arrival in seconds or None) for each packet in a feedback body, or None if it is
    malformed.
    """
    cdef PacketStatus statuses[ARRIVALS]
    cdef Packet packet
    packet.body = body
    packet.length = <size_t>len(body)
    count = read_feedback(&packet, statuses, ARRIVALS)
    if count < 0:
        return None
    return [(statuses[i].sequence, statuses[i].arrival / 1e9 if statuses[i].received else None) for i in range(count)]


cdef class Log:
    """An ArrivalLog for Python, in tests. Times are in seconds."""

    cdef ArrivalLog log

    def __cinit__(self):
        memset(&self.log, 0, sizeof(ArrivalLog))

    def record(self, int seq, double at):
        record(&self.log, <uint16_t>seq, 1, <int64_t>(at * 1e9))

    def write(self) -> bytes:
        cdef uint8_t out[MAX_RTCP + 256]
        cdef size_t length = write_feedback(&self.log, 1, out)
        return out[:<Py_ssize_t>length]
