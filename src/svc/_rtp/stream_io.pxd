"""Serves the media port's TCP connections: accepts, reads and writes."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

from svc._rtp.core cimport Core
from svc._rtp.egress_batch cimport Outgoing
from svc._rtp.framing cimport PREFIX
from svc._rtp.pool cimport MAX_DATAGRAM
from svc._rtp.streams cimport Streams
from svc._rtp.tcp cimport svc_tcp_frame
from svc._rtp.udp cimport SVC_BATCH

cdef enum:
    # The number of bytes read from one connection per iteration: a dozen packets, so that no connection
    # delays the others.
    READ_BYTES = 16384


cdef struct StreamIO:
    int poller              # -1 if TCP is not served
    int listeners[2]
    uint32_t listener_count
    bint resting            # no connections are accepted at the moment
    int64_t rests_until     # ns
    Streams streams
    svc_tcp_frame frames[SVC_BATCH]
    uint8_t piece[PREFIX + MAX_DATAGRAM + READ_BYTES]


cdef int open(StreamIO* io, const uint8_t* ip, uint16_t port) noexcept nogil
cdef int adopt(StreamIO* io, int fd) noexcept nogil
cdef void turn(StreamIO* io, Core* core) noexcept nogil
cdef void tidy(StreamIO* io, Core* core) noexcept nogil
cdef uint32_t write_frames(StreamIO* io, Outgoing* batch, uint32_t count) noexcept nogil
cdef void close(StreamIO* io) noexcept nogil
