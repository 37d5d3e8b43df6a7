"""Hashes addresses for the core's tables, and converts them to and from text for Python.

Does not resolve names or open sockets.
"""

from libc.string cimport memcpy, memset

from svc._rtp.wire cimport load64

import ipaddress
from functools import lru_cache

# Cache parsed addresses, because the same few addresses recur with each participant's consent checks, and
# parsing an address takes as long as everything else in a command.
KNOWN_ADDRESSES = 4096


cdef uint64_t hash_address(const Address* a, uint64_t seed) noexcept nogil:
    return mix(mix(mix(load64(a.ip) ^ seed) ^ load64(a.ip + 8)) ^ a.port ^ (<uint64_t>a.stream << 16))


cdef uint64_t hash_bytes(const uint8_t* data, size_t length, uint64_t seed) noexcept nogil:
    cdef uint64_t h = mix(seed ^ length)
    cdef size_t i
    for i in range(length):
        h = mix(h ^ data[i])
    return h


cdef int from_text(Address* address, str ip, int port) except -1:
    """Parse an IP address. An empty string is the unspecified address. Raises ValueError for other text."""
    cdef bytes packed
    memset(address, 0, sizeof(Address))
    address.port = <uint16_t>port
    if not ip:
        return 0
    packed = _packed(ip)
    if len(packed) == 4:
        address.ip[10] = 0xFF
        address.ip[11] = 0xFF
        memcpy(&address.ip[12], <const uint8_t*>packed, 4)
    else:
        memcpy(address.ip, <const uint8_t*>packed, 16)
    return 0


cdef tuple to_text(const Address* address):
    """Return the IP address as a string, the port and, for TCP, the connection's id. The string is empty for
    the unspecified address.
    """
    cdef bytes packed
    if is_unspecified(address):
        return ("", address.port)
    packed = (<const char*>address.ip)[:16]
    ip = _text(packed[12:] if is_ipv4(address) else packed)
    return (ip, address.port, address.stream) if address.stream else (ip, address.port)


@lru_cache(KNOWN_ADDRESSES)
def _packed(ip):
    return ipaddress.ip_address(ip.partition("%")[0]).packed


@lru_cache(KNOWN_ADDRESSES)
def _text(packed):
    return str(ipaddress.ip_address(packed))


cdef int path_from_text(Path* path, tuple remote, str local) except -1:
    """Fill in a path. The third element of `remote`, if any, identifies a TCP connection."""
    from_text(&path.remote, remote[0], remote[1])
    if len(remote) > 2:
        path.remote.stream = remote[2]
    return from_text(&path.local, local, 0)
