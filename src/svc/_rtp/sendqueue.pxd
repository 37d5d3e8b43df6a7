"""What waits to be sent, receiver by receiver, in the order in which their turns come."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from svc._rtp.objects cimport DownTrack
from svc._rtp.pool cimport Pool, Slot

cdef enum:
    RECORDS_PER_CHUNK = 1024
    # About 6 MB: a keyframe of 250 packets for five hundred receivers.
    MAX_RECORDS = 131072


cdef struct SendRecord:     # one packet for one receiver, decided and numbered but not yet written
    SendRecord* next        # for the same receiver; or the next free one
    Slot* slot              # one reference
    int64_t output          # extended sequence number, which is also the SRTP packet index
    int64_t since           # ns: when it began to wait
    bint filler             # send padding under the number, not the packet
    uint8_t told_layers     # as in Sent


cdef struct RecordPool:
    SendRecord* free
    uint32_t records        # allocated in all
    void* chunks            # a list of chunks, linked through their first word


# One receiver's packets leave together, so that the kernel can cut them out of one message, and its state
# is fetched from memory once.
cdef struct SendQueue:
    DownTrack* first        # whose turn it is
    DownTrack* last
    uint32_t count          # records, of all receivers
    int64_t busy_since      # ns: since when it has not been empty; while it is not


cdef void destroy(RecordPool* records) noexcept nogil
cdef SendRecord* append(SendQueue* queue, RecordPool* records, DownTrack* down_track, Slot* slot) noexcept nogil
cdef void remove_first(SendQueue* queue, RecordPool* records, Pool* pool, DownTrack* down_track) noexcept nogil
cdef void end_turn_of_first(SendQueue* queue) noexcept nogil
cdef DownTrack* longest(SendQueue* queue) noexcept nogil
cdef void forget(SendQueue* queue, RecordPool* records, Pool* pool, DownTrack* down_track) noexcept nogil


cdef inline SendRecord* first_record(DownTrack* down_track) noexcept nogil:
    return <SendRecord*>down_track.first_record
