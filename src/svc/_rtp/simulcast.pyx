"""Simulcast: selects a track's encoding for each receiver, and moves the receiver to that encoding.

A receiver gets the largest encoding that its client wants and that is being sent. By default, the client
wants the largest encoding. The receiver is moved at a keyframe of the new encoding, which is requested from
the sender. Until then it keeps its current encoding. If the history contains a keyframe newer than everything
that the receiver has received, the receiver is moved immediately. If an encoding stops while the others
continue, its receivers are moved away in the same way, and are moved back when the encoding resumes. Browsers
stop the largest encoding if the uplink or the processor is too slow.

Requests keyframes only for the encoding that is needed. Does not consider bandwidth or rewrite packets
(`splices` computes the offsets, `delivery` applies them). See RFC 8853 (simulcast), RFC 7667 section 3.7.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memset

from svc._rtp.delivery cimport send_waiting
from svc._rtp.feedback cimport request_keyframe
from svc._rtp.forwarder cimport catch_up, start_in_history
from svc._rtp.history cimport get, has_all
from svc._rtp.objects cimport NEW_ENCODING
from svc._rtp.picture cimport read_picture
from svc._rtp.event_ring cimport ENCODING, Event, push
from svc._rtp.splices cimport open_splices, spliced_timestamp

# An encoding has stopped if it has sent nothing for this time (ns) while the others have sent this many
# frames. A static screen sends one frame a second in each encoding, and a busy encoder skips single frames.
cdef int64_t STOPPED_AFTER = 300_000_000
cdef uint32_t STOPPED_FRAMES = 6
# A keyframe request or the keyframe can be lost. While a receiver is waiting, the request is repeated at this
# interval (ns).
cdef int64_t REVIEW_INTERVAL = 1_000_000_000
# A receiver does not start with a keyframe if frames that are more than this many clock ticks newer have
# already arrived.
cdef int64_t MAX_LATE = 9000


cdef Forwarder* best(const Simulcast* simulcast, uint8_t max_spatial) noexcept nogil:
    """Return the largest active encoding up to `max_spatial`, or else the next larger active encoding, or
    NULL if none is active.
    """
    cdef Forwarder* chosen = NULL
    cdef Forwarder* encoding
    cdef int i
    for i in range(simulcast.count):
        encoding = simulcast.encodings[i]
        if encoding.ssrc and not encoding.stopped and (chosen == NULL or i <= max_spatial):
            chosen = encoding
    return chosen


cdef void encoding_received(Core* core, Forwarder* forwarder, Slot* slot) noexcept nogil:
    """Move more receivers to this encoding, after a packet has been forwarded to its current receivers."""
    cdef Simulcast* simulcast = forwarder.simulcast
    cdef bint changed = forwarder.stopped or forwarder.media_at == 0
    if slot.header.payload_length == 0:
        # Padding only probes the bandwidth.
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
    """Count a frame as missed by the other encodings. Return True if another encoding has stopped."""
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
    """Move every receiver that should get this encoding but still gets another encoding."""
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
            if (not down_track.pinned and best(simulcast, down_track.max_spatial) == forwarder
                    and move(core, down_track, forwarder)):
                catch_up(core, forwarder, down_track, keyframe.ext_seq)
            down_track = following


cdef void review(Core* core, Simulcast* simulcast) noexcept nogil:
    """Choose the encoding for every receiver of the track again."""
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
    """Move a receiver to its best encoding, or request the keyframe that the move needs."""
    cdef Simulcast* simulcast = down_track.forwarder.simulcast
    cdef Forwarder* target
    if simulcast == NULL or down_track.pinned:
        return
    target = best(simulcast, down_track.max_spatial)
    if target == NULL or target == down_track.forwarder:
        return
    if down_track.waiting and not down_track.paused:
        # The receiver is not getting a stream that could be continued.
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
    """Return whether the history starts at a keyframe no older than the newest frame, and has no gaps."""
    cdef Slot* keyframe = get(&target.history, target.reception.keyframe)
    if keyframe == NULL or not open_splices(down_track):
        return False
    if <int32_t>(spliced_timestamp(core, down_track, target, keyframe) - down_track.last_timestamp) < 0:
        return False
    return has_all(&target.history, target.reception.keyframe, target.reception.highest)


cdef bint move(Core* core, DownTrack* down_track, Forwarder* target) noexcept nogil:
    """Link a receiver to another encoding. The receiver then waits for a packet from that encoding. Return
    False if memory allocation fails.
    """
    cdef DownTrack** link = &down_track.forwarder.down_tracks
    if down_track.numbers.started:
        if not open_splices(down_track):
            return False
        down_track.new_source |= NEW_ENCODING
    # Waiting packets have the previous encoding's numbers.
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
    report_encoding(core, down_track)
    return True


cdef void report_encoding(Core* core, const DownTrack* down_track) noexcept nogil:
    """Report the encoding that a receiver gets."""
    cdef Event event
    if down_track.forwarder.simulcast == NULL:
        return
    memset(&event, 0, sizeof(Event))
    event.kind = ENCODING
    event.transport = down_track.transport.id
    event.a = down_track.id
    event.b = down_track.forwarder.spatial_layer
    if not push(&core.events, &event, NULL):
        core.counters.dropped_ring_full += 1
