"""Declares the core's address type: 16 bytes, with IPv4 mapped to IPv6."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp


cdef struct Address:
    uint8_t ip[16]          # ::ffff:a.b.c.d for IPv4; all zeros if unspecified
    uint32_t scope          # zone of an IPv6 link-local address
    uint16_t port
    uint32_t stream         # 0 for UDP, otherwise the id of the TCP connection to this address (streams)


cdef struct Path:
    Address remote
    Address local           # the port is 0; the IP is unspecified if the kernel chooses it


cdef inline bint same(const Address* a, const Address* b) noexcept nogil:
    return a.port == b.port and a.stream == b.stream and memcmp(a.ip, b.ip, 16) == 0


cdef inline bint same_path(const Path* a, const Path* b) noexcept nogil:
    return same(&a.remote, &b.remote) and memcmp(a.local.ip, b.local.ip, 16) == 0


cdef inline bint is_ipv4(const Address* a) noexcept nogil:
    cdef int i
    for i in range(10):
        if a.ip[i]:
            return False
    return a.ip[10] == 0xFF and a.ip[11] == 0xFF


cdef inline bint is_unspecified(const Address* a) noexcept nogil:
    cdef int i
    for i in range(16):
        if a.ip[i]:
            return False
    return True


cdef inline uint64_t mix(uint64_t h) noexcept nogil:
    """Apply splitmix64's finaliser. Never returns 0, so the result can be a Table key."""
    h ^= h >> 30
    h *= <uint64_t>0xBF58476D1CE4E5B9
    h ^= h >> 27
    h *= <uint64_t>0x94D049BB133111EB
    h ^= h >> 31
    return h if h else 1


cdef uint64_t hash_address(const Address* a, uint64_t seed) noexcept nogil
cdef uint64_t hash_bytes(const uint8_t* data, size_t length, uint64_t seed) noexcept nogil
cdef int from_text(Address* address, str ip, int port) except -1
cdef int path_from_text(Path* path, tuple remote, str local) except -1
cdef tuple to_text(const Address* address)
