"""Redundancy: repeats earlier audio in RED packets (RFC 2198) or copies, and makes speakers add FEC."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t

from svc._rtp.core cimport Core
from svc._rtp.objects cimport DownTrack, Forwarder, Transport
from svc._rtp.pool cimport Slot

cdef enum:
    MAX_RED_BLOCKS = 10     # libwebrtc sends at most nine redundant blocks per packet
    # A longer packet is not speech, and is sent without redundancy.
    MAX_REDUNDANT = 400
    MAX_RED_PREFIX = MAX_REDUNDANT + 5


cdef struct RedBlock:
    uint8_t payload_type
    uint16_t timestamp_offset   # ticks before the packet's timestamp; 0 for the last block, the primary
    uint16_t offset             # from the start of the payload
    uint16_t length


cdef int read_red(const uint8_t* payload, size_t length, RedBlock* blocks) noexcept nogil
cdef bint unwrap_lost(const Slot* slot, const RedBlock* block, uint16_t sequence, Slot* out) noexcept nogil
cdef bint may_repeat(const Core* core, const DownTrack* down_track, const Slot* slot, int64_t output) noexcept nogil
cdef size_t write_red_prefix(const Slot* slot, const Slot* previous, uint8_t* out) noexcept nogil
cdef bint is_repeated_later(const DownTrack* down_track, uint16_t sequence) noexcept nogil
cdef void audio_lost(Core* core, DownTrack* down_track, bint often) noexcept nogil
cdef uint8_t loss_for_fec(uint8_t lost) noexcept nogil
cdef uint8_t lost_by_listeners(Core* core, const Forwarder* forwarder) noexcept nogil
cdef int64_t copied_with(const DownTrack* down_track, int64_t output) noexcept nogil
cdef bint spend_repair_credit(DownTrack* down_track, const Slot* slot) noexcept nogil
cdef void stop_redundancy(Core* core, Transport* transport) noexcept nogil
