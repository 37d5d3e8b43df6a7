"""Splicing: continues timestamps, picture ids and frame numbers when a receiver moves to another encoding.

Each encoding's counters start at different values, so offsets are added. The offsets are constant from one
move to the next. The offsets of the last few moves are stored, so that a resent packet has the same bytes.
`simulcast` selects the encoding, and `sequence` continues the sequence numbers. See RFC 3550 section 6.4.1
(NTP and RTP times), RFC 7741, RFC 9628, AV1 RTP specification appendix A.
"""

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t
from libc.stdlib cimport calloc

from svc._rtp.picture cimport Picture, read_picture
from svc._rtp.sequence cimport NO_NUMBER

# Sender reports that differ from arrival times by more than this (ns) must be wrong.
cdef int64_t MAX_ERROR = 1_000_000_000
# If the sender reports of two encodings are further apart than this (ns), they no longer show how the clocks
# relate.
cdef int64_t MAX_REPORT_DISTANCE = 60_000_000_000
# A browser numbers the frames of all encodings in one sequence. A frame no further ahead than this keeps its
# number, so that the sender's gaps are preserved.
cdef int MAX_FRAMES_AHEAD = 4096


cdef bint open_splices(DownTrack* down_track) noexcept nogil:
    """Prepare to move a receiver to another encoding. Return False if memory allocation fails."""
    if down_track.splices == NULL:
        down_track.splices = <Splice*>calloc(SPLICES, sizeof(Splice))
        if down_track.splices == NULL:
            return False
        down_track.splices[0].forwarder = down_track.forwarder
        down_track.splices[0].timestamp_offset = down_track.timestamp_offset
    return True


cdef inline Splice* newest(const DownTrack* down_track) noexcept nogil:
    return &down_track.splices[down_track.splice & (SPLICES - 1)]


cdef uint32_t spliced_timestamp(Core* core, const DownTrack* down_track, const Forwarder* forwarder,
                                const Slot* slot) noexcept nogil:
    """Return the packet's timestamp for the receiver, determined by the sender's clock or by the time of
    arrival.
    """
    cdef const Splice* before = newest(down_track)
    cdef int64_t rate = core.negotiated.clock_rate[slot.header.payload_type]
    cdef int64_t elapsed = slot.arrival - down_track.last_timestamp_at
    cdef uint32_t by_arrival = down_track.last_timestamp + <uint32_t>(elapsed // 1000 * rate // 1_000_000)
    cdef int64_t between = <int64_t>(forwarder.last_sr.ntp - before.forwarder.last_sr.ntp)
    cdef int64_t limit = (MAX_REPORT_DISTANCE // 1_000_000_000) << 32
    cdef uint32_t by_clock
    if forwarder.last_sr_at == 0 or before.forwarder.last_sr_at == 0 or not -limit < between < limit:
        return by_arrival
    by_clock = (slot.header.timestamp - forwarder.last_sr.rtp + before.forwarder.last_sr.rtp
                + <uint32_t>((between * rate) >> 32) + before.timestamp_offset - before.nudge)
    if not -MAX_ERROR * rate < <int64_t><int32_t>(by_clock - by_arrival) * 1_000_000_000 < MAX_ERROR * rate:
        return by_arrival
    return by_clock


cdef void splice(Core* core, DownTrack* down_track, const Slot* slot) noexcept nogil:
    """Continue with `slot`, the first packet of the receiver's new encoding."""
    cdef const Splice* before = newest(down_track)
    cdef uint32_t timestamp = spliced_timestamp(core, down_track, down_track.forwarder, slot)
    cdef Splice* after
    down_track.splice += 1
    after = newest(down_track)
    forget_oldest(down_track)
    after.forwarder = down_track.forwarder
    after.nudge = 0
    if <int32_t>(timestamp - down_track.last_timestamp) <= 0:
        # A receiver would mistake two frames with the same timestamp for one.
        after.nudge = down_track.last_timestamp + 1 - timestamp
    after.timestamp_offset = timestamp + after.nudge - slot.header.timestamp
    down_track.timestamp_offset = after.timestamp_offset
    continue_pictures(before, after, slot)
    continue_frames(before, after, slot)


cdef void forget_oldest(DownTrack* down_track) noexcept nogil:
    """Prevent resends under the splice that the newest splice overwrites."""
    cdef int64_t i
    for i in range(down_track.sent_mask + 1):
        if <uint8_t>(down_track.splice - down_track.sent[i].splice) >= SPLICES:
            down_track.sent[i].output = NO_NUMBER


cdef void continue_pictures(const Splice* before, Splice* after, const Slot* slot) noexcept nogil:
    cdef const Picture* last = &before.forwarder.newest
    cdef Picture first
    read_picture(after.forwarder.codec, slot.data + slot.header.payload_offset, slot.header.payload_length, &first)
    after.picture_offset = after.tl0_offset = 0
    if last.id_length and first.id_length:
        after.picture_offset = <uint16_t>(last.id + before.picture_offset + 1 - first.id)
    if last.tl0_at and first.tl0_at:
        after.tl0_offset = <uint8_t>(last.tl0 + before.tl0_offset + 1 - first.tl0)


cdef void continue_frames(const Splice* before, Splice* after, const Slot* slot) noexcept nogil:
    cdef uint16_t last
    after.frame_offset = before.frame_offset
    if before.forwarder.frames == NULL or before.forwarder.frames.highest == 0 or not slot.has_frame:
        return
    last = <uint16_t>before.forwarder.frames.highest + before.frame_offset
    if not 0 < <int16_t>(<uint16_t>slot.frame.number + after.frame_offset - last) <= MAX_FRAMES_AHEAD:
        after.frame_offset = <uint16_t>(last + 1 - <uint16_t>slot.frame.number)
