"""The TCP connections of the media port: one is a path like an address, and is named by its id."""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from svc._rtp.address cimport Address, Path
from svc._rtp.framing cimport Deframer, FrameQueue

cdef enum:
    MAX_STREAMS = 4096      # a power of two: an id is its place among them, and how often that was taken
    # Of one address, or one /64 of IPv6, that have not proven to be a participant's: a browser opens a few, and
    # an office behind one address does not join as one.
    MAX_UNPROVEN_OF_ADDRESS = 32
    MAX_UNPROVEN = 1024     # of all addresses
    # A participant's checks come four or five to a round trip.
    MAX_UNPROVEN_FRAMES = 16
    # What waits for a peer's line to take it, beside the kernel's 16 KB (bytes). Audio and all that is no media
    # goes first; of video as much as the largest keyframe.
    MOST_URGENT = 16384
    MOST_BULK = 262144
    # Beyond these bounds there is room for what one batch holds when they are met.
    SLACK = 131072


cdef struct Stream:
    uint32_t id
    int fd
    uint8_t proven          # a participant's check has come over it
    uint8_t awaits_room     # the system tells when it takes more
    uint8_t doomed          # to be closed at the end of the turn
    uint8_t frames          # that came before it was proven
    Path path
    int64_t heard_at        # ns
    int64_t bulk_since      # ns: since when some video has waited; while some does
    Stream* before          # in the list of the unproven, the oldest first, or of the proven
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
    uint32_t limit          # of all connections
    uint32_t count
    uint32_t unproven_count
    uint32_t next_slot
    StreamList unproven
    StreamList proven
    Stream* doomed          # a list
    int64_t now             # ns: of this turn
    int64_t next_sweep      # ns
    uint64_t accepted
    uint64_t refused        # closed by us before any check of a participant came
    uint64_t failed         # frames that found no connection, or no room


cdef inline Stream* find(const Streams* streams, uint32_t stream_id) noexcept nogil:
    """The connection of this id, NULL when it is gone."""
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
