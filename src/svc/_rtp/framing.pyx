"""Reads and writes datagrams on a byte stream, each preceded by its length in two bytes (RFC 4571, RFC 6544).

When reading, pieces of any size go in, and whole frames come out. If a length exceeds that of any datagram,
the stream does not use this framing, and the rest cannot be read. When writing, frames are queued and never
truncated. This module does not deal with sockets or frame content.
"""

from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memmove

from svc._rtp.wire cimport load16, store16

cdef enum:
    FIRST_CAPACITY = 16384
    # The maximum size of a piece, in a test's stream and in a connection's stream (`streams`).
    MAX_PIECE_BYTES = 16384


# --- reading ---


cdef int next_frame(const uint8_t* data, size_t length, size_t* at, const uint8_t** frame) noexcept nogil:
    """Return the length of the frame at `at`, and move `at` past the frame. If there is no whole frame,
    return INCOMPLETE, or BROKEN if the stream has become unreadable.
    """
    cdef uint16_t size
    if length - at[0] < PREFIX:
        return INCOMPLETE
    size = load16(data + at[0])
    if size > MAX_DATAGRAM:
        return BROKEN
    if length - at[0] < <size_t>PREFIX + size:
        return INCOMPLETE
    frame[0] = data + at[0] + PREFIX
    at[0] += <size_t>PREFIX + size
    return size


cdef size_t resume(const Deframer* deframer, uint8_t* data) noexcept nogil:
    """Start a piece with the rest of the previous piece. Return the size of the rest, less than PREFIX +
    MAX_DATAGRAM.
    """
    memcpy(data, deframer.held, deframer.count)
    return deframer.count


cdef void hold(Deframer* deframer, const uint8_t* data, size_t length) noexcept nogil:
    """Store the rest of a piece, which is the beginning of a frame."""
    deframer.count = <uint16_t>length
    memcpy(deframer.held, data, length)


# --- writing ---


cdef bint put(FrameQueue* queue, const uint8_t* frame, uint16_t length, uint32_t gone, uint32_t limit) noexcept nogil:
    """Add a frame to the queue. `gone` bytes of the frame, including the length field, have already been
    sent. Return False if there is no space.

    A partly sent frame goes first, so the queue must be empty.
    """
    cdef uint8_t prefix[PREFIX]
    cdef uint32_t total = PREFIX + length - gone
    cdef uint8_t* out
    if queue.length + total > limit or not make_room(queue, total):
        return False
    out = queue.data + queue.head + queue.length
    store16(prefix, length)
    if gone < PREFIX:
        memcpy(out, prefix + gone, PREFIX - gone)
        memcpy(out + PREFIX - gone, frame, length)
    else:
        memcpy(out, frame + gone - PREFIX, total)
    if gone:
        queue.rest = total
    queue.length += total
    return True


cdef bint make_room(FrameQueue* queue, uint32_t count) noexcept nogil:
    cdef uint32_t capacity = max(queue.capacity, <uint32_t>FIRST_CAPACITY)
    cdef uint8_t* larger
    if queue.head + queue.length + count <= queue.capacity:
        return True
    if queue.head:
        memmove(queue.data, queue.data + queue.head, queue.length)
        queue.head = 0
    while capacity < queue.length + count:
        capacity *= 2
    if capacity > queue.capacity:
        larger = <uint8_t*>realloc(queue.data, capacity)
        if larger == NULL:
            return False
        queue.data = larger
        queue.capacity = capacity
    return True


cdef void take(FrameQueue* queue, uint32_t count) noexcept nogil:
    """Remove the first `count` bytes, which have been sent."""
    cdef uint32_t size
    queue.head += count
    queue.length -= count
    if count < queue.rest:
        queue.rest -= count
        return
    count -= queue.rest
    queue.rest = 0
    # Skip whole frames, up to a frame that has only partly been sent.
    while count:
        size = PREFIX + load16(queue.data + queue.head - count)
        if size > count:
            queue.rest = size - count
            break
        count -= size
    if queue.length == 0:
        queue.head = 0
        if queue.capacity > FIRST_CAPACITY:
            clear(queue)


cdef void clear(FrameQueue* queue) noexcept nogil:
    free(queue.data)
    queue.data = NULL
    queue.capacity = queue.head = queue.length = queue.rest = 0


# --- for tests ---


class BrokenFraming(ValueError):
    """The stream does not consist of frames."""


cdef class Reader:
    """Reads a connection's bytes, piece by piece. For tests."""

    cdef Deframer deframer
    cdef uint8_t data[PREFIX + MAX_DATAGRAM + MAX_PIECE_BYTES]

    def read(self, bytes piece) -> list:
        """Return the frames that a piece completes. Raise BrokenFraming on a bad length."""
        cdef size_t length = resume(&self.deframer, self.data), at = 0
        cdef const uint8_t* frame = NULL
        cdef int size
        if len(piece) > MAX_PIECE_BYTES:
            raise ValueError("a piece is no longer than what is read at once")
        memcpy(self.data + length, <const char*>piece, <size_t>len(piece))
        length += <size_t>len(piece)
        frames = []
        while True:
            size = next_frame(self.data, length, &at, &frame)
            if size == BROKEN:
                raise BrokenFraming
            if size == INCOMPLETE:
                break
            frames.append((<const char*>frame)[:size])
        hold(&self.deframer, self.data + at, length - at)
        return frames


cdef class Writer:
    """A queue of frames that are written in pieces of any size. For tests."""

    cdef FrameQueue queue

    def __dealloc__(self):
        clear(&self.queue)

    def put(self, bytes frame, uint32_t gone=0, uint32_t limit=1 << 20) -> bool:
        return put(&self.queue, frame, <uint16_t>len(frame), gone, limit)

    def take(self, uint32_t count) -> bytes:
        taken = (<const char*>self.queue.data + self.queue.head)[:count]
        take(&self.queue, count)
        return taken

    def rest(self) -> int:
        return self.queue.rest

    def __len__(self):
        return self.queue.length
