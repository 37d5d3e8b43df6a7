"""ReplayWindow: records the packet indices received from one SSRC, so that no packet is accepted twice.

Contains inline functions that need no keys. See RFC 3711 section 3.3.1 (index from a sequence number) and
section 3.3.2 (replay). The guessed index equals libsrtp's at every distance, because senders and other
receivers guess in the same way.
"""

from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

cdef enum:
    REPLAY_WINDOW = 2048    # in packets; as large as libsrtp's window (WINDOW in srtp)
    HALF_CYCLE = 1 << 15
    CYCLE = 1 << 16


cdef struct ReplayWindow:
    uint32_t ssrc
    int64_t highest         # highest index: rollover counter and sequence number, or -1 if none yet
    uint64_t seen[REPLAY_WINDOW / 64]   # by index % REPLAY_WINDOW, for the newest REPLAY_WINDOW indices


cdef inline void begin(ReplayWindow* window, uint32_t ssrc) noexcept nogil:
    memset(window, 0, sizeof(ReplayWindow))
    window.ssrc = ssrc
    window.highest = -1


cdef inline int64_t guess_index(const ReplayWindow* window, uint16_t sequence) noexcept nogil:
    """Return this number's index nearest to the highest index. A sender's rollover counter starts at 0.

    In the first half cycle no wrap is possible, so a number that seems to be behind is actually ahead.
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
    """Return whether the index is recent enough for the window and has not been used."""
    if index > window.highest:
        return True
    if index < 0 or index <= window.highest - REPLAY_WINDOW:
        return False
    return not window.seen[(index & (REPLAY_WINDOW - 1)) >> 6] >> (index & 63) & 1


cdef inline void came(ReplayWindow* window, int64_t index) noexcept nogil:
    """Mark the index of an authentic packet as used."""
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
    """Return whether the index is so far ahead that its sequence number alone would look earlier."""
    return window.highest >= 0 and index - window.highest >= HALF_CYCLE
