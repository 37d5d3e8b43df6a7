"""What waits to be sent: a list of records for each receiver, and the receivers in turn.

Holds references to packet slots, no copies. Which record is sent, how many at a time and which is
dropped is delivery's to decide. Owned by one thread; one allocation per 1024 records, none per record.
"""

from libc.stdlib cimport calloc, free


cdef struct Chunk:
    void* next
    SendRecord records[RECORDS_PER_CHUNK]


cdef bint grow(RecordPool* records) noexcept nogil:
    """Make more records; False at the bound."""
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
    """Free every chunk, whoever still has records of it."""
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
    """Take the turn of the receiver that stands behind `before`; NULL = of the first."""
    cdef DownTrack* ended = queue.first if before == NULL else before.next_queued
    if before == NULL:
        queue.first = ended.next_queued
    else:
        before.next_queued = ended.next_queued
    if queue.last == ended:
        queue.last = before
    ended.has_turn = False


cdef DownTrack* longest(SendQueue* queue) noexcept nogil:
    """For whom most is waiting; NULL when nothing is."""
    cdef DownTrack* down_track = queue.first
    cdef DownTrack* found = NULL
    while down_track != NULL:
        if down_track.records and (found == NULL or down_track.records > found.records):
            found = down_track
        down_track = down_track.next_queued
    return found


cdef void forget(SendQueue* queue, RecordPool* records, Pool* pool, DownTrack* down_track) noexcept nogil:
    """Drop all that waits for a receiver, and its turn: it goes."""
    cdef DownTrack* before = NULL
    cdef DownTrack* at = queue.first
    while down_track.first_record != NULL:
        remove_first(queue, records, pool, down_track)
    if not down_track.has_turn:
        return
    while at != down_track:
        before = at
        at = at.next_queued
    end_turn(queue, before)
