"""Classifies a datagram on the shared port by its first bytes: STUN, DTLS, RTP or RTCP.

Reads at most two bytes. Each protocol's parser validates the rest. See RFC 7983 section 7 (ranges), RFC 5761
section 4 (RTP and RTCP on one port).
"""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t


cdef enum Kind:
    UNKNOWN
    STUN
    DTLS
    RTP
    RTCP


cdef inline Kind demux(const uint8_t* data, size_t length) noexcept nogil:
    if length < 2:
        return UNKNOWN
    if data[0] < 4:
        return STUN
    if 20 <= data[0] < 64:
        return DTLS
    if 128 <= data[0] < 192:
        # RTCP packet types 192..223 look like an RTP second byte with the marker set and payload type 64..95,
        # which RTP must not use.
        return RTCP if 192 <= data[1] < 224 else RTP
    return UNKNOWN
