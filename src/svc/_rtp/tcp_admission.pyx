"""Decides whether a receiver's TCP connection accepts one more packet. If not, only this receiver loses it.

TCP does not lose packets, so packets beyond a slow link's capacity would arrive later and later. No packet
may therefore wait for long. Video is dropped first, in whole frames: a frame is started only if the previous
frame has been sent, or has waited no longer than a burst. A started frame is finished. Audio is sent before
all waiting video (stream_io) and is dropped only if not even audio gets through.
"""

from libc.stdint cimport int64_t

from svc._rtp.objects cimport AUDIO
from svc._rtp.sendqueue cimport is_under_way
from svc._rtp.streams cimport MAX_BULK_BYTES, MAX_URGENT_BYTES, Stream, find

# A keyframe takes a while to send on any downlink, but if video has waited this long (ns), the downlink is
# too slow.
cdef int64_t MAX_BURST_NS = 100_000_000


cdef bint takes(Core* core, DownTrack* down_track, const SendRecord* record) noexcept nogil:
    """Return whether to send the receiver's next packet. If not, the rest of a video frame is also
    dropped.
    """
    cdef const Stream* stream = find(core.streams, down_track.transport.selected.remote.stream)
    cdef bint taken
    if stream == NULL:
        return False
    if down_track.forwarder.kind == AUDIO:
        return stream.urgent.length < MAX_URGENT_BYTES
    if down_track.shedding and record.slot.header.timestamp == down_track.shed_timestamp:
        return False
    if is_under_way(down_track, record):
        taken = stream.bulk.length < MAX_BULK_BYTES
    else:
        taken = stream.bulk.length == 0 or (
            stream.bulk.length < MAX_BULK_BYTES and core.now - stream.bulk_since < MAX_BURST_NS)
    down_track.shedding = not taken
    if not taken:
        down_track.shed_timestamp = record.slot.header.timestamp
    return taken


cdef bint takes_again(Core* core, const DownTrack* down_track) noexcept nogil:
    """Return whether a packet may be resent on this connection."""
    cdef const Stream* stream = find(core.streams, down_track.transport.selected.remote.stream)
    return stream != NULL and stream.urgent.length == 0 and stream.bulk.length == 0
