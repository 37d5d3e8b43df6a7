"""Processes received RTCP packets and sends the SFU's own reports.

From senders, SRs are translated and passed on to the receivers. From receivers, NACKs are answered from the
history, PLI and FIR become a PLI to the sender, transport-wide feedback is passed to congestion, and reports
and REMB are not forwarded. Senders get our own RR, NACK, PLI and transport-wide feedback. docs/rtcp.md has a
table of all types. See RFC 3550, RFC 4585, RFC 5104.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memset

from svc._rtp.congestion cimport feedback_received
from svc._rtp.core cimport PATIENCE, fall_due, random32
from svc._rtp.delivery cimport resend
from svc._rtp.egress_batch cimport Outgoing, commit, next_outgoing
from svc._rtp.history cimport expire
from svc._rtp.keyframes cimport keyframe_came, next_due, request, skip_unneeded, take_due
from svc._rtp.loudness cimport expire_speech, expires_at
from svc._rtp.objects cimport AUDIO, MAX_ENCODINGS, MAX_SECTIONS, VIDEO
from svc._rtp.reception cimport MAX_MISSING, due_nacks, report, retry_interval
from svc._rtp.redundancy cimport audio_lost, is_repeated_later, loss_for_fec, lost_by_listeners
from svc._rtp.event_ring cimport SPEAKING, Event, push
from svc._rtp.rtcp cimport (
    FMT_FIR, FMT_NACK, FMT_PLI, FMT_TWCC, PSFB, RR, RTPFB, SR, Packet, ReportBlock, SenderInfo, next_packet,
    read_report, read_sender_info, write_bye, write_cname, write_nack, write_pli, write_rr, write_sr,
)
from svc._rtp.srtp cimport protect_rtcp
from svc._rtp.twcc cimport has_news, write_feedback
from svc._rtp.wire cimport Cursor, load16, load32

# A keyframe is many times larger than other frames, and every receiver gets it. A receiver in trouble may
# therefore request only one keyframe per interval, in addition to those sent every 2 s (`keyframes`).
cdef int64_t RECEIVER_INTERVAL = 3_000_000_000
# If this many packets of one NACK are too old to be resent, the link was down, and the video stays damaged
# until a keyframe. Chromium would wait for 3 s before requesting a keyframe.
cdef int OUTAGE_PACKETS = 8
# A receiver that keeps requesting keyframes although they arrive cannot decode them. After a few requests,
# its interval doubles with each request, up to a maximum, until the receiver has made no request for a while.
cdef uint8_t FREE_REQUESTS = 4
cdef uint8_t MAX_DOUBLINGS = 3
cdef int64_t CONTENT_AFTER = 60_000_000_000
# With a longer round trip than this (ns), resent audio arrives after the receiver has already played past it.
cdef int64_t AUDIO_MAX_RTT = 150_000_000
# Browsers expect transport-wide feedback every 50 to 100 ms. It may be late by PATIENCE.
cdef int64_t FEEDBACK_INTERVAL = 75_000_000
# The report interval: "every 0.9 to 1 s", including PATIENCE. Jitter spreads the reports to many senders (RFC
# 3550 section 6.3.1).
cdef int64_t REPORT_INTERVAL = 900_000_000
cdef int64_t REPORT_JITTER = 80_000_000
# At this loss (in 256ths) or more, an audio receiver that accepts redundancy gets it.
cdef uint8_t REDUNDANCY_LOSS = 256 * 2 // 100
# "loss above 30 % for 5 s pauses its video": RFC 8083 section 4.3 requires a sender to stop when it is not
# received.
cdef int PAUSE_LOSS = 256 * 30 // 100
cdef int64_t PAUSE_AFTER = 5_000_000_000


# --- received ---


cdef void rtcp_received(Core* core, Transport* transport, const uint8_t* data, size_t length) noexcept nogil:
    """Process each packet of a decrypted compound, up to the first malformed packet."""
    cdef Cursor compound
    cdef Packet packet
    cdef int more
    compound.at = data
    compound.left = length
    more = next_packet(&compound, &packet)
    while more > 0:
        if packet.type == SR:
            sender_report_received(core, transport, &packet)
        if packet.type == SR or packet.type == RR:
            reports_received(core, transport, &packet)
        elif packet.type == RTPFB and packet.count == FMT_NACK:
            nack_received(core, transport, &packet)
        elif packet.type == RTPFB and packet.count == FMT_TWCC:
            feedback_received(core, transport, &packet)
        elif packet.type == PSFB and packet.count == FMT_PLI and packet.length >= 8:
            keyframe_requested(core, find_received(transport, load32(packet.body + 4)))
        elif packet.type == PSFB and packet.count == FMT_FIR:
            fir_received(core, transport, &packet)
        more = next_packet(&compound, &packet)
    if more < 0:
        core.counters.dropped_malformed += 1


cdef DownTrack* find_received(Transport* transport, uint32_t ssrc) noexcept nogil:
    cdef DownTrack* down_track = transport.down_tracks
    while down_track != NULL and down_track.ssrc != ssrc:
        down_track = down_track.next_received
    return down_track


cdef void sender_report_received(Core* core, Transport* transport, const Packet* packet) noexcept nogil:
    """Store a sender report for use in our receiver reports and pass it on under each receiver's SSRC."""
    cdef SenderInfo info
    cdef Forwarder* forwarder
    cdef DownTrack* down_track
    if read_sender_info(packet, &info) < 0:
        core.counters.dropped_malformed += 1
        return
    forwarder = first_received(transport)
    while forwarder != NULL:
        if forwarder.ssrc == info.ssrc and info.ssrc != 0:
            forwarder.reception.lsr = <uint32_t>(info.ntp >> 16)
            forwarder.reception.sr_arrival = core.now
            forwarder.last_sr = info
            forwarder.last_sr_at = core.now
            down_track = forwarder.down_tracks
            while down_track != NULL:
                send_sender_report(core, down_track)
                down_track = down_track.next_sent
        forwarder = next_received(transport, forwarder)


cdef inline Forwarder* first_received(Transport* transport) noexcept nogil:
    """Return the first encoding in a participant's first media section."""
    return first_from(transport, 0)


cdef inline Forwarder* next_received(Transport* transport, Forwarder* forwarder) noexcept nogil:
    """Return the next encoding in the same media section, or else the first encoding in the next section, or
    NULL at the end.
    """
    if forwarder.next_encoding != NULL:
        return forwarder.next_encoding
    return first_from(transport, forwarder.section + 1)


cdef inline Forwarder* first_from(Transport* transport, int section) noexcept nogil:
    while section < transport.section_count:
        if transport.sections[section].forwarder != NULL:
            return transport.sections[section].forwarder
        section += 1
    return NULL


cdef void reports_received(Core* core, Transport* transport, const Packet* packet) noexcept nogil:
    """Process a receiver's reports, which contain its losses, its round-trip time, and proof that it knows
    our SSRC.
    """
    cdef ReportBlock block
    cdef DownTrack* down_track
    cdef int64_t rtt
    cdef int i
    for i in range(packet.count):
        if read_report(packet, i, &block) < 0:
            core.counters.dropped_malformed += 1
            return
        down_track = find_received(transport, block.ssrc)
        if down_track == NULL:
            continue
        down_track.announced = True
        down_track.loses |= block.fraction_lost > 0
        down_track.fraction_lost = block.fraction_lost
        down_track.reported_at = core.now
        pause_if_hopeless(core, down_track, block.fraction_lost)
        if block.fraction_lost >= REDUNDANCY_LOSS:
            audio_lost(core, down_track, True)
        if block.lsr and block.lsr == down_track.sr_sent:
            rtt = core.now - down_track.sr_sent_at - <int64_t>block.dlsr * 1_000_000_000 // 65536
            # Use the longest round trip, with slow decay, because packets resent too early are sent twice.
            down_track.rtt = max(rtt, down_track.rtt - (down_track.rtt >> 3), <int64_t>1)


cdef void pause_if_hopeless(Core* core, DownTrack* down_track, uint8_t fraction_lost) noexcept nogil:
    """Stop sending video to a receiver that loses nearly a third of its packets, until the next keyframe."""
    if fraction_lost <= PAUSE_LOSS or down_track.forwarder.kind != VIDEO:
        down_track.lossy_since = 0
    elif down_track.lossy_since == 0:
        down_track.lossy_since = core.now
    elif core.now - down_track.lossy_since >= PAUSE_AFTER:
        down_track.lossy_since = 0
        down_track.waiting = down_track.paused = True
        down_track.held_request = 0


cdef void nack_received(Core* core, Transport* transport, const Packet* packet) noexcept nogil:
    cdef DownTrack* down_track
    cdef size_t at = 8
    cdef int too_old = 0
    if packet.length < 12:
        core.counters.dropped_malformed += 1
        return
    core.counters.nacks_received += 1
    down_track = find_received(transport, load32(packet.body + 4))
    if down_track == NULL:
        return
    audio_lost(core, down_track, False)
    if down_track.forwarder.kind == AUDIO:
        if down_track.rtt <= AUDIO_MAX_RTT:
            resend_audio(core, down_track, packet)
        return
    while at + 4 <= packet.length:
        too_old += resend_listed(core, down_track, load16(packet.body + at), load16(packet.body + at + 2))
        at += 4
    if too_old >= OUTAGE_PACKETS and not (
            down_track.last_request and core.now - down_track.last_request < interval(down_track)):
        ask_for_keyframe(core, down_track)


cdef int resend_listed(Core* core, DownTrack* down_track, uint16_t first, uint32_t mask) noexcept nogil:
    """Resend the packets of one entry of a NACK (RFC 4585 section 6.2.1). Return the number of packets that
    are too old to be resent.
    """
    cdef int i
    cdef int too_old = resend(core, down_track, first)
    for i in range(16):
        if mask & (<uint32_t>1 << i):
            too_old += resend(core, down_track, <uint16_t>(first + i + 1))
    return too_old


cdef void resend_audio(Core* core, DownTrack* down_track, const Packet* packet) noexcept nogil:
    """Resend the requested packets, latest first, except packets that the receiver gets as redundancy.

    A packet in RED also contains the previous packet. It is therefore enough to resend every second packet of
    a burst, and a packet is not resent if the next packet has arrived.
    """
    cdef size_t at = packet.length & ~<size_t>3
    cdef uint16_t first, number
    cdef uint16_t next_requested = 0
    cdef bint any_requested = False, is_left_out = False
    cdef uint32_t mask
    cdef int i
    while at > 8:
        at -= 4
        first = load16(packet.body + at)
        mask = <uint32_t>load16(packet.body + at + 2) << 1 | 1
        for i in range(16, -1, -1):
            if not mask & (<uint32_t>1 << i):
                continue
            number = <uint16_t>(first + i)
            is_left_out = is_repeated_later(down_track, number) and not (
                any_requested and next_requested == <uint16_t>(number + 1) and is_left_out)
            if not is_left_out:
                resend(core, down_track, number)
            any_requested = True
            next_requested = number


cdef void fir_received(Core* core, Transport* transport, const Packet* packet) noexcept nogil:
    """Process a FIR. Each entry identifies a media source (RFC 5104 section 4.3.1.1)."""
    cdef size_t at = 8
    while at + 8 <= packet.length:
        keyframe_requested(core, find_received(transport, load32(packet.body + at)))
        at += 8


cdef void keyframe_requested(Core* core, DownTrack* down_track) noexcept nogil:
    if down_track != NULL:
        core.counters.plis_received += 1
        ask_for_keyframe(core, down_track)


cdef void ask_for_keyframe(Core* core, DownTrack* down_track) noexcept nogil:
    """Request a keyframe for a receiver, now or as soon as its interval allows. No request is lost."""
    cdef Forwarder* forwarder = down_track.forwarder
    if forwarder.kind != VIDEO or down_track.paused or down_track.switched_off:
        return
    if down_track.last_request and core.now - down_track.last_request < interval(down_track):
        down_track.held_request = down_track.last_request + interval(down_track)
        if forwarder.held_requests == 0 or down_track.held_request < forwarder.held_requests:
            forwarder.held_requests = down_track.held_request
        fall_due(core, down_track.held_request, 0)
        return
    request(&forwarder.keyframes, core.now, note_request(core, down_track))
    send_due_pli(core, forwarder)


cdef int64_t interval(const DownTrack* down_track) noexcept nogil:
    """Return the minimum time between two keyframe requests of this receiver."""
    if down_track.requests <= FREE_REQUESTS:
        return RECEIVER_INTERVAL
    return RECEIVER_INTERVAL << min(<int>MAX_DOUBLINGS, <int>(down_track.requests - FREE_REQUESTS))


cdef bint note_request(Core* core, DownTrack* down_track) noexcept nogil:
    """Record that this request is passed on. Return whether the receiver keeps requesting keyframes."""
    cdef bint repeated = down_track.last_request != 0 and core.now - down_track.last_request < CONTENT_AFTER
    if not repeated:
        down_track.requests = 0
    # Requests after losses do not lengthen the interval, because losses damage frames.
    if down_track.requests < 255 and not down_track.loses:
        down_track.requests += 1
    down_track.loses = False
    down_track.last_request = core.now
    return repeated


cdef void request_keyframe(Core* core, Forwarder* forwarder) noexcept nogil:
    """Request a keyframe from the sender, now or as soon as its interval allows."""
    if forwarder.kind == VIDEO:
        request(&forwarder.keyframes, core.now, False)
        send_due_pli(core, forwarder)


cdef void keyframe_received(Core* core, Forwarder* forwarder) noexcept nogil:
    """Clear all waiting requests, because a keyframe has arrived."""
    cdef DownTrack* down_track = forwarder.down_tracks
    keyframe_came(&forwarder.keyframes)
    forwarder.held_requests = 0
    while down_track != NULL:
        down_track.held_request = 0
        down_track = down_track.next_sent


cdef void release_held_requests(Core* core, Forwarder* forwarder) noexcept nogil:
    cdef DownTrack* down_track = forwarder.down_tracks
    forwarder.held_requests = 0
    while down_track != NULL:
        if down_track.held_request and down_track.held_request <= core.now:
            down_track.held_request = 0
            request(&forwarder.keyframes, core.now, note_request(core, down_track))
        elif down_track.held_request and (forwarder.held_requests == 0
                                          or down_track.held_request < forwarder.held_requests):
            forwarder.held_requests = down_track.held_request
        down_track = down_track.next_sent


# --- events for Python ---


cdef void report_speaking(Core* core, Forwarder* forwarder) noexcept nogil:
    """Report to Python that a participant has started or stopped speaking."""
    cdef Event event
    memset(&event, 0, sizeof(Event))
    event.kind = SPEAKING
    event.transport = forwarder.transport.id
    event.a = <uint32_t>forwarder.loudness.speaking
    event.b = <uint32_t>(-forwarder.loudness.level >> 8)
    event.c = forwarder.section
    if not push(&core.events, &event, NULL):
        core.counters.dropped_ring_full += 1


# --- sent ---


cdef void send_rtcp(Core* core, Transport* transport, Outgoing* outgoing, size_t length) noexcept nogil:
    """Encrypt the packet in `outgoing` and add it to the batch."""
    cdef int total = protect_rtcp(&transport.outbound, outgoing.data, <int>length)
    if total < 0:
        core.counters.dropped_send_failed += 1
        return
    outgoing.path = transport.selected
    commit(&core.egress, total)


cdef inline bint can_send(Transport* transport) noexcept nogil:
    return transport.keyed and transport.has_selected


cdef void send_sender_report(Core* core, DownTrack* down_track) noexcept nogil:
    """Send the CNAME and a report with the sender's clock and our counts, under the receiver's SSRC."""
    cdef SenderInfo info = down_track.forwarder.last_sr
    cdef Outgoing* outgoing
    cdef size_t length
    if not can_send(down_track.transport) or down_track.waiting:
        return
    outgoing = next_outgoing(&core.egress)
    info.ssrc = down_track.ssrc
    info.rtp += down_track.timestamp_offset
    info.packets = down_track.packets
    info.octets = down_track.octets
    length = write_sr(outgoing.data, &info)
    if down_track.cname_length:
        length += write_cname(outgoing.data + length, down_track.ssrc, down_track.cname, down_track.cname_length)
    down_track.sr_sent = <uint32_t>(info.ntp >> 16)
    down_track.sr_sent_at = core.now
    send_rtcp(core, down_track.transport, outgoing, length)


cdef void send_bye(Core* core, DownTrack* down_track) noexcept nogil:
    """Send a BYE for a stream to its receiver (RFC 3550 section 6.6)."""
    cdef Outgoing* outgoing
    if can_send(down_track.transport) and down_track.numbers.started:
        outgoing = next_outgoing(&core.egress)
        send_rtcp(core, down_track.transport, outgoing, write_bye(outgoing.data, down_track.ssrc))


cdef void tick(Core* core, Transport* transport) noexcept nogil:
    """Send all RTCP due to this participant as a sender, and set the time of the next tick.

    Gaps, delayed requests and arrivals between two ticks set their own deadlines.
    """
    cdef Forwarder* forwarder
    if not can_send(transport):
        # Nothing can be sent without keys and a path. begin_receiving will cause a tick.
        return
    forwarder = first_received(transport)
    while forwarder != NULL:
        if forwarder.ssrc:
            tick_received(core, forwarder)
        forwarder = next_received(transport, forwarder)
    if transport.arrivals != NULL and has_news(transport.arrivals):
        if transport.next_feedback <= core.now:
            transport.next_feedback = core.now + FEEDBACK_INTERVAL
            send_transport_feedback(core, transport)
        else:
            fall_due(core, transport.next_feedback, PATIENCE)
    if transport.source_count:
        if transport.next_report <= core.now:
            transport.next_report = core.now + REPORT_INTERVAL + <int64_t>(random32(core) % REPORT_JITTER)
            send_receiver_report(core, transport)
        fall_due(core, transport.next_report, PATIENCE)


cdef void tick_received(Core* core, Forwarder* forwarder) noexcept nogil:
    """Send all RTCP that is due for one source."""
    expire(&forwarder.history, &core.pool, core.now)
    if forwarder.kind == AUDIO:
        if expire_speech(&forwarder.loudness, core.now):
            report_speaking(core, forwarder)
        elif forwarder.loudness.speaking:
            fall_due(core, expires_at(&forwarder.loudness), 0)
        send_nacks(core, forwarder)
        return
    if forwarder.held_requests and forwarder.held_requests <= core.now:
        release_held_requests(core, forwarder)
    if forwarder.held_requests:
        fall_due(core, forwarder.held_requests, 0)
    send_nacks(core, forwarder)
    skip_unneeded(&forwarder.keyframes, core.now, is_needed(forwarder))
    send_due_pli(core, forwarder)


cdef inline bint is_needed(const Forwarder* forwarder) noexcept nogil:
    """Return whether a keyframe is useful. Without receivers, only the smallest encoding needs keyframes."""
    # The publisher's SFU requests the periodic keyframes of a track that arrives over a link.
    return not forwarder.transport.is_link and (
        forwarder.simulcast == NULL or forwarder.down_tracks != NULL or forwarder.spatial_layer == 0)


cdef void send_nacks(Core* core, Forwarder* forwarder) noexcept nogil:
    cdef uint16_t numbers[MAX_MISSING]
    cdef Outgoing* outgoing
    cdef int count
    if forwarder.reception.missing_count == 0 and not forwarder.reception.gave_up:
        return
    count = due_nacks(&forwarder.reception, core.now, retry_interval(&forwarder.reception), numbers)
    if count:
        outgoing = next_outgoing(&core.egress)
        core.counters.nacks_sent += 1
        send_rtcp(core, forwarder.transport, outgoing,
                  write_nack(outgoing.data, forwarder.transport.rtcp_ssrc, forwarder.ssrc, numbers, count))
    if forwarder.reception.gave_up:
        forwarder.reception.gave_up = False
        if forwarder.kind == VIDEO:
            # A permanently lost packet damages the video until the next keyframe.
            request(&forwarder.keyframes, core.now, False)
    if forwarder.reception.missing_count:
        fall_due(core, forwarder.reception.next_nack, 0)


cdef void send_due_pli(Core* core, Forwarder* forwarder) noexcept nogil:
    cdef Outgoing* outgoing
    if forwarder.ssrc == 0 or not can_send(forwarder.transport):
        return
    if take_due(&forwarder.keyframes, core.now):
        outgoing = next_outgoing(&core.egress)
        core.counters.plis_sent += 1
        send_rtcp(core, forwarder.transport, outgoing,
                  write_pli(outgoing.data, forwarder.transport.rtcp_ssrc, forwarder.ssrc))
    fall_due(core, next_due(&forwarder.keyframes), 0)


cdef void send_transport_feedback(Core* core, Transport* transport) noexcept nogil:
    cdef Outgoing* outgoing
    cdef size_t length
    while True:
        outgoing = next_outgoing(&core.egress)
        length = write_feedback(transport.arrivals, transport.rtcp_ssrc, outgoing.data)
        if length == 0:
            return
        send_rtcp(core, transport, outgoing, length)


cdef void send_receiver_report(Core* core, Transport* transport) noexcept nogil:
    cdef ReportBlock blocks[MAX_SECTIONS * MAX_ENCODINGS]
    cdef Forwarder* forwarder = first_received(transport)
    cdef Outgoing* outgoing
    cdef uint8_t lost
    cdef int count = 0
    while forwarder != NULL:
        if forwarder.ssrc and forwarder.reception.started:
            report(&forwarder.reception, forwarder.ssrc, core.now, &blocks[count])
            if forwarder.kind == AUDIO:
                lost = lost_by_listeners(core, forwarder)
                if forwarder.reception.rtt == 0:
                    # The sender has not answered any NACK, so only FEC can repair lost packets.
                    lost = max(lost, blocks[count].fraction_lost)
                if lost:
                    blocks[count].fraction_lost = max(blocks[count].fraction_lost, loss_for_fec(lost))
            count += 1
        forwarder = next_received(transport, forwarder)
    if count:
        outgoing = next_outgoing(&core.egress)
        send_rtcp(core, transport, outgoing, write_rr(outgoing.data, transport.rtcp_ssrc, blocks, count))
