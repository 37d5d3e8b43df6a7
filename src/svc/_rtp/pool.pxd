"""The packet pool: slots that hold one received packet each, shared by reference count."""

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

from svc._rtp.header cimport Header
from svc._rtp.layers cimport Frame

cdef enum:
    # The largest datagram looked at. Browsers send at most 1200 bytes of RTP; 1500 is Ethernet's MTU.
    MAX_DATAGRAM = 1500
    SLOTS_PER_CHUNK = 64
    # About 110 MB: the histories (600 ms) of a thousand tracks of 1 Mbit/s.
    MAX_SLOTS = 65536
    # The last of them are not for keeping, so that there is always something to receive into.
    RESERVE = 256


cdef struct Slot:
    Slot* next_free
    int64_t ext_seq         # extended sequence number in the publisher's numbers
    int64_t arrival         # ns, monotonic
    uint32_t references
    uint32_t queued         # of these, records that wait to be sent
    uint16_t length         # bytes in data, decrypted
    bint late               # a newer number came before it
    bint leapt              # its index is half a cycle or more ahead of all before
    bint starts_keyframe
    bint has_frame          # its descriptor, or one of its frame's, has been read
    bint from_history       # it has gone to somebody later than it came: how long that took tells nothing
    Frame frame
    Header header
    # 16 bytes more than a datagram: libsrtp works in place. Aligned, because it loads words.
    uint8_t data[1520]


cdef struct Pool:
    Slot* free
    uint32_t slots          # allocated in all
    uint32_t used
    void* chunks            # a list of chunks, linked through their first word


cdef Slot* acquire(Pool* pool) noexcept nogil
cdef void release(Pool* pool, Slot* slot) noexcept nogil
cdef void destroy(Pool* pool) noexcept nogil


cdef inline bint scarce(const Pool* pool) noexcept nogil:
    """Whether what is left is needed for receiving: nothing more should be kept."""
    return pool.used > MAX_SLOTS - RESERVE
