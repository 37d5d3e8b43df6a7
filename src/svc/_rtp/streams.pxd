"""Tracks the media port's TCP connections. Each connection is a path, like an address, and is identified by
its id.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from svc._rtp.address cimport Address, Path
from svc._rtp.framing cimport Deframer, FrameQueue

cdef enum:
    MAX_STREAMS = 4096      # a power of two: an id combines a slot index and the slot's use count
    # The maximum number of unproven connections from one address, or one /64 network of IPv6. A browser opens
    # a few, and the members in an office behind one address do not all join at the same moment.
    MAX_UNPROVEN_OF_ADDRESS = 32
    MAX_UNPROVEN = 1024     # unproven connections from all addresses
    # A participant sends four or five checks per round trip.
    MAX_UNPROVEN_FRAMES = 16
    # The maximum number of bytes waiting in a connection, besides the kernel's 16 KB. Everything except video
    # is sent first. The limit for video is the size of the largest keyframe.
    MAX_URGENT_BYTES = 16384
    MAX_BULK_BYTES = 262144
    # Space for one batch, which must still fit when a limit has been reached.
    SLACK = 131072


cdef struct Stream:
    uint32_t id
    int fd
    uint8_t proven          # an authenticated check arrived over it
    uint8_t awaits_room     # the kernel will signal when it can accept more data
    uint8_t doomed          # it is closed at the end of the iteration
    uint8_t frames          # number received before it was proven
    Path path
    int64_t heard_at        # ns
    int64_t bulk_since      # ns: when the oldest waiting video was queued; valid while video waits
    Stream* before          # in the list of unproven connections, oldest first, or of proven connections
    Stream* after
    Stream* next_doomed
    Deframer input
    FrameQueue urgent
    FrameQueue bulk


cdef struct StreamList:
    Stream* first
    Stream* last


cdef struct Streams:
    Stream* slots[MAX_STREAMS]
    uint32_t generations[MAX_STREAMS]
    uint32_t limit          # for all connections
    uint32_t count
    uint32_t unproven_count
    uint32_t next_slot
    StreamList unproven
    StreamList proven
    Stream* doomed          # linked list
    int64_t now             # ns: time of this iteration
    int64_t next_sweep      # ns
    uint64_t accepted
    uint64_t refused        # closed by us before a participant's check arrived
    uint64_t failed         # frames dropped for lack of a connection or space


cdef inline Stream* find(const Streams* streams, uint32_t stream_id) noexcept nogil:
    """Return the connection with this id, or NULL if it was closed."""
    cdef Stream* stream
    if streams == NULL:
        return NULL
    stream = streams.slots[stream_id & (MAX_STREAMS - 1)]
    return stream if stream != NULL and stream.id == stream_id and not stream.doomed else NULL


cdef void make_way(Streams* streams, const Address* newcomer) noexcept nogil
cdef Stream* add(Streams* streams, int fd, const Path* path) noexcept nogil
cdef void prove(Streams* streams, uint32_t stream_id) noexcept nogil
cdef void abandon(Streams* streams, uint32_t stream_id) noexcept nogil
cdef void doom(Streams* streams, Stream* stream) noexcept nogil
cdef void refuse(Streams* streams, Stream* stream) noexcept nogil
cdef void sweep(Streams* streams) noexcept nogil
cdef Stream* remove_doomed(Streams* streams) noexcept nogil
cdef void destroy(Stream* stream) noexcept nogil
