"""HMAC-SHA1 without the GIL, so that the core can answer connectivity checks itself.

STUN's MESSAGE-INTEGRITY is its only use: it protects no media, and no other hash belongs here.
RFC 3174 (SHA-1) and RFC 2104 (HMAC).
"""

from libc.string cimport memcpy, memset

from svc._rtp.wire cimport load32, store32, store64


cdef inline uint32_t rotate(uint32_t x, int n) noexcept nogil:
    return (x << n) | (x >> (32 - n))


cdef void compress(uint32_t* h, const uint8_t* block) noexcept nogil:
    cdef uint32_t w[80]
    cdef uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f, k, t
    cdef int i
    for i in range(16):
        w[i] = load32(block + 4 * i)
    for i in range(16, 80):
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1)
    for i in range(80):
        if i < 20:
            f = (b & c) | (~b & d)
            k = 0x5A827999
        elif i < 40:
            f = b ^ c ^ d
            k = 0x6ED9EBA1
        elif i < 60:
            f = (b & c) | (b & d) | (c & d)
            k = <uint32_t>0x8F1BBCDC
        else:
            f = b ^ c ^ d
            k = <uint32_t>0xCA62C1D6
        t = rotate(a, 5) + f + e + k + w[i]
        e = d
        d = c
        c = rotate(b, 30)
        b = a
        a = t
    h[0] += a
    h[1] += b
    h[2] += c
    h[3] += d
    h[4] += e


cdef void start(Sha1* s) noexcept nogil:
    s.h[0] = 0x67452301
    s.h[1] = <uint32_t>0xEFCDAB89
    s.h[2] = <uint32_t>0x98BADCFE
    s.h[3] = 0x10325476
    s.h[4] = <uint32_t>0xC3D2E1F0
    s.length = 0


cdef void update(Sha1* s, const uint8_t* data, size_t length) noexcept nogil:
    cdef size_t used = <size_t>(s.length & 63)
    cdef size_t part
    s.length += length
    while length > 0:
        if used == 0 and length >= 64:
            compress(s.h, data)
            part = 64
        else:
            part = 64 - used if length > 64 - used else length
            memcpy(s.block + used, data, part)
            used += part
            if used == 64:
                compress(s.h, s.block)
                used = 0
        data += part
        length -= part


cdef void finish(Sha1* s, uint8_t* digest) noexcept nogil:
    cdef uint64_t bits = s.length * 8
    cdef size_t used = <size_t>(s.length & 63)
    cdef int i
    s.block[used] = 0x80
    used += 1
    if used > 56:
        memset(s.block + used, 0, 64 - used)
        compress(s.h, s.block)
        used = 0
    memset(s.block + used, 0, 56 - used)
    store64(s.block + 56, bits)
    compress(s.h, s.block)
    for i in range(5):
        store32(digest + 4 * i, s.h[i])


cdef void hmac_key(HmacKey* key, const uint8_t* secret, size_t length) noexcept nogil:
    """Prepare a key; secrets over 64 bytes are hashed first (RFC 2104 section 2)."""
    cdef uint8_t padded[64]
    cdef Sha1 long_secret
    cdef int i
    memset(padded, 0, 64)
    if length > 64:
        start(&long_secret)
        update(&long_secret, secret, length)
        finish(&long_secret, padded)
    else:
        memcpy(padded, secret, length)
    for i in range(64):
        padded[i] ^= 0x36
    start(&key.inner)
    update(&key.inner, padded, 64)
    for i in range(64):
        padded[i] ^= 0x36 ^ 0x5C
    start(&key.outer)
    update(&key.outer, padded, 64)


cdef void hmac_sha1(const HmacKey* key, const uint8_t* head, size_t head_length,
                    const uint8_t* body, size_t body_length, uint8_t* digest) noexcept nogil:
    """The 20-byte HMAC of head + body: two parts, because STUN hashes a header it did not send."""
    cdef Sha1 inner = key.inner
    cdef Sha1 outer = key.outer
    update(&inner, head, head_length)
    update(&inner, body, body_length)
    finish(&inner, digest)
    update(&outer, digest, 20)
    finish(&outer, digest)


def hmac_sha1_digest(bytes secret, bytes message) -> bytes:
    """HMAC-SHA1 of a message, for tests."""
    cdef HmacKey key
    cdef uint8_t digest[20]
    hmac_key(&key, secret, <size_t>len(secret))
    hmac_sha1(&key, NULL, 0, message, <size_t>len(message), digest)
    return digest[:20]
