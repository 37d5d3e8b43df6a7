"""From a received packet to the datagrams that its receivers get.

First `forward` decides for each DownTrack whether the packet goes and which number it has (steps 7
of a packet's journey); then `drain` writes, encrypts and queues the datagrams (step 8), audio first.
Knows nothing of sockets, RTCP or rooms. Media document section 1; RFC 3550, RFC 4588 (RTX).
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from svc._rtp.core cimport QUEUE, SendRecord, random32
from svc._rtp.descriptor cimport (
    MAX_DESCRIPTOR, DependencyDescriptor, decode_targets_up_to,
)
from svc._rtp.descriptor_writer cimport write_with_active_decode_targets
from svc._rtp.egress cimport Outgoing, commit, next_outgoing
from svc._rtp.frames cimport FrameReader, read_again
from svc._rtp.header cimport Extension, Header, Rewrite, find, write
from svc._rtp.history cimport MAX_AGE, forget, get
from svc._rtp.keyframes cimport OTHER
from svc._rtp.layers cimport ALL_LAYERS, DROP, decide
from svc._rtp.layers cimport forget as forget_frames
from svc._rtp.objects cimport AUDIO, LastFrame, Sent
from svc._rtp.pool cimport release
from svc._rtp.ring cimport FORWARDED, Event, push
from svc._rtp.sequence cimport NO_NUMBER, drop, drop_missing, extend, rewrite, sync
from svc._rtp.srtp cimport Plaintext, seal
from svc._rtp.wire cimport store16

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
# Some encoders answer a PLI with a picture that is whole but no IDR (H264): longer than it takes to ask
# twice, nobody is kept waiting for what can be told to be a keyframe.
cdef int64_t LONGEST_WAIT = 3_000_000_000
# Resends take at most a fifth of what a receiver gets; the credit may grow to 64 KB, a large frame.
cdef int64_t RESEND_SHARE = 5
cdef int64_t MAX_RESEND_CREDIT = 65536


# --- step 7: decide and number ---


cdef void forward(Core* core, Forwarder* forwarder, Slot* slot) noexcept nogil:
    """Queue the packet for every receiver that is to have it."""
    cdef DownTrack* down_track = forwarder.down_tracks
    cdef bint waited
    while down_track != NULL:
        waited = down_track.waiting
        forward_to(core, forwarder, down_track, slot)
        if waited and slot.late and not down_track.waiting:
            catch_up(core, forwarder, down_track, slot.ext_seq)
        down_track = down_track.next_sent


cdef void forward_to(Core* core, Forwarder* forwarder, DownTrack* down_track, Slot* slot) noexcept nogil:
    cdef SendQueue* queue = &core.audio if forwarder.kind == AUDIO else &core.video
    cdef SendRecord* record
    cdef bint filler = False
    cdef int64_t output = number(core, forwarder, down_track, slot, &filler)
    if output == NO_NUMBER:
        return
    if queue.count == QUEUE:
        drain(core)
    record = &queue.records[queue.count]
    record.down_track = down_track
    record.slot = slot
    record.output = output
    record.filler = filler
    record.next = NULL
    slot.references += 1
    queue.count += 1
    append(queue, down_track, record)


cdef inline void append(SendQueue* queue, DownTrack* down_track, SendRecord* record) noexcept nogil:
    if down_track.first_record != NULL:
        (<SendRecord*>down_track.last_record).next = record
        down_track.last_record = record
        return
    down_track.first_record = record
    down_track.last_record = record
    down_track.next_queued = NULL
    if queue.first == NULL:
        queue.first = down_track
    else:
        queue.last.next_queued = down_track
    queue.last = down_track


cdef void catch_up(Core* core, Forwarder* forwarder, DownTrack* down_track, int64_t input) noexcept nogil:
    """A keyframe's first packet came late: what had overtaken it, and was held back, goes now."""
    cdef int64_t i
    cdef Slot* slot
    for i in range(input + 1, forwarder.reception.highest + 1):
        slot = get(&forwarder.history, i)
        if slot != NULL:
            forward_to(core, forwarder, down_track, slot)


cdef int64_t number(Core* core, Forwarder* forwarder, DownTrack* down_track, Slot* slot, bint* filler) noexcept nogil:
    """The number under which this receiver gets the packet, or padding in its place; NO_NUMBER for neither."""
    cdef Transport* transport = down_track.transport
    cdef bint going
    if not transport.keyed or not transport.has_selected:
        return NO_NUMBER
    going = wanted(forwarder, down_track, slot)
    if down_track.waiting:
        if not going or not may_start(core, forwarder, down_track, slot):
            return NO_NUMBER
        start(core, down_track, slot)
    if going and slot.has_frame and decide(&down_track.layers, &slot.frame) == DROP:
        core.counters.layers_dropped += 1
        going = False
    if slot.ext_seq > down_track.numbers.highest:
        return next_number(down_track, slot, going)
    # A late packet, whose number was kept for it. If it turns out that it must not go, padding fills the
    # number: the receiver has been promised one.
    filler[0] = not going
    return rewrite(&down_track.numbers, slot.ext_seq)


cdef int64_t next_number(DownTrack* down_track, Slot* slot, bint going) noexcept nogil:
    """Number the newest packet, or leave it out; and settle what becomes of those missing before it."""
    if slot.header.payload_length == 0:
        # Padding tells nothing of the frames around it, whatever its timestamp is.
        drop(&down_track.numbers, slot.ext_seq)
        return NO_NUMBER
    if slot.ext_seq > down_track.numbers.highest + 1 and missing_are_dropped(down_track, slot, going):
        drop_missing(&down_track.numbers, slot.ext_seq)
    down_track.last_frame.known = slot.has_frame
    down_track.last_frame.number = slot.frame.number
    down_track.last_frame.ended = slot.frame.end
    down_track.last_frame.dropped = not going
    if going:
        return rewrite(&down_track.numbers, slot.ext_seq)
    drop(&down_track.numbers, slot.ext_seq)
    return NO_NUMBER


cdef bint missing_are_dropped(DownTrack* down_track, Slot* slot, bint going) noexcept nogil:
    """Whether what is missing before this packet surely belongs to frames that this receiver does not get."""
    cdef LastFrame* last = &down_track.last_frame
    if not last.known or not slot.has_frame:
        return False
    if slot.frame.number == last.number:
        return last.dropped
    if slot.frame.number != last.number + 1:
        return False
    # The rest of the last frame, the beginning of this one, or both.
    if last.ended and slot.frame.start:
        return False
    return (last.ended or last.dropped) and (slot.frame.start or not going)


cdef bint may_start(Core* core, Forwarder* forwarder, DownTrack* down_track, const Slot* slot) noexcept nogil:
    """A picture starts at a keyframe, where one can be told; but no receiver waits for ever."""
    if forwarder.kind == AUDIO or forwarder.codec == OTHER or slot.starts_keyframe:
        return True
    if down_track.waiting_since == 0:
        down_track.waiting_since = core.now
    return core.now - down_track.waiting_since >= LONGEST_WAIT


cdef inline bint wanted(Forwarder* forwarder, DownTrack* down_track, Slot* slot) noexcept nogil:
    if not down_track.payload_types[slot.header.payload_type]:
        return False
    if forwarder.kind == AUDIO and (forwarder.muted or down_track.transport.deafened):
        return False
    # Padding alone is between the sender and us: it probes for bandwidth.
    return slot.header.payload_length > 0


cdef void start(Core* core, DownTrack* down_track, Slot* slot) noexcept nogil:
    """Begin, or go on after a new sender, with this packet."""
    cdef int64_t first
    cdef int64_t i
    # The first number is below 2^15, so that receivers guess the rollover counter right (RFC 3711 3.3.1).
    first = down_track.numbers.next_output if down_track.numbers.started else random32(core) & 0x7FFF
    # What was sent before is known by the old sender's numbers: it can not be resent.
    for i in range(down_track.sent_mask + 1):
        down_track.sent[i].output = NO_NUMBER
    if down_track.new_source and down_track.numbers.started:
        down_track.timestamp_offset = continued_timestamp(core, down_track, slot) - slot.header.timestamp
    sync(&down_track.numbers, slot.ext_seq, first)
    down_track.last_frame.known = False
    down_track.new_source = False
    down_track.waiting = down_track.paused = False
    down_track.waiting_since = 0


cdef uint32_t continued_timestamp(Core* core, DownTrack* down_track, Slot* slot) noexcept nogil:
    """Where the receiver's clock stands by now, counted from the last packet that it was sent."""
    cdef int64_t rate = core.negotiated.clock_rate[slot.header.payload_type]
    cdef int64_t elapsed = (core.now - down_track.last_timestamp_at) // 1000
    return down_track.last_timestamp + <uint32_t>(elapsed * rate // 1_000_000)


cdef void restart(Core* core, Forwarder* forwarder, bint new_source) noexcept nogil:
    """The sender's numbers begin anew: receivers go on, without a gap, at its next keyframe."""
    cdef DownTrack* down_track = forwarder.down_tracks
    forget(&forwarder.history, &core.pool)
    if forwarder.frames != NULL:
        memset(forwarder.frames, 0, sizeof(FrameReader))
    while down_track != NULL:
        down_track.waiting = True
        down_track.new_source = down_track.new_source or new_source
        forget_frames(&down_track.layers)
        down_track = down_track.next_sent


# --- step 8: write and encrypt ---


cdef void drain(Core* core) noexcept nogil:
    """Write everything that is queued, audio first."""
    drain_queue(core, &core.audio)
    drain_queue(core, &core.video)


cdef void drain_queue(Core* core, SendQueue* queue) noexcept nogil:
    """Receiver by receiver, each one's packets in their order."""
    cdef DownTrack* down_track = queue.first
    cdef SendRecord* record
    while down_track != NULL:
        record = <SendRecord*>down_track.first_record
        while record != NULL:
            send_first(core, record)
            release(&core.pool, record.slot)
            record = record.next
        down_track.first_record = NULL
        down_track = down_track.next_queued
    queue.first = NULL
    queue.count = 0


cdef void send_first(Core* core, SendRecord* record) noexcept nogil:
    """Send a packet to a receiver for the first time, and remember that it went."""
    cdef DownTrack* down_track = record.down_track
    cdef Slot* slot = record.slot
    cdef Sent* sent = &down_track.sent[record.output & down_track.sent_mask]
    cdef int length
    sent.output = record.output
    sent.input = slot.ext_seq
    sent.resends = 0
    # Who gets a packet late may have asked for it: to such a NACK this is the answer.
    sent.resent_at = core.now if slot.late else 0
    sent.with_mid = down_track.mid_id != 0 and not down_track.announced
    sent.filler = record.filler
    sent.told_layers = layers_to_tell(core, down_track, slot)
    down_track.nacked -= down_track.nacked // NACKED_PACKETS
    length = send(core, down_track, slot, sent)
    if core.verbose:
        tell_forwarded(core, record)
    if length > 0:
        if not slot.late:
            down_track.last_timestamp = slot.header.timestamp + down_track.timestamp_offset
            down_track.last_timestamp_at = core.now
        down_track.packets += 1
        if record.filler:
            core.counters.fillers_sent += 1
            return
        down_track.octets += slot.header.payload_length
        if down_track.resend_credit < MAX_RESEND_CREDIT:
            down_track.resend_credit += length // RESEND_SHARE


cdef void tell_forwarded(Core* core, const SendRecord* record) noexcept nogil:
    """A line for VERBOSE_LOG; where the log does not keep up, lines are left out."""
    cdef Event event
    memset(&event, 0, sizeof(Event))
    event.kind = FORWARDED
    event.transport = record.down_track.transport.id
    event.a = record.slot.header.ssrc
    event.b = record.down_track.ssrc
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


cdef int send(Core* core, DownTrack* down_track, Slot* slot, const Sent* sent) noexcept nogil:
    """Write the packet as this receiver's, the same bytes whenever it is called for the same `sent`."""
    cdef Outgoing* outgoing = next_outgoing(&core.egress)
    cdef uint8_t descriptor[MAX_DESCRIPTOR]
    cdef Plaintext plaintext
    cdef Rewrite rewrite
    fill(&rewrite, down_track, slot, sent.with_mid)
    rewrite.ssrc = down_track.ssrc
    rewrite.sequence = <uint16_t>sent.output
    rewrite.payload_type = slot.header.payload_type
    plaintext.prefix_length = 0
    plaintext.ssrc = rewrite.ssrc
    plaintext.index = <uint64_t>sent.output
    if sent.filler:
        return send_filler(core, down_track, outgoing, &rewrite, &plaintext)
    replace_descriptor(core, down_track, slot, sent, &rewrite, descriptor)
    plaintext.header_length = write(outgoing.data, slot.data, &slot.header, &rewrite)
    return finish(core, down_track, outgoing, slot, &plaintext)


cdef int send_filler(Core* core, DownTrack* down_track, Outgoing* outgoing, Rewrite* rewrite,
                     Plaintext* plaintext) noexcept nogil:
    """Nothing but one byte of padding under the number of a packet that was not to go (RFC 3550 section 5.1)."""
    cdef uint8_t padding = 1
    cdef Header header
    header.padding = 1
    header.extension_count = 0
    rewrite.marker = False
    plaintext.header_length = write(outgoing.data, NULL, &header, rewrite)
    plaintext.payload = &padding
    plaintext.payload_length = 1
    return hand_over(core, down_track, outgoing, plaintext)


cdef void replace_descriptor(Core* core, DownTrack* down_track, Slot* slot, const Sent* sent, Rewrite* rewrite,
                             uint8_t* out) noexcept nogil:
    """Cut the descriptor's active decode targets to those that the receiver gets (AV1 RTP, appendix A.4)."""
    cdef FrameReader* frames = down_track.forwarder.frames
    cdef const Extension* extension
    cdef DependencyDescriptor descriptor
    cdef uint32_t targets
    cdef int length
    if sent.told_layers == ALL_LAYERS or frames == NULL:
        return
    extension = find(&slot.header, core.negotiated.descriptor_id)
    if extension == NULL or read_again(frames, slot.data + extension.offset, extension.length, &descriptor) < 0:
        return
    targets = decode_targets_up_to(descriptor.structure, sent.told_layers) & frames.active_decode_targets
    if targets == 0:
        return
    length = write_with_active_decode_targets(&descriptor, targets, out, MAX_DESCRIPTOR)
    # A receiver of the one-byte form alone would lose the whole descriptor to the few bytes more.
    if length > 0 and (length <= 16 or down_track.mixed):
        rewrite.replaced = extension
        rewrite.replacement = out
        rewrite.replacement_length = <uint8_t>length


cdef inline void fill(Rewrite* rewrite, DownTrack* down_track, Slot* slot, bint with_mid) noexcept nogil:
    rewrite.timestamp = slot.header.timestamp + down_track.timestamp_offset
    rewrite.marker = slot.header.marker
    rewrite.mixed = down_track.mixed
    rewrite.mid_id = down_track.mid_id if with_mid else 0
    rewrite.mid = down_track.mid
    rewrite.mid_length = down_track.mid_length
    rewrite.ext_ids = down_track.ext_ids
    rewrite.replaced = NULL


cdef int finish(Core* core, DownTrack* down_track, Outgoing* outgoing, Slot* slot, Plaintext* plaintext) noexcept nogil:
    """Seal the payload, as it came, behind the header, and hand over; the datagram's length, or -1."""
    plaintext.payload = slot.data + slot.header.payload_offset
    plaintext.payload_length = slot.length - slot.header.payload_offset
    return hand_over(core, down_track, outgoing, plaintext)


cdef int hand_over(Core* core, DownTrack* down_track, Outgoing* outgoing, const Plaintext* plaintext) noexcept nogil:
    """Encrypt, and add to the batch."""
    cdef int total = seal(&down_track.transport.outbound, outgoing.data, plaintext)
    if total < 0:
        core.counters.dropped_send_failed += 1
        return -1
    outgoing.path = down_track.transport.selected
    commit(&core.egress, total)
    core.counters.packets_sent += 1
    core.counters.bytes_sent += <uint32_t>total
    return total


# --- again, for a receiver that missed it ---


cdef void resend(Core* core, DownTrack* down_track, uint16_t sequence) noexcept nogil:
    """Answer one number of a NACK from the history, where the receiver may still have it."""
    cdef int64_t output = extend(down_track.numbers.next_output, sequence)
    cdef Sent* sent
    cdef Slot* slot
    cdef int length
    if output < 0 or not down_track.numbers.started or down_track.transport.keyed == 0:
        return
    if down_track.waiting:
        # `sent` tells numbers of the sender before this one, and this one's may be the same: its packets
        # would go out under indices that are used up.
        return
    sent = &down_track.sent[output & down_track.sent_mask]
    if sent.output != output or not may_resend(core, down_track, sent):
        return
    slot = get(&down_track.forwarder.history, sent.input)
    if slot == NULL or core.now - slot.arrival > MAX_AGE or down_track.resend_credit < slot.length:
        return
    if sent.resends == 0:
        down_track.nacked += NACKED_ALL // NACKED_PACKETS
    sent.resends += 1
    sent.resent_at = core.now
    length = resend_as_rtx(core, down_track, slot, sent)
    if length > 0:
        down_track.resend_credit -= length
        core.counters.retransmissions_sent += 1


cdef inline bint may_resend(Core* core, DownTrack* down_track, const Sent* sent) noexcept nogil:
    cdef int64_t interval = max(down_track.rtt, LEAST_RESEND_INTERVAL) if down_track.rtt else UNKNOWN_RTT
    if sent.resends >= (MAX_RESENDS if down_track.nacked <= LOSSY else MAX_RESENDS_WHEN_LOSSY):
        return False
    return sent.resent_at == 0 or core.now - sent.resent_at >= interval


cdef inline uint8_t rtx_payload_type(Core* core, DownTrack* down_track, Slot* slot) noexcept nogil:
    """As what this receiver gets the packet again; 0 = plainly, bit for bit as it was."""
    cdef uint8_t payload_type = core.negotiated.rtx_of[slot.header.payload_type]
    if down_track.rtx_ssrc == 0 or not down_track.payload_types[payload_type]:
        return 0
    return payload_type


cdef int resend_as_rtx(Core* core, DownTrack* down_track, Slot* slot, const Sent* sent) noexcept nogil:
    """Send it on the RTX stream (RFC 4588 section 4); where the receiver has none, the same packet again."""
    cdef uint8_t payload_type = rtx_payload_type(core, down_track, slot)
    cdef uint8_t original[2]
    cdef uint8_t descriptor[MAX_DESCRIPTOR]
    cdef Outgoing* outgoing
    cdef Plaintext plaintext
    cdef Rewrite rewrite
    if sent.filler or payload_type == 0:
        return send(core, down_track, slot, sent)
    outgoing = next_outgoing(&core.egress)
    fill(&rewrite, down_track, slot, sent.with_mid)
    rewrite.ssrc = down_track.rtx_ssrc
    rewrite.sequence = <uint16_t>down_track.rtx_index
    rewrite.payload_type = payload_type
    replace_descriptor(core, down_track, slot, sent, &rewrite, descriptor)
    store16(original, <uint16_t>sent.output)
    plaintext.header_length = write(outgoing.data, slot.data, &slot.header, &rewrite)
    plaintext.prefix = original
    plaintext.prefix_length = 2
    plaintext.ssrc = rewrite.ssrc
    plaintext.index = <uint64_t>down_track.rtx_index
    down_track.rtx_index += 1
    return finish(core, down_track, outgoing, slot, &plaintext)
