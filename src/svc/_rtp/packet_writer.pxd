"""Writes and encrypts one packet for one receiver."""

from libc.stdint cimport uint8_t

from svc._rtp.core cimport Core
from svc._rtp.objects cimport DownTrack, Sent, accepts
from svc._rtp.pool cimport Slot


cdef int send(Core* core, DownTrack* down_track, Slot* slot, Sent* sent) noexcept nogil
cdef int send_again(Core* core, DownTrack* down_track, Slot* slot, Sent* sent) noexcept nogil
cdef int send_padding(Core* core, DownTrack* down_track, uint8_t payload_type, uint8_t padding) noexcept nogil


cdef inline uint8_t rtx_payload_type(Core* core, DownTrack* down_track, Slot* slot) noexcept nogil:
    """Return the payload type for a resend to this receiver, or 0 to resend the same bytes without RTX."""
    cdef uint8_t payload_type = core.negotiated.rtx_of[slot.header.payload_type]
    if down_track.rtx_ssrc == 0 or not accepts(down_track, payload_type):
        return 0
    return payload_type
