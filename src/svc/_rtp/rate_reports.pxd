"""Reports the number of bytes in published tracks to Python, by encoding or spatial layer and by temporal
layer.
"""

from libc.stdint cimport uint8_t, uint32_t

from svc._rtp.core cimport Core
from svc._rtp.objects cimport Forwarder
from svc._rtp.pool cimport Slot

cdef enum:
    # The bytes that header extensions and the tag add to the sender's packet in each datagram to a receiver.
    PACKET_OVERHEAD = 24


cdef inline void count_layer(Forwarder* forwarder, const Slot* slot) noexcept nogil:
    """Count a packet of a published track."""
    cdef uint8_t spatial = min(slot.frame.spatial_id, <uint8_t>2) if slot.has_frame else 0
    cdef uint8_t temporal = min(slot.frame.temporal_id, <uint8_t>2) if slot.has_frame else 0
    forwarder.layer_bytes[3 * spatial + temporal] += <uint32_t>slot.length + PACKET_OVERHEAD


cdef void report_rates(Core* core) noexcept nogil
