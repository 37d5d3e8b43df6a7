"""Measures the bandwidth of receivers' downlinks: packet numbers, feedback, probes, and events for Python.

Packets are numbered and remembered for every receiver that negotiated transport-wide numbers. Probes are
sent, and Python gets events, only if the estimate was requested. This module does not reduce the rate: by
default every receiver gets every layer. The module `bandwidth` computes the estimate. See docs/bandwidth.md,
docs/rtcp.md.
"""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from svc._rtp.bandwidth cimport Bandwidth, advance, begin, take_feedback
from svc._rtp.core cimport egress_of, fall_due, queue_of, random32
from svc._rtp.delivery cimport send_paced
from svc._rtp.egress_batch cimport has_room
from svc._rtp.history cimport get
from svc._rtp.objects cimport PAYLOAD_RTX, VIDEO, DownTrack, Sent, accepts
from svc._rtp.paced_transports cimport update_pace
from svc._rtp.pacer cimport note_sent
from svc._rtp.packet_writer cimport rtx_payload_type, send_again, send_padding
from svc._rtp.pool cimport Slot
from svc._rtp.probing cimport bytes_due
from svc._rtp.redundancy cimport stop_redundancy
from svc._rtp.event_ring cimport BANDWIDTH, Event, push
from svc._rtp.sendqueue cimport SendQueue
from svc._rtp.sent_packets cimport clear, init
from svc._rtp.sequence cimport extend
from svc._rtp.splices cimport source_of, splice_of
from svc._rtp.tcp_admission cimport is_streamed, takes_again
from svc._rtp.twcc cimport PacketStatus, read_feedback
from svc._rtp.wire cimport load16, load24

cdef enum:
    # The maximum number of packets per feedback packet. Browsers report every 50 to 250 ms.
    MAX_REPORTED = 2048
    # Padding is at most 255 bytes (RFC 3550 section 5.1). Headers and tag add about 40 bytes.
    MAX_PADDING = 255
    PADDING_OVERHEAD = 40
    # A probe resends packets chosen from this many of the most recent packets.
    LATEST = 64

# The time between the bursts of a probe, and between checks of the downlinks while no probe is running (ns).
cdef int64_t BURST_SPACING = 5_000_000
cdef int64_t IDLE_SPACING = 50_000_000
# The estimate is reported every second, and sooner if it has changed by more than these factors, so that the
# allocation acts within 100 ms of a drop. The last value is the minimum interval (ns).
cdef int64_t REPORT_INTERVAL = 1_000_000_000
cdef int64_t MIN_REPORT_INTERVAL = 50_000_000
cdef double REPORT_DROP = 0.97
cdef double REPORT_RISE = 1.05
# Redundant audio stops if packets wait this long in the downlink's queue (ns).
cdef int64_t REDUNDANCY_QUEUE = 100_000_000
# Do not probe if media has been waiting to be sent for this long (ns).
cdef int64_t MAX_BUSY = 5_000_000
# A probe does not resend packets smaller than this (bytes), because a small packet costs as much CPU time as
# a large one.
cdef int64_t MIN_REPEATED = 400


cdef bint number_packets(Core* core, Transport* transport) noexcept nogil:
    """Start numbering the packets sent to a receiver. Return False if memory allocation fails."""
    if transport.bandwidth == NULL:
        transport.bandwidth = <Bandwidth*>calloc(1, sizeof(Bandwidth))
        if transport.bandwidth == NULL:
            return False
        if init(&transport.wide, <uint16_t>random32(core)) < 0:
            free(transport.bandwidth)
            transport.bandwidth = NULL
            return False
        begin(transport.bandwidth)
        transport.bandwidth.probing.wanted = transport.wanted_bps
        list_probed(core, transport)
    return True


cdef void want_bandwidth(Core* core, Transport* transport, double wanted) noexcept nogil:
    """Start reporting the estimate to Python and probe up to the given rate. A rate of 0 stops both."""
    transport.wanted_bps = wanted
    if transport.bandwidth != NULL:
        transport.bandwidth.probing.wanted = wanted
        list_probed(core, transport)


cdef void list_probed(Core* core, Transport* transport) noexcept nogil:
    if transport.wanted_bps > 0 and not transport.probed:
        transport.probed = True
        transport.next_probed = core.probed
        core.probed = transport
        core.next_probe = core.now
        fall_due(core, core.now, 0)


cdef void forget_bandwidth(Core* core, Transport* transport) noexcept nogil:
    """Free the bandwidth state of a leaving receiver."""
    cdef Transport** link = &core.probed
    while link[0] != NULL and link[0] != transport:
        link = &link[0].next_probed
    if link[0] != NULL:
        link[0] = transport.next_probed
    clear(&transport.wide)
    free(transport.bandwidth)
    transport.bandwidth = NULL


# --- feedback ---


cdef void feedback_received(Core* core, Transport* transport, const Packet* packet) noexcept nogil:
    """Process transport-wide feedback. Reports on packets that were never sent are ignored before parsing."""
    cdef PacketStatus statuses[MAX_REPORTED]
    cdef int64_t first
    cdef int count
    core.counters.bandwidth_reports += 1
    if packet.length < 16:
        core.counters.dropped_malformed += 1
        return
    if transport.bandwidth == NULL:
        core.counters.bandwidth_reports_ignored += 1
        return
    first = extend(transport.wide.next_number - 1, load16(packet.body + 8))
    count = load16(packet.body + 10)
    if first + count > transport.wide.next_number or first < transport.wide.next_number - 2 * MAX_REPORTED:
        core.counters.bandwidth_reports_ignored += 1
        return
    count = read_feedback(packet, statuses, MAX_REPORTED)
    if count < 0:
        core.counters.dropped_malformed += 1
        return
    if take_feedback(transport.bandwidth, &transport.wide, statuses, count, load24(packet.body + 12), core.now) == 0:
        core.counters.bandwidth_reports_ignored += 1
        return
    update_pace(core, transport)
    if transport.bandwidth.queue.last > REDUNDANCY_QUEUE:
        stop_redundancy(core, transport)
    report_bandwidth(core, transport)
    if transport.bandwidth.probing.rate:
        core.next_probe = min(core.next_probe, core.now)
        fall_due(core, core.now, 0)


cdef void report_bandwidth(Core* core, Transport* transport) noexcept nogil:
    """Report a downlink's bandwidth if the estimate was requested, is known, and has changed."""
    cdef Bandwidth* bandwidth = transport.bandwidth
    cdef Event event
    cdef int64_t since = core.now - bandwidth.published_at
    cdef bint changed
    if transport.wanted_bps == 0 or not bandwidth.known:
        return
    changed = not REPORT_DROP * bandwidth.published < bandwidth.estimate < REPORT_RISE * bandwidth.published
    if bandwidth.published_at and since < (MIN_REPORT_INTERVAL if changed else REPORT_INTERVAL):
        return
    memset(&event, 0, sizeof(Event))
    event.kind = BANDWIDTH
    event.transport = transport.id
    event.a = <uint32_t>bandwidth.estimate
    event.b = bandwidth.reason
    event.c = transport.repeated_bytes
    if push(&core.events, &event, NULL):
        bandwidth.published = bandwidth.estimate
        bandwidth.published_at = core.now
        transport.repeated_bytes = 0
    else:
        core.counters.dropped_ring_full += 1


# --- probes ---


cdef void probe_downlinks(Core* core) noexcept nogil:
    """Send the bytes that probes need. Only downlinks whose estimate was requested are checked."""
    cdef Transport* transport = core.probed
    if transport == NULL or core.now < core.next_probe:
        return
    core.next_probe = core.now + IDLE_SPACING
    while transport != NULL:
        if transport.wanted_bps and transport.keyed and transport.has_selected:
            advance(transport.bandwidth, &transport.wide, core.now)
            update_pace(core, transport)
            report_bandwidth(core, transport)
            if transport.bandwidth.probing.rate:
                send_probe(core, transport)
                core.next_probe = core.now + BURST_SPACING
                fall_due(core, core.next_probe, 0)
        transport = transport.next_probed


cdef void send_probe(Core* core, Transport* transport) noexcept nogil:
    """Send a burst: resend recent packets, then add padding."""
    cdef DownTrack* down_track = transport.down_tracks
    cdef int64_t due = bytes_due(&transport.bandwidth.probing, &transport.wide, core.now)
    cdef int64_t back = 1
    cdef uint8_t payload_type = 0
    cdef int length
    while down_track != NULL:
        payload_type = padding_type(core, down_track)
        if payload_type and down_track.wide_id:
            break
        down_track = down_track.next_received
    while due > 0 and down_track != NULL:
        if transport.paced and (<SendQueue*>transport.paced_queue).count > 0 and has_room(egress_of(core, down_track)):
            # Media that is waiting serves as the probe.
            due -= max(send_paced(core, <SendQueue*>transport.paced_queue), 0)
            continue
        if not has_room(egress_of(core, down_track)) or is_late(queue_of(core, down_track), core.now) or (
                is_streamed(down_track) and not takes_again(core, down_track)):
            # Media is sent first. A probe that has to wait yields no useful result.
            return
        length = send_latest(core, down_track, due, &back)
        if length == 0:
            length = send_padding(core, down_track, payload_type, <uint8_t>min(
                max(due - PADDING_OVERHEAD, <int64_t>1), <int64_t>MAX_PADDING))
        if length < 0:
            return
        core.counters.probes_sent += 1
        # A probe uses spare capacity and must not count as demand for a higher rate.
        transport.repeated_bytes -= min(transport.repeated_bytes, <uint32_t>length)
        if transport.pacer != NULL:
            note_sent(transport.pacer, <uint32_t>length, core.now)
        due -= length
    # End the cluster, or start the second cluster.
    bytes_due(&transport.bandwidth.probing, &transport.wide, core.now)


cdef inline bint is_late(const SendQueue* queue, int64_t now) noexcept nogil:
    return queue.count > 0 and now - queue.busy_since > MAX_BUSY


cdef uint8_t padding_type(Core* core, DownTrack* down_track) noexcept nogil:
    """Return a payload type of the receiver's RTX stream, or 0 if it has none."""
    cdef uint8_t payload_type = core.negotiated.rtx_of[down_track.forwarder.payload_type]
    if down_track.rtx_ssrc == 0 or down_track.forwarder.kind != VIDEO:
        return 0
    if payload_type and accepts(down_track, payload_type):
        return payload_type
    for payload_type in range(128):
        if core.negotiated.kind[payload_type] == PAYLOAD_RTX and accepts(down_track, payload_type):
            return payload_type
    return 0


cdef int send_latest(Core* core, DownTrack* down_track, int64_t due, int64_t* back) noexcept nogil:
    """Resend one of the latest packets, newest first. Return its length, 0 if there is none, or -1 on
    failure.
    """
    cdef int64_t output
    cdef Sent* sent
    cdef Slot* slot
    if due < MIN_REPEATED or down_track.waiting or not down_track.numbers.started:
        # As for a NACK: while the receiver is waiting, `sent` contains the previous sender's numbers.
        return 0
    while back[0] <= LATEST:
        output = down_track.numbers.next_output - back[0]
        back[0] += 1
        sent = &down_track.sent[output & down_track.sent_mask]
        if sent.output != output or sent.filler:
            continue
        slot = get(&source_of(down_track, splice_of(down_track, sent)).history, sent.input)
        if slot != NULL and MIN_REPEATED <= slot.length <= due + MIN_REPEATED and (
                rtx_payload_type(core, down_track, slot)):
            return send_again(core, down_track, slot, sent)
    return 0
