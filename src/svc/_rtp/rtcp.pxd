"""RTCP: walks through a compound packet, and reads and writes the packet types that an SFU needs."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from svc._rtp.wire cimport Cursor

cdef enum:
    SR = 200
    RR = 201
    SDES = 202
    BYE = 203
    RTPFB = 205
    PSFB = 206

    FMT_NACK = 1        # RTPFB, RFC 4585 section 6.2.1
    FMT_TWCC = 15       # RTPFB, draft-holmer-rmcat-transport-wide-cc-extensions-01
    FMT_PLI = 1         # PSFB, RFC 4585 section 6.3.1
    FMT_FIR = 4         # PSFB, RFC 5104 section 4.3.1
    FMT_AFB = 15        # PSFB, application layer: REMB

    MAX_RTCP = 1200     # size limit of a compound that we write, without SRTCP's trailer


cdef struct Packet:
    uint8_t type
    uint8_t count           # report count, or feedback format
    const uint8_t* body     # after the 4-byte header
    size_t length           # length of the body, without padding


cdef struct SenderInfo:     # RFC 3550 section 6.4.1
    uint32_t ssrc
    uint64_t ntp
    uint32_t rtp
    uint32_t packets
    uint32_t octets


cdef struct ReportBlock:
    uint32_t ssrc
    uint8_t fraction_lost   # in 256ths
    int32_t lost            # cumulative, 24 bits on the wire
    uint32_t highest        # extended highest sequence number
    uint32_t jitter         # RTP units
    uint32_t lsr            # middle 32 bits of the last SR's NTP time
    uint32_t dlsr           # delay since the last SR, in 1/65536 s


cdef int next_packet(Cursor* compound, Packet* packet) noexcept nogil
cdef int read_sender_info(const Packet* packet, SenderInfo* info) noexcept nogil
cdef int read_report(const Packet* packet, int index, ReportBlock* block) noexcept nogil

cdef size_t write_rr(uint8_t* out, uint32_t sender, const ReportBlock* blocks, int count) noexcept nogil
cdef size_t write_sr(uint8_t* out, const SenderInfo* info) noexcept nogil
cdef size_t write_cname(uint8_t* out, uint32_t ssrc, const uint8_t* cname, uint8_t length) noexcept nogil
cdef size_t write_bye(uint8_t* out, uint32_t ssrc) noexcept nogil
cdef size_t write_pli(uint8_t* out, uint32_t sender, uint32_t media) noexcept nogil
cdef size_t write_nack(uint8_t* out, uint32_t sender, uint32_t media, const uint16_t* missing, int count) noexcept nogil
