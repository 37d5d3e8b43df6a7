"""Simulcast: chooses which encoding of a track a receiver gets, and moves it there.

A receiver gets the largest encoding that its client wants and that is being sent; unless the client says otherwise,
the largest of all. It is moved at a keyframe of that encoding, which the sender is asked for, and goes on with what it
has until then. Where the history holds a keyframe that is newer than all that the receiver has had, it is moved at
once. An encoding that stops while the others go on is left in the same way, and taken up again when it is sent again:
browsers stop the largest where the line or the processor does not carry it.

Asks for keyframes of the encoding that is needed only. Knows nothing of bandwidth, and does not rewrite packets
(`splices` says how, `delivery` does). RFC 8853 (simulcast), RFC 7667 section 3.7.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t

from svc._rtp.delivery cimport send_waiting
from svc._rtp.feedback cimport request_keyframe
from svc._rtp.forwarder cimport catch_up, start_in_history
from svc._rtp.history cimport get, has_all
from svc._rtp.objects cimport NEW_ENCODING
from svc._rtp.picture cimport read_picture
from svc._rtp.splices cimport open_splices, spliced_timestamp

# An encoding has stopped when it sends nothing for this long (ns), and the others send so many frames in that time: a
# screen at rest sends one frame a second in each, and a busy encoder leaves out a frame here and there.
cdef int64_t STOPPED_AFTER = 300_000_000
cdef uint32_t STOPPED_FRAMES = 6
# A request for a keyframe may be lost, and so may the keyframe: while a receiver waits, ask again (ns).
cdef int64_t REVIEW_INTERVAL = 1_000_000_000
# A receiver does not begin with a keyframe that comes later than the frames of so many ticks of the clock after it.
cdef int64_t MAX_LATE = 9000


cdef Forwarder* best(const Simulcast* simulcast, uint8_t max_spatial) noexcept nogil:
    """The largest encoding up to `max_spatial` that is being sent, else the next larger one; NULL = none is sent."""
    cdef Forwarder* chosen = NULL
    cdef Forwarder* encoding
    cdef int i
    for i in range(simulcast.count):
        encoding = simulcast.encodings[i]
        if encoding.ssrc and not encoding.stopped and (chosen == NULL or i <= max_spatial):
            chosen = encoding
    return chosen


cdef void encoding_received(Core* core, Forwarder* forwarder, Slot* slot) noexcept nogil:
    """Look who is to have this encoding from now on, after its packet has gone to those who have it already."""
    cdef Simulcast* simulcast = forwarder.simulcast
    cdef bint changed = forwarder.stopped or forwarder.media_at == 0
    if slot.header.payload_length == 0:
        # Padding only probes for bandwidth.
        return
    forwarder.stopped = False
    forwarder.missed = 0
    forwarder.media_at = core.now
    if not slot.late:
        read_picture(forwarder.codec, slot.data + slot.header.payload_offset, slot.header.payload_length,
                     &forwarder.newest)
        if forwarder.frame_timestamp != slot.header.timestamp:
            forwarder.frame_timestamp = slot.header.timestamp
            changed |= others_stopped(core, forwarder)
    if slot.starts_keyframe and <int32_t>(forwarder.frame_timestamp - slot.header.timestamp) <= MAX_LATE:
        switch_at(core, forwarder, slot)
    if changed or (simulcast.pending and core.now >= simulcast.next_review):
        review(core, simulcast)


cdef bint others_stopped(Core* core, Forwarder* forwarder) noexcept nogil:
    """Count a frame of this encoding against the others; True when one of them has stopped."""
    cdef Simulcast* simulcast = forwarder.simulcast
    cdef Forwarder* other
    cdef bint changed = False
    cdef int i
    for i in range(simulcast.count):
        other = simulcast.encodings[i]
        if other == forwarder or other.ssrc == 0 or other.stopped:
            continue
        other.missed += 1
        if other.missed >= STOPPED_FRAMES and core.now - other.media_at >= STOPPED_AFTER:
            other.stopped = changed = True
    return changed


cdef void switch_at(Core* core, Forwarder* forwarder, const Slot* keyframe) noexcept nogil:
    """Move every receiver here that is to have this encoding and has another one."""
    cdef Simulcast* simulcast = forwarder.simulcast
    cdef DownTrack* down_track
    cdef DownTrack* following
    cdef int i
    for i in range(simulcast.count):
        if simulcast.encodings[i] == forwarder:
            continue
        down_track = simulcast.encodings[i].down_tracks
        while down_track != NULL:
            following = down_track.next_sent
            if best(simulcast, down_track.max_spatial) == forwarder and move(core, down_track, forwarder):
                catch_up(core, forwarder, down_track, keyframe.ext_seq)
            down_track = following


cdef void review(Core* core, Simulcast* simulcast) noexcept nogil:
    """Choose again for every receiver."""
    cdef DownTrack* down_track
    cdef DownTrack* following
    cdef int i
    simulcast.pending = False
    simulcast.next_review = core.now + REVIEW_INTERVAL
    for i in range(simulcast.count):
        down_track = simulcast.encodings[i].down_tracks
        while down_track != NULL:
            following = down_track.next_sent
            choose(core, down_track)
            down_track = following


cdef void choose(Core* core, DownTrack* down_track) noexcept nogil:
    """Move a receiver to the encoding that it is to have, or ask for the keyframe at which it will be moved."""
    cdef Simulcast* simulcast = down_track.forwarder.simulcast
    cdef Forwarder* target
    if simulcast == NULL:
        return
    target = best(simulcast, down_track.max_spatial)
    if target == NULL or target == down_track.forwarder:
        return
    if down_track.waiting and not down_track.paused:
        # It is sent nothing that could go on.
        if move(core, down_track, target) and not down_track.switched_off and not start_in_history(core, down_track):
            request_keyframe(core, target)
        return
    if goes_on_in_history(core, down_track, target):
        if move(core, down_track, target):
            catch_up(core, target, down_track, target.reception.keyframe)
        return
    simulcast.pending = True
    if not down_track.paused:
        request_keyframe(core, target)


cdef bint goes_on_in_history(Core* core, DownTrack* down_track, Forwarder* target) noexcept nogil:
    """Whether the history begins with a keyframe that is no older than the receiver's newest frame, and is whole."""
    cdef Slot* keyframe = get(&target.history, target.reception.keyframe)
    if keyframe == NULL or not open_splices(down_track):
        return False
    if <int32_t>(spliced_timestamp(core, down_track, target, keyframe) - down_track.last_timestamp) < 0:
        return False
    return has_all(&target.history, target.reception.keyframe, target.reception.highest)


cdef bint move(Core* core, DownTrack* down_track, Forwarder* target) noexcept nogil:
    """Link a receiver to another encoding, where it waits for the first packet; False when there is no memory."""
    cdef DownTrack** link = &down_track.forwarder.down_tracks
    if down_track.numbers.started:
        if not open_splices(down_track):
            return False
        down_track.new_source |= NEW_ENCODING
    # Packets that wait have their numbers from the encoding before.
    send_waiting(core, down_track)
    while link[0] != down_track:
        link = &link[0].next_sent
    link[0] = down_track.next_sent
    down_track.next_sent = target.down_tracks
    target.down_tracks = down_track
    down_track.forwarder = target
    down_track.waiting = True
    down_track.waiting_since = 0
    down_track.held_request = 0
    return True
