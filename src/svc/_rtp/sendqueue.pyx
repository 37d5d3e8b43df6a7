"""Send queues: store a list of records per receiver, and serve the receivers in turn.

The records refer to packet slots and do not copy packets. `delivery` decides which records are sent or
dropped, and how many at a time. One thread owns the queues. Memory is allocated for 1024 records at a time.
"""

from libc.stdlib cimport calloc, free


cdef struct Chunk:
    void* next
    SendRecord records[RECORDS_PER_CHUNK]


cdef bint grow(RecordPool* records) noexcept nogil:
    """Allocate more records. Return False at the limit."""
    cdef Chunk* chunk
    cdef int i
    if records.records + RECORDS_PER_CHUNK > MAX_RECORDS:
        return False
    chunk = <Chunk*>calloc(1, sizeof(Chunk))
    if chunk == NULL:
        return False
    chunk.next = records.chunks
    records.chunks = chunk
    records.records += RECORDS_PER_CHUNK
    for i in range(RECORDS_PER_CHUNK):
        chunk.records[i].next = records.free
        records.free = &chunk.records[i]
    return True


cdef void destroy(RecordPool* records) noexcept nogil:
    """Free every chunk, even if its records are still in use."""
    cdef void* chunk = records.chunks
    cdef void* following
    while chunk != NULL:
        following = (<Chunk*>chunk).next
        free(chunk)
        chunk = following
    records.chunks = NULL
    records.free = NULL
    records.records = 0


cdef void end_turn(SendQueue* queue, DownTrack* before) noexcept nogil:
    """End the turn of the receiver after `before`, or of the first receiver if `before` is NULL."""
    cdef DownTrack* ended = queue.first if before == NULL else before.next_queued
    if before == NULL:
        queue.first = ended.next_queued
    else:
        before.next_queued = ended.next_queued
    if queue.last == ended:
        queue.last = before
    ended.has_turn = False


cdef DownTrack* longest(SendQueue* queue) noexcept nogil:
    """Return the receiver with the most waiting packets, or NULL if none are waiting."""
    cdef DownTrack* down_track = queue.first
    cdef DownTrack* found = NULL
    while down_track != NULL:
        if down_track.records and (found == NULL or down_track.records > found.records):
            found = down_track
        down_track = down_track.next_queued
    return found


cdef void lose_turn(SendQueue* queue, DownTrack* down_track) noexcept nogil:
    cdef DownTrack* before = NULL
    cdef DownTrack* at = queue.first
    if not down_track.has_turn:
        return
    while at != down_track:
        before = at
        at = at.next_queued
    end_turn(queue, before)


cdef void transfer(SendQueue* queue, SendQueue* target, DownTrack* down_track) noexcept nogil:
    """Move a receiver's waiting packets to another queue."""
    cdef SendRecord* record = first_record(down_track)
    lose_turn(queue, down_track)
    if record != NULL:
        give_turn(target, down_track)
    while record != NULL:
        queue.bytes -= record.slot.length
        target.bytes += record.slot.length
        record = record.next
    queue.count -= down_track.records
    target.count += down_track.records


cdef void forget(SendQueue* queue, RecordPool* records, Pool* pool, DownTrack* down_track) noexcept nogil:
    """Drop a leaving receiver's waiting packets, and end its turn."""
    while down_track.first_record != NULL:
        remove_first(queue, records, pool, down_track)
    lose_turn(queue, down_track)
