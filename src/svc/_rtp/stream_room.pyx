"""Whether a receiver's TCP connection takes one more packet; if not, the packet is dropped for this receiver alone.

TCP loses nothing: what a slow line cannot carry would come later and later. So nothing waits for long. Video is
the first to go, by whole frames: one begins only where the one before has left, or has waited no longer than a
burst does, and what has begun is finished. Audio goes before all video that waits (stream_io), and is dropped
where even that does not leave.
"""

from libc.stdint cimport int64_t

from svc._rtp.objects cimport AUDIO
from svc._rtp.sendqueue cimport is_under_way
from svc._rtp.streams cimport MOST_BULK, MOST_URGENT, Stream, find

# A keyframe takes a while on any line; but what has waited this long (ns) waits for a line that is too slow.
cdef int64_t LONGEST_BURST = 100_000_000


cdef bint takes(Core* core, DownTrack* down_track, const SendRecord* record) noexcept nogil:
    """Whether the receiver's next packet is to be sent; of video, its frame is shed where it is not."""
    cdef const Stream* stream = find(core.streams, down_track.transport.selected.remote.stream)
    cdef bint taken
    if stream == NULL:
        return False
    if down_track.forwarder.kind == AUDIO:
        return stream.urgent.length < MOST_URGENT
    if down_track.shedding and record.slot.header.timestamp == down_track.shed_timestamp:
        return False
    if is_under_way(down_track, record):
        taken = stream.bulk.length < MOST_BULK
    else:
        taken = stream.bulk.length == 0 or (
            stream.bulk.length < MOST_BULK and core.now - stream.bulk_since < LONGEST_BURST)
    down_track.shedding = not taken
    if not taken:
        down_track.shed_timestamp = record.slot.header.timestamp
    return taken


cdef bint takes_again(Core* core, const DownTrack* down_track) noexcept nogil:
    """Whether what was dropped may be sent after all."""
    cdef const Stream* stream = find(core.streams, down_track.transport.selected.remote.stream)
    return stream != NULL and stream.urgent.length == 0 and stream.bulk.length == 0
