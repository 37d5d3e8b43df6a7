"""SrtpContext: one direction of one DTLS session's SRTP and SRTCP."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from svc._rtp.replay cimport ReplayWindow

cdef enum:
    # libsrtp may write an authentication tag and an MKI behind a packet; SRTCP has an index too.
    MAX_TRAILER = 148


cdef struct SrtpContext:
    void* session           # srtp_t
    void* cipher            # EVP_CIPHER_CTX, keyed for AES-GCM; NULL = libsrtp seals, or opens
    uint64_t salt_high      # the session salt, where cipher is used: its first 8 bytes as a number
    uint32_t salt_low       # and its last 4


# What is to be sent: a header that has been written, and a payload that lies elsewhere.
cdef struct Plaintext:
    size_t header_length    # bytes already at the packet's start
    const uint8_t* prefix   # sealed before the payload: RTX's original sequence number
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
    cdef object inbound_session     # pylibsrtp.Session: owns what the context points to
    cdef object outbound_session
    cdef SrtpContext inbound
    cdef SrtpContext outbound
    cdef ReplayWindow opened
    cdef _unprotect(self, bytes packet, ReplayWindow* window)
