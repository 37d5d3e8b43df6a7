"""Splicing: makes several encodings of a track look like one stream to a receiver."""

from libc.stdint cimport uint32_t

from svc._rtp.core cimport Core
from svc._rtp.objects cimport SPLICES, DownTrack, Forwarder, Sent, Splice
from svc._rtp.pool cimport Slot


cdef bint open_splices(DownTrack* down_track) noexcept nogil
cdef uint32_t spliced_timestamp(Core* core, const DownTrack* down_track, const Forwarder* forwarder,
                                const Slot* slot) noexcept nogil
cdef void splice(Core* core, DownTrack* down_track, const Slot* slot) noexcept nogil


cdef inline const Splice* splice_of(const DownTrack* down_track, const Sent* sent) noexcept nogil:
    """Return the splice under which a packet was written, or NULL if the receiver has had only one
    encoding.
    """
    return &down_track.splices[sent.splice & (SPLICES - 1)] if down_track.splices != NULL else NULL


cdef inline Forwarder* source_of(DownTrack* down_track, const Splice* splice) noexcept nogil:
    """Return the encoding that a packet belongs to."""
    return splice.forwarder if splice != NULL else down_track.forwarder
