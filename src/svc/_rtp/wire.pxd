"""Provides big-endian loads and stores, and the Cursor, which checks the bounds.

These inline functions do not allocate memory, raise exceptions or depend on any protocol. They work byte by
byte, so the host's byte order and alignment do not matter. Compilers turn each function into one instruction.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef inline uint16_t load16(const uint8_t* p) noexcept nogil:
    return <uint16_t>((<unsigned int>p[0] << 8) | p[1])


cdef inline uint32_t load24(const uint8_t* p) noexcept nogil:
    return (<uint32_t>p[0] << 16) | (<uint32_t>p[1] << 8) | p[2]


cdef inline uint32_t load32(const uint8_t* p) noexcept nogil:
    return (<uint32_t>p[0] << 24) | (<uint32_t>p[1] << 16) | (<uint32_t>p[2] << 8) | p[3]


cdef inline uint64_t load64(const uint8_t* p) noexcept nogil:
    return (<uint64_t>load32(p) << 32) | load32(p + 4)


cdef inline void store16(uint8_t* p, uint32_t value) noexcept nogil:
    p[0] = <uint8_t>(value >> 8)
    p[1] = <uint8_t>value


cdef inline void store24(uint8_t* p, uint32_t value) noexcept nogil:
    p[0] = <uint8_t>(value >> 16)
    p[1] = <uint8_t>(value >> 8)
    p[2] = <uint8_t>value


cdef inline void store32(uint8_t* p, uint32_t value) noexcept nogil:
    p[0] = <uint8_t>(value >> 24)
    p[1] = <uint8_t>(value >> 16)
    p[2] = <uint8_t>(value >> 8)
    p[3] = <uint8_t>value


cdef inline void store64(uint8_t* p, uint64_t value) noexcept nogil:
    store32(p, <uint32_t>(value >> 32))
    store32(p + 4, <uint32_t>value)


cdef struct Cursor:
    const uint8_t* at   # address of the next unread byte
    size_t left         # bytes that may still be read


cdef inline const uint8_t* take(Cursor* cursor, size_t count) noexcept nogil:
    """Consume and return the next `count` bytes, or NULL if fewer are left. This is the only bounds check."""
    cdef const uint8_t* at = cursor.at
    if count > cursor.left:
        return NULL
    cursor.at += count
    cursor.left -= count
    return at
