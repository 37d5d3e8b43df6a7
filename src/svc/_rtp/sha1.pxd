"""Computes HMAC-SHA1, for STUN's MESSAGE-INTEGRITY only (RFC 8489 section 14.5; RFC 2104, RFC 3174)."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t


cdef struct Sha1:
    uint32_t words[24]  # OpenSSL's SHA_CTX: five words of state, two of length, a block, and its fill level


cdef struct HmacKey:
    Sha1 inner              # the state after the padded key: the initial state for each message
    Sha1 outer


cdef int hmac_key(HmacKey* key, bytes secret) except -1
cdef void hmac_sha1(const HmacKey* key, const uint8_t* head, size_t head_length,
                    const uint8_t* body, size_t body_length, uint8_t* digest) noexcept nogil
