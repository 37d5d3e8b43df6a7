"""From a queued record to the datagram that its receiver gets; step 8 of a packet's journey.

The queues are drained in quanta, audio first, and reception goes on between them. What the core or the line
does not keep up with waits, and is dropped when it has waited too long: video by whole frames where that can be,
audio last. A dropped packet is to its receiver a lost one: its number stays its own, and it may have the packet
again from the history. Decides nothing of who gets what, and knows nothing of sockets. docs/rtcp.md,
"Retransmission"; RFC 3550, RFC 4588 (RTX).
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from svc._rtp.core cimport MAX_SHARDS, QUANTUM, RUN, Shard, egress_of, queue_of
from svc._rtp.egress cimport Egress, flush, has_room, has_room_for
from svc._rtp.history cimport MAX_AGE, History, get
from svc._rtp.layers cimport ALL_LAYERS
from svc._rtp.objects cimport AUDIO, VIDEO, MediaKind, Sent
from svc._rtp.packet_writer cimport rtx_payload_type, send, send_again
from svc._rtp.ring cimport FORWARDED, Event, push
from svc._rtp.sendqueue cimport SendQueue, SendRecord, append, end_turn, first_record, give_turn
from svc._rtp.sendqueue cimport is_under_way, longest, remove_first
from svc._rtp.sequence cimport NO_NUMBER, extend
from svc._rtp.splices cimport source_of, splice_of
from svc._rtp.stream_room cimport count_slow, is_streamed, takes, takes_again

# A keyframe for many is sent as fast as it goes, however long that takes. But a queue that has not been empty
# for this long (ns) holds no burst: the core, or the line, does not keep up.
cdef int64_t LONGEST_BURST = 100_000_000
# How long a packet waits then (ns), and how long in a burst.
cdef int64_t LONGEST_DELAY = 25_000_000
cdef int64_t LONGEST_DELAY_IN_BURST = 250_000_000
# So long after something was dropped (ns), what the line takes is shared out in equal turns, of a RUN each.
cdef int64_t CONGESTION = 1_000_000_000
# "each packet at most once per RTT": where the round trip is unknown, and where it is tiny (ns).
cdef int64_t UNKNOWN_RTT = 100_000_000
cdef int64_t LEAST_RESEND_INTERVAL = 20_000_000
cdef int MAX_RESENDS = 3
# Three are too few for a receiver that loses a tenth: one frame in 1400 would stay broken. So one that
# asks for more than 5 % may have a packet more often; its share of resends stays what it is.
cdef int MAX_RESENDS_WHEN_LOSSY = 6
cdef int64_t NACKED_ALL = 1 << 20
cdef int64_t NACKED_PACKETS = 1024      # over which the share is averaged
cdef int64_t LOSSY = NACKED_ALL * 5 // 100
# Resends take at most a fifth of what a receiver gets; the credit may grow to 64 KB, a large frame.
cdef int64_t RESEND_SHARE = 5
cdef int64_t MAX_RESEND_CREDIT = 65536


# --- what waits ---


cdef inline bint is_overloaded(const SendQueue* queue, int64_t now) noexcept nogil:
    return queue.count > 0 and now - queue.busy_since > LONGEST_BURST


cdef inline bint is_congested(const SendQueue* queue, int64_t now) noexcept nogil:
    return queue.shed_at > 0 and now - queue.shed_at < CONGESTION


cdef void enqueue(Core* core, DownTrack* down_track, Slot* slot, int64_t output, bint filler) noexcept nogil:
    """Let a packet wait for its turn, under the number that the receiver will know it by."""
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
    record.told_layers = layers_to_tell(core, down_track, slot)


# --- step 8: write and encrypt ---


cdef void drain(Core* core) noexcept nogil:
    """Write a quantum of what waits, in equal parts for each thread that sends, audio first."""
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


cdef int drain_queue(Core* core, Egress* egress, SendQueue* queue, int left) noexcept nogil:
    """Receiver by receiver, each one's packets in their order; what is left of the quantum.

    What the kernel can cut out of one message is not torn apart, neither by the batch nor by the quantum. Where
    some is dropped, a turn lasts until the receiver has had a RUN of packets, and what is dropped does not end
    it: else those would go empty, each time the same, whose turn comes when all that waits for them is too late.
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


cdef void send_waiting(Core* core, DownTrack* down_track) noexcept nogil:
    """Write all that waits for a receiver, out of turn: what follows has other numbers or timestamps."""
    cdef SendQueue* queue = queue_of(core, down_track)
    cdef Egress* egress = egress_of(core, down_track)
    if down_track.first_record != NULL and egress.blocked:
        # There may be room by now.
        flush(egress)
    while down_track.first_record != NULL:
        if not has_room(egress):
            shed_first(core, queue, down_track)
            continue
        send_first(core, down_track, first_record(down_track))
        remove_first(queue, &core.records, &core.pool, down_track)


cdef void send_first(Core* core, DownTrack* down_track, const SendRecord* record) noexcept nogil:
    """Send a packet to a receiver for the first time, and remember that it went."""
    cdef Slot* slot = record.slot
    cdef Sent* sent = remember(core, down_track, record)
    cdef Egress* egress = egress_of(core, down_track)
    cdef int length
    down_track.nacked -= down_track.nacked // NACKED_PACKETS
    length = send(core, down_track, slot, sent)
    if core.verbose:
        tell_forwarded(core, down_track, record)
    if length > 0:
        if slot.queued == 1 and not slot.from_history:
            egress.batch[egress.count - 1].last_of = slot.arrival
        if not slot.late:
            down_track.last_timestamp = slot.header.timestamp + down_track.timestamp_offset
            down_track.last_timestamp_at = record.since
        down_track.packets += 1
        if record.filler:
            core.counters.fillers_sent += 1
            return
        down_track.octets += slot.header.payload_length
        if down_track.resend_credit < MAX_RESEND_CREDIT:
            down_track.resend_credit += length // RESEND_SHARE


cdef Sent* remember(Core* core, DownTrack* down_track, const SendRecord* record) noexcept nogil:
    """Which packet the number stands for from now on, and how it is written."""
    cdef const History* history = &down_track.forwarder.history
    cdef Sent* sent = &down_track.sent[record.output & down_track.sent_mask]
    if sent.output != NO_NUMBER and sent.input >= history.oldest and down_track.sent_mask < history.mask:
        # It would be forgotten while it may still be asked for.
        remember_more(down_track)
        sent = &down_track.sent[record.output & down_track.sent_mask]
    sent.output = record.output
    sent.input = record.slot.ext_seq
    sent.resends = 0
    # Who gets a packet late may have asked for it: to such a NACK this is the answer.
    sent.resent_at = core.now if record.slot.late else 0
    sent.with_mid = 1 if down_track.mid_id != 0 and not down_track.announced else 0
    sent.filler = 1 if record.filler else 0
    sent.numbered = 0
    sent.told_layers = record.told_layers
    sent.splice = down_track.splice
    return sent


cdef void remember_more(DownTrack* down_track) noexcept nogil:
    """Make room for twice as many packets, if there is memory."""
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


# --- too late, or too much ---


cdef inline int64_t oldest_in_time(const SendQueue* queue, int64_t now) noexcept nogil:
    return now - (LONGEST_DELAY if is_overloaded(queue, now) else LONGEST_DELAY_IN_BURST)


cdef void shed(Core* core) noexcept nogil:
    """Drop what waits too long, whosever turn it is: now and then, because turns may not come."""
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
    """Drop what has waited since before `oldest`, and with a packet the rest of its frame: half of one is useless."""
    cdef SendRecord* record = first_record(down_track)
    if record == NULL or (record.since >= oldest and not down_track.shedding):
        return
    while record != NULL:
        if record.since < (oldest - LONGEST_DELAY if is_under_way(down_track, record) else oldest):
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
    """Every record is in use: the older half of what waits for somebody goes, of video if there is any."""
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
    """For whom most is waiting, of all shards; NULL when nothing is."""
    cdef DownTrack* found = NULL
    cdef DownTrack* down_track
    cdef uint32_t i
    for i in range(core.shard_count):
        down_track = longest(&core.shards[i].video if kind == VIDEO else &core.shards[i].audio)
        if down_track != NULL and (found == NULL or down_track.records > found.records):
            found = down_track
    return found


cdef void shed_first(Core* core, SendQueue* queue, DownTrack* down_track) noexcept nogil:
    """Drop a receiver's oldest record, as if it had been lost on the way."""
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


# --- written ---


cdef void tell_forwarded(Core* core, DownTrack* down_track, const SendRecord* record) noexcept nogil:
    """A line for VERBOSE_LOG; where the log does not keep up, lines are left out."""
    cdef Event event
    memset(&event, 0, sizeof(Event))
    event.kind = FORWARDED
    event.transport = down_track.transport.id
    event.a = record.slot.header.ssrc
    event.b = down_track.ssrc
    event.c = (<uint32_t>record.slot.header.sequence << 16) | <uint16_t>record.output
    push(&core.details, &event, NULL)


cdef uint8_t layers_to_tell(Core* core, DownTrack* down_track, Slot* slot) noexcept nogil:
    """To which temporal layer the packet's descriptor cuts the active decode targets; ALL_LAYERS for not at all.

    Told with the first packet of each frame of the lowest layer, which every receiver gets; to one that has
    all layers again as well, because it would hold on to the last that it was told. Not to a
    receiver without RTX: a plain resend must repeat the header, and the structure may have changed by then.
    """
    if (down_track.layers.decisions == NULL or not slot.has_frame or not slot.frame.start
            or slot.frame.temporal_id != 0 or rtx_payload_type(core, down_track, slot) == 0
            or not down_track.ext_ids[core.negotiated.descriptor_id]):
        return ALL_LAYERS
    # What the receiver gets now: the layers that it wants may have to wait for a switch point.
    return down_track.layers.current[slot.frame.spatial_id]


# --- again, for a receiver that missed it ---


cdef void resend(Core* core, DownTrack* down_track, uint16_t sequence) noexcept nogil:
    """Answer one number of a NACK from the history, where the receiver may still have it."""
    cdef int64_t output = extend(down_track.numbers.next_output, sequence)
    cdef Sent* sent
    cdef Slot* slot
    cdef int length
    if output < 0 or not down_track.numbers.started or down_track.transport.keyed == 0:
        return
    if egress_of(core, down_track).blocked or (
            down_track.forwarder.kind == VIDEO and is_overloaded(queue_of(core, down_track), core.now)) or (
            is_streamed(down_track) and not takes_again(core, down_track)):
        # It would delay what waits. Who still misses it asks again.
        return
    if down_track.waiting:
        # `sent` tells numbers of the sender before this one, and this one's may be the same: its packets
        # would go out under indices that are used up.
        return
    sent = &down_track.sent[output & down_track.sent_mask]
    if sent.output != output or not may_resend(core, down_track, sent):
        return
    slot = get(&source_of(down_track, splice_of(down_track, sent)).history, sent.input)
    if slot == NULL or core.now - slot.arrival > MAX_AGE or down_track.resend_credit < slot.length:
        return
    if sent.resends == 0:
        down_track.nacked += NACKED_ALL // NACKED_PACKETS
    sent.resends += 1
    sent.resent_at = core.now
    length = send_again(core, down_track, slot, sent)
    if length > 0:
        down_track.resend_credit -= length
        core.counters.retransmissions_sent += 1


cdef inline bint may_resend(Core* core, DownTrack* down_track, const Sent* sent) noexcept nogil:
    cdef int64_t interval = max(down_track.rtt, LEAST_RESEND_INTERVAL) if down_track.rtt else UNKNOWN_RTT
    if sent.resends >= (MAX_RESENDS if down_track.nacked <= LOSSY else MAX_RESENDS_WHEN_LOSSY):
        return False
    return sent.resent_at == 0 or core.now - sent.resent_at >= interval
