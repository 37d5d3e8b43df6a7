"""Who gets a received packet, and under which number; step 7 of a packet's journey.

`forward` decides it for each DownTrack and queues what goes. Writing and encrypting are delivery's. Knows
nothing of sockets, RTCP or rooms. ARCHITECTURE.md, "One packet's journey"; RFC 3550.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memset

from svc._rtp.core cimport random32
from svc._rtp.delivery cimport enqueue, send_waiting
from svc._rtp.frames cimport FrameReader
from svc._rtp.history cimport forget, get, has_all
from svc._rtp.keyframes cimport OTHER
from svc._rtp.layers cimport DROP, decide
from svc._rtp.layers cimport forget as forget_frames
from svc._rtp.objects cimport AUDIO, NEW_ENCODING, NEW_SENDER, SPLICES, LastFrame, accepts
from svc._rtp.sequence cimport NO_NUMBER, drop, drop_missing, rewrite, sync
from svc._rtp.splices cimport splice

# Some encoders answer a PLI with a picture that is whole but no IDR (H264): longer than it takes to ask
# twice, nobody is kept waiting for what can be told to be a keyframe.
cdef int64_t LONGEST_WAIT = 3_000_000_000
# How old a keyframe may be that a newcomer starts with (ns): so long its sender may not be asked for another.
cdef int64_t LONGEST_PAST = 500_000_000


# --- step 7: decide and number ---


cdef void forward(Core* core, Forwarder* forwarder, Slot* slot) noexcept nogil:
    """Queue the packet for every receiver that is to have it."""
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
    """What came from number `first` on, and was held back or came before the receiver did, goes now."""
    cdef int64_t i
    cdef Slot* slot
    for i in range(first, forwarder.reception.highest + 1):
        slot = get(&forwarder.history, i)
        if slot != NULL:
            slot.from_history = True
            forward_to(core, forwarder, down_track, slot)


cdef bint start_in_history(Core* core, DownTrack* down_track) noexcept nogil:
    """Give a waiting receiver the last keyframe and all since, where they are recent and whole; False where not.

    A receiver that has had that keyframe, or something newer, needs another one.
    """
    cdef Forwarder* forwarder = down_track.forwarder
    cdef int64_t first = forwarder.reception.keyframe
    cdef Slot* keyframe = get(&forwarder.history, first)
    if not down_track.waiting or keyframe == NULL or core.now - keyframe.arrival > LONGEST_PAST:
        return False
    if down_track.numbers.started and not down_track.new_source and first <= down_track.numbers.highest:
        return False
    if not has_all(&forwarder.history, first, forwarder.reception.highest):
        # What is missing may still come, but nobody can tell.
        return False
    catch_up(core, forwarder, down_track, first)
    return not down_track.waiting


cdef int64_t number(Core* core, Forwarder* forwarder, DownTrack* down_track, Slot* slot, bint* filler) noexcept nogil:
    """The number under which this receiver gets the packet, or padding in its place; NO_NUMBER for neither."""
    cdef Transport* transport = down_track.transport
    cdef bint going
    if not transport.keyed or not transport.has_selected:
        return NO_NUMBER
    going = wanted(forwarder, down_track, slot)
    if down_track.waiting:
        if down_track.switched_off or not going or not may_start(core, forwarder, down_track, slot):
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
    down_track.last_frame.known = <uint8_t>slot.has_frame
    down_track.last_frame.number = slot.frame.number
    down_track.last_frame.ended = <uint8_t>slot.frame.end
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
    if down_track.numbers.started and not down_track.new_source and slot.ext_seq <= down_track.numbers.highest:
        # It has had newer ones, and most of this picture has gone by.
        return False
    if forwarder.kind == AUDIO or forwarder.codec == OTHER or slot.starts_keyframe:
        return True
    if down_track.waiting_since == 0:
        down_track.waiting_since = core.now
    return core.now - down_track.waiting_since >= LONGEST_WAIT


cdef inline bint wanted(Forwarder* forwarder, DownTrack* down_track, Slot* slot) noexcept nogil:
    if not accepts(down_track, slot.header.payload_type):
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
    if not down_track.new_source & NEW_ENCODING:
        # What was sent before is known by the old sender's numbers: it can not be resent.
        for i in range(down_track.sent_mask + 1):
            down_track.sent[i].output = NO_NUMBER
    if down_track.new_source and down_track.numbers.started:
        continue_from(core, down_track, slot)
    sync(&down_track.numbers, slot.ext_seq, first)
    down_track.last_frame.known = False
    down_track.new_source = False
    down_track.waiting = down_track.paused = False
    down_track.waiting_since = 0


cdef void continue_from(Core* core, DownTrack* down_track, Slot* slot) noexcept nogil:
    """Go on where the receiver's stream stands with the packets of another sender, or of another encoding."""
    if down_track.new_source & NEW_ENCODING:
        core.counters.encoding_switches += 1
        splice(core, down_track, slot)
        forget_frames(&down_track.layers)
        return
    down_track.timestamp_offset = continued_timestamp(core, down_track, slot) - slot.header.timestamp
    if down_track.splices != NULL:
        down_track.splices[down_track.splice & (SPLICES - 1)].timestamp_offset = down_track.timestamp_offset


cdef uint32_t continued_timestamp(Core* core, DownTrack* down_track, Slot* slot) noexcept nogil:
    """Where the receiver's clock stands by now, counted from the last packet that it was sent."""
    cdef int64_t rate = core.negotiated.clock_rate[slot.header.payload_type]
    cdef int64_t elapsed = (core.now - down_track.last_timestamp_at) // 1000
    return down_track.last_timestamp + <uint32_t>(elapsed * rate // 1_000_000)


cdef void restart(Core* core, Forwarder* forwarder, bint new_source) noexcept nogil:
    """The sender's numbers begin anew: receivers go on, without a gap, at its next keyframe."""
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
