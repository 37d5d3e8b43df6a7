"""Repairs lost audio in advance: with RED (RFC 2198), with copies, and with the FEC that Opus adds after losses.

RED applies to a single hop. The core unwraps a sender's RED when it arrives, so histories and receivers
without RED get plain audio. For a while after reporting losses, a receiver that has negotiated RED gets each
packet together with the previous packet. A queue in the receiver's downlink ends this, because more bytes
then cause more losses. Receivers without RED get copies of every second packet in the same way.

In calls with end-to-end encryption, a browser that sent RED would encrypt the whole payload as one frame,
which the core could not unwrap. Clients in such calls therefore send no RED. They may receive it, because
each block is then a separate encrypted frame, which they decrypt separately. See docs/rtcp.md,
"Retransmission".
"""

from libc.string cimport memcpy, memset

from svc._rtp.history cimport get
from svc._rtp.objects cimport AUDIO, Forwarder, Sent, accepts
from svc._rtp.sequence cimport NO_NUMBER, extend
from svc._rtp.wire cimport store16

# Two losses within this time (ns) are unlikely to be chance. Redundancy then continues for this long (ns),
# the time of three reports from a browser.
cdef int64_t LOSSES_WITHIN = 2_000_000_000
cdef int64_t LASTS = 15_000_000_000
# A receiver without RED that never requests audio, such as Firefox, gets a copy of every second packet
# instead. FEC in the next packet repairs the others. A copy is sent this many packets later, because losses
# come in bursts. Browsers buffer audio for longer if it has gaps. Reports do not show losses that copies have
# repaired, so copies continue for longer than RED (ns).
cdef int64_t COPY_DISTANCE = 6
cdef int64_t COPIES_LAST = 60_000_000_000
# After redundancy has been stopped because of a queue, it is not sent for this long (ns).
cdef int64_t PAUSE_AFTER_QUEUE = 30_000_000_000
# Redundancy begins only if the downlink's queue is shorter than this (ns).
cdef int64_t SHORT_QUEUE = 50_000_000
# While audio is sent as RED, redundancy and resends add at most this many 16ths to its bytes. A receiver that
# loses 15 % of packets then needs less than 1.6 times the bit rate, and a loss that RED does not repair is
# resent. Redundancy begins with this credit (bytes), which is also the maximum.
cdef int64_t REPAIR_SHARE = 9
cdef int64_t MAX_REPAIR_CREDIT = 1_000
# Bytes of the headers of UDP and IPv4, and of the authentication tag.
cdef int64_t AROUND_PACKET = 44
# Losses reported by listeners make the speaker send Opus with more in-band FEC, which takes bits from the
# audio that every listener gets. No loss above this maximum is reported to the speaker. Browsers report on
# audio every 5 s, so a report stays valid for a little over two intervals.
cdef uint8_t MAX_REPORTED_LOSS = 256 * 20 // 100
cdef int64_t REPORT_HOLDS = 12_000_000_000
# At its usual bit rate, Opus sends FEC only if it is told that more than 5 % of packets are lost, because it
# must then leave out the highest frequencies. Browsers also round the loss to 1, 5, 10 or 20 %. So a loss of
# the first value (in 256ths) or more that only FEC can repair is reported as at least the second value.
cdef uint8_t FEC_LOSS = 256 * 2 // 100
cdef uint8_t MIN_LOSS_FOR_FEC = 256 * 12 // 100
cdef enum:
    MAX_OFFSET = (1 << 14) - 1      # ticks; the field has 14 bits
    MAX_RTP = 1200                  # bytes; maximum that browsers send
    RED_HEADERS = 5                 # bytes of the headers of two blocks
    FIXED_HEADER = 12


cdef int read_red(const uint8_t* payload, size_t length, RedBlock* blocks) noexcept nogil:
    """Read the blocks of a payload, primary last. Return how many there are, or -1 if the payload is
    malformed.
    """
    cdef size_t at = 0, data
    cdef int count = 0, i
    while True:
        if at >= length or count == MAX_RED_BLOCKS:
            return -1
        blocks[count].payload_type = payload[at] & 0x7F
        if not payload[at] & 0x80:
            break
        if at + 4 > length:
            return -1
        blocks[count].timestamp_offset = <uint16_t>((payload[at + 1] << 6) | (payload[at + 2] >> 2))
        blocks[count].length = <uint16_t>(((payload[at + 2] & 3) << 8) | payload[at + 3])
        count += 1
        at += 4
    data = at + 1
    for i in range(count):
        if blocks[i].length > length - data:
            return -1
        blocks[i].offset = <uint16_t>data
        data += blocks[i].length
    blocks[count].timestamp_offset = 0
    blocks[count].offset = <uint16_t>data
    blocks[count].length = <uint16_t>(length - data)
    return count + 1


cdef bint unwrap_lost(const Slot* slot, const RedBlock* block, uint16_t sequence, Slot* out) noexcept nogil:
    """Turn a redundant block into the lost packet, without header extensions."""
    if block.length == 0 or block.timestamp_offset == 0:
        return False
    memset(&out.header, 0, sizeof(out.header))
    out.header.timestamp = slot.header.timestamp - block.timestamp_offset
    out.header.ssrc = slot.header.ssrc
    out.header.sequence = sequence
    out.header.payload_type = block.payload_type
    out.header.payload_offset = FIXED_HEADER
    out.header.payload_length = block.length
    memset(out.data, 0, FIXED_HEADER)
    memcpy(out.data + FIXED_HEADER, slot.data + slot.header.payload_offset + block.offset, block.length)
    out.length = <uint16_t>(FIXED_HEADER + block.length)
    out.arrival = slot.arrival
    out.leapt = False
    return True


cdef bint may_repeat(const Core* core, const DownTrack* down_track, const Slot* slot, int64_t output) noexcept nogil:
    """Return whether the previous packet was sent to the receiver and fits into the same datagram."""
    cdef const Sent* before = &down_track.sent[(output - 1) & down_track.sent_mask]
    cdef const Slot* previous
    cdef uint32_t elapsed
    if before.output != output - 1 or before.filler or before.input != slot.ext_seq - 1:
        return False
    previous = get(&down_track.forwarder.history, before.input)
    if previous == NULL or slot.header.payload_type != core.negotiated.red_media_type or (
            previous.header.payload_type != slot.header.payload_type):
        return False
    elapsed = slot.header.timestamp - previous.header.timestamp
    return (0 < elapsed <= MAX_OFFSET and 0 < previous.header.payload_length <= MAX_REDUNDANT
            and slot.length + previous.header.payload_length + RED_HEADERS <= MAX_RTP
            and slot.header.padding == 0)


cdef bint spend_repair_credit(DownTrack* down_track, const Slot* slot) noexcept nogil:
    """Add the credit of a packet, and spend it on the previous payload if it suffices. Return whether it does."""
    cdef const Slot* previous = get(&down_track.forwarder.history, slot.ext_seq - 1)
    cdef int64_t cost = 16 * (previous.header.payload_length + RED_HEADERS)
    down_track.repair_credit = min(
        max(down_track.repair_credit, -16 * MAX_REPAIR_CREDIT) + REPAIR_SHARE * (slot.length + AROUND_PACKET),
        16 * MAX_REPAIR_CREDIT)
    if down_track.repair_credit < cost:
        return False
    down_track.repair_credit -= cost
    return True


cdef size_t write_red_prefix(const Slot* slot, const Slot* previous, uint8_t* out) noexcept nogil:
    """Write everything before the primary's payload: both headers, and the previous payload."""
    cdef uint32_t elapsed = slot.header.timestamp - previous.header.timestamp
    cdef uint16_t length = previous.header.payload_length
    out[0] = 0x80 | previous.header.payload_type
    out[1] = <uint8_t>(elapsed >> 6)
    store16(out + 2, <uint16_t>(((elapsed & 0x3F) << 10) | length))
    out[4] = slot.header.payload_type
    memcpy(out + RED_HEADERS, previous.data + previous.header.payload_offset, length)
    return RED_HEADERS + length


cdef bint is_repeated_later(const DownTrack* down_track, uint16_t sequence) noexcept nogil:
    """Return whether the packet with this number was sent, and then repeated with the next packet."""
    cdef int64_t output = extend(down_track.numbers.next_output, sequence)
    cdef const Sent* sent
    if output < 0 or not down_track.numbers.started:
        return False
    sent = &down_track.sent[output + 1 & down_track.sent_mask]
    return sent.output == output + 1 and sent.redundant != 0


cdef void audio_lost(Core* core, DownTrack* down_track, bint often) noexcept nogil:
    """Handle the loss of audio by a receiver: send redundancy if audio is lost often."""
    cdef Transport* transport = down_track.transport
    cdef int64_t before = down_track.lost_audio_at
    cdef bint takes_red = core.negotiated.red_type != 0 and accepts(down_track, core.negotiated.red_type)
    if down_track.forwarder.kind != AUDIO:
        return
    if not takes_red and (down_track.requests_audio or not often):
        down_track.requests_audio = True
        down_track.copied_until = 0
        return
    down_track.lost_audio_at = core.now
    if not often and (before == 0 or core.now - before > LOSSES_WITHIN):
        return
    if core.now < transport.redundancy_after or (
            transport.bandwidth != NULL and transport.bandwidth.queue.last > SHORT_QUEUE):
        return
    if takes_red:
        if down_track.redundant_until <= core.now:
            down_track.repair_credit = 16 * MAX_REPAIR_CREDIT
        down_track.redundant_until = core.now + LASTS
    else:
        down_track.copied_until = core.now + COPIES_LAST


cdef int64_t copied_with(const DownTrack* down_track, int64_t output) noexcept nogil:
    """Return the number of the packet to send again after this packet, or NO_NUMBER if none."""
    cdef const Sent* sent = &down_track.sent[(output - COPY_DISTANCE) & down_track.sent_mask]
    if output & 1 or sent.output != output - COPY_DISTANCE or sent.resends or sent.filler:
        return NO_NUMBER
    return sent.output


cdef void stop_redundancy(Core* core, Transport* transport) noexcept nogil:
    """Stop redundancy for a receiver whose downlink has a long queue."""
    cdef DownTrack* down_track = transport.down_tracks
    while down_track != NULL:
        if max(down_track.redundant_until, down_track.copied_until) > core.now:
            transport.redundancy_after = core.now + PAUSE_AFTER_QUEUE
        down_track.redundant_until = down_track.copied_until = 0
        down_track = down_track.next_received


cdef uint8_t loss_for_fec(uint8_t lost) noexcept nogil:
    """Return the loss to report so that the speaker adds FEC."""
    return max(lost, MIN_LOSS_FOR_FEC) if lost >= FEC_LOSS else lost


cdef uint8_t lost_by_listeners(Core* core, const Forwarder* forwarder) noexcept nogil:
    """Return the largest loss reported by any listener, in 256ths. Only the speaker can add FEC, which every
    listener gets.

    A listener that gets RED already has the lost packets, and would discard the FEC. Copies hide losses from
    a listener's reports.
    """
    cdef const DownTrack* down_track = forwarder.down_tracks
    cdef uint8_t maximum = 0
    while down_track != NULL:
        if core.now - down_track.reported_at < REPORT_HOLDS and down_track.redundant_until <= core.now:
            maximum = max(maximum, down_track.fraction_lost)
        if down_track.copied_until > core.now:
            maximum = max(maximum, FEC_LOSS)
        down_track = down_track.next_sent
    return min(maximum, MAX_REPORTED_LOSS)


def parse_red(bytes payload):
    """Return (payload type, timestamp offset, bytes) for each block, primary last, or None if malformed."""
    cdef RedBlock blocks[MAX_RED_BLOCKS]
    cdef int i, count = read_red(payload, <size_t>len(payload), blocks)
    if count < 0:
        return None
    return [(blocks[i].payload_type, blocks[i].timestamp_offset,
             payload[blocks[i].offset:blocks[i].offset + blocks[i].length]) for i in range(count)]
