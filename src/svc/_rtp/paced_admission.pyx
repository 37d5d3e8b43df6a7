"""Selects the frames that a receiver gets while its packets are paced.

Tracks are paced only if pacing is switched on for them and the estimate is known. A withheld frame gets no
number, like a frame in a dropped layer. Frames that depend on it are also withheld. If frames have
descriptors, the layer selector withholds them. Otherwise, all frames are withheld until a requested keyframe
arrives.

Does not compute times (`pacer` does) or send packets (`delivery` does). See docs/bandwidth.md, "Pacing".
"""

from libc.stdint cimport uint8_t

from svc._rtp.core cimport queue_of
from svc._rtp.feedback cimport ask_for_keyframe
from svc._rtp.layers cimport ALL_LAYERS, remember_frames
from svc._rtp.objects cimport VIDEO, Transport
from svc._rtp.paced_transports cimport has_pacer, note_queued
from svc._rtp.pacer cimport Pacer, keyframe_queued, withheld_from
from svc._rtp.sendqueue cimport SendQueue, first_record, transfer


cdef void set_paced(Core* core, DownTrack* down_track, bint paced) noexcept nogil:
    """Pace a video track, or stop pacing it. Waiting packets keep their order."""
    cdef Transport* transport = down_track.transport
    cdef SendQueue* before = queue_of(core, down_track)
    if down_track.paced == <uint8_t>paced or down_track.forwarder.kind != VIDEO:
        return
    if paced and not has_pacer(core, transport):
        return
    if paced and remember_frames(&down_track.layers) < 0:
        return
    down_track.paced = <uint8_t>paced
    down_track.layers.ceiling = ALL_LAYERS
    transfer(before, queue_of(core, down_track), down_track)
    if paced and first_record(down_track) != NULL:
        note_queued(core, transport)


cdef bint admits(Core* core, DownTrack* down_track, const Slot* slot) noexcept nogil:
    """Return whether the packet's frame fits into the receiver's queue. Decides once for each timestamp.

    For frames with a descriptor, this function only sets a ceiling. Below the ceiling, the layer selector
    decides.
    """
    cdef Pacer* pacer = down_track.transport.pacer
    cdef SendQueue* queue = <SendQueue*>down_track.transport.paced_queue
    if slot.late:
        return True
    if slot.header.timestamp != down_track.paced_timestamp:
        down_track.paced_timestamp = slot.header.timestamp
        down_track.paced_keyframe = is_keyframe(slot)
        down_track.layers.ceiling = withheld_from(pacer, queue.bytes, down_track.paced_keyframe, core.now)
        if down_track.layers.ceiling == 0:
            ask_for_keyframe(core, down_track)
            if not slot.has_frame:
                down_track.waiting = True
                down_track.waiting_since = 0
    if down_track.paced_keyframe:
        keyframe_queued(pacer, queue.bytes, core.now)
    if down_track.layers.ceiling == 0 and not slot.has_frame:
        core.counters.dropped_paced += 1
        return False
    return True


cdef inline bint is_keyframe(const Slot* slot) noexcept nogil:
    return slot.starts_keyframe or (
        slot.has_frame and slot.frame.dependency_count == 0 and slot.frame.switch_to != 0)
