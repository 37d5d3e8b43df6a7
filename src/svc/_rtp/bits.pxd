"""Reads and writes bits. The functions are named after f(n) and ns(n) in the AV1 RTP specification, section
A.8.2.

These inline functions do not allocate memory, raise exceptions or depend on a particular syntax. Reading past
the end returns zeros and sets `failed` permanently, so a parser can read a complete structure and check
`failed` once. A loop that ends at a zero bit also ends when the data ends.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef struct BitReader:
    const uint8_t* data
    size_t at       # bits consumed: TotalConsumedBits
    size_t end      # bits that may be consumed
    bint failed     # a read went past the end


cdef inline void open_reader(BitReader* reader, const uint8_t* data, size_t length) noexcept nogil:
    reader.data = data
    reader.at = 0
    reader.end = length * 8
    reader.failed = False


cdef inline uint32_t f(BitReader* reader, unsigned int n) noexcept nogil:
    """Return an unsigned number of n <= 32 bits, high bit first. This is the only bounds check for reads."""
    cdef uint64_t window = 0
    cdef size_t byte, stop
    if n > reader.end - reader.at:
        reader.at = reader.end
        reader.failed = True
        return 0
    byte = reader.at >> 3
    reader.at += n
    stop = (reader.at + 7) >> 3
    while byte < stop:
        window = (window << 8) | reader.data[byte]
        byte += 1
    window >>= stop * 8 - reader.at
    return <uint32_t>(window & ((<uint64_t>1 << n) - 1))


cdef inline unsigned int bit_length(uint32_t n) noexcept nogil:
    """Return the w of ns(n): the number of bits in n."""
    cdef unsigned int w = 0
    while n:
        n >>= 1
        w += 1
    return w


cdef inline uint32_t ns(BitReader* reader, uint32_t n) noexcept nogil:
    """Return a number below n, for n from 1 to 2^31. Numbers in the lower part of the range take one bit
    fewer.
    """
    cdef unsigned int w = bit_length(n)
    cdef uint32_t m = <uint32_t>((<uint64_t>1 << w) - n)
    cdef uint32_t v = f(reader, w - 1)
    if v < m:
        return v
    return (v << 1) - m + f(reader, 1)


cdef struct BitWriter:
    uint8_t* data
    size_t at       # bits written; the rest of the last byte is zero
    size_t end      # capacity in bits
    bint failed     # a write did not fit


cdef inline void open_writer(BitWriter* writer, uint8_t* data, size_t capacity) noexcept nogil:
    writer.data = data
    writer.at = 0
    writer.end = capacity * 8
    writer.failed = False


cdef inline void write_f(BitWriter* writer, unsigned int n, uint32_t v) noexcept nogil:
    """Write the low n <= 32 bits of v, high bit first. This is the only bounds check for writes."""
    cdef unsigned int room, count
    if n > writer.end - writer.at:
        writer.end = writer.at
        writer.failed = True
        return
    while n:
        room = 8 - <unsigned int>(writer.at & 7)
        if room == 8:
            writer.data[writer.at >> 3] = 0
        count = n if n < room else room
        n -= count
        writer.data[writer.at >> 3] |= <uint8_t>(((v >> n) & ((1u << count) - 1)) << (room - count))
        writer.at += count


cdef inline void write_flag(BitWriter* writer, bint flag) noexcept nogil:
    write_f(writer, 1, 1u if flag else 0u)


cdef inline void write_ns(BitWriter* writer, uint32_t n, uint32_t v) noexcept nogil:
    """Write v < n in the encoding that ns(n) reads."""
    cdef unsigned int w = bit_length(n)
    cdef uint32_t m = <uint32_t>((<uint64_t>1 << w) - n)
    if v < m:
        write_f(writer, w - 1, v)
    else:
        write_f(writer, w, v + m)


cdef inline size_t bytes_written(const BitWriter* writer) noexcept nogil:
    return (writer.at + 7) >> 3
