"""Picture: reads and rewrites the picture id and TL0PICIDX of a VP8 or VP9 payload descriptor."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint16_t

from svc._rtp.keyframes cimport Codec

cdef enum:
    MAX_PICTURE = 5         # bytes up to the end of the last rewritten field


cdef struct Picture:
    uint8_t length          # bytes up to the end of the last of these fields, or 0 if none
    uint8_t id_at           # offset of the picture id, or 0 if none
    uint8_t id_length       # 1 or 2 bytes: 7 or 15 bits
    uint8_t tl0_at          # offset of TL0PICIDX, or 0 if none
    uint16_t id
    uint8_t tl0


cdef void read_picture(Codec codec, const uint8_t* payload, size_t length, Picture* picture) noexcept nogil
cdef void write_picture(const Picture* picture, const uint8_t* payload, uint16_t id_offset, uint8_t tl0_offset,
                        uint8_t* out) noexcept nogil
