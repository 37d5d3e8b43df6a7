"""SequenceRewriter: gives a receiver contiguous sequence numbers, even if some packets are not sent to it.

Works only on extended sequence numbers and does not decide which packets to drop. An input's output number
never changes, so a retransmission or a late packet gets the number reserved for it.
"""

from libc.stdlib cimport free, malloc

# Stored in place of the low bits of an output number. One packet in four billion has these low bits and is
# lost.
cdef uint32_t LEFT_OUT = 0xFFFFFFFF


cdef int init(SequenceRewriter* rewriter, int64_t window) noexcept nogil:
    """Allocate a window of `window` inputs (a power of two). Return -1 if memory allocation fails."""
    rewriter.outputs = <uint32_t*>malloc(<size_t>window * sizeof(uint32_t))
    rewriter.mask = window - 1
    rewriter.started = False
    rewriter.highest = 0
    rewriter.next_output = 0
    return 0 if rewriter.outputs != NULL else -1


cdef void clear(SequenceRewriter* rewriter) noexcept nogil:
    free(rewriter.outputs)
    rewriter.outputs = NULL


cdef void sync(SequenceRewriter* rewriter, int64_t input, int64_t output) noexcept nogil:
    """Start or restart: `input` gets the number `output`, and earlier inputs get none."""
    cdef int64_t i
    for i in range(rewriter.mask + 1):
        rewriter.outputs[i] = LEFT_OUT
    rewriter.highest = input - 1
    rewriter.next_output = output
    rewriter.started = True


cdef inline void keep_numbers(SequenceRewriter* rewriter, int64_t upto) noexcept nogil:
    """Number the missing inputs between `highest` and `upto`, because they might still arrive."""
    cdef int64_t first = rewriter.highest + 1
    cdef int64_t i
    if upto - first > rewriter.mask:
        # Packets before the window can no longer be requested.
        rewriter.next_output += upto - 1 - rewriter.mask - first
        first = upto - 1 - rewriter.mask
    for i in range(first, upto):
        rewriter.outputs[i & rewriter.mask] = <uint32_t>rewriter.next_output
        rewriter.next_output += 1


cdef void drop(SequenceRewriter* rewriter, int64_t input) noexcept nogil:
    """Omit `input` without leaving a gap in the output. A late input leaves a gap, because its number is
    already reserved.
    """
    if not rewriter.started or input <= rewriter.highest:
        return
    keep_numbers(rewriter, input)
    rewriter.outputs[input & rewriter.mask] = LEFT_OUT
    rewriter.highest = input


cdef void drop_missing(SequenceRewriter* rewriter, int64_t before) noexcept nogil:
    """Omit all inputs between the highest input and `before`. They have not arrived and are not wanted."""
    cdef int64_t first = rewriter.highest + 1
    cdef int64_t i
    if before - first > rewriter.mask:
        first = before - 1 - rewriter.mask
    for i in range(first, before):
        rewriter.outputs[i & rewriter.mask] = LEFT_OUT
    if before - 1 > rewriter.highest:
        rewriter.highest = before - 1


cdef int64_t rewrite(SequenceRewriter* rewriter, int64_t input) noexcept nogil:
    """Return the output number of `input`, or NO_NUMBER if it was dropped or is before the window."""
    cdef uint32_t output
    if input > rewriter.highest:
        keep_numbers(rewriter, input + 1)
        rewriter.highest = input
    elif rewriter.highest - input > rewriter.mask:
        return NO_NUMBER
    output = rewriter.outputs[input & rewriter.mask]
    if output == LEFT_OUT:
        return NO_NUMBER
    # All numbers in the window are just below the next number, so the low bits identify them.
    return rewriter.next_output - <int64_t>(<uint32_t>rewriter.next_output - output)


cdef class Rewriter:
    """A SequenceRewriter for Python, in tests."""

    cdef SequenceRewriter rewriter

    def __cinit__(self, int window=1024):
        if init(&self.rewriter, window) < 0:
            raise MemoryError

    def __dealloc__(self):
        clear(&self.rewriter)

    def sync(self, int64_t input, int64_t output):
        sync(&self.rewriter, input, output)

    def drop(self, int64_t input):
        drop(&self.rewriter, input)

    def drop_missing(self, int64_t before):
        drop_missing(&self.rewriter, before)

    def rewrite(self, int64_t input) -> int:
        return rewrite(&self.rewriter, input)


def is_newer(int a, int b) -> bool:
    """Call seq_newer. For tests."""
    return seq_newer(<uint16_t>a, <uint16_t>b)


def extended(int64_t highest, int seq) -> int:
    """Call extend. For tests."""
    return extend(highest, <uint16_t>seq)
