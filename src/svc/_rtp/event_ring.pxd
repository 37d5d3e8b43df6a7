"""Ring: passes events from the core's thread to Python's thread, up to a limit."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t

from svc._rtp.address cimport Path

cdef enum EventKind:
    CHECK = 1  # binding request from a path that is new to its ICE generation, or nomination: a = priority,
                    # b = use-candidate, c = generation
    STUN = 2        # response to our request, or a role conflict; the message is attached
    DTLS = 3        # datagram from a validated path, attached
    TRACK = 4       # media started in a media section: a = SSRC, b = payload type, c = section
    CLOSED = 5      # the core has freed the transport
    SPEAKING = 6    # a participant's microphone: a = speaks, b = level (0 loudest, 127 silence), c = section
    FORWARDED = 7   # for VERBOSE_LOG: a = sender's SSRC, b = receiver's, c = sequence numbers, 16 bits each
    BANDWIDTH = 9   # of one downlink: a = bit/s, b = Reason (bandwidth.pxd), c = bytes of resends and
                    # probes since the previous event
    RATES = 10      # of a published track: a = microseconds covered, b = active encodings, one bit each,
                    # c = section; attached: bytes of each temporal layer of each encoding, 32 bits each
    ENCODING = 11   # a receiver's track has moved to another encoding: a = down track, b = spatial layer
    SILENT = 8      # nothing has arrived over the selected path for a while; a = 0 if datagrams arrive again


cdef struct Event:
    uint32_t size  # bytes: this struct plus the attachment, rounded up to 8; 0 to continue at the start
    uint32_t kind
    uint32_t transport
    uint32_t length         # length of the attachment
    uint32_t a
    uint32_t b
    uint32_t c
    Path path


cdef struct Ring:
    uint8_t* data
    size_t capacity         # bytes, a power of two
    size_t head             # bytes written since the start; the core's thread stores it
    size_t tail             # bytes read since the start; Python's thread stores it


cdef int init(Ring* ring, size_t capacity) noexcept nogil
cdef void clear(Ring* ring) noexcept nogil
cdef bint is_half_full(const Ring* ring) noexcept nogil
cdef bint push(Ring* ring, Event* event, const uint8_t* attached) noexcept nogil
cdef Event* peek(Ring* ring) noexcept nogil
cdef void pop(Ring* ring) noexcept nogil
