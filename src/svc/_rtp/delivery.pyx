"""Turns queued records into datagrams for the receivers (step 8 of a packet's journey).

Empties the queues in quanta, audio first, so that the core can receive in between. If the core or the
downlink does not keep up, packets wait. Packets that have waited too long are dropped: video in whole frames
if possible, audio last. To the receiver, a dropped packet looks lost. Its number is not reused, and the
receiver can request it from the history. This module makes no forwarding decisions and does not use sockets.
See docs/rtcp.md, "Retransmission"; RFC 3550, RFC 4588 (RTX).
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from svc._rtp.core cimport MAX_SHARDS, QUANTUM, RUN, Shard, egress_of, queue_of
from svc._rtp.egress_batch cimport Egress, flush, has_room, has_room_for
from svc._rtp.history cimport MAX_AGE, History, get
from svc._rtp.layers cimport LayerSelector
from svc._rtp.objects cimport AUDIO, END_PICTURE, KEEP_BITMASK, NO_MARKS, SPATIAL_SHIFT, VIDEO, MediaKind, Sent, Transport
from svc._rtp.pacer cimport is_due, note_sent
from svc._rtp.packet_writer cimport rtx_payload_type, send, send_again
from svc._rtp.paced_transports cimport leave_ready, note_queued, wake_resting
from svc._rtp.redundancy cimport copied_with, may_repeat, spend_repair_credit
from svc._rtp.event_ring cimport FORWARDED, Event, push
from svc._rtp.sendqueue cimport SendQueue, SendRecord, append, end_turn, first_record, give_turn
from svc._rtp.sendqueue cimport is_under_way, longest, remove_first
from svc._rtp.sequence cimport NO_NUMBER, extend
from svc._rtp.splices cimport source_of, splice_of
from svc._rtp.tcp_admission cimport count_slow, is_streamed, takes, takes_again

# A keyframe for many receivers is sent as fast as possible, however long that takes. However, a queue that
# does not empty for this long (ns) is not caused by a burst: the core or the downlink cannot keep up.
cdef int64_t MAX_BURST_NS = 100_000_000
# The maximum time that a packet waits, outside and within a burst (ns).
cdef int64_t MAX_DELAY_NS = 25_000_000
cdef int64_t MAX_BURST_DELAY_NS = 250_000_000
# For this long after a drop (ns), receivers share the capacity in equal turns of one RUN.
cdef int64_t CONGESTION = 1_000_000_000
# The interval between resends of one packet ("each packet at most once per RTT") if the round trip is
# unknown, and the minimum interval (ns).
cdef int64_t UNKNOWN_RTT = 100_000_000
cdef int64_t MIN_RESEND_INTERVAL_NS = 20_000_000
cdef int MAX_RESENDS = 3
# The maximum number of resends per packet. Three are too few for a receiver that loses a tenth of its
# packets: one frame in 1400 would stay damaged. A receiver that requests more than 5 % of its packets is
# therefore allowed more. The limit on the share of resends does not change.
cdef int MAX_RESENDS_WHEN_LOSSY = 6
cdef int64_t NACKED_ALL = 1 << 20
cdef int64_t NACKED_PACKETS = 1024      # the number of packets over which the share is averaged
cdef int64_t LOSSY = NACKED_ALL * 5 // 100
# Resends use at most a fifth of a receiver's rate. Unused credit may grow to 64 KB, the size of a large
# frame.
cdef int64_t RESEND_SHARE = 5
cdef int64_t MAX_RESEND_CREDIT = 65536


# --- queueing ---


cdef inline bint is_overloaded(const SendQueue* queue, int64_t now) noexcept nogil:
    return queue.count > 0 and now - queue.busy_since > MAX_BURST_NS


cdef inline bint is_congested(const SendQueue* queue, int64_t now) noexcept nogil:
    return queue.shed_at > 0 and now - queue.shed_at < CONGESTION


cdef void enqueue(Core* core, DownTrack* down_track, Slot* slot, int64_t output, bint filler) noexcept nogil:
    """Queue a packet for a receiver, under its number at that receiver."""
    cdef SendQueue* queue = queue_of(core, down_track)
    cdef SendRecord* record
    if queue.count == 0:
        queue.busy_since = core.now
    record = append(queue, &core.records, down_track, slot)
    if record == NULL:
        make_room(core)
        record = append(queue, &core.records, down_track, slot)
        if record == NULL:
            count_dropped(core, down_track)
            return
    record.output = output
    record.since = core.now
    record.filler = filler
    record.layer_marks = layer_marks(core, down_track, slot)
    if down_track.paced:
        note_queued(core, down_track.transport)


# --- step 8: write and encrypt ---


cdef void drain(Core* core) noexcept nogil:
    """Write a quantum of waiting packets, audio first. Each sending thread gets an equal share of the
    quantum.
    """
    cdef int quantum = max(QUANTUM // <int>core.packet_shards, <int>RUN)
    cdef int left[MAX_SHARDS]
    cdef Shard* shard
    cdef uint32_t i
    for i in range(core.shard_count):
        shard = &core.shards[(core.first_shard + i) % core.shard_count]
        left[i] = drain_queue(core, shard.egress, &shard.audio, quantum)
    for i in range(core.shard_count):
        shard = &core.shards[(core.first_shard + i) % core.shard_count]
        drain_queue(core, shard.egress, &shard.video, left[i])
    if core.ready != NULL or core.resting != NULL:
        drain_paced(core, quantum)


cdef int drain_queue(Core* core, Egress* egress, SendQueue* queue, int left) noexcept nogil:
    """Write packets receiver by receiver, with each receiver's packets in order. Return the remaining
    quantum.

    A run that the kernel can segment from one message is not split at the end of a batch or quantum. While
    packets are being dropped, a turn lasts until the receiver has been sent a RUN of packets, and drops do
    not end the turn. Otherwise a receiver whose packets are all too late when its turn comes would never get
    a packet.
    """
    cdef int64_t oldest = oldest_in_time(queue, core.now)
    cdef DownTrack* before = NULL
    cdef DownTrack* down_track
    cdef uint32_t run, i
    cdef bint congested = is_congested(queue, core.now)
    while queue.count > 0 and left > 0:
        down_track = queue.first if before == NULL else before.next_queued
        shed_overdue(core, queue, down_track, oldest)
        run = min(down_track.records, <uint32_t>RUN)
        if run > 0 and not has_room_for(egress, run):
            return 0
        for i in range(run):
            if is_streamed(down_track) and not takes(core, down_track, first_record(down_track)):
                shed_first(core, queue, down_track)
                continue
            send_first(core, down_track, first_record(down_track))
            remove_first(queue, &core.records, &core.pool, down_track)
        left -= <int>run
        if not congested:
            if down_track.first_record == NULL:
                end_turn(queue, before)
            continue
        down_track.served += run
        if down_track.served >= <uint32_t>RUN:
            down_track.served = 0
            end_turn(queue, before)
            if down_track.first_record != NULL:
                give_turn(queue, down_track)
        elif down_track.first_record == NULL:
            before = down_track
    return left


cdef void drain_paced(Core* core, int left) noexcept nogil:
    """Write the paced packets that are due. Transports whose packets are not yet due rest until then."""
    cdef Transport* transport
    cdef SendQueue* queue
    wake_resting(core)
    while core.ready != NULL:
        transport = core.ready
        queue = <SendQueue*>transport.paced_queue
        while queue.count > 0 and left > 0 and is_due(
                transport.pacer, first_record(first_with_packets(queue)).since, core.now):
            if not has_room(core.shards[transport.shard].egress):
                break
            send_paced(core, queue)
            left -= 1
        if left <= 0:
            return
        leave_ready(core)


cdef DownTrack* first_with_packets(SendQueue* queue) noexcept nogil:
    """Return the track whose turn it is. The queue must not be empty."""
    while queue.first.first_record == NULL:
        end_turn(queue, NULL)
    return queue.first


cdef int send_paced(Core* core, SendQueue* queue) noexcept nogil:
    """Write the next packet in a paced queue. The queue's tracks take turns, frame by frame. Return the
    packet's length, or -1.
    """
    cdef DownTrack* down_track = first_with_packets(queue)
    cdef uint32_t timestamp = first_record(down_track).slot.header.timestamp
    cdef int length = 0
    if is_streamed(down_track) and not takes(core, down_track, first_record(down_track)):
        shed_first(core, queue, down_track)
    else:
        length = send_first(core, down_track, first_record(down_track))
        remove_first(queue, &core.records, &core.pool, down_track)
    if down_track.first_record == NULL:
        end_turn(queue, NULL)
    elif first_record(down_track).slot.header.timestamp != timestamp:
        end_turn(queue, NULL)
        give_turn(queue, down_track)
    return length


cdef void send_waiting(Core* core, DownTrack* down_track) noexcept nogil:
    """Write all of a receiver's waiting packets. Later packets will have different numbers or timestamps.

    Padding is sent in place of paced packets, because sending them all at once would flood a full downlink
    just when it is being relieved of this track. A keyframe follows anyway.
    """
    cdef SendQueue* queue = queue_of(core, down_track)
    cdef Egress* egress = egress_of(core, down_track)
    if down_track.first_record != NULL and egress.blocked:
        # The kernel might accept data again.
        flush(egress)
    while down_track.first_record != NULL:
        if not has_room(egress):
            shed_first(core, queue, down_track)
            continue
        if down_track.paced:
            first_record(down_track).filler = True
        send_first(core, down_track, first_record(down_track))
        remove_first(queue, &core.records, &core.pool, down_track)


cdef int send_first(Core* core, DownTrack* down_track, const SendRecord* record) noexcept nogil:
    """Send a packet to a receiver for the first time, and record it. Return its length, or -1."""
    cdef Slot* slot = record.slot
    cdef Sent* sent = remember(core, down_track, record)
    cdef Egress* egress = egress_of(core, down_track)
    cdef int length
    down_track.nacked -= down_track.nacked // NACKED_PACKETS
    length = send(core, down_track, slot, sent)
    if core.verbose:
        report_forwarded(core, down_track, record)
    if length > 0:
        if down_track.transport.pacer != NULL:
            note_sent(down_track.transport.pacer, <uint32_t>length, core.now)
        if slot.queued == 1 and not slot.from_history and not down_track.paced:
            egress.batch[egress.count - 1].last_of = slot.arrival
        if not slot.late:
            down_track.last_timestamp = slot.header.timestamp + down_track.timestamp_offset
            down_track.last_timestamp_at = record.since
        down_track.packets += 1
        if record.filler:
            core.counters.fillers_sent += 1
            return length
        down_track.octets += slot.header.payload_length
        if down_track.resend_credit < MAX_RESEND_CREDIT:
            down_track.resend_credit += length // RESEND_SHARE
        if core.now < down_track.copied_until:
            send_copy(core, down_track, copied_with(down_track, record.output))
    return length


cdef void send_copy(Core* core, DownTrack* down_track, int64_t output) noexcept nogil:
    """Send an audio packet a second time, unless that would displace waiting packets."""
    cdef Sent* sent = &down_track.sent[output & down_track.sent_mask]
    cdef Slot* slot
    if output == NO_NUMBER or down_track.records > 1 or is_streamed(down_track) or (
            not has_room(egress_of(core, down_track))):
        return
    slot = get(&source_of(down_track, splice_of(down_track, sent)).history, sent.input)
    if slot == NULL or core.now - slot.arrival > MAX_AGE:
        return
    sent.resends += 1
    sent.resent_at = core.now
    core.counters.redundant_sent += send_again(core, down_track, slot, sent) > 0


cdef Sent* remember(Core* core, DownTrack* down_track, const SendRecord* record) noexcept nogil:
    """Record which packet was sent under a receiver's number, and how that packet is written."""
    cdef const History* history = &down_track.forwarder.history
    cdef Sent* sent = &down_track.sent[record.output & down_track.sent_mask]
    if sent.output != NO_NUMBER and sent.input >= history.oldest and down_track.sent_mask < history.mask:
        # The old entry would be overwritten although a NACK can still request its packet.
        remember_more(down_track)
        sent = &down_track.sent[record.output & down_track.sent_mask]
    sent.output = record.output
    sent.input = record.slot.ext_seq
    sent.resends = 0
    # The receiver might already have sent a NACK for this late packet, so count it as a resend.
    sent.resent_at = core.now if record.slot.late else 0
    sent.with_mid = 1 if down_track.mid_id != 0 and not down_track.announced else 0
    sent.filler = 1 if record.filler else 0
    sent.numbered = 0
    sent.redundant = 1 if core.now < down_track.redundant_until and not record.filler and may_repeat(
        core, down_track, record.slot, record.output) and spend_repair_credit(down_track, record.slot) else 0
    sent.layer_marks = record.layer_marks
    sent.splice = down_track.splice
    return sent


cdef void remember_more(DownTrack* down_track) noexcept nogil:
    """Double the number of remembered packets, if memory allocation succeeds."""
    cdef int64_t size = 2 * (down_track.sent_mask + 1)
    cdef Sent* sent = <Sent*>malloc(<size_t>size * sizeof(Sent))
    cdef int64_t i
    if sent == NULL:
        return
    for i in range(size):
        sent[i].output = NO_NUMBER
    for i in range(size // 2):
        if down_track.sent[i].output != NO_NUMBER:
            sent[down_track.sent[i].output & (size - 1)] = down_track.sent[i]
    free(down_track.sent)
    down_track.sent = sent
    down_track.sent_mask = size - 1


# --- dropping ---


cdef inline int64_t oldest_in_time(const SendQueue* queue, int64_t now) noexcept nogil:
    return now - (MAX_DELAY_NS if is_overloaded(queue, now) else MAX_BURST_DELAY_NS)


cdef void shed(Core* core) noexcept nogil:
    """Drop packets that have waited too long. Called periodically, because a congested receiver might never
    be served.
    """
    cdef uint32_t i
    for i in range(core.shard_count):
        shed_queue(core, &core.shards[i].audio)
        shed_queue(core, &core.shards[i].video)


cdef void shed_queue(Core* core, SendQueue* queue) noexcept nogil:
    cdef DownTrack* down_track = queue.first
    while down_track != NULL:
        shed_overdue(core, queue, down_track, oldest_in_time(queue, core.now))
        down_track = down_track.next_queued


cdef void shed_overdue(Core* core, SendQueue* queue, DownTrack* down_track, int64_t oldest) noexcept nogil:
    """Drop packets older than `oldest`, and the rest of their frames, because half a frame is useless."""
    cdef SendRecord* record = first_record(down_track)
    if record == NULL or (record.since >= oldest and not down_track.shedding):
        return
    while record != NULL:
        if record.since < (oldest - MAX_DELAY_NS if is_under_way(down_track, record) else oldest):
            down_track.shedding = True
            down_track.shed_timestamp = record.slot.header.timestamp
        elif not down_track.shedding:
            return
        elif record.slot.header.timestamp != down_track.shed_timestamp:
            down_track.shedding = False
            return
        shed_first(core, queue, down_track)
        record = first_record(down_track)


cdef void make_room(Core* core) noexcept nogil:
    """Free records when all are in use, by dropping the older half of one receiver's queue, preferably
    video.
    """
    cdef DownTrack* down_track = longest_of(core, VIDEO)
    cdef SendQueue* queue
    cdef uint32_t i
    if down_track == NULL:
        down_track = longest_of(core, AUDIO)
    if down_track == NULL:
        return
    queue = queue_of(core, down_track)
    for i in range(down_track.records // 2 + 1):
        down_track.shedding = True
        down_track.shed_timestamp = first_record(down_track).slot.header.timestamp
        shed_first(core, queue, down_track)
    shed_overdue(core, queue, down_track, 0)


cdef DownTrack* longest_of(Core* core, MediaKind kind) noexcept nogil:
    """Return the receiver with the most waiting packets in all shards, or NULL if none are waiting."""
    cdef DownTrack* found = NULL
    cdef DownTrack* down_track
    cdef uint32_t i
    for i in range(core.shard_count):
        down_track = longest(&core.shards[i].video if kind == VIDEO else &core.shards[i].audio)
        if down_track != NULL and (found == NULL or down_track.records > found.records):
            found = down_track
    if kind == VIDEO:
        found = longest_paced(core.ready, longest_paced(core.resting, found))
    return found


cdef DownTrack* longest_paced(Transport* transport, DownTrack* found) noexcept nogil:
    cdef DownTrack* down_track
    while transport != NULL:
        down_track = longest(<SendQueue*>transport.paced_queue)
        if down_track != NULL and (found == NULL or down_track.records > found.records):
            found = down_track
        transport = transport.next_paced
    return found


cdef void shed_first(Core* core, SendQueue* queue, DownTrack* down_track) noexcept nogil:
    """Drop a receiver's oldest record. To the receiver, the packet looks lost."""
    remember(core, down_track, first_record(down_track))
    if is_streamed(down_track):
        count_slow(core, down_track)
    else:
        queue.shed_at = core.now
        count_dropped(core, down_track)
    remove_first(queue, &core.records, &core.pool, down_track)


cdef inline void count_dropped(Core* core, DownTrack* down_track) noexcept nogil:
    if down_track.forwarder.kind == AUDIO:
        core.counters.dropped_overload_audio += 1
    else:
        core.counters.dropped_overload_video += 1


# --- logging and layers ---


cdef void report_forwarded(Core* core, DownTrack* down_track, const SendRecord* record) noexcept nogil:
    """Write a VERBOSE_LOG event, unless the log cannot keep up."""
    cdef Event event
    memset(&event, 0, sizeof(Event))
    event.kind = FORWARDED
    event.transport = down_track.transport.id
    event.a = record.slot.header.ssrc
    event.b = down_track.ssrc
    event.c = (<uint32_t>record.slot.header.sequence << 16) | <uint16_t>record.output
    push(&core.details, &event, NULL)


cdef uint8_t layer_marks(Core* core, DownTrack* down_track, Slot* slot) noexcept nogil:
    """Return the LayerMarks of a packet.

    The bitmask is sent with the first packet of each frame in the lowest layers, which every receiver gets. A
    receiver that gets all layers again also needs the bitmask, because it would otherwise keep using the
    previous one. A receiver without RTX gets no bitmask, because a plain resend must repeat the header, and
    the structure may have changed by then.
    """
    cdef const LayerSelector* layers = &down_track.layers
    cdef uint8_t marks = KEEP_BITMASK
    if not layers.limited or not slot.has_frame:
        return NO_MARKS
    if slot.frame.start and slot.frame.temporal_id == 0 and slot.frame.spatial_id == 0 and (
            rtx_payload_type(core, down_track, slot) and down_track.ext_ids[core.negotiated.descriptor_id]):
        # These are the layers that are currently sent. The requested layers might have to wait for a switch
        # point.
        marks = <uint8_t>(layers.spatial << SPATIAL_SHIFT) | layers.current[0]
    if slot.frame.end and slot.frame.spatial_id == layers.spatial:
        marks |= END_PICTURE
    return marks


# --- resending ---


cdef bint resend(Core* core, DownTrack* down_track, uint16_t sequence) noexcept nogil:
    """Resend the packet with one of a NACK's numbers, if the receiver is still allowed to get the packet.

    Return whether the packet can never be resent, because it is too old.
    """
    cdef int64_t output = extend(down_track.numbers.next_output, sequence)
    cdef Sent* sent
    cdef Slot* slot
    cdef int length
    if output < 0 or not down_track.numbers.started or down_track.transport.keyed == 0:
        return False
    if egress_of(core, down_track).blocked or (
            down_track.forwarder.kind == VIDEO and not down_track.paced and is_overloaded(queue_of(core, down_track), core.now)) or (
            is_streamed(down_track) and not takes_again(core, down_track)):
        # A resend would delay waiting packets. If the receiver still needs the packet, it sends another NACK.
        return False
    if down_track.waiting:
        # `sent` contains the previous sender's numbers, which the new sender might repeat. The new sender's
        # packets would then be sent under indices that have already been used.
        return False
    sent = &down_track.sent[output & down_track.sent_mask]
    if sent.output != output or not may_resend(core, down_track, sent):
        return False
    slot = get(&source_of(down_track, splice_of(down_track, sent)).history, sent.input)
    if slot == NULL or core.now - slot.arrival > MAX_AGE:
        return True
    if down_track.resend_credit < slot.length:
        return False
    if sent.redundant and get(&down_track.forwarder.history, sent.input - 1) == NULL:
        # The same bytes can no longer be produced.
        return True
    if sent.resends == 0:
        down_track.nacked += NACKED_ALL // NACKED_PACKETS
    sent.resends += 1
    sent.resent_at = core.now
    length = send_again(core, down_track, slot, sent)
    if length > 0:
        down_track.resend_credit -= length
        down_track.repair_credit -= 16 * length
        if down_track.transport.pacer != NULL:
            note_sent(down_track.transport.pacer, <uint32_t>length, core.now)
        core.counters.retransmissions_sent += 1
    return False


cdef inline bint may_resend(Core* core, DownTrack* down_track, const Sent* sent) noexcept nogil:
    cdef int64_t interval = max(down_track.rtt, MIN_RESEND_INTERVAL_NS) if down_track.rtt else UNKNOWN_RTT
    if sent.resends >= (MAX_RESENDS if down_track.nacked <= LOSSY else MAX_RESENDS_WHEN_LOSSY):
        return False
    return sent.resent_at == 0 or core.now - sent.resent_at >= interval
