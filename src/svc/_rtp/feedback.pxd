"""Processes received RTCP packets, and sends the SFU's own reports, NACKs and PLIs."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t

from svc._rtp.core cimport Core
from svc._rtp.objects cimport DownTrack, Forwarder, Transport


cdef void rtcp_received(Core* core, Transport* transport, const uint8_t* data, size_t length) noexcept nogil
cdef void tick(Core* core, Transport* transport) noexcept nogil
cdef void send_sender_report(Core* core, DownTrack* down_track) noexcept nogil
cdef void send_bye(Core* core, DownTrack* down_track) noexcept nogil
cdef void report_speaking(Core* core, Forwarder* forwarder) noexcept nogil
cdef void keyframe_received(Core* core, Forwarder* forwarder) noexcept nogil
cdef void request_keyframe(Core* core, Forwarder* forwarder) noexcept nogil
cdef void ask_for_keyframe(Core* core, DownTrack* down_track) noexcept nogil
