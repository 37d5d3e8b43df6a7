"""Answers connectivity checks in the core, where a flood of checks costs the least.

Handles only binding requests with short-term credentials. Responses, role conflicts and all other ICE
decisions are left to Python (sfu/ice). See RFC 8489 (STUN), RFC 8445 section 7.3.
"""

from libc.string cimport memcpy, memset

from svc._rtp.address cimport is_ipv4
from svc._rtp.sha1 cimport hmac_key, hmac_sha1
from svc._rtp.wire cimport load16, load32, store16, store32

cdef enum:
    MAGIC_COOKIE = 0x2112A442
    USERNAME = 0x0006
    MESSAGE_INTEGRITY = 0x0008
    XOR_MAPPED_ADDRESS = 0x0020
    PRIORITY = 0x0024
    USE_CANDIDATE = 0x0025
    FINGERPRINT = 0x8028
    ICE_CONTROLLED = 0x8029
    ICE_CONTROLLING = 0x802A
    FINGERPRINT_XOR = 0x5354554E

cdef uint32_t CRC_TABLE[256]


cdef void make_crc_table() noexcept nogil:
    cdef uint32_t c
    cdef int i, k
    for i in range(256):
        c = <uint32_t>i
        for k in range(8):
            c = (c >> 1) ^ (<uint32_t>0xEDB88320 if c & 1 else <uint32_t>0)
        CRC_TABLE[i] = c


make_crc_table()


cdef uint32_t crc32(const uint8_t* data, size_t length) noexcept nogil:
    cdef uint32_t c = <uint32_t>0xFFFFFFFF
    cdef size_t i
    for i in range(length):
        c = CRC_TABLE[(c ^ data[i]) & 0xFF] ^ (c >> 8)
    return ~c


cdef uint16_t message_type(const uint8_t* data, size_t length) noexcept nogil:
    """Return a message's type, or 0 if the data is not a well-formed message (RFC 8489 section 5)."""
    if length < 20 or load32(data + 4) != MAGIC_COOKIE or <size_t>load16(data + 2) + 20 != length or length & 3:
        return 0
    return load16(data)


cdef int read_request(const uint8_t* data, size_t length, BindingRequest* request) noexcept nogil:
    """Read the attributes of a binding request. Return -1 if it is malformed or has no credentials."""
    cdef size_t at = 20, size, i
    cdef uint16_t kind
    memset(request, 0, sizeof(BindingRequest))
    while at + 4 <= length:
        kind = load16(data + at)
        size = load16(data + at + 2)
        if at + 4 + size > length:
            return -1
        if kind == FINGERPRINT:
            if size != 4 or at + 8 != length or load32(data + at + 4) != crc32(data, at) ^ FINGERPRINT_XOR:
                return -1
        elif request.integrity:
            # Everything after MESSAGE-INTEGRITY is ignored (section 14.5).
            pass
        elif kind == USERNAME and request.username == NULL:
            # "only the first occurrence needs to be processed" (section 14).
            request.username = data + at + 4
            for i in range(size):
                if data[at + 4 + i] == 0x3A:
                    request.username_length = i
                    break
        elif kind == MESSAGE_INTEGRITY:
            if size != 20:
                return -1
            request.integrity = at
        elif kind == PRIORITY and size == 4:
            request.priority = load32(data + at + 4)
        elif kind == USE_CANDIDATE:
            request.use_candidate = True
        elif kind == ICE_CONTROLLING and size == 8:
            request.controlling = True
        elif kind == ICE_CONTROLLED and size == 8:
            request.controlled = True
        at += 4 + ((size + 3) & ~<size_t>3)
    if request.username_length == 0 or request.integrity == 0:
        return -1
    return 0


cdef void integrity_of(uint8_t* digest, const uint8_t* data, size_t at, const HmacKey* key) noexcept nogil:
    """Compute the HMAC of everything before `at`. The header's length field is set as if the message ended
    after the attribute.
    """
    cdef uint8_t head[4]
    memcpy(head, data, 2)
    store16(head + 2, <uint32_t>(at + 24 - 20))
    hmac_sha1(key, head, 4, data + 4, at - 4, digest)


cdef bint verify(const uint8_t* data, const BindingRequest* request, const HmacKey* key) noexcept nogil:
    """Return whether MESSAGE-INTEGRITY was computed with this password. Compares in constant time."""
    cdef uint8_t digest[20]
    cdef uint8_t difference = 0
    cdef size_t i
    integrity_of(digest, data, request.integrity, key)
    for i in range(20):
        difference |= digest[i] ^ data[request.integrity + 4 + i]
    return difference == 0


cdef size_t write_success(uint8_t* out, const uint8_t* request, const Address* source, const HmacKey* key) noexcept nogil:
    """Write the success response to `request`, which came from `source`. The response is at most MAX_ANSWER
    bytes long.
    """
    cdef size_t ip_length = 4 if is_ipv4(source) else 16
    cdef size_t at = 20 + 8 + ip_length, i
    store16(out, BINDING_SUCCESS)
    memcpy(out + 4, request + 4, 16)
    store16(out + 20, XOR_MAPPED_ADDRESS)
    store16(out + 22, <uint32_t>(4 + ip_length))
    out[24] = 0
    out[25] = 1 if ip_length == 4 else 2
    store16(out + 26, source.port ^ (MAGIC_COOKIE >> 16))
    for i in range(ip_length):
        # The address is XORed with the cookie and, for IPv6, with the transaction id that follows it.
        out[28 + i] = source.ip[16 - ip_length + i] ^ out[4 + i]
    store16(out + 2, <uint32_t>(at + 24 - 20))
    store16(out + at, MESSAGE_INTEGRITY)
    store16(out + at + 2, 20)
    integrity_of(out + at + 4, out, at, key)
    at += 24
    store16(out + 2, <uint32_t>(at + 8 - 20))
    store16(out + at, FINGERPRINT)
    store16(out + at + 2, 4)
    store32(out + at + 4, crc32(out, at) ^ FINGERPRINT_XOR)
    return at + 8


def answer_request(bytes request, bytes password, tuple source) -> tuple | None:
    """Return (our ufrag, response) for an authentic request. `source` is (IP address as 16 bytes, port). For
    tests.
    """
    cdef BindingRequest parsed
    cdef HmacKey key
    cdef Address address
    cdef uint8_t out[MAX_ANSWER]
    cdef const uint8_t* data = request
    cdef bytes ip = source[0]
    if message_type(data, <size_t>len(request)) != BINDING_REQUEST or read_request(data, <size_t>len(request), &parsed) < 0:
        return None
    hmac_key(&key, password)
    if not verify(data, &parsed, &key):
        return None
    memset(&address, 0, sizeof(Address))
    memcpy(address.ip, <const uint8_t*>ip, 16)
    address.port = <uint16_t>source[1]
    return ((<bytes>parsed.username[:<Py_ssize_t>parsed.username_length]), out[:<Py_ssize_t>write_success(out, data, &address, &key)])
