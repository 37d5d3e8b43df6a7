"""STUN in the core: authenticates and answers binding requests."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from svc._rtp.address cimport Address
from svc._rtp.sha1 cimport HmacKey

cdef enum:
    BINDING_REQUEST = 0x0001
    BINDING_SUCCESS = 0x0101
    BINDING_ERROR = 0x0111
    MAX_ANSWER = 80         # header 20, XOR-MAPPED-ADDRESS 24, MESSAGE-INTEGRITY 24, FINGERPRINT 8


cdef struct BindingRequest:
    const uint8_t* username     # the part before the colon: our ufrag
    size_t username_length
    size_t integrity            # offset of MESSAGE-INTEGRITY
    uint32_t priority
    bint use_candidate
    bint controlling            # carries ICE-CONTROLLING
    bint controlled             # carries ICE-CONTROLLED


cdef uint16_t message_type(const uint8_t* data, size_t length) noexcept nogil
cdef int read_request(const uint8_t* data, size_t length, BindingRequest* request) noexcept nogil
cdef bint verify(const uint8_t* data, const BindingRequest* request, const HmacKey* key) noexcept nogil
cdef size_t write_success(uint8_t* out, const uint8_t* request, const Address* source, const HmacKey* key) noexcept nogil
