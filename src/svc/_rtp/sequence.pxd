"""Sequence numbers: extends them to 64 bits, compares them, and renumbers them for one receiver."""

from libc.stdint cimport int16_t, int64_t, uint16_t, uint32_t

cdef enum:
    # The extended number of the first 16-bit number, so that late earlier packets stay positive.
    FIRST_CYCLE = 1 << 16
    NO_NUMBER = -1


cdef inline bint seq_newer(uint16_t a, uint16_t b) noexcept nogil:
    """Return whether a is newer than b (RFC 1982 section 3.2). A distance of 2^15 is not newer."""
    return <int16_t>(a - b) > 0


cdef inline int64_t extend(int64_t highest, uint16_t seq) noexcept nogil:
    """Return the extended number nearest to `highest` whose low 16 bits are `seq` (RFC 3550 appendix A.1)."""
    return highest + <int16_t>(seq - <uint16_t>highest)


cdef struct SequenceRewriter:
    int64_t highest         # highest input so far; every lower input has been numbered
    int64_t next_output     # output number for the input after `highest`
    uint32_t* outputs       # by input & mask: low bits of the output number, or LEFT_OUT
    int64_t mask            # window size - 1; the size is a power of two
    bint started


cdef int init(SequenceRewriter* rewriter, int64_t window) noexcept nogil
cdef void clear(SequenceRewriter* rewriter) noexcept nogil
cdef void sync(SequenceRewriter* rewriter, int64_t input, int64_t output) noexcept nogil
cdef void drop(SequenceRewriter* rewriter, int64_t input) noexcept nogil
cdef void drop_missing(SequenceRewriter* rewriter, int64_t before) noexcept nogil
cdef int64_t rewrite(SequenceRewriter* rewriter, int64_t input) noexcept nogil
