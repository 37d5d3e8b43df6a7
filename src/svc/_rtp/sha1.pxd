"""HMAC-SHA1, for STUN's MESSAGE-INTEGRITY only (RFC 8489 section 14.5; RFC 2104, RFC 3174)."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t, uint64_t


cdef struct Sha1:
    uint32_t h[5]
    uint64_t length         # bytes taken in so far
    uint8_t block[64]       # the unfinished block


cdef struct HmacKey:
    Sha1 inner              # the state after the padded key: hashing a message starts here
    Sha1 outer


cdef void hmac_key(HmacKey* key, const uint8_t* secret, size_t length) noexcept nogil
cdef void hmac_sha1(const HmacKey* key, const uint8_t* head, size_t head_length,
                    const uint8_t* body, size_t body_length, uint8_t* digest) noexcept nogil
