"""The TCP connections of the media port: which there are, and which of them may stay.

Anybody can connect. So a connection has to prove, soon and with its first few frames, that it is a participant's,
by an authenticated check; until then nothing is answered and little is kept of it. Of too many the oldest that has
not proven it gives way, so that a newcomer always gets in. What is proven stays while something comes over it.
No system call, no packet and no clock: `now` is set by its owner, who closes what is doomed. RFC 6544.
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memcmp

from svc._rtp.address cimport is_ipv4
from svc._rtp.framing cimport clear

# How long a connection may take to prove itself (ns): browsers check at once, over a slow line five seconds later.
cdef int64_t PROOF_TIME = 10_000_000_000
# How long a proven one may be silent (ns): consent (RFC 7675) ends before.
cdef int64_t IDLE_TIME = 60_000_000_000
# What remains to be written to a participant who leaves is written by then (ns).
cdef int64_t FAREWELL_TIME = 1_000_000_000
cdef int64_t SWEEP_INTERVAL = 500_000_000


cdef Stream* add(Streams* streams, int fd, const Path* path) noexcept nogil:
    """A connection that has been accepted, after make_way; NULL where there is no place for it."""
    cdef Stream* stream
    if streams.count >= streams.limit:
        return NULL
    stream = <Stream*>calloc(1, sizeof(Stream))
    if stream == NULL:
        return NULL
    while streams.slots[streams.next_slot] != NULL:
        streams.next_slot = (streams.next_slot + 1) & (MAX_STREAMS - 1)
    # Ids begin above the places, so that 0 is none; one comes again after a million others.
    streams.generations[streams.next_slot] = (streams.generations[streams.next_slot] % 0xFFFFE) + 1
    stream.id = streams.generations[streams.next_slot] * MAX_STREAMS + streams.next_slot
    stream.fd = fd
    stream.path = path[0]
    stream.path.remote.stream = stream.id
    stream.heard_at = streams.now
    streams.slots[streams.next_slot] = stream
    streams.next_slot = (streams.next_slot + 1) & (MAX_STREAMS - 1)
    streams.count += 1
    streams.unproven_count += 1
    streams.accepted += 1
    append(&streams.unproven, stream)
    return stream


cdef void make_way(Streams* streams, const Address* newcomer) noexcept nogil:
    """Refuse the oldest unproven connection where there are too many, of the newcomer's address or in all."""
    cdef Stream* stream = streams.unproven.first
    cdef Stream* oldest = NULL
    cdef int count = 0
    while stream != NULL:
        if not stream.doomed and is_neighbour(&stream.path.remote, newcomer):
            count += 1
            if oldest == NULL:
                oldest = stream
        stream = stream.after
    if count >= MAX_UNPROVEN_OF_ADDRESS:
        refuse(streams, oldest)
    elif streams.unproven_count and (streams.count >= streams.limit or streams.unproven_count >= MAX_UNPROVEN):
        refuse(streams, streams.unproven.first)


cdef bint is_neighbour(const Address* a, const Address* b) noexcept nogil:
    """Whether one machine, or one household, may be behind both."""
    return memcmp(a.ip, b.ip, 16 if is_ipv4(a) else 8) == 0


cdef void prove(Streams* streams, uint32_t stream_id) noexcept nogil:
    """An authenticated check has come over it."""
    cdef Stream* stream = find(streams, stream_id)
    if stream == NULL or stream.proven:
        return
    unlink(&streams.unproven, stream)
    streams.unproven_count -= 1
    stream.proven = 1
    append(&streams.proven, stream)


cdef void abandon(Streams* streams, uint32_t stream_id) noexcept nogil:
    """No participant has it as a path any more: close it soon."""
    cdef Stream* stream = find(streams, stream_id)
    if stream != NULL:
        stream.heard_at = min(stream.heard_at, streams.now - IDLE_TIME + FAREWELL_TIME)


cdef void doom(Streams* streams, Stream* stream) noexcept nogil:
    """Close it at the end of the turn; nothing more is read or written."""
    if stream.doomed:
        return
    stream.doomed = 1
    stream.next_doomed = streams.doomed
    streams.doomed = stream


cdef void refuse(Streams* streams, Stream* stream) noexcept nogil:
    """Close one that is none of ours."""
    if not stream.doomed:
        streams.refused += 1
    doom(streams, stream)


cdef void sweep(Streams* streams) noexcept nogil:
    """Doom what has not proven itself in time, and what has long been silent; now and then."""
    cdef Stream* stream = streams.unproven.first
    if streams.now < streams.next_sweep:
        return
    streams.next_sweep = streams.now + SWEEP_INTERVAL
    while stream != NULL:
        # Nothing that comes lengthens its time: heard_at is when it was accepted.
        if streams.now - stream.heard_at > PROOF_TIME:
            refuse(streams, stream)
        stream = stream.after
    stream = streams.proven.first
    while stream != NULL:
        if streams.now - stream.heard_at > IDLE_TIME:
            doom(streams, stream)
        stream = stream.after


cdef Stream* remove_doomed(Streams* streams) noexcept nogil:
    """The next to be closed, taken out; the caller's to close and to destroy. NULL when there is none."""
    cdef Stream* stream = streams.doomed
    if stream == NULL:
        return NULL
    streams.doomed = stream.next_doomed
    if stream.proven:
        unlink(&streams.proven, stream)
    else:
        unlink(&streams.unproven, stream)
        streams.unproven_count -= 1
    streams.slots[stream.id & (MAX_STREAMS - 1)] = NULL
    streams.count -= 1
    return stream


cdef void destroy(Stream* stream) noexcept nogil:
    clear(&stream.urgent)
    clear(&stream.bulk)
    free(stream)


cdef void append(StreamList* list, Stream* stream) noexcept nogil:
    stream.before = list.last
    stream.after = NULL
    if list.last == NULL:
        list.first = stream
    else:
        list.last.after = stream
    list.last = stream


cdef void unlink(StreamList* list, Stream* stream) noexcept nogil:
    if stream.before == NULL:
        list.first = stream.after
    else:
        stream.before.after = stream.after
    if stream.after == NULL:
        list.last = stream.before
    else:
        stream.after.before = stream.before
