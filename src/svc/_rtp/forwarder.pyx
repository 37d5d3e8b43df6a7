"""Selects the receivers of each packet, and numbers the packet for each receiver (step 7 of a packet's
journey).

`forward` decides for each DownTrack, and queues the packet. Writing and encryption are done by `delivery`.
This module does not deal with sockets, RTCP or rooms. See ARCHITECTURE.md, "One packet's journey"; RFC 3550.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memset

from svc._rtp.core cimport random32
from svc._rtp.delivery cimport enqueue, send_waiting
from svc._rtp.frames cimport FrameReader, max_spatial_layer
from svc._rtp.history cimport forget, get, has_all
from svc._rtp.keyframes cimport OTHER
from svc._rtp.layers cimport DROP, decide, set_max_spatial
from svc._rtp.layers cimport forget as forget_frames
from svc._rtp.objects cimport AUDIO, NEW_ENCODING, NEW_SENDER, SPLICES, LastFrame, accepts
from svc._rtp.paced_admission cimport admits
from svc._rtp.sequence cimport NO_NUMBER, drop, drop_missing, rewrite, sync
from svc._rtp.splices cimport splice

# Some H264 encoders respond to a PLI with a complete frame that is not an IDR. A receiver waits for a
# recognisable keyframe only for the duration of two requests.
cdef int64_t MAX_KEYFRAME_WAIT_NS = 3_000_000_000
# The maximum age of a keyframe for a new receiver (ns). No other keyframe may be requested from the sender
# within this time.
cdef int64_t MAX_KEYFRAME_AGE_NS = 500_000_000


# --- step 7: decide and number ---


cdef void forward(Core* core, Forwarder* forwarder, Slot* slot) noexcept nogil:
    """Queue the packet for every receiver that gets it."""
    cdef DownTrack* down_track = forwarder.down_tracks
    cdef bint waited
    while down_track != NULL:
        waited = down_track.waiting
        forward_to(core, forwarder, down_track, slot)
        if waited and slot.late and not down_track.waiting:
            catch_up(core, forwarder, down_track, slot.ext_seq + 1)
        down_track = down_track.next_sent


cdef void forward_to(Core* core, Forwarder* forwarder, DownTrack* down_track, Slot* slot) noexcept nogil:
    cdef bint filler = False
    cdef int64_t output = number(core, forwarder, down_track, slot, &filler)
    if output != NO_NUMBER:
        enqueue(core, down_track, slot, output, filler)


cdef void catch_up(Core* core, Forwarder* forwarder, DownTrack* down_track, int64_t first) noexcept nogil:
    """Send the packets from number `first` on. They were withheld, or had arrived before the receiver joined.
    """
    cdef int64_t i
    cdef Slot* slot
    for i in range(first, forwarder.reception.highest + 1):
        slot = get(&forwarder.history, i)
        if slot != NULL:
            slot.from_history = True
            forward_to(core, forwarder, down_track, slot)


cdef bint start_in_history(Core* core, DownTrack* down_track) noexcept nogil:
    """Send a waiting receiver the last keyframe and all later packets, if they are recent and complete.

    Return False otherwise. A receiver that already has this keyframe, or newer packets, needs another
    keyframe.
    """
    cdef Forwarder* forwarder = down_track.forwarder
    cdef int64_t first = forwarder.reception.keyframe
    cdef Slot* keyframe = get(&forwarder.history, first)
    if not down_track.waiting or keyframe == NULL or core.now - keyframe.arrival > MAX_KEYFRAME_AGE_NS:
        return False
    if down_track.numbers.started and not down_track.new_source and first <= down_track.numbers.highest:
        return False
    if not has_all(&forwarder.history, first, forwarder.reception.highest):
        # The missing packets might still arrive, but the receiver must not depend on that.
        return False
    catch_up(core, forwarder, down_track, first)
    return not down_track.waiting


cdef int64_t number(Core* core, Forwarder* forwarder, DownTrack* down_track, Slot* slot, bint* filler) noexcept nogil:
    """Return the receiver's number for the packet or for padding in its place, or NO_NUMBER if neither is
    sent.
    """
    cdef Transport* transport = down_track.transport
    cdef bint going
    if not transport.keyed or not transport.has_selected:
        return NO_NUMBER
    going = wanted(forwarder, down_track, slot) and (not down_track.paced or admits(core, down_track, slot))
    if down_track.waiting:
        if down_track.switched_off or not going or not may_start(core, forwarder, down_track, slot):
            return NO_NUMBER
        start(core, down_track, slot)
    if going and slot.has_frame and decide(&down_track.layers, &slot.frame) == DROP:
        if slot.frame.temporal_id < down_track.layers.ceiling:
            core.counters.layers_dropped += 1
        else:
            core.counters.dropped_paced += 1
        going = False
    if slot.ext_seq > down_track.numbers.highest:
        return next_number(down_track, slot, going)
    # A number was reserved for the late packet. If the packet must not be sent, padding is sent under that
    # number, because the receiver expects the number.
    filler[0] = not going
    return rewrite(&down_track.numbers, slot.ext_seq)


cdef int64_t next_number(DownTrack* down_track, Slot* slot, bint going) noexcept nogil:
    """Number the newest packet or omit it, and decide about the missing packets before it."""
    if slot.header.payload_length == 0:
        # Padding provides no information about the frames around it, whatever its timestamp.
        drop(&down_track.numbers, slot.ext_seq)
        return NO_NUMBER
    if slot.ext_seq > down_track.numbers.highest + 1 and missing_are_dropped(down_track, slot, going):
        drop_missing(&down_track.numbers, slot.ext_seq)
    down_track.last_frame.known = <uint8_t>slot.has_frame
    down_track.last_frame.number = slot.frame.number
    down_track.last_frame.ended = <uint8_t>slot.frame.end
    down_track.last_frame.dropped = not going
    if going:
        return rewrite(&down_track.numbers, slot.ext_seq)
    drop(&down_track.numbers, slot.ext_seq)
    return NO_NUMBER


cdef bint missing_are_dropped(DownTrack* down_track, Slot* slot, bint going) noexcept nogil:
    """Return whether all packets missing before this packet certainly belong to frames that this receiver
    does not get.
    """
    cdef LastFrame* last = &down_track.last_frame
    if not last.known or not slot.has_frame:
        return False
    if slot.frame.number == last.number:
        return last.dropped
    if slot.frame.number != last.number + 1:
        return False
    # The missing packets are the rest of the last frame, the beginning of this frame, or both.
    if last.ended and slot.frame.start:
        return False
    return (last.ended or last.dropped) and (slot.frame.start or not going)


cdef bint may_start(Core* core, Forwarder* forwarder, DownTrack* down_track, const Slot* slot) noexcept nogil:
    """Return whether the video may start at this packet, because it starts a recognisable keyframe or the
    receiver has waited too long.
    """
    if down_track.numbers.started and not down_track.new_source and slot.ext_seq <= down_track.numbers.highest:
        # The receiver already has newer packets, and most of this frame's packets have passed.
        return False
    if forwarder.kind == AUDIO or forwarder.codec == OTHER or slot.starts_keyframe:
        return True
    if down_track.waiting_since == 0:
        down_track.waiting_since = core.now
    return core.now - down_track.waiting_since >= MAX_KEYFRAME_WAIT_NS


cdef inline bint wanted(Forwarder* forwarder, DownTrack* down_track, Slot* slot) noexcept nogil:
    if not accepts(down_track, slot.header.payload_type):
        return False
    if forwarder.kind == AUDIO and (forwarder.muted or down_track.transport.deafened):
        return False
    # A packet with only padding is the sender's probe of the bandwidth to this SFU.
    return slot.header.payload_length > 0


cdef void start(Core* core, DownTrack* down_track, Slot* slot) noexcept nogil:
    """Start a receiver's stream at this packet, or continue the stream with a new source."""
    cdef int64_t first
    cdef int64_t i
    # The first number is below 2^15, so that receivers guess the rollover counter correctly (RFC 3711 3.3.1).
    first = down_track.numbers.next_output if down_track.numbers.started else random32(core) & 0x7FFF
    if not down_track.new_source & NEW_ENCODING:
        # Earlier packets are stored under the old sender's numbers and cannot be resent.
        for i in range(down_track.sent_mask + 1):
            down_track.sent[i].output = NO_NUMBER
    if down_track.new_source and down_track.numbers.started:
        continue_from(core, down_track, slot)
    limit_spatial(down_track.forwarder, down_track)
    sync(&down_track.numbers, slot.ext_seq, first)
    down_track.last_frame.known = False
    down_track.new_source = False
    down_track.waiting = down_track.paused = False
    down_track.waiting_since = 0


cdef void limit_spatial(const Forwarder* forwarder, DownTrack* down_track) noexcept nogil:
    """Apply a receiver's limit on spatial layers to its stream, if the stream has several."""
    if down_track.layers.max_spatial != down_track.max_spatial and max_spatial_layer(forwarder.frames) > 0:
        set_max_spatial(&down_track.layers, down_track.max_spatial)


cdef void structure_received(Forwarder* forwarder) noexcept nogil:
    """Handle a new structure of the stream, which might now have spatial layers."""
    cdef DownTrack* down_track = forwarder.down_tracks
    while down_track != NULL:
        limit_spatial(forwarder, down_track)
        down_track = down_track.next_sent


cdef void continue_from(Core* core, DownTrack* down_track, Slot* slot) noexcept nogil:
    """Continue a receiver's stream with packets from another sender or encoding."""
    if down_track.new_source & NEW_ENCODING:
        core.counters.encoding_switches += 1
        splice(core, down_track, slot)
        forget_frames(&down_track.layers)
        return
    down_track.timestamp_offset = continued_timestamp(core, down_track, slot) - slot.header.timestamp
    if down_track.splices != NULL:
        down_track.splices[down_track.splice & (SPLICES - 1)].timestamp_offset = down_track.timestamp_offset


cdef uint32_t continued_timestamp(Core* core, DownTrack* down_track, Slot* slot) noexcept nogil:
    """Return the receiver's current timestamp, counted from the last packet sent to it."""
    cdef int64_t rate = core.negotiated.clock_rate[slot.header.payload_type]
    cdef int64_t elapsed = (core.now - down_track.last_timestamp_at) // 1000
    return down_track.last_timestamp + <uint32_t>(elapsed * rate // 1_000_000)


cdef void restart(Core* core, Forwarder* forwarder, bint new_source) noexcept nogil:
    """Handle a restart of the sender's numbers. Receivers continue without a gap at the next keyframe."""
    cdef DownTrack* down_track = forwarder.down_tracks
    while down_track != NULL:
        send_waiting(core, down_track)
        down_track = down_track.next_sent
    down_track = forwarder.down_tracks
    forget(&forwarder.history, &core.pool)
    if forwarder.frames != NULL:
        memset(forwarder.frames, 0, sizeof(FrameReader))
    while down_track != NULL:
        down_track.waiting = True
        if new_source:
            down_track.new_source |= NEW_SENDER
        forget_frames(&down_track.layers)
        down_track = down_track.next_sent
