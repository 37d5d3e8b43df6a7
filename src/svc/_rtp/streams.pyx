"""Keeps the list of the media port's TCP connections and decides which of them may stay.

Anyone can connect. A connection must therefore prove quickly that it belongs to a participant, with an
authenticated check among its first few frames. Until then it gets no response and little memory. If there are
too many unproven connections, the oldest is closed, so that a new connection is always accepted. A proven
connection stays open while data arrives. This module makes no system calls, handles no packets and has no
clock. The caller sets `now` and closes doomed connections. See RFC 6544.
"""

from libc.stdlib cimport calloc, free
from libc.string cimport memcmp

from svc._rtp.address cimport is_ipv4
from svc._rtp.framing cimport clear

# The time within which a connection must prove itself (ns). Browsers send a check immediately, or up to five
# seconds later over a slow network.
cdef int64_t PROOF_TIME = 10_000_000_000
# The longest permitted silence of a proven connection (ns). Consent (RFC 7675) expires earlier.
cdef int64_t IDLE_TIME = 60_000_000_000
# The time allowed for writing the remaining data to a participant who is leaving (ns).
cdef int64_t FAREWELL_TIME = 1_000_000_000
cdef int64_t SWEEP_INTERVAL = 500_000_000


cdef Stream* add(Streams* streams, int fd, const Path* path) noexcept nogil:
    """Add an accepted connection, after make_way. Return NULL if there is no space."""
    cdef Stream* stream
    if streams.count >= streams.limit:
        return NULL
    stream = <Stream*>calloc(1, sizeof(Stream))
    if stream == NULL:
        return NULL
    while streams.slots[streams.next_slot] != NULL:
        streams.next_slot = (streams.next_slot + 1) & (MAX_STREAMS - 1)
    # Ids start above the slot numbers, so that 0 can mean no connection. An id is reused after a million
    # others.
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
    """Close the oldest unproven connection if there are too many, either in total or from `newcomer` (the new
    connection's address).
    """
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
    """Return whether both addresses might belong to one machine or household."""
    return memcmp(a.ip, b.ip, 16 if is_ipv4(a) else 8) == 0


cdef void prove(Streams* streams, uint32_t stream_id) noexcept nogil:
    """Mark a connection as proven by an authenticated check."""
    cdef Stream* stream = find(streams, stream_id)
    if stream == NULL or stream.proven:
        return
    unlink(&streams.unproven, stream)
    streams.unproven_count -= 1
    stream.proven = 1
    append(&streams.proven, stream)


cdef void abandon(Streams* streams, uint32_t stream_id) noexcept nogil:
    """Schedule a connection to be closed soon, because no participant uses it as a path."""
    cdef Stream* stream = find(streams, stream_id)
    if stream != NULL:
        stream.heard_at = min(stream.heard_at, streams.now - IDLE_TIME + FAREWELL_TIME)


cdef void doom(Streams* streams, Stream* stream) noexcept nogil:
    """Close a connection at the end of the iteration. Nothing more is read or written."""
    if stream.doomed:
        return
    stream.doomed = 1
    stream.next_doomed = streams.doomed
    streams.doomed = stream


cdef void refuse(Streams* streams, Stream* stream) noexcept nogil:
    """Close a connection that belongs to no participant."""
    if not stream.doomed:
        streams.refused += 1
    doom(streams, stream)


cdef void sweep(Streams* streams) noexcept nogil:
    """Doom connections that have been unproven or silent for too long, once per interval."""
    cdef Stream* stream = streams.unproven.first
    if streams.now < streams.next_sweep:
        return
    streams.next_sweep = streams.now + SWEEP_INTERVAL
    while stream != NULL:
        # Received data does not extend an unproven connection's timeout, because heard_at is the time of
        # acceptance.
        if streams.now - stream.heard_at > PROOF_TIME:
            refuse(streams, stream)
        stream = stream.after
    stream = streams.proven.first
    while stream != NULL:
        if streams.now - stream.heard_at > IDLE_TIME:
            doom(streams, stream)
        stream = stream.after


cdef Stream* remove_doomed(Streams* streams) noexcept nogil:
    """Remove and return the next doomed connection, or return NULL if there is none. The caller must close
    and destroy the connection.
    """
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
