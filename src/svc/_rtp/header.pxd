"""Declares the fixed RTP header, and header extensions in the one-byte and two-byte forms."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t

cdef enum:
    MAX_EXTENSIONS = 20     # elements recorded per packet; the rest are skipped
    ONE_BYTE_PROFILE = 0xBEDE
    TWO_BYTE_PROFILE = 0x1000   # low four bits are "appbits" (RFC 8285 section 4.3)


cdef struct Extension:
    uint16_t offset         # offset of the element's data from the start of the packet
    uint8_t id
    uint8_t length          # bytes of data


cdef struct Header:
    uint32_t timestamp
    uint32_t ssrc
    uint16_t sequence
    uint16_t payload_offset     # bytes from the start of the packet
    uint16_t payload_length     # without padding
    uint8_t payload_type
    uint8_t padding             # bytes of padding, including the count byte
    bint marker
    uint8_t extension_count
    Extension extensions[MAX_EXTENSIONS]


cdef int parse(const uint8_t* data, size_t length, Header* header) noexcept nogil
cdef const Extension* find(const Header* header, uint8_t ext_id) noexcept nogil


# The changes that turn the sender's header into a receiver's.
cdef struct Rewrite:
    uint32_t ssrc
    uint32_t timestamp
    uint16_t sequence
    uint8_t payload_type
    bint marker
    bint mixed                  # the two-byte form is allowed (RFC 8285 section 4.1.2)
    uint8_t mid_id              # extension id of sdes:mid, or 0 to omit it
    uint8_t mid_length
    const uint8_t* mid
    uint8_t wide_id             # extension id of the transport-wide number, or 0 to omit it
    uint16_t wide
    const uint8_t* ext_ids  # ext_ids[incoming id] is the outgoing id, or 0 to drop the extension; 256 entries
    # The element to replace with `replacement`, which is at most 5 bytes longer, or NULL. This is a pointer
    # rather than an id, because an id may occur twenty times, and that many replacements would not fit.
    const Extension* replaced
    uint8_t replacement_length
    const uint8_t* replacement

cdef size_t write(uint8_t* out, const uint8_t* data, const Header* header, const Rewrite* rewrite) noexcept nogil
