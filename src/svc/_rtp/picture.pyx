"""Picture: reads and rewrites the picture id and TL0PICIDX of a VP8 or VP9 payload descriptor.

To a receiver that is moved between encodings of a track, the encodings look like one stream in which both
fields keep increasing. The descriptor precedes the frame and is never encrypted end to end. Makes no
decisions. See RFC 7741 section 4.2 (VP8), RFC 9628 section 4.2 (VP9).
"""

from libc.string cimport memcpy, memset

from svc._rtp.keyframes cimport OTHER, VP8, VP9


cdef void read_picture(Codec codec, const uint8_t* payload, size_t length, Picture* picture) noexcept nogil:
    """Find the picture id and TL0PICIDX. In a truncated descriptor, neither is found."""
    memset(picture, 0, sizeof(Picture))
    if length < 2:
        return
    if codec == VP8:
        vp8(payload, length, picture)
    elif codec == VP9:
        vp9(payload, length, picture)
    if picture.length > length:
        memset(picture, 0, sizeof(Picture))
        return
    if picture.id_length == 1:
        picture.id = payload[picture.id_at] & 0x7F
    elif picture.id_length == 2:
        picture.id = <uint16_t>((payload[picture.id_at] & 0x7F) << 8 | payload[picture.id_at + 1])
    if picture.tl0_at:
        picture.tl0 = payload[picture.tl0_at]


cdef inline uint8_t find_id(const uint8_t* payload, size_t length, uint8_t at, Picture* picture) noexcept nogil:
    """Record the position of the picture id at `at`. Return the offset of the byte after it."""
    picture.id_at = at
    picture.id_length = 2 if at < length and payload[at] & 0x80 else 1
    picture.length = at + picture.id_length
    return picture.length


cdef void vp8(const uint8_t* payload, size_t length, Picture* picture) noexcept nogil:
    cdef uint8_t at = 2
    if not payload[0] & 0x80:
        return
    if payload[1] & 0x80:
        at = find_id(payload, length, at, picture)
    if payload[1] & 0x40:
        picture.tl0_at = at
        picture.length = at + 1


cdef void vp9(const uint8_t* payload, size_t length, Picture* picture) noexcept nogil:
    cdef uint8_t at = 1
    if payload[0] & 0x80:
        at = find_id(payload, length, at, picture)
    # The byte at `at` describes the layer. TL0PICIDX follows it if the references are not listed (F is 0).
    if payload[0] & 0x30 == 0x20:
        picture.tl0_at = at + 1
        picture.length = at + 2


cdef void write_picture(const Picture* picture, const uint8_t* payload, uint16_t id_offset, uint8_t tl0_offset,
                        uint8_t* out) noexcept nogil:
    """Write the first `picture.length` bytes of the descriptor, with the offsets added to both fields."""
    cdef uint16_t number = picture.id + id_offset
    memcpy(out, payload, picture.length)
    if picture.id_length == 1:
        out[picture.id_at] = number & 0x7F
    elif picture.id_length == 2:
        out[picture.id_at] = <uint8_t>(0x80 | (number >> 8 & 0x7F))
        out[picture.id_at + 1] = <uint8_t>(number & 0xFF)
    if picture.tl0_at:
        out[picture.tl0_at] = picture.tl0 + tl0_offset


def rewrite_picture(str codec, bytes payload, int id_offset, int tl0_offset) -> bytes:
    """Return the payload with the offsets added to both fields. For tests."""
    cdef Picture picture
    cdef uint8_t out[MAX_PICTURE]
    names = {"VP8": VP8, "VP9": VP9}
    read_picture(names.get(codec, OTHER), payload, <size_t>len(payload), &picture)
    write_picture(&picture, payload, <uint16_t>(id_offset & 0xFFFF), <uint8_t>(tl0_offset & 0xFF), out)
    return <bytes>out[:picture.length] + payload[picture.length:]


def picture_of(str codec, bytes payload) -> tuple:
    """Return (picture id, TL0PICIDX), with None for a missing field. For tests."""
    cdef Picture picture
    names = {"VP8": VP8, "VP9": VP9}
    read_picture(names.get(codec, OTHER), payload, <size_t>len(payload), &picture)
    return picture.id if picture.id_length else None, picture.tl0 if picture.tl0_at else None
