"""Decides whether a receiver's TCP connection accepts one more packet."""

from svc._rtp.core cimport Core
from svc._rtp.objects cimport AUDIO, DownTrack
from svc._rtp.sendqueue cimport SendRecord


cdef bint takes(Core* core, DownTrack* down_track, const SendRecord* record) noexcept nogil
cdef bint takes_again(Core* core, const DownTrack* down_track) noexcept nogil


cdef inline bint is_streamed(const DownTrack* down_track) noexcept nogil:
    return down_track.transport.selected.remote.stream != 0


cdef inline void count_slow(Core* core, DownTrack* down_track) noexcept nogil:
    """Count a drop caused by one slow connection. The drop does not affect the queue's other receivers."""
    if down_track.forwarder.kind == AUDIO:
        core.counters.dropped_slow_audio += 1
    else:
        core.counters.dropped_slow_video += 1
