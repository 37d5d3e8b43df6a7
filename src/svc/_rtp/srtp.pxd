"""SrtpContext: encrypts and decrypts SRTP and SRTCP in one direction of a DTLS session."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from svc._rtp.replay cimport ReplayWindow

cdef enum:
    # libsrtp may append an authentication tag and an MKI. SRTCP also has an index.
    MAX_TRAILER = 148


cdef struct SrtpContext:
    void* session           # srtp_t
    void* cipher            # EVP_CIPHER_CTX with an AES-GCM key, or NULL if libsrtp encrypts and decrypts
    uint64_t salt_high      # the session salt, if cipher is set: its first 8 bytes as a number
    uint32_t salt_low       # its last 4 bytes


# An outgoing packet whose header is already written and whose payload is stored elsewhere.
cdef struct Plaintext:
    size_t header_length    # bytes already written at the start of the packet
    const uint8_t* prefix   # encrypted before the payload: RTX's original sequence number
    size_t prefix_length
    const uint8_t* payload
    size_t payload_length
    uint32_t ssrc
    uint64_t index          # 48 bits: rollover counter and sequence number


cdef int seal(SrtpContext* context, uint8_t* packet, const Plaintext* plaintext) noexcept nogil
cdef int unprotect(SrtpContext* context, ReplayWindow* window, uint8_t* packet, int length) noexcept nogil
cdef int protect_rtcp(SrtpContext* context, uint8_t* packet, int length) noexcept nogil
cdef int unprotect_rtcp(SrtpContext* context, uint8_t* packet, int length) noexcept nogil

cdef class SrtpKeys:
    cdef object inbound_session     # pylibsrtp.Session: owns the memory that the context points to
    cdef object outbound_session
    cdef SrtpContext inbound
    cdef SrtpContext outbound
    cdef ReplayWindow opened
    cdef _unprotect(self, bytes packet, ReplayWindow* window)
