"""Sequence numbers: extended to 64 bits, compared, and renumbered for one receiver."""

from libc.stdint cimport int16_t, int64_t, uint16_t, uint32_t

cdef enum:
    # Where a 16-bit number starts as an extended one: late packets before the first stay positive.
    FIRST_CYCLE = 1 << 16
    NO_NUMBER = -1


cdef inline bint seq_newer(uint16_t a, uint16_t b) noexcept nogil:
    """Whether a comes after b, in the sense of RFC 1982 section 3.2 (a distance of 2^15 is not newer)."""
    return <int16_t>(a - b) > 0


cdef inline int64_t extend(int64_t highest, uint16_t seq) noexcept nogil:
    """The extended number nearest to `highest` whose low 16 bits are `seq` (RFC 3550 appendix A.1)."""
    return highest + <int16_t>(seq - <uint16_t>highest)


cdef struct SequenceRewriter:
    int64_t highest         # highest input seen; below it everything has its number
    int64_t next_output     # what the input after `highest` gets
    uint32_t* outputs       # by input & mask: the output number's low bits, or LEFT_OUT
    int64_t mask            # the window's size - 1, a power of two less one
    bint started


cdef int init(SequenceRewriter* rewriter, int64_t window) noexcept nogil
cdef void clear(SequenceRewriter* rewriter) noexcept nogil
cdef void sync(SequenceRewriter* rewriter, int64_t input, int64_t output) noexcept nogil
cdef void drop(SequenceRewriter* rewriter, int64_t input) noexcept nogil
cdef void drop_missing(SequenceRewriter* rewriter, int64_t before) noexcept nogil
cdef int64_t rewrite(SequenceRewriter* rewriter, int64_t input) noexcept nogil
