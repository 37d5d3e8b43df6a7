"""Send queues: store the packets waiting for each receiver, and keep the receivers in order."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from svc._rtp.objects cimport DownTrack
from svc._rtp.pool cimport Pool, Slot, release

cdef enum:
    RECORDS_PER_CHUNK = 1024
    # The maximum number of records: about 6 MB, for a keyframe of 250 packets to five hundred receivers.
    MAX_RECORDS = 131072


cdef struct SendRecord:     # one packet for one receiver, numbered but not yet written
    SendRecord* next        # next record of the same receiver, or the next free record
    Slot* slot              # counts as one reference
    int64_t output          # extended sequence number, also the SRTP packet index
    int64_t since           # ns: when it was queued
    bint filler             # send padding under the number instead of the packet
    uint8_t layer_marks     # as in Sent


cdef struct RecordPool:
    SendRecord* free
    uint32_t records        # number allocated
    void* chunks            # a list of chunks, linked through their first word


# One receiver's packets are sent together, so that the kernel can segment them from one message and the
# receiver's state is fetched from memory only once.
cdef struct SendQueue:
    DownTrack* first        # the receiver whose turn it is
    DownTrack* last
    uint32_t count          # records of all receivers
    int64_t bytes           # the size of these records' packets
    int64_t busy_since      # ns: when the queue became non-empty; valid until it is empty
    int64_t shed_at         # ns: last drop from the queue, or 0 if never


cdef bint grow(RecordPool* records) noexcept nogil
cdef void destroy(RecordPool* records) noexcept nogil
cdef void end_turn(SendQueue* queue, DownTrack* before) noexcept nogil
cdef DownTrack* longest(SendQueue* queue) noexcept nogil
cdef void transfer(SendQueue* queue, SendQueue* target, DownTrack* down_track) noexcept nogil
cdef void forget(SendQueue* queue, RecordPool* records, Pool* pool, DownTrack* down_track) noexcept nogil


cdef inline SendRecord* first_record(DownTrack* down_track) noexcept nogil:
    return <SendRecord*>down_track.first_record


cdef inline bint is_under_way(const DownTrack* down_track, const SendRecord* record) noexcept nogil:
    """Return whether the receiver already has the beginning of this frame and should get the rest."""
    return (not down_track.shedding and down_track.packets > 0
            and record.slot.header.timestamp + down_track.timestamp_offset == down_track.last_timestamp)


cdef inline void give_turn(SendQueue* queue, DownTrack* down_track) noexcept nogil:
    down_track.has_turn = True
    down_track.next_queued = NULL
    if queue.first == NULL:
        queue.first = down_track
    else:
        queue.last.next_queued = down_track
    queue.last = down_track


cdef inline SendRecord* append(SendQueue* queue, RecordPool* records, DownTrack* down_track, Slot* slot) noexcept nogil:
    """Append an empty record for the receiver and return it, or NULL if all records are in use."""
    cdef SendRecord* record
    if records.free == NULL and not grow(records):
        return NULL
    record = records.free
    records.free = record.next
    record.next = NULL
    record.slot = slot
    slot.references += 1
    slot.queued += 1
    if down_track.first_record == NULL:
        down_track.first_record = record
    else:
        (<SendRecord*>down_track.last_record).next = record
    down_track.last_record = record
    down_track.records += 1
    queue.count += 1
    queue.bytes += slot.length
    if not down_track.has_turn:
        give_turn(queue, down_track)
    return record


cdef inline void remove_first(SendQueue* queue, RecordPool* records, Pool* pool, DownTrack* down_track) noexcept nogil:
    """Free the receiver's oldest record. Its turn does not change."""
    cdef SendRecord* record = first_record(down_track)
    down_track.first_record = record.next
    down_track.records -= 1
    queue.count -= 1
    queue.bytes -= record.slot.length
    record.slot.queued -= 1
    release(pool, record.slot)
    record.next = records.free
    records.free = record
