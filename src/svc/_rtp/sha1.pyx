"""Computes HMAC-SHA1 without the GIL, so that the core can answer connectivity checks itself.

Uses the OpenSSL library that `srtp` finds. OpenSSL's older functions work on a state that can be copied, so a
check needs no allocation and no lock. Without OpenSSL, Python's hmac is used, under the GIL.

The result is used only for STUN's MESSAGE-INTEGRITY. HMAC-SHA1 does not protect media, and this module
provides no other hash. See RFC 2104 (HMAC).
"""

import hashlib
import hmac

from libc.stdint cimport uintptr_t
from libc.string cimport memcpy

from svc._rtp.srtp import openssl_functions

cdef enum:
    BLOCK = 64
    DIGEST = 20

ctypedef int (*start_function)(Sha1*) noexcept nogil
ctypedef int (*update_function)(Sha1*, const uint8_t*, size_t) noexcept nogil
ctypedef int (*finish_function)(uint8_t*, Sha1*) noexcept nogil

cdef start_function start = NULL
cdef update_function update = NULL
cdef finish_function finish = NULL

INNER, OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))


cdef int hmac_key(HmacKey* key, bytes secret) except -1:
    """Prepare a key. Secrets over 64 bytes are hashed first (RFC 2104 section 2)."""
    cdef bytes padded = (secret if len(secret) <= BLOCK else hashlib.sha1(secret).digest()).ljust(BLOCK, b"\0")
    if start == NULL:
        memcpy(&key.inner, <const uint8_t*>padded, BLOCK)
        return 0
    start(&key.inner)
    update(&key.inner, <bytes>padded.translate(INNER), BLOCK)
    start(&key.outer)
    update(&key.outer, <bytes>padded.translate(OUTER), BLOCK)
    return 0


cdef void hmac_sha1(const HmacKey* key, const uint8_t* head, size_t head_length,
                    const uint8_t* body, size_t body_length, uint8_t* digest) noexcept nogil:
    """Compute the 20-byte HMAC of head + body. They are separate, because STUN hashes a header that differs
    from the header sent.
    """
    cdef HmacKey state
    if start == NULL:
        hmac_by_python(key, head, head_length, body, body_length, digest)
        return
    state = key[0]
    update(&state.inner, head, head_length)
    update(&state.inner, body, body_length)
    finish(digest, &state.inner)
    update(&state.outer, digest, DIGEST)
    finish(digest, &state.outer)


cdef void hmac_by_python(const HmacKey* key, const uint8_t* head, size_t head_length,
                         const uint8_t* body, size_t body_length, uint8_t* digest) noexcept with gil:
    cdef bytes padded = (<const uint8_t*>&key.inner)[:BLOCK]
    cdef bytes made = hmac.digest(padded, head[:<Py_ssize_t>head_length] + body[:<Py_ssize_t>body_length], "sha1")
    memcpy(digest, <const uint8_t*>made, DIGEST)


def hmac_sha1_digest(bytes secret, bytes message) -> bytes:
    """Return the HMAC-SHA1 of a message, for the self-test and tests."""
    cdef HmacKey key
    cdef uint8_t digest[DIGEST]
    hmac_key(&key, secret)
    hmac_sha1(&key, NULL, 0, message, <size_t>len(message), digest)
    return digest[:DIGEST]


cdef bint _find_openssl():
    """Find OpenSSL's functions, and use them if they agree with Python's."""
    global start, update, finish
    _, found = openssl_functions(("SHA1_Init", "SHA1_Update", "SHA1_Final"))
    if not found:
        return False
    start = <start_function><uintptr_t>found[0]
    update = <update_function><uintptr_t>found[1]
    finish = <finish_function><uintptr_t>found[2]
    if any(hmac_sha1_digest(b"key", bytes(length)) != hmac.digest(b"key", bytes(length), "sha1")
           for length in (0, 55, 56, 64, 200)):
        start = NULL
    return start != NULL


OPENSSL = _find_openssl()
