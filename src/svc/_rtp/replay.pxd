"""ReplayWindow: the packet indices that have come from one SSRC, so that none is opened twice.

Inline leaves only; knows no keys. RFC 3711 section 3.3.1 (an index from a sequence number), section 3.3.2 (replay).
The guess is libsrtp's at every distance, because senders and other receivers guess so.
"""

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

cdef enum:
    REPLAY_WINDOW = 2048    # packets; as wide as libsrtp's, see WINDOW in srtp
    HALF_CYCLE = 1 << 15
    CYCLE = 1 << 16


cdef struct ReplayWindow:
    uint32_t ssrc
    int64_t highest         # index: rollover counter and sequence number; -1 = nothing has come
    uint64_t seen[REPLAY_WINDOW / 64]   # by index % REPLAY_WINDOW, of the newest so many


cdef inline void begin(ReplayWindow* window, uint32_t ssrc) noexcept nogil:
    memset(window, 0, sizeof(ReplayWindow))
    window.ssrc = ssrc
    window.highest = -1


cdef inline int64_t guess_index(const ReplayWindow* window, uint16_t sequence) noexcept nogil:
    """Return the index nearest to the highest. A sender's rollover counter starts at 0.

    Below a half cycle nothing can have wrapped, so a number that looks nearer behind lies ahead.
    """
    cdef int64_t guess = (window.highest & ~<int64_t>(CYCLE - 1)) + sequence
    cdef int64_t newest
    if window.highest <= HALF_CYCLE:
        return sequence
    newest = window.highest & (CYCLE - 1)
    if newest < HALF_CYCLE:
        return guess - CYCLE if sequence - newest > HALF_CYCLE else guess
    return guess + CYCLE if newest - sequence > HALF_CYCLE else guess


cdef inline bint may_come(const ReplayWindow* window, int64_t index) noexcept nogil:
    """Whether the index is neither used up nor too old to tell."""
    if index > window.highest:
        return True
    if index < 0 or index <= window.highest - REPLAY_WINDOW:
        return False
    return not window.seen[(index & (REPLAY_WINDOW - 1)) >> 6] >> (index & 63) & 1


cdef inline void came(ReplayWindow* window, int64_t index) noexcept nogil:
    """An authentic packet has this index: it is used up."""
    cdef int64_t i
    if index - window.highest >= REPLAY_WINDOW:
        memset(window.seen, 0, sizeof(window.seen))
    else:
        for i in range(window.highest + 1, index):
            window.seen[(i & (REPLAY_WINDOW - 1)) >> 6] &= ~(<uint64_t>1 << (i & 63))
    if index > window.highest:
        window.highest = index
    window.seen[(index & (REPLAY_WINDOW - 1)) >> 6] |= <uint64_t>1 << (index & 63)


cdef inline bint leaps(const ReplayWindow* window, int64_t index) noexcept nogil:
    """Whether the index is so far ahead that its sequence number alone looks as if it came from behind."""
    return window.highest >= 0 and index - window.highest >= HALF_CYCLE
