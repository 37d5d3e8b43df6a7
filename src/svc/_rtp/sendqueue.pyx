"""What waits to be sent: a list of records for each receiver, and the receivers in turn.

Holds references to packet slots, no copies. Which record is sent, how many at a time and which is
dropped is delivery's to decide. Owned by one thread; one allocation per 1024 records, none per record.
"""

from libc.stdlib cimport calloc, free

from svc._rtp.pool cimport release


cdef struct Chunk:
    void* next
    SendRecord records[RECORDS_PER_CHUNK]


cdef bint grow(RecordPool* records) noexcept nogil:
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


cdef SendRecord* append(SendQueue* queue, RecordPool* records, DownTrack* down_track, Slot* slot) noexcept nogil:
    """A record for the caller to fill in, behind the receiver's others; NULL when all are in use."""
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
    if not down_track.has_turn:
        give_turn(queue, down_track)
    return record


cdef inline void give_turn(SendQueue* queue, DownTrack* down_track) noexcept nogil:
    down_track.has_turn = True
    down_track.next_queued = NULL
    if queue.first == NULL:
        queue.first = down_track
    else:
        queue.last.next_queued = down_track
    queue.last = down_track


cdef void remove_first(SendQueue* queue, RecordPool* records, Pool* pool, DownTrack* down_track) noexcept nogil:
    """Free the receiver's oldest record; its turn stays as it is."""
    cdef SendRecord* record = first_record(down_track)
    down_track.first_record = record.next
    down_track.records -= 1
    queue.count -= 1
    record.slot.queued -= 1
    release(pool, record.slot)
    record.next = records.free
    records.free = record


cdef void end_turn_of_first(SendQueue* queue) noexcept nogil:
    """The receiver whose turn it was has nothing more."""
    queue.first.has_turn = False
    queue.first = queue.first.next_queued


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
    if before == NULL:
        queue.first = down_track.next_queued
    else:
        before.next_queued = down_track.next_queued
    if queue.last == down_track:
        queue.last = before
    down_track.has_turn = False
